// Calls of transformed functions: passes f its arguments in the form that it takes, reports
// readable errors if it does not take them, and records the caller's line.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rondo/detail/call_with.h"
#include "rondo/detail/mapped_tree.h"
#include "rondo/detail/why.h"
#include "rondo/error.h"
#include "rondo/reflect.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo::detail {

// Whether a tree of type From, whose leaves convert to Tensors, has the structure of To, whose
// leaves are Tensors; structs match by the names of their fields.
template <class From, class To>
constexpr bool corresponds();

template <class... From, class... To>
constexpr bool all_correspond(TypeList<From...>, TypeList<To...>) {
  if constexpr (sizeof...(From) != sizeof...(To)) {
    return false;
  } else {
    return (corresponds<std::remove_cvref_t<From>, std::remove_cvref_t<To>>() && ...);
  }
}

template <class From, class To>
constexpr bool corresponds() {
  if constexpr (kTreeKind<From> != kTreeKind<To> || kTreeKind<To> == TreeKind::kNone) {
    return false;
  } else if constexpr (kTreeKind<To> == TreeKind::kLeaf) {
    return std::is_same_v<To, Tensor> && std::is_convertible_v<const From&, Tensor>;
  } else if constexpr (kTreeKind<To> == TreeKind::kStruct) {
    if constexpr (field_count<From>() != field_count<To>()) {
      return false;
    } else {
      return kFieldNames<From> == kFieldNames<To> &&
             all_correspond(children_t<From>{}, children_t<To>{});
    }
  } else if constexpr (kTreeKind<To> == TreeKind::kArray) {
    return std::tuple_size_v<From> == std::tuple_size_v<To> &&
           all_correspond(children_t<From>{}, children_t<To>{});
  } else if constexpr (kTreeKind<To> == TreeKind::kOwnFields) {
    return std::is_default_constructible_v<To> &&
           all_correspond(children_t<From>{}, children_t<To>{});
  } else {
    return all_correspond(children_t<From>{}, children_t<To>{});
  }
}

// The corresponding tree.
template <class To, class From>
To correspondent(const From& from, SourceLocation at) {
  return mapped_tree<To>(from, [&at]<class Leaf>(const auto& leaf) -> Leaf {
    if constexpr (std::is_constructible_v<Tensor, decltype(leaf), SourceLocation>) {
      return Tensor(leaf, at);
    } else {
      return leaf;
    }
  });
}

// Arg with Tensors in place of arrays of other libraries, which are converted at once.
template <class Arg>
constexpr auto without_adapted() {
  if constexpr (all_leaves<Arg, LeafIsNotAdapted>()) {
    return std::type_identity<Arg>{};
  } else {
    return std::type_identity<replaced_t<Arg, Tensor>>{};
  }
}

// The type in which argument I, of type Arg, is passed on: Arg itself if each leaf of it can become
// a Tensor. A struct of Literals or of numbers cannot, but f's own parameter tells the
// corresponding struct of Tensors; void if it does not.
template <class Parameters, std::size_t I, class Arg>
struct PassedAs {
  static constexpr auto passed() {
    if constexpr (!kIsTree<Arg>) {
      return std::type_identity<Arg>{};
    } else if constexpr (is_replaceable<Arg, Tensor>()) {
      return without_adapted<Arg>();
    } else {
      return std::type_identity<void>{};
    }
  }
  using type = typename decltype(passed())::type;
};
template <class... Ps, std::size_t I, class Arg>
requires(I < sizeof...(Ps) && kIsTree<Arg> &&
         !is_replaceable<Arg, Tensor>()) struct PassedAs<Arguments<Ps...>, I, Arg> {
  using Parameter = std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Ps...>>>;
  using type = std::conditional_t<corresponds<Arg, Parameter>(), Parameter, void>;
};
template <class F, std::size_t I, class Arg>
using passed_t = typename PassedAs<parameters_t<F>, I, Arg>::type;

template <class F, std::size_t I, class Arg>
decltype(auto) pass(Arg&& arg, [[maybe_unused]] SourceLocation at) {
  using Passed = passed_t<F, I, std::remove_cvref_t<Arg>>;
  if constexpr (std::is_same_v<Passed, std::remove_cvref_t<Arg>>) {
    return std::forward<Arg>(arg);
  } else {
    return correspondent<Passed>(arg, at);
  }
}

