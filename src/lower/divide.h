// Programs in pieces that may run at once.
#pragma once

#include <cstdint>
#include <optional>

#include "lower/program.h"

namespace rondo::lower {

/// A program that runs some lanes of another one.
struct Divided {
  /// It has one more argument, behind those of the whole program: two s64, the first lane and how
  /// many there are.
  Program program;
  std::uint32_t piece_argument = 0;
  std::int64_t lanes = 0;  // of the whole program
  /// An estimate of the ops that the whole program runs on lanes.
  std::int64_t work = 0;
};

/// Nothing where the program is not one lane loop without a reduction, with nothing around it that
/// writes memory. `arguments`: how many it has.
std::optional<Divided> divided(const Program& program, std::uint32_t arguments);

}  // namespace rondo::lower
