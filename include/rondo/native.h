// A traced function as an ordinary C++ function of numbers, arrays and structs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/call_checks.h"
#include "rondo/execute.h"
#include "rondo/transforms.h"
#include "rondo/tree.h"

namespace rondo {
namespace detail {

// The host types of one tensor: a number, or a std::array of numbers (nested: of higher rank).
template <class T>
struct HostTensor {
  static constexpr bool value = HostScalar<T> && !std::is_same_v<T, long double>;
  using Number = T;
  static void append_dims(std::vector<std::int64_t>&) {}
};
template <class T, std::size_t N>
struct HostTensor<std::array<T, N>> {
  static constexpr bool value = HostTensor<T>::value;
  using Number = typename HostTensor<T>::Number;
  static void append_dims(std::vector<std::int64_t>& dims) {
    dims.push_back(static_cast<std::int64_t>(N));
    HostTensor<T>::append_dims(dims);
  }
};
template <class T>
TensorType host_tensor_type() {
  std::vector<std::int64_t> dims;
  HostTensor<T>::append_dims(dims);
  return {dtype_of<typename HostTensor<T>::Number>, dims};
}

// Whether the sizes of a tree are fixed by its type, down to the children of this node.
template <class T>
inline constexpr bool kIsFixedNode =
    kTreeKind<T> == TreeKind::kTuple || kTreeKind<T> == TreeKind::kArray || kIsStruct<T>;

// Whether T consists of host types of tensors, and structs, tuples and arrays of these.
template <class T>
constexpr bool is_host() {
  if constexpr (HostTensor<T>::value) {
    return true;
  } else if constexpr (kIsFixedNode<T>) {
    return []<class... Children>(TypeList<Children...>) {
      return (is_host<std::remove_cvref_t<Children>>() && ...);
    }(children_t<T>{});
  } else {
    return false;
  }
}

// Calls visit(part) for each number or array of numbers, in the order of declaration.
template <class T, class Visit>
constexpr void visit_host(T& tree, Visit& visit) {
  using Tree = std::remove_const_t<T>;
  [[maybe_unused]] const auto visit_all = [&visit](auto&... children) {
    (visit_host(children, visit), ...);
  };
  if constexpr (HostTensor<Tree>::value) {
    visit(tree);
  } else if constexpr (kTreeKind<Tree> == TreeKind::kTuple) {
    std::apply(visit_all, tree);
  } else if constexpr (kTreeKind<Tree> == TreeKind::kStruct) {
    apply_fields(visit_all, tree);
  } else if constexpr (kTreeKind<Tree> == TreeKind::kOwnFields) {
    std::apply(visit_all, own_fields_of(tree));
  } else {
    for (auto& element : tree) visit_host(element, visit);
  }
}

template <class T>
constexpr std::size_t host_count() {
  if constexpr (HostTensor<T>::value) {
    return 1;
  } else if constexpr (kTreeKind<T> == TreeKind::kArray) {
    return std::tuple_size_v<T> * host_count<typename T::value_type>();
  } else {
    return []<class... Children>(TypeList<Children...>) {
      return (std::size_t{0} + ... + host_count<std::remove_cvref_t<Children>>());
    }(children_t<T>{});
  }
}

template <class T>
void append_host_types(std::vector<TensorType>& types) {
  if constexpr (HostTensor<T>::value) {
    types.push_back(host_tensor_type<T>());
  } else if constexpr (kTreeKind<T> == TreeKind::kArray) {
    for (std::size_t i = 0; i < std::tuple_size_v<T>; i++)
      append_host_types<typename T::value_type>(types);
  } else {
    [&types]<class... Children>(TypeList<Children...>) {
      (append_host_types<std::remove_cvref_t<Children>>(types), ...);
    }(children_t<T>{});
  }
}

// The same names in another order, which is almost certainly a mistake.
template <class From, class To>
constexpr bool fields_are_permuted() {
  const auto from = kFieldNames<From>;
  const auto to = kFieldNames<To>;
  if (from == to || from.size() != to.size()) return false;
  const auto times = [](std::string_view name, const auto& names) {
    std::size_t found = 0;
    for (const std::string_view other : names) found += other == name ? 1 : 0;
    return found;
  };
  for (const std::string_view name : from) {
    if (times(name, from) != times(name, to)) return false;
  }
  return true;
}

// Whether the tree To, whose leaves become Tensors, has the structure of the host type From.
template <class From, class To>
constexpr bool host_corresponds();

template <class... From, class... To>
constexpr bool all_hosts_correspond(TypeList<From...>, TypeList<To...>) {
  if constexpr (sizeof...(From) != sizeof...(To)) {
    return false;
  } else {
    return (host_corresponds<std::remove_cvref_t<From>, std::remove_cvref_t<To>>() && ...);
  }
}

template <class From, class To>
constexpr bool host_corresponds() {
  if constexpr (HostTensor<From>::value || kTreeKind<To> == TreeKind::kLeaf) {
    return HostTensor<From>::value && kTreeKind<To> == TreeKind::kLeaf &&
           std::is_convertible_v<const To&, Tensor>;
  } else if constexpr (kIsStruct<From> != kIsStruct<To> || !kIsFixedNode<To>) {
    return false;
  } else if constexpr (kTreeKind<From> == TreeKind::kStruct && kTreeKind<To> == TreeKind::kStruct) {
    if constexpr (field_count<From>() != field_count<To>()) {
      return false;
    } else {
      return !fields_are_permuted<From, To>() &&
             all_hosts_correspond(children_t<From>{}, children_t<To>{});
    }
  } else if constexpr (kTreeKind<From> == TreeKind::kArray || kTreeKind<To> == TreeKind::kArray) {
    if constexpr (kTreeKind<From> != kTreeKind<To>) {
      return false;
    } else {
      return std::tuple_size_v<From> == std::tuple_size_v<To> &&
             all_hosts_correspond(children_t<From>{}, children_t<To>{});
    }
  } else {
    return all_hosts_correspond(children_t<From>{}, children_t<To>{});
  }
}

// The tree of Tensors for a host type if f does not give it: for a struct, another instance of its
// template; void if there is none.
template <class T>
struct TracedHost {
  using type = std::conditional_t<HostTensor<T>::value, Tensor, void>;
};
template <template <class...> class Template, class... Ts>
requires(!HostScalar<Template<Ts...>>) struct TracedHost<Template<Ts...>> {
  static constexpr auto traced() {
    if constexpr ((std::is_void_v<typename TracedHost<Ts>::type> || ...)) {
      return std::type_identity<void>{};
    } else {
      return std::type_identity<Template<typename TracedHost<Ts>::type...>>{};
    }
  }
  using type = typename decltype(traced())::type;
};
template <class T, std::size_t N>
struct TracedHost<std::array<T, N>> {
  using Element = typename TracedHost<T>::type;
  using type = std::conditional_t<
      HostTensor<T>::value, Tensor,
      std::conditional_t<
          std::is_void_v<Element>, void,
          std::array<std::conditional_t<std::is_void_v<Element>, Tensor, Element>, N>>>;
};

template <class Parameters, std::size_t I, class Host>
struct NativeParameter {
  using type = typename TracedHost<Host>::type;
};
template <class... Ps, std::size_t I, class Host>
requires(I < sizeof...(Ps)) struct NativeParameter<Arguments<Ps...>, I, Host> {
  using type = std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Ps...>>>;
};

enum class NativeFault {
  kNone,
  kNoSignature,  // no function type
  kReference,    // a parameter that could be written through
  kNoHost,       // a parameter or the result is no host type
  kUnknown,      // a generic f and a struct that is no template
  kParameter,    // f's parameter has another structure
  kResult,       // what f returns has another structure than the signature's result
  kCall,         // see CallFault
};

template <class Signature>
struct NativeSignature {
  static constexpr NativeFault fault = NativeFault::kNoSignature;
};
template <class R, class... As>
struct NativeSignature<R(As...)> {
  static constexpr NativeFault fault =
      (((std::is_lvalue_reference_v<As> && !std::is_const_v<std::remove_reference_t<As>>) || ...) ||
       std::is_reference_v<R>)
          ? NativeFault::kReference
      : is_host<R>() && (is_host<std::remove_cvref_t<As>>() && ...) ? NativeFault::kNone
                                                                    : NativeFault::kNoHost;
};

// Errors between f and a valid signature.
template <class F, class Signature>
struct NativeCall;
template <class F, class R, class... As>
struct NativeCall<F, R(As...)> {
  using Parameters = parameters_t<F>;