// What is wrong with f, or with a call of it.
enum class CallFault {
  kNone,
  kNoTree,     // an argument is no tree
  kOfNumbers,  // a struct of Literals or numbers, and f does not tell the struct of Tensors
  kCount,      // another number of arguments
  kNumber,     // a parameter is a C++ number
  kMutable,
  kMismatch,
  kBody,  // the compiler has reported an error in f's body
  kVoid,
  kNoTreeReturned,
  kNoArgument,  // of grad and similar transforms: the requested argument
  kNoScalar,    // returned to grad
  kRule,        // of custom_jvp
  kForward,     // of custom_vjp
  kBackward,
};

// Why f does not take this many arguments of these types.
template <class F, std::size_t kCount>
constexpr CallFault mismatch() {
  using Parameters = parameters_t<F>;
  if constexpr (!std::is_void_v<Parameters>) {
    if constexpr (count_of(Parameters{}) != kCount)
      return CallFault::kCount;
    else if constexpr (any_number(Parameters{}))
      return CallFault::kNumber;
    else
      return CallFault::kMismatch;
  } else {
    return CallFault::kMismatch;
  }
}

template <class F, class... Traced>
constexpr CallFault fault_of_result() {
  if constexpr (!std::is_invocable_v<F&, Traced...>) {
    return CallFault::kBody;
  } else {
    using Result = std::invoke_result_t<F&, Traced...>;
    return std::is_void_v<Result>                  ? CallFault::kVoid
           : !kIsTree<std::remove_cvref_t<Result>> ? CallFault::kNoTreeReturned
                                                   : CallFault::kNone;
  }
}

// Whether f is called through a reference to const: so are the functions that transforms keep.
enum class Callee { kConst, kMutable };

// For a call with the trees of Tensors `Traced`.
template <class F, Callee kCallee, class... Traced>
constexpr CallFault fault_of_traced() {
  if constexpr (kTakesConst<F, Traced...>) {
    return fault_of_result<const F, Traced...>();
  } else if constexpr (!kTakes<F, Traced...>) {
    return mismatch<F, sizeof...(Traced)>();
  } else if constexpr (kCallee == Callee::kConst) {
    return CallFault::kMutable;
  } else {
    return fault_of_result<F, Traced...>();
  }
}

template <class F, Callee kCallee, std::size_t... I, class... Args>
constexpr CallFault call_fault(std::index_sequence<I...>, TypeList<Args...>) {
  if constexpr (!(kIsTree<Args> && ...)) {
    return CallFault::kNoTree;
  } else if constexpr ((std::is_void_v<passed_t<F, I, Args>> || ...)) {
    using Parameters = parameters_t<F>;
    if constexpr (!std::is_void_v<Parameters>) {
      if constexpr (count_of(Parameters{}) != sizeof...(Args))
        return CallFault::kCount;
      else
        return CallFault::kOfNumbers;
    } else {
      return CallFault::kOfNumbers;
    }
  } else {
    return fault_of_traced<F, kCallee, traced_t<passed_t<F, I, Args>>...>();
  }
}
template <class F, class... Args>
inline constexpr CallFault kCallFault =
    call_fault<F, Callee::kConst>(std::index_sequence_for<Args...>{}, TypeList<Args...>{});
template <class F, class... Args>
inline constexpr CallFault kOneCallFault =
    call_fault<F, Callee::kMutable>(std::index_sequence_for<Args...>{}, TypeList<Args...>{});

