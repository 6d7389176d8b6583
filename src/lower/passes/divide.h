// Replaces large loops of a program with calls of programs that run a part of them, so that the
// parts may run in parallel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lower/program.h"

namespace rondo::lower {

/// A loop that was taken out of a program: trips that may run in any order, or lanes.
struct DividedLoop {
  /// The bounds of a part, as its program reads them.
  struct Part {
    std::int64_t first = 0, count = 0, end = 0;  // of the trips
    std::int64_t number = 0;                     // of the part
  };

  /// Runs one part. Its argument 0 is a Part; the others are the pointers of the call, in order. If
  /// it has a call, that needs a kernel which returns when all earlier parts have ended (an ordered
  /// section).
  Program program;
  std::int64_t trips = 0;
  /// For each part but the last. It follows from the program alone, so that results cannot depend
  /// on which threads run the parts.
  std::int64_t trips_of_part = 0;
  /// For each loop in `program.loops` its number in the program that was split.
  std::vector<std::uint32_t> loops;
  /// Their trips are the sum over all parts; else those of the part that makes most.
  bool adds_trips = false;
  bool known_work = true;  // else running a part shows whether threads gain by sharing the others
  bool is_users = false;   // it is loop 0 of `program`; else a loop over elements
  std::uint32_t around = kNoLoop;  // the innermost user loop that contains it

  std::int64_t parts() const { return (trips + trips_of_part - 1) / trips_of_part; }
  Part part(std::int64_t number) const;
};

struct Divided {
  /// The loops' calls have no kernels yet: they are the last ones in `calls`, in the order of
  /// `loops`.
  Program program;
  std::vector<DividedLoop> loops;
};

/// In ops on one lane, or the time that they take.
struct DivisionCosts {
  double least_work = 0;   // of a loop that gains by being split
  double part_work = 1;    // that a part should have
  bool lanes_copy = true;  // as fast as a copy
};

/// Nothing if no loop gains by it. Results have the bits that `program` gives.
std::optional<Divided> divided(const Program& program, const DivisionCosts& costs);

}  // namespace rondo::lower
