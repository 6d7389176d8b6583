// What is wrong with a native function, the messages about it, and its program.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/function_on_leaves.h"
#include "rondo/detail/host_tree.h"
#include "rondo/detail/leaves.h"
#include "rondo/execute.h"
#include "rondo/export.h"
#include "rondo/jit_options.h"

namespace rondo::detail {

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
        return fault_of_traced<F, Callee::kMutable, Ts...>();
      }
    } else if constexpr ((std::is_void_v<Ts> || ...)) {
      return CallFault::kNone;
    } else {
      return fault_of_traced<F, Callee::kMutable, Ts...>();
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
                "std::map, Eigen::MatrixXf), pointers, Tensors and long double are none of them. "
                "Eigen types of fixed size need #include <rondo/eigen.h>");
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

}  // namespace rondo::detail
