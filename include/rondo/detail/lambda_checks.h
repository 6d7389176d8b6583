// What is wrong with a lambda of a loop, and the messages about it.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "rondo/call_with.h"
#include "rondo/detail/leaves.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo::detail {

// Errors in a lambda of a loop.
enum class LambdaFault {
  kNone,
  kNoFunction,
  kNotTaken,
  kXsNotTaken,       // of a scan that takes the carry
  kElementNotTaken,  // of a map
  kNumber,
  kVoid,
  kAnotherTree,
  kNoPair,
  kNoPredicate,
};

// A lambda that cannot be called with these trees, because of the types or the number of its
// parameters.
template <class F>
constexpr LambdaFault not_taken() {
  using Parameters = parameters_t<std::decay_t<F>>;
  if constexpr (!std::is_void_v<Parameters>) {
    if constexpr (any_number(Parameters{})) return LambdaFault::kNumber;
  }
  return LambdaFault::kNotTaken;
}

// A tree where a function is expected: arguments in another order.
template <class F>
inline constexpr bool kIsNoFunction = kIsTree<std::decay_t<F>>;

// The traced form of a tree that is passed to a loop. If a function is none, any type will do, so
// that this is the only error.
template <class Tree, class... Functions>
using loop_tree_t =
    typename std::conditional_t<(kIsNoFunction<Functions> || ...), std::type_identity<Tensor>,
                                Replacement<std::decay_t<Tree>, Tensor>>::type;

template <class F, class State, class... Leading>
constexpr LambdaFault body_fault() {
  if constexpr (kIsNoFunction<F>) {
    return LambdaFault::kNoFunction;
  } else if constexpr (!CallableWith<F, Leading..., State>) {
    return not_taken<F>();
  } else {
    using Result = call_result_t<F, Leading..., State>;
    if constexpr (std::is_void_v<Result>)
      return LambdaFault::kVoid;
    else if constexpr (!TreeConvertible<Result, State>)
      return LambdaFault::kAnotherTree;
    else
      return LambdaFault::kNone;
  }
}

template <class F, class State>
constexpr LambdaFault condition_fault() {
  if constexpr (kIsNoFunction<F>) {
    return LambdaFault::kNoFunction;
  } else if constexpr (!CallableWith<F, State>) {
    return not_taken<F>();
  } else if constexpr (!std::is_convertible_v<call_result_t<F, State>, Tensor>) {
    return LambdaFault::kNoPredicate;
  } else {
    return LambdaFault::kNone;
  }
}

template <class Result, class Traced>
constexpr LambdaFault step_result_fault() {
  if constexpr (!kIsPair<Result>)
    return LambdaFault::kNoPair;
  else if constexpr (!TreeConvertible<std::tuple_element_t<0, Result>, Traced>)
    return LambdaFault::kNoPair;
  else
    return LambdaFault::kNone;
}

template <class F, class Carry, class Xs>
constexpr LambdaFault scan_fault() {
  using Parameters = parameters_t<F>;
  constexpr bool takes_carry = kBeginsWith<Parameters, Arguments<Carry>> ||
                               kBeginsWith<Parameters, typename Spread<Carry>::Elements>;
  if constexpr (kIsNoFunction<F>)
    return LambdaFault::kNoFunction;
  else if constexpr (!CallableWithTrailing<F, Carry, Xs>)
    return takes_carry && not_taken<F>() == LambdaFault::kNotTaken ? LambdaFault::kXsNotTaken
                                                                   : not_taken<F>();
  else
    return step_result_fault<std::decay_t<call_trailing_result_t<F, Carry, Xs>>, Carry>();
}

template <class F, class Xs>
constexpr LambdaFault map_fault() {
  if constexpr (kIsNoFunction<F>)
    return LambdaFault::kNoFunction;
  else if constexpr (!CallableWith<F, Xs>)
    return not_taken<F>() == LambdaFault::kNotTaken ? LambdaFault::kElementNotTaken
                                                    : not_taken<F>();
  else
    return std::is_void_v<call_result_t<F, Xs>> ? LambdaFault::kVoid : LambdaFault::kNone;
}

template <class F, class Carry>
constexpr LambdaFault while_scan_fault() {
  if constexpr (kIsNoFunction<F>)
    return LambdaFault::kNoFunction;
  else if constexpr (!CallableWith<F, Carry>)
    return not_taken<F>();
  else
    return step_result_fault<std::decay_t<call_result_t<F, Carry>>, Carry>();
}

/// Does not compile if there is a fault, with the reason; like check_call.
template <LambdaFault kBody, LambdaFault kCondition = LambdaFault::kNone>
constexpr bool check_lambdas() {
  static_assert(
      kCondition != LambdaFault::kNoFunction && kBody != LambdaFault::kNoFunction,
      "rondo: a loop takes a function where this call has a tree of tensors: functions come "
      "first, as in while_loop(cond, body, init), fori_loop(lower, upper, body, init), "
      "scan(f, init, xs), map(f, xs)");
  static_assert(kCondition != LambdaFault::kNotTaken,
                "rondo: the condition does not take the state: give it one parameter of the "
                "state's type, by value or by reference to const, or one for each element of a "
                "tuple state");
  static_assert(kCondition != LambdaFault::kNumber && kBody != LambdaFault::kNumber,
                "rondo: a parameter of a loop's lambda is a C++ number, and it is called with "
                "Tensors, which have no value while it is traced: write rondo::Tensor in its "
                "place");
  static_assert(kCondition != LambdaFault::kNoPredicate,
                "rondo: the condition of a while_loop must return one tensor, a scalar pred");
  static_assert(kBody != LambdaFault::kNotTaken,
                "rondo: the body does not take the state: give it (after the index of a "
                "fori_loop, before the element of a scan) one parameter of the state's type, by "
                "value or by reference to const, or one for each element of a tuple state; a "
                "std::vector is a tree of its elements: rondo::constant(v) makes one Tensor of "
                "numbers");
  static_assert(kBody != LambdaFault::kXsNotTaken,
                "rondo: the function of a scan takes the carry but not the element of xs after it: "
                "give it one parameter more of the type of that element, by value or by reference "
                "to const, or one for each element of tuple xs (none where xs are an empty tuple); "
                "a std::vector is a tree of its elements: rondo::constant(v) makes one Tensor of "
                "numbers");
  static_assert(kBody != LambdaFault::kElementNotTaken,
                "rondo: the function of map does not take an element of xs: give it one parameter "
                "of the type of that element, by value or by reference to const, or one for each "
                "element of tuple xs; a std::vector is a tree of its elements: rondo::constant(v) "
                "makes one Tensor of numbers");
  static_assert(kBody != LambdaFault::kVoid,
                "rondo: the body must return the carry's type: this one returns nothing; add a "
                "return statement");
  static_assert(kBody != LambdaFault::kAnotherTree,
                "rondo: the body must return the carry's type: this one returns another tree than "
                "init");
  static_assert(kBody != LambdaFault::kNoPair,
                "rondo: the body must return the carry's type: the function of a scan returns "
                "std::pair{carry, y}, with a carry like init");
  return kBody == LambdaFault::kNone && kCondition == LambdaFault::kNone;
}

}  // namespace rondo::detail