  template <std::size_t... I>
  static TypeList<typename NativeParameter<Parameters, I, std::remove_cvref_t<As>>::type...> passed(
      std::index_sequence<I...>);
  using Passed = decltype(passed(std::index_sequence_for<As...>{}));

  template <class... Ts>
  static constexpr CallFault call_fault(TypeList<Ts...>) {
    if constexpr (!std::is_void_v<Parameters>) {
      if constexpr (count_of(Parameters{}) != sizeof...(As)) {
        return CallFault::kCount;
      } else if constexpr (any_number(Parameters{})) {
        return CallFault::kNumber;
      } else if constexpr (!(host_corresponds<std::remove_cvref_t<As>, Ts>() && ...)) {
        return CallFault::kNone;
      } else {
        return fault_of_traced<F, false, Ts...>();
      }
    } else if constexpr ((std::is_void_v<Ts> || ...)) {
      return CallFault::kNone;
    } else {
      return fault_of_traced<F, false, Ts...>();
    }
  }
  template <class... Ts>
  static constexpr NativeFault structure_fault(TypeList<Ts...>) {
    if constexpr ((std::is_void_v<Ts> || ...)) {
      return NativeFault::kUnknown;
    } else if constexpr (call_fault(Passed{}) == CallFault::kCount ||
                         call_fault(Passed{}) == CallFault::kNumber) {
      return NativeFault::kCall;
    } else if constexpr (!(host_corresponds<std::remove_cvref_t<As>, Ts>() && ...)) {
      return NativeFault::kParameter;
    } else if constexpr (call_fault(Passed{}) != CallFault::kNone) {
      return NativeFault::kCall;
    } else if constexpr (!host_corresponds<
                             R, std::remove_cvref_t<std::invoke_result_t<F&, Ts...>>>()) {
      return NativeFault::kResult;
    } else {
      return NativeFault::kNone;
    }
  }
};

template <class F, class Signature>
constexpr NativeFault native_fault() {
  if constexpr (NativeSignature<Signature>::fault != NativeFault::kNone) {
    return NativeSignature<Signature>::fault;
  } else {
    using Call = NativeCall<F, Signature>;
    return Call::structure_fault(typename Call::Passed{});
  }
}
template <class F, class Signature, NativeFault kFault>
constexpr CallFault native_call_fault() {
  if constexpr (kFault != NativeFault::kCall) {
    return CallFault::kNone;
  } else {
    using Call = NativeCall<F, Signature>;
    return Call::call_fault(typename Call::Passed{});
  }
}

/// Does not compile if there is a fault, with the reason; like check_call.
template <NativeFault kFault>
constexpr bool check_native() {
  static_assert(kFault != NativeFault::kNoSignature,
                "rondo: native needs the type of a function of C++ numbers: "
                "rondo::native<float(float, float)>(f)");
  static_assert(kFault != NativeFault::kReference,
                "rondo: a function that native makes takes its arguments by value or by const "
                "reference and returns a value: it changes nothing");
  static_assert(kFault != NativeFault::kNoHost,
                "rondo: native takes and returns C++ numbers, std::array of them, and plain "
                "structs, tuples and arrays of these: what has no fixed size (std::vector, "
                "std::map), pointers, Tensors and long double are none of them");
  static_assert(
      kFault != NativeFault::kUnknown,
      "rondo: a parameter of the signature is a struct, and the function does not say "
      "which struct of Tensors it means: give its parameter that type, or make the struct "
      "a template on the type of its fields");
  static_assert(
      kFault != NativeFault::kParameter,
      "rondo: a parameter of the function has another structure than that of the "
      "signature: it has a Tensor for each number and each std::array of numbers, and the "
      "same structs, tuples and arrays around them, with their fields in the same order");
  static_assert(
      kFault != NativeFault::kResult,
      "rondo: what the function returns has another structure than the result of the "
      "signature: it has a Tensor for each number and each std::array of numbers, and the "
      "same structs, tuples and arrays around them, with their fields in the same order");
  return kFault == NativeFault::kNone;
}

/// The program behind a native function.
class RONDO_API NativeProgram {
 public:
  /// Traces `function` and compiles it. Throws TraceError if the type of a result differs from that
  /// in `results`.
  NativeProgram(const RegionCallable& function, std::span<const TensorType> parameters,
                std::vector<std::string> names, std::span<const TensorType> results,
                JitOptions options, SourceLocation at);
  /// Pointers to the elements of the arguments and results, leaf by leaf.
  void run(const std::byte* const* arguments, std::byte* const* results) const {
    executable_.run_on_memory(arguments, results, run_);
  }
  const Executable& executable() const noexcept { return executable_; }

