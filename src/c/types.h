// Types and constants of the lower IR in C.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lower/program.h"

namespace rondo::c {

/// Of a value in a variable: halves are floats, rounded by each op. Not of pointers.
std::string_view variable_type(lower::Type type);
/// Of an element in memory: halves are their bits.
std::string_view element_type(lower::Type type);
/// Of the functions of <math.h> for it.
inline std::string_view math_suffix(lower::Type type) {
  return type == lower::Type::kF64 ? "" : "f";
}

/// A number that the compiler reads back with the same bits, NaNs as NAN.
std::string constant(lower::Type type, std::uint64_t bits);
/// The same as an initializer of an element in memory.
std::string element_constant(lower::Type type, std::uint64_t bits);

}  // namespace rondo::c
