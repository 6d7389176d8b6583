// Large loops of a program as calls of programs that run a part of them, so that the parts may run
// at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lower/program.h"

namespace rondo::lower {

/// A loop that was taken out of a program: trips that may run in any order, or lanes.
struct DividedLoop {
  /// Where a part begins and ends, as its program reads it.
  struct Part {
    std::int64_t first = 0, count = 0, end = 0;  // of the trips
    std::int64_t number = 0;                     // of the part
  };

  /// Runs one part. Its argument 0 is a Part; the others are the pointers of the call, in order. If
  /// it has a call, that one needs a kernel, which returns when all parts before have ended.
  Program program;
  std::int64_t trips = 0;
  /// Of each part but the last. It follows from the program alone, so that results cannot depend
  /// on who runs the parts.
  std::int64_t trips_of_part = 0;
  /// For each loop in `program.loops` its number in the program that was divided.
  std::vector<std::uint32_t> loops;
  /// Their trips are those of all parts together; else of the part that makes most.
  bool adds_trips = false;
  bool known_work = true;  // else running a part tells whether threads gain by sharing the others
  bool is_users = false;   // it is loop 0 of `program`; else a loop over elements
  std::uint32_t around = kNoLoop;  // the innermost loop of the user's that it stands in

  std::int64_t parts() const { return (trips + trips_of_part - 1) / trips_of_part; }
  Part part(std::int64_t number) const;
};

struct Divided {
  /// The loops' calls have no kernels yet: they are the last ones in `calls`, in the order of
  /// `loops`.
  Program program;
  std::vector<DividedLoop> loops;
};

/// In ops on one lane, or what takes as long.
struct DivisionCosts {
  double least_work = 0;   // of a loop that gains by being divided
  double part_work = 1;    // that a part should have
  bool lanes_copy = true;  // as fast as a copy does
};

/// Nothing where no loop gains by it. Results have the bits that `program` gives.
std::optional<Divided> divided(const Program& program, const DivisionCosts& costs);

}  // namespace rondo::lower
