// Comparisons of the lower IR, and what they are of numbers.
#pragma once

#include <array>

#include "lower/opcodes.h"

namespace rondo::native_code {

inline constexpr std::array kComparisons = {lower::Opcode::kEqual,   lower::Opcode::kNotEqual,
                                            lower::Opcode::kLess,    lower::Opcode::kLessEqual,
                                            lower::Opcode::kGreater, lower::Opcode::kGreaterEqual};

template <class T>
bool holds(lower::Opcode op, T a, T b) {
  switch (op) {
    case lower::Opcode::kEqual:
      return a == b;
    case lower::Opcode::kNotEqual:
      return a != b;
    case lower::Opcode::kLess:
      return a < b;
    case lower::Opcode::kLessEqual:
      return a <= b;
    case lower::Opcode::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

}  // namespace rondo::native_code
