// Which counted loops can be vectorized over their trips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/passes/affine.h"
#include "lower/passes/trip_carries.h"
#include "lower/program.h"

namespace rondo::lower {

/// A loop whose trips do not wait for one another.
struct TripPlan {
  std::size_t begin = 0, end = 0;  // the ops that open and close the loop
  std::vector<Op> trip;
  TripValues values;
  std::vector<TripCarry> carries;
  bool ascending = false;  // a trip stores what trips before it load
  bool has_loops = false;  // in the trip, with as many trips in each
  /// Of addresses in `trip`: those whose only index that changes is the loop's.
  absl::flat_hash_map<std::uint64_t, Affine> addresses;
};

struct TripPlans {
  std::vector<TripPlan> loops;
  std::vector<Type> added;  // of values that the trips define beside the program's
};

/// The loops that can be, in the program's order: none has another one in it, and innermost ones
/// come before those around them.
TripPlans plan_trips(const Program& program);

}  // namespace rondo::lower
