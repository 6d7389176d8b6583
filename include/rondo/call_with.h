// Calls the functions that users pass to loops, which may take a tuple state whole or spread.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "rondo/detail/call_with.h"

namespace rondo {

/// Whether call_with(f, state) or call_with(f, leading, state) compiles for the types given after
/// F.
template <class F, class... Args>
concept CallableWith = detail::kCallMode<std::remove_reference_t<F>, std::decay_t<Args>...>
!= detail::CallMode::kNone;

/// Whether call_with_trailing(f, state, trailing) compiles.
template <class F, class State, class Trailing>
concept CallableWithTrailing =
    detail::kTrailingCallMode<std::remove_reference_t<F>, std::decay_t<State>,
                              std::decay_t<Trailing>>
.state != detail::CallMode::kNone;

/// f(state); if f does not take that, f(elements...) of a tuple, pair or array. An empty tuple is
/// spread to nothing. A generic f that accepts either gets the state whole.
template <class F, class State>
constexpr decltype(auto) call_with(F& f, const State& state) {
  constexpr auto mode = detail::kCallMode<F, State>;
  static_assert(mode != detail::CallMode::kNone,
                "rondo: this function does not take the state: give it one parameter of the "
                "state's type (by value, or by reference to const), or one for each element of a "
                "tuple state.");
  if constexpr (mode == detail::CallMode::kWhole) {
    return f(state);
  } else if constexpr (mode == detail::CallMode::kSpread) {
    return std::apply([&f](const auto&... elements) -> decltype(auto) { return f(elements...); },
                      state);
  }
}

/// f(leading, state), or f(leading, elements...).
template <class F, class Leading, class State>
constexpr decltype(auto) call_with(F& f, const Leading& leading, const State& state) {
  constexpr auto mode = detail::kCallMode<F, Leading, State>;
  static_assert(mode != detail::CallMode::kNone,
                "rondo: this function does not take the index and the state: give it a parameter "
                "for the index, then one of the state's type (by value, or by reference to const) "
                "or one for each element of a tuple state.");
  if constexpr (mode == detail::CallMode::kWhole) {
    return f(leading, state);
  } else if constexpr (mode == detail::CallMode::kSpread) {
    return std::apply(
        [&](const auto&... elements) -> decltype(auto) { return f(leading, elements...); }, state);
  }
}

/// f(state, trailing), each of them whole or, if f does not take that, as the elements of a tuple,
/// pair or array: f(elements..., trailing), f(state, elements...), and finally both. An empty tuple
/// is spread to nothing.
template <class F, class State, class Trailing>
constexpr decltype(auto) call_with_trailing(F& f, const State& state, const Trailing& trailing) {
  using detail::CallMode;
  constexpr auto mode = detail::kTrailingCallMode<F, State, Trailing>;
  static_assert(mode.state != CallMode::kNone,
                "rondo: this function does not take the carry and the element: give it one "
                "parameter of the carry's type (by value, or by reference to const) or one for "
                "each element of a tuple carry, then the same for the element of xs.");
  if constexpr (mode.state == CallMode::kWhole && mode.trailing == CallMode::kWhole) {
    return f(state, trailing);
  } else if constexpr (mode.state == CallMode::kWhole) {
    return std::apply([&](const auto&... xs) -> decltype(auto) { return f(state, xs...); },
                      trailing);
  } else if constexpr (mode.trailing == CallMode::kWhole) {
    return std::apply(
        [&](const auto&... elements) -> decltype(auto) { return f(elements..., trailing); }, state);
  } else if constexpr (mode.state == CallMode::kSpread) {
    return std::apply(
        [&](const auto&... elements) -> decltype(auto) {
          return std::apply(
              [&](const auto&... xs) -> decltype(auto) { return f(elements..., xs...); }, trailing);
        },
        state);
  }
}

/// What call_with returns: call_result_t<F, State> or call_result_t<F, Leading, State>.
template <class F, class... Args>
using call_result_t = decltype(call_with(std::declval<std::remove_reference_t<F>&>(),
                                         std::declval<const std::decay_t<Args>&>()...));

/// What call_with_trailing returns.
template <class F, class State, class Trailing>
using call_trailing_result_t = decltype(call_with_trailing(
    std::declval<std::remove_reference_t<F>&>(), std::declval<const std::decay_t<State>&>(),
    std::declval<const std::decay_t<Trailing>&>()));

}  // namespace rondo
