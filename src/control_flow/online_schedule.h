// Which trips' carries a forward run keeps, so that the backward pass repeats few trips.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "control_flow/slots.h"

namespace rondo::control_flow {

/// The decision about a trip's carry, and the state of the schedule for the next trip.
struct KeepDecision {
  Tensor keep;  // pred[]
  Tensor slot;  // s32[], if kept
  std::vector<Tensor> next;
};

/// A schedule for a forward loop: its own state, and a decision for each trip.
struct ForwardSchedule {
  Leaves start;
  std::function<KeepDecision(const Tensor& trip, std::span<const Tensor> state, const Slots& slots)>
      decide;
};

/// For an unknown number of trips: wherever the loop stops, the slots are well placed (P. Stumm, A.
/// Walther, "New algorithms for optimal online checkpointing", 2010, up to N(N+3)/2 trips; Q. Wang,
/// P. Moin, G. Iaccarino, "Minimal repetition dynamic checkpointing algorithm for unsteady adjoint
/// calculation", 2009, beyond).
ForwardSchedule online_schedule(std::int64_t slots);

/// For a known number of trips: keeps what the backward pass would keep.
ForwardSchedule planned_schedule(RevolveSchedule revolve, const Tensor& trips);

}  // namespace rondo::control_flow