/// Does not compile if there is a fault, with the reason. Public functions call it first, and for
/// its value, which compilers evaluate at once, so that the reason precedes the errors that follow
/// from the fault. Not a class: if an assertion in a class fails, clang reports it as incomplete.
template <CallFault kFault>
constexpr bool check_call() {
  static_assert(kFault != CallFault::kNoTree,
                "rondo: an argument is no tree of tensors: give Tensors, Literals, C++ numbers, or "
                "std::tuple, pair, array, vector, map<std::string, _> and plain structs of them (a "
                "class with private members or a base offers a function tree_fields(T&) that "
                "returns std::tie of its fields). Eigen's types need #include <rondo/eigen.h>");
  static_assert(kFault != CallFault::kOfNumbers,
                "rondo: an argument is a struct of Literals or numbers, and the function does not "
                "say which struct of Tensors it means: give its parameter that type (with the same "
                "fields as Tensors), or make the struct a template on the type of its leaves");
  static_assert(kFault != CallFault::kCount,
                "rondo: the function is called with another number of arguments than it has "
                "parameters: it needs one parameter per argument, a Tensor or a tree of them");
  static_assert(kFault != CallFault::kNumber,
                "rondo: a parameter of the function is a C++ number, and it is called with "
                "Tensors, which have no value while it is traced: write rondo::Tensor in its "
                "place");
  static_assert(kFault != CallFault::kMutable,
                "rondo: the function must be callable through a const reference: it may not be a "
                "mutable lambda; return what changes as a result");
  static_assert(kFault != CallFault::kMismatch,
                "rondo: the function does not take these arguments: it is called with one tree of "
                "Tensors per argument (a std::vector is a tree of its elements: "
                "rondo::constant(v) makes one Tensor of numbers)");
  static_assert(kFault != CallFault::kVoid,
                "rondo: a traced function must return a tree of tensors: this one returns nothing: "
                "add a return statement (or mend the error in its body that was named before)");
  static_assert(kFault != CallFault::kNoTreeReturned,
                "rondo: a traced function must return a tree of tensors: what this one returns is "
                "none, or holds something else (a class with private members or a base offers a "
                "function tree_fields(T&) that returns std::tie of its fields)");
  static_assert(kFault != CallFault::kNoArgument,
                "rondo: a derivative is asked for in an argument that the call does not have");
  static_assert(kFault != CallFault::kNoScalar,
                "rondo: the function of grad must return one tensor, a scalar; use vjp or jacrev "
                "for others");
  static_assert(
      kFault != CallFault::kRule,
      "rondo: the rule of custom_jvp takes two tuples, the primals and the tangents, with "
      "an entry per argument, and returns std::pair{result, tangent}");
  static_assert(kFault != CallFault::kForward,
                "rondo: fwd of custom_vjp takes the arguments and returns "
                "std::pair{result, residuals}");
  static_assert(kFault != CallFault::kBackward,
                "rondo: bwd of custom_vjp takes the residuals and the cotangent of the result, and "
                "returns a std::tuple of cotangents, one per argument, each a tree like it");
  return kFault == CallFault::kNone;
}

// Lists of up to six arguments, written out: a default argument, such as the caller's line, cannot
// follow a pack. Their types come without references.
#define RONDO_UNPACK(...) __VA_ARGS__
#define RONDO_PLAIN(type) std::remove_cvref_t<type>
#define RONDO_PASS(arg) std::forward<decltype(arg)>(arg)
#define RONDO_FOR_UP_TO_SIX(X)                                                          \
  X((), (), (), ())                                                                     \
  X((, class A), (, RONDO_PLAIN(A)), (A && a, ), (, RONDO_PASS(a)))                     \
  X((, class A, class B), (, RONDO_PLAIN(A), RONDO_PLAIN(B)), (A && a, B && b, ),       \
    (, RONDO_PASS(a), RONDO_PASS(b)))                                                   \
  X((, class A, class B, class C), (, RONDO_PLAIN(A), RONDO_PLAIN(B), RONDO_PLAIN(C)),  \
    (A && a, B && b, C && c, ), (, RONDO_PASS(a), RONDO_PASS(b), RONDO_PASS(c)))        \
  X((, class A, class B, class C, class D),                                             \
    (, RONDO_PLAIN(A), RONDO_PLAIN(B), RONDO_PLAIN(C), RONDO_PLAIN(D)),                 \
    (A && a, B && b, C && c, D && d, ),                                                 \
    (, RONDO_PASS(a), RONDO_PASS(b), RONDO_PASS(c), RONDO_PASS(d)))                     \
  X((, class A, class B, class C, class D, class E),                                    \
    (, RONDO_PLAIN(A), RONDO_PLAIN(B), RONDO_PLAIN(C), RONDO_PLAIN(D), RONDO_PLAIN(E)), \
    (A && a, B && b, C && c, D && d, E && e, ),                                         \
    (, RONDO_PASS(a), RONDO_PASS(b), RONDO_PASS(c), RONDO_PASS(d), RONDO_PASS(e)))      \
  X((, class A, class B, class C, class D, class E, class G),                           \
    (, RONDO_PLAIN(A), RONDO_PLAIN(B), RONDO_PLAIN(C), RONDO_PLAIN(D), RONDO_PLAIN(E),  \
     RONDO_PLAIN(G)),                                                                   \
    (A && a, B && b, C && c, D && d, E && e, G && g, ),                                 \
    (, RONDO_PASS(a), RONDO_PASS(b), RONDO_PASS(c), RONDO_PASS(d), RONDO_PASS(e), RONDO_PASS(g)))