 private:
  Executable executable_;
  RunOptions run_;
};

template <class F, class Signature>
struct NativeMaker;
template <class F, class R, class... As>
struct NativeMaker<F, R(As...)> {
  template <class... Ts>
  static std::shared_ptr<const NativeProgram> make(TypeList<Ts...>, F& f, JitOptions options,
                                                   SourceLocation at) {
    std::vector<TensorType> parameters, results;
    (append_host_types<std::remove_cvref_t<As>>(parameters), ...);
    append_host_types<R>(results);
    check_has_function(f, "native", at);
    const RegionCallable on_leaves = [&]([[maybe_unused]] std::span<const Tensor> leaves) {
      // Braces evaluate from left to right.
      std::tuple<Ts...> arguments{tree_from(Ts{}, leaves)...};
      return leaves_of(std::apply(f, std::move(arguments)), "result", at);
    };
    return std::make_shared<const NativeProgram>(on_leaves, parameters, names_of_arguments(Ts{}...),
                                                 results, std::move(options), at);
  }
};

}  // namespace detail

// For an invalid signature, so that no further errors follow.
template <class Signature>
class NativeFunction {
 public:
  explicit NativeFunction(std::nullptr_t) {}
};

/// A traced function that is called like an ordinary C++ function: created by native. A call takes
/// and returns plain values and allocates nothing if the program is compiled and needs little
/// temporary memory. Copies share the program; calls from many threads at once are safe. Throws
/// what a run throws: ExecutionError if a limit of the options is exceeded. Throws TraceError, with
/// the line of native, if the function was moved from.
/// with the line of native, where the function was moved from.
template <class R, class... As>
class NativeFunction<R(As...)> {
 public:
  NativeFunction(std::shared_ptr<const detail::NativeProgram> program, SourceLocation at)
      : program_(std::move(program)), at_(at) {}

