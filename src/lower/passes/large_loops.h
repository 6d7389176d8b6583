// Which loops of a program are worth dividing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lower/program.h"

namespace rondo::lower {

/// What the parts of a loop are.
enum class Division : std::uint8_t {
  kTrips,
  kLanes,    // each part with results of its own for the reductions
  kInOrder,  // what lanes give for the reductions is combined part by part, in order
};

struct LargeLoop {
  std::size_t begin = 0, end = 0;  // positions of the ops that open and close it
  double work = 0;                 // in ops on one lane
  Division division = Division::kLanes;
  std::uint32_t around = kNoLoop;  // the innermost loop of the user's that it stands in
  bool known_work = true;  // else `work` is a guess: it has calls, or loops of unknown length
};

/// Those of at least this work, or of unknown work, whose parts may run at once, in order; none
/// stands in another one.
std::vector<LargeLoop> large_loops(const Program& program, double least_work);

}  // namespace rondo::lower
