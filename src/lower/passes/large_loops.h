// Finds the loops of a program that are worth splitting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lower/program.h"

namespace rondo::lower {

/// The kinds of parts of a loop.
enum class Division : std::uint8_t {
  kTrips,
  kLanes,    // each part with separate results of the reductions
  kInOrder,  // the lanes' contributions to the reductions are combined part by part, in order
};

struct LargeLoop {
  std::size_t begin = 0, end = 0;  // positions of the ops that open and close it
  double work = 0;                 // in ops on one lane
  Division division = Division::kLanes;
  std::uint32_t around = kNoLoop;  // the innermost user loop that contains it
  bool known_work = true;  // else `work` is an estimate: it has calls, or loops of unknown length
};

/// The loops of at least this work, or of unknown work, whose parts may run in parallel, in order;
/// none is inside another one.
std::vector<LargeLoop> large_loops(const Program& program, double least_work);

}  // namespace rondo::lower