  [[nodiscard("rondo: a native function changes nothing: use what it returns")]] R operator()(
      const As&... args) const {
    constexpr std::size_t kArguments =
        (std::size_t{0} + ... + detail::host_count<std::remove_cvref_t<As>>());
    // One more: arrays cannot be empty.
    const std::byte* arguments[kArguments + 1];
    std::byte* results[detail::host_count<R>() + 1];
    [[maybe_unused]] std::size_t next = 0;
    [[maybe_unused]] auto take = [&](const auto& part) {
      arguments[next++] = reinterpret_cast<const std::byte*>(std::addressof(part));
    };
    (detail::visit_host(args, take), ...);
    R result;
    std::size_t next_result = 0;
    auto give = [&](auto& part) {
      results[next_result++] = reinterpret_cast<std::byte*>(std::addressof(part));
    };
    detail::visit_host(result, give);
    program().run(arguments, results);
    return result;
  }

  /// The program, with its text and memory plan.
  const Executable& executable() const { return program().executable(); }

 private:
  const detail::NativeProgram& program() const {
    if (!program_) detail::refuse_moved_from("native", true, at_);
    return *program_;
  }

  std::shared_ptr<const detail::NativeProgram> program_;
  SourceLocation at_;
};

/// f, traced once for host types and compiled: an ordinary C++ function.
///
///     auto hypotenuse = rondo::native<float(float, float)>(
///         [](Tensor a, Tensor b) { return sqrt(a * a + b * b); });
///     float c = hypotenuse(3, 4);
///
/// The signature has C++ numbers, std::array of them (one tensor of rank 1; nested, of higher
/// rank), and plain structs, tuples and arrays of these; by value or by const reference. f has the
/// same structure with a Tensor for each number and each array of numbers, in the order of
/// declaration. Numbers that f returns take the dtype of the result. Throws TraceError if a dtype
/// or shape differs from the signature's, and like trace and compile.
///
/// Options apply to the compilation and each run; RunOptions::stats of such a run, not
/// Executable::stats, has its statistics. A program that cannot be compiled runs on the reference
/// executor, slowly, as Executable::program tells.
template <class Signature, class F>
[[nodiscard("rondo: native returns a function; call that")]] NativeFunction<Signature> native(
    F&& f, JitOptions options = {}, SourceLocation at = SourceLocation::current()) {
  using Callable = std::remove_reference_t<F>;
  constexpr detail::NativeFault fault = detail::native_fault<Callable, Signature>();
  constexpr detail::CallFault call = detail::native_call_fault<Callable, Signature, fault>();
  [[maybe_unused]] constexpr bool callable = detail::check_call<call>();
  if constexpr (detail::check_native<fault>()) {
    using Passed = typename detail::NativeCall<Callable, Signature>::Passed;
    return NativeFunction<Signature>(
        detail::NativeMaker<Callable, Signature>::make(Passed{}, f, std::move(options), at), at);
  } else {
    return NativeFunction<Signature>(nullptr);
  }
}

}  // namespace rondo
