// Reverse mode of loops whose lanes make different numbers of trips. The backward pass makes the
// trips of the longest lane, with one trip number and one checkpoint schedule for all. A lane takes
// part from its own last trip on. So a tape of lanes is read and written by slices.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "control_flow/carry.h"
#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: the number of trips of a lane, and a value that is equal in all lanes that still run.
/// Result: the value of the lane with the most trips; outside a vmap, the value itself.
extern const ir::OpDef kMaxTripLane;
Tensor of_max_trip_lane(const Tensor& trips, const Tensor& value);

/// Whether this thread is tracing the function of a vmap. Reverse mode then generates code that
/// works for lanes.
bool traced_for_lanes() noexcept;
class LanesTraceScope {
 public:
  LanesTraceScope() noexcept;
  ~LanesTraceScope();
  LanesTraceScope(const LanesTraceScope&) = delete;
  LanesTraceScope& operator=(const LanesTraceScope&) = delete;
};

/// The trips of a backward pass.
class BackwardTrips {
 public:
  BackwardTrips() = default;
  /// `own` is the number of trips of this lane.
  explicit BackwardTrips(const Tensor& own);
  /// That of the longest lane.
  const Tensor& count() const { return count_; }
  /// A value on which all running lanes agree, after the last trip of the longest lane.
  Tensor last(const Tensor& value) const;
  /// The results of `step` in lanes that made more than `trip` trips; the other lanes keep their
  /// values.
  std::vector<Tensor> from_own_last(
      const Tensor& trip, std::span<const Tensor> values,
      const std::function<std::vector<Tensor>(std::span<const Tensor>)>& step) const;

 private:
  bool lanes_ = false;
  Tensor own_, count_;
};

}  // namespace rondo::control_flow
