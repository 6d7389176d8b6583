// Calls the functions that users give to loops, which may take a tuple state whole or spread; and
// tells what a function takes.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rondo/dtype.h"

namespace rondo {
namespace detail {

template <class... Ts>
struct Arguments {};

// The elements of a state that can be spread over parameters; void for one that cannot.
template <class State>
struct Spread {
  using Elements = void;
};
template <class... Ts>
struct Spread<std::tuple<Ts...>> {
  using Elements = Arguments<Ts...>;
};
template <class First, class Second>
struct Spread<std::pair<First, Second>> {
  using Elements = Arguments<First, Second>;
};
template <class T, std::size_t N>
struct Spread<std::array<T, N>> {
  template <std::size_t>
  using Element = T;
  template <std::size_t... I>
  static Arguments<Element<I>...> elements(std::index_sequence<I...>);
  using Elements = decltype(elements(std::make_index_sequence<N>{}));
};

// A second candidate, as good as F's operator() const: better by its object, worse by its
// arguments.
template <class F>
struct RivalOf : F {
  using F::operator();
  void operator()(...);
};

// Whether f(args...) finds a function, for a const f. Where it does, the rival makes the call
// ambiguous, so that the body of a generic lambda is not compiled to find its result type: an error
// in the body, which is an error and no mismatch, is left to the call itself.
template <class F, class... Args>
constexpr bool finds_const_function() {
  if constexpr (sizeof...(Args) == 0 || !std::is_class_v<F> || std::is_final_v<F>) {
    return std::is_invocable_v<const F&, Args...>;
  } else {
    return !requires(RivalOf<F> & rival) { rival(std::declval<Args>()...); };
  }
}

template <class F, class... Args>
inline constexpr bool kTakesConst =
    finds_const_function<std::remove_cv_t<F>, Args...>();  // f is const
template <class F, class... Args>
inline constexpr bool kTakes =
    kTakesConst<F, Args...> || std::is_invocable_v<std::remove_cv_t<F>&, Args...>;

template <class F, class... Args>
concept Callable = kTakes<F, const Args&...>;

// The parameters of a function that is no template and has no overloads; void for others.
template <class Call>
struct ParametersOf {
  using type = void;
};
template <class R, class... Ps>
struct ParametersOf<R (*)(Ps...)> {
  using type = Arguments<Ps...>;
};
template <class R, class... Ps>
struct ParametersOf<R (*)(Ps...) noexcept> : ParametersOf<R (*)(Ps...)> {};
template <class R, class F, class... Ps>
struct ParametersOf<R (F::*)(Ps...)> : ParametersOf<R (*)(Ps...)> {};
template <class R, class F, class... Ps>
struct ParametersOf<R (F::*)(Ps...) const> : ParametersOf<R (*)(Ps...)> {};
template <class R, class F, class... Ps>
struct ParametersOf<R (F::*)(Ps...) noexcept> : ParametersOf<R (*)(Ps...)> {};
template <class R, class F, class... Ps>
struct ParametersOf<R (F::*)(Ps...) const noexcept> : ParametersOf<R (*)(Ps...)> {};

template <class F>
constexpr auto parameters_of() {
  if constexpr (requires { &F::operator(); }) {
    return std::type_identity<typename ParametersOf<decltype(&F::operator())>::type>{};
  } else {
    return std::type_identity<typename ParametersOf<F>::type>{};
  }
}
template <class F>
using parameters_t = typename decltype(parameters_of<std::decay_t<F>>())::type;

template <class... Ps>
constexpr std::size_t count_of(Arguments<Ps...>) {
  return sizeof...(Ps);
}
template <class... Ps>
constexpr bool any_number(Arguments<Ps...>) {
  return (HostScalar<std::remove_cvref_t<Ps>> || ...);
}

template <class F, class Before, class State, class After>
inline constexpr bool kCallable = false;
template <class F, class... Before, class... State, class... After>
inline constexpr bool kCallable<F, Arguments<Before...>, Arguments<State...>, Arguments<After...>> =
    Callable<F, Before..., State..., After...>;

// How a function takes a state: whole or spread, and with or without what comes after it.
enum class CallMode { kNone, kWhole, kWholeAlone, kSpread, kSpreadAlone };

// The first way that compiles. A later way must not even be tried then: to see whether a generic
// lambda can be called its body is compiled, and a body written for the one may be an error, not
// just a mismatch, for the other.
template <class F, class State, class Before, class After>
constexpr CallMode call_mode() {
  using Elements = typename Spread<State>::Elements;
  constexpr bool optional_after = std::is_same_v<After, Arguments<std::tuple<>>>;
  if constexpr (kCallable<F, Before, Arguments<State>, After>) {
    return CallMode::kWhole;
  } else if constexpr (!optional_after) {
    return kCallable<F, Before, Elements, After> ? CallMode::kSpread : CallMode::kNone;
  } else if constexpr (kCallable<F, Before, Arguments<State>, Arguments<>>) {
    return CallMode::kWholeAlone;
  } else if constexpr (kCallable<F, Before, Elements, After>) {
    return CallMode::kSpread;
  } else if constexpr (kCallable<F, Before, Elements, Arguments<>>) {
    return CallMode::kSpreadAlone;
  } else {
    return CallMode::kNone;
  }
}

template <class F, class... Args>
inline constexpr CallMode kCallMode = CallMode::kNone;
template <class F, class State>
inline constexpr CallMode kCallMode<F, State> = call_mode<F, State, Arguments<>, Arguments<>>();
template <class F, class Leading, class State>
inline constexpr CallMode kCallMode<F, Leading, State> =
    call_mode<F, State, Arguments<Leading>, Arguments<>>();
template <class F, class State, class Trailing>
inline constexpr CallMode kTrailingCallMode =
    call_mode<F, State, Arguments<>, Arguments<Trailing>>();

}  // namespace detail

/// call_with(f, state) or call_with(f, leading, state) compiles for the types given after F.
template <class F, class... Args>
concept CallableWith = detail::kCallMode<std::remove_reference_t<F>, std::decay_t<Args>...>
!= detail::CallMode::kNone;

/// call_with_trailing(f, state, trailing) compiles.
template <class F, class State, class Trailing>
concept CallableWithTrailing =
    detail::kTrailingCallMode<std::remove_reference_t<F>, std::decay_t<State>,
                              std::decay_t<Trailing>>
!= detail::CallMode::kNone;

/// f(state); if f does not take that, f(elements...) of a tuple, pair or array. An empty tuple is
/// spread to nothing. A generic f that could do with either is given the state whole.
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

/// f(state, trailing), or f(elements..., trailing); where `trailing` is an empty tuple, f may also
/// do without it.
template <class F, class State, class Trailing>
constexpr decltype(auto) call_with_trailing(F& f, const State& state, const Trailing& trailing) {
  constexpr auto mode = detail::kTrailingCallMode<F, State, Trailing>;
  static_assert(mode != detail::CallMode::kNone,
                "rondo: this function does not take the carry and the element: give it one "
                "parameter of the carry's type (by value, or by reference to const) or one for "
                "each element of a tuple carry, then one for the element of xs.");
  if constexpr (mode == detail::CallMode::kWhole) {
    return f(state, trailing);
  } else if constexpr (mode == detail::CallMode::kSpread) {
    return std::apply(
        [&](const auto&... elements) -> decltype(auto) { return f(elements..., trailing); }, state);
  } else if constexpr (mode != detail::CallMode::kNone) {
    return call_with(f, state);
  }
}

/// What call_with returns: call_result_t<F, State> or call_result_t<F, Leading, State>.
template <class F, class... Args>
using call_result_t = decltype(call_with(std::declval<std::remove_reference_t<F>&>(),
                                         std::declval<const std::decay_t<Args>&>()...));

template <class F, class State, class Trailing>
using call_trailing_result_t = decltype(call_with_trailing(
    std::declval<std::remove_reference_t<F>&>(), std::declval<const std::decay_t<State>&>(),
    std::declval<const std::decay_t<Trailing>&>()));

}  // namespace rondo
