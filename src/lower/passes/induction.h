// Counters of counted loops.
#pragma once

#include <optional>

#include "lower/program.h"

namespace rondo::lower {

/// What `next` adds to or subtracts from `param`.
struct CounterStep {
  Value step;
  bool subtracts;
};
/// Nothing if `next` is no such op.
std::optional<CounterStep> counter_step(const Op& next, Value param);

/// Integers that each trip of a counted loop moves by the same step are computed from the loop's
/// index, and after the loop from its trip count: they are no carries. Nor is what no trip reads
/// and the last one leaves, if it follows from the index. Where the state of the loop is kept they
/// stay carries, which the trip does not read.
void remove_counters(Program& program);

}  // namespace rondo::lower
