// Reverse mode of loops whose lanes make different numbers of trips. The backward pass takes the
// trips of the longest lane, with one trip number and one schedule of checkpoints for all, and a
// lane takes part from its own last trip on; so a tape of lanes is read and written by slices.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "control_flow/carry.h"
#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: the number of trips of a lane, and a value that all lanes that run agree on. The value
/// of the lane with the most trips; without a vmap around, the value itself.
extern const ir::OpDef kMaxTripLane;
Tensor of_max_trip_lane(const Tensor& trips, const Tensor& value);

/// Does this thread trace the function of a vmap? What reverse mode makes then allows for lanes.
bool traced_for_lanes() noexcept;
class LanesTraceScope {
 public:
  LanesTraceScope() noexcept;
  ~LanesTraceScope();
  LanesTraceScope(const LanesTraceScope&) = delete;
  LanesTraceScope& operator=(const LanesTraceScope&) = delete;
};

/// The trips that a backward pass takes.
class BackwardTrips {
 public:
  BackwardTrips() = default;
  /// `own` is the number that this lane made.
  explicit BackwardTrips(const Tensor& own);
  /// Of the longest lane.
  const Tensor& count() const { return count_; }
  /// A value that all lanes agree on while they run, after the last trip of the longest one.
  Tensor last(const Tensor& value) const;
  /// What `step` makes of the values in lanes that made more than `trip` trips; in the others they
  /// stay as they are.
  std::vector<Tensor> from_own_last(
      const Tensor& trip, std::span<const Tensor> values,
      const std::function<std::vector<Tensor>(std::span<const Tensor>)>& step) const;

 private:
  bool lanes_ = false;
  Tensor own_, count_;
};

}  // namespace rondo::control_flow
