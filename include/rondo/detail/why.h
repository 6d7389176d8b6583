// The reasons that deleted functions give.
#pragma once

#include <cstddef>

namespace rondo::detail {

/// A reason, as template argument of a deleted function: g++ prints it in the error itself, clang
/// with the line of the declaration, so each of these is on one line.
template <std::size_t kSize>
struct Why {
  char text[kSize] = {};
  // NOLINTNEXTLINE(google-explicit-constructor): a string literal becomes one
  consteval Why(const char (&reason)[kSize]) {
    for (std::size_t i = 0; i < kSize; i++) text[i] = reason[i];
  }
};

/// The result of a function that does not compile, with the reason.
template <Why kWhy>
struct Refused {};

}  // namespace rondo::detail