/// The arguments as f takes them: then(arguments...). A fault was reported already; the result is
/// then an empty Tensor, so that no further errors follow.
template <class F, CallFault kFault, class Then, class... Args>
auto with_passed(SourceLocation at, Then&& then, Args&&... args) {
  if constexpr (kFault == CallFault::kNone) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return then(pass<F, I>(std::forward<Args>(args), at)...);
    }
    (std::index_sequence_for<Args...>{});
  } else {
    return Tensor();
  }
}

/// The location of a call; if another transform makes the call, that of the transform, since the
/// call would be a line of a header.
inline SourceLocation place_of(SourceLocation call, SourceLocation made) {
  return std::string_view(call.file) == made.file ? call : made;
}

/// The call operator of the objects that transforms return: checks f and the arguments, and calls
/// `Derived::call(at, arguments...)` with the line of the caller; with more than six arguments,
/// with that of the transform, `Derived::made_at()`. Further requirements of a transform are in its
/// own `fault_of_call`. An object that was moved from is rejected in the name of
/// `Derived::kMadeBy`.
template <class Derived, class F>
class LocatedCall {
 public:
  using Transformed = F;  // whose parameters this has

#define RONDO_CALL(types, names, params, args)                                             \
  template <class Unused = void RONDO_UNPACK types>                                        \
  [[nodiscard("rondo: a transformed function changes nothing: use what it returns")]] auto \
  operator()(RONDO_UNPACK params SourceLocation at = SourceLocation::current()) const {    \
    constexpr CallFault fault = fault_of<void RONDO_UNPACK names>();                       \
    [[maybe_unused]] constexpr bool fine = check_call<fault>();                            \
    return checked<fault>(at RONDO_UNPACK args);                                           \
  }
  RONDO_FOR_UP_TO_SIX(RONDO_CALL)
#undef RONDO_CALL
  template <class A, class B, class C, class D, class E, class G, class H, class... More>
  [[nodiscard("rondo: a transformed function changes nothing: use what it returns")]] auto
  operator()(A&& a, B&& b, C&& c, D&& d, E&& e, G&& g, H&& h, More&&... more) const {
    constexpr CallFault fault =
        fault_of<void, RONDO_PLAIN(A), RONDO_PLAIN(B), RONDO_PLAIN(C), RONDO_PLAIN(D),
                 RONDO_PLAIN(E), RONDO_PLAIN(G), RONDO_PLAIN(H), RONDO_PLAIN(More)...>();
    [[maybe_unused]] constexpr bool fine = check_call<fault>();
    return checked<fault>(self().made_at(), RONDO_PASS(a), RONDO_PASS(b), RONDO_PASS(c),
                          RONDO_PASS(d), RONDO_PASS(e), RONDO_PASS(g), RONDO_PASS(h),
                          RONDO_PASS(more)...);
  }
  // clang-format off
  template <Why kWhy = "rondo: braces alone are no argument: for an array write rondo::constant({1.0f, 2.0f}), for a struct its name in front"> void operator()(std::initializer_list<Tensor>) const = delete;
  // clang-format on

 protected:
  template <class... Passed>
  static constexpr CallFault fault_of_call() {
    return CallFault::kNone;
  }
  /// Throws TraceError if this was moved from.
  void check_present(SourceLocation at) const {
    if (!present_) refuse_moved_from(Derived::kMadeBy, Derived::kSharesPrograms, at);
  }
  static constexpr bool kSharesPrograms = false;

 private:
  template <class, class... Args>
  static constexpr CallFault fault_of() {
    constexpr CallFault fault = kCallFault<F, Args...>;
    if constexpr (fault == CallFault::kNone)
      return fault_of_passed<Args...>(std::index_sequence_for<Args...>{});
    else
      return fault;
  }
  template <class... Args, std::size_t... I>
  static constexpr CallFault fault_of_passed(std::index_sequence<I...>) {
    return Derived::template fault_of_call<passed_t<F, I, Args>...>();
  }
  const Derived& self() const { return static_cast<const Derived&>(*this); }
  template <CallFault kFault, class... Args>
  auto checked(SourceLocation at, Args&&... args) const {
    check_present(at);
    return with_passed<F, kFault>(
        at, [&](auto&&... passed) { return self().call(at, RONDO_PASS(passed)...); },
        std::forward<Args>(args)...);
  }

  Presence present_;
};

}  // namespace rondo::detail
