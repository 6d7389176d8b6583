// What a function takes, found without compiling its body; functions that are empty or were moved
// from.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rondo/dtype.h"
#include "rondo/error.h"

namespace rondo::detail {

/// Throws TraceError: `made_by` was given a null function pointer or an empty std::function.
[[noreturn]] RONDO_API void refuse_empty_function(const char* made_by, SourceLocation at);
/// Throws TraceError: a function that `made_by` returned was moved from and is called.
/// `shares_programs`: a copy would not compile again.
[[noreturn]] RONDO_API void refuse_moved_from(const char* made_by, bool shares_programs,
                                              SourceLocation at);

/// Throws TraceError if f is a null pointer.
template <class F>
void check_no_null_pointer([[maybe_unused]] const F& f, [[maybe_unused]] const char* made_by,
                           [[maybe_unused]] SourceLocation at) {
  if constexpr (std::is_pointer_v<F>) {
    if (f == nullptr) refuse_empty_function(made_by, at);
  }
}
/// Throws TraceError if f can be empty and is.
template <class F>
void check_has_function(const F& f, const char* made_by, SourceLocation at) {
  check_no_null_pointer(f, made_by, at);
  if constexpr (requires { f.operator bool(); }) {
    if (!f.operator bool()) refuse_empty_function(made_by, at);
  }
}

/// Whether an object still has its original content: not after it was moved from, whatever moving
/// leaves of its members.
class Presence {
 public:
  Presence() = default;
  Presence(const Presence&) = default;
  Presence(Presence&& other) noexcept : is_there_(std::exchange(other.is_there_, false)) {}
  Presence& operator=(const Presence&) = default;
  Presence& operator=(Presence&& other) noexcept {
    is_there_ = std::exchange(other.is_there_, false);
    return *this;
  }
  ~Presence() = default;
  explicit operator bool() const noexcept { return is_there_; }

 private:
  bool is_there_ = true;
};

template <class... Ts>
struct Arguments {};

// The elements of a state that can be spread over parameters; void if it cannot.
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

// A second candidate for F's operator() const: a better match by its object, a worse one by its
// arguments.
template <class F>
struct RivalOf : F {
  using F::operator();
  void operator()(...);
};

// Whether f(args...) finds a function, for a const f. If so, the rival makes the call ambiguous, so
// the body of a generic lambda is not compiled to find its result type. An error in the body, which
// is not a mismatch, is left to the call itself.
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

// The parameters of a function that is no template and has no overloads, and those of the function
// for what a transform makes of one; void for others.
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
  } else if constexpr (requires { typename F::Transformed; }) {
    return parameters_of<std::decay_t<typename F::Transformed>>();
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

// How a function takes a state.
enum class CallMode { kNone, kWhole, kSpread };

// The first way that compiles. Later ways must not even be tried then: to see whether a generic
// lambda can be called its body is compiled, and a body written for one way may be an error, not
// just a mismatch, for another.
template <class F, class State, class Before>
constexpr CallMode call_mode() {
  if constexpr (kCallable<F, Before, Arguments<State>, Arguments<>>)
    return CallMode::kWhole;
  else
    return kCallable<F, Before, typename Spread<State>::Elements, Arguments<>> ? CallMode::kSpread
                                                                               : CallMode::kNone;
}

// How a function takes a state and the arguments after it: each whole or spread. An empty tuple is
// spread to nothing.
struct TrailingCallMode {
  CallMode state = CallMode::kNone, trailing = CallMode::kNone;
};
template <class F, class State, class Trailing>
constexpr TrailingCallMode trailing_call_mode() {
  using StateElements = typename Spread<State>::Elements;
  using TrailingElements = typename Spread<Trailing>::Elements;
  if constexpr (kCallable<F, Arguments<>, Arguments<State>, Arguments<Trailing>>)
    return {CallMode::kWhole, CallMode::kWhole};
  else if constexpr (kCallable<F, Arguments<>, StateElements, Arguments<Trailing>>)
    return {CallMode::kSpread, CallMode::kWhole};
  else if constexpr (kCallable<F, Arguments<>, Arguments<State>, TrailingElements>)
    return {CallMode::kWhole, CallMode::kSpread};
  else if constexpr (kCallable<F, Arguments<>, StateElements, TrailingElements>)
    return {CallMode::kSpread, CallMode::kSpread};
  else
    return {};
}

template <class F, class... Args>
inline constexpr CallMode kCallMode = CallMode::kNone;
template <class F, class State>
inline constexpr CallMode kCallMode<F, State> = call_mode<F, State, Arguments<>>();
template <class F, class Leading, class State>
inline constexpr CallMode kCallMode<F, Leading, State> = call_mode<F, State, Arguments<Leading>>();
template <class F, class State, class Trailing>
inline constexpr TrailingCallMode kTrailingCallMode = trailing_call_mode<F, State, Trailing>();

// Whether values of these types can be the first arguments of a function with these parameters.
template <class Parameters, class Given>
inline constexpr bool kBeginsWith = false;
template <class... Ps>
inline constexpr bool kBeginsWith<Arguments<Ps...>, Arguments<>> = true;
template <class P, class... Ps, class T, class... Ts>
inline constexpr bool kBeginsWith<Arguments<P, Ps...>, Arguments<T, Ts...>> =
    std::is_convertible_v<const T&, P>&& kBeginsWith<Arguments<Ps...>, Arguments<Ts...>>;

}  // namespace rondo::detail
