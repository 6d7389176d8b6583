// Doubles as integers: for programs that have none but the sums of floats, which all executors keep
// in 64 bits. So a program in f32 holds no double, and has the same bits on machines without them.
#pragma once

#include <string_view>

#include "lower/program.h"

namespace rondo::c {

/// Whether all that a program does in f64 can be written in integers: sums and products of what was
/// f32, and nothing in memory.
bool can_be_wide(const lower::Program& program);

/// The functions: `f64_from_f32`, `f32_from_f64`, `rounded_f64`, `add_f64` and `multiply_f64`,
/// which need the one before them.
struct WideHelper {
  std::string_view name, text;
};
extern const WideHelper kWideHelpers[5];

}  // namespace rondo::c
