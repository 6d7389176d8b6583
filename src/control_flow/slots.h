// Slots for the carries that a loop keeps of some of its trips, and the schedule by which a
// backward pass keeps further ones.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "control_flow/loop_state.h"

namespace rondo::control_flow {

/// The number of a trip that never comes.
inline constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

Tensor s32_scalar(std::int64_t value);
/// Entry `index` of a vector.
Tensor entry(const Tensor& vector, const Tensor& index);

/// N slots for carries, and a dummy slot, `spare()`, for what is not kept, so that each trip writes
/// one row unconditionally.
struct Slots {
  std::int64_t count = 0;    // N
  Tensor trip_of;            // s32[N + 1]: the trip whose carry is in the slot, kNever if free
  std::vector<Tensor> rows;  // for each array of the carry N + 1 rows, along axis 0
  SourceLocation at;

  static Slots free(std::int64_t count, std::span<const Tensor> carry, SourceLocation at);
  Tensor spare() const { return s32_scalar(count); }
  /// s32[N]: without the dummy slot.
  Tensor kept_trips() const;
  Slots with(const Tensor& slot, const Tensor& trip, std::span<const Tensor> carry) const;
  std::vector<Tensor> carry_in(const Tensor& slot) const;

  void add_to(LoopState& state) const;
  /// The same slots, read from a loop's state.
  Slots read(LeafReader& leaves) const;
};

/// Where to keep carries while recomputing a known number of trips: the binomial schedule of A.
/// Griewank and A. Walther ("Algorithm 799: revolve", 2000).
struct RevolveSchedule {
  std::int64_t slots;
  std::string name;  // of the loop that computes the schedule
  SourceLocation at;

  /// The next trip after `trip` whose carry to keep on the way to trip `end`, while the slots from
  /// `top` on are free. kNever for two trips or fewer, and if no slot is free.
  Tensor next_to_keep(const Tensor& end, const Tensor& trip, const Tensor& top) const;
  /// The same if trip `trip` was just kept, else `before`.
  Tensor next_after(const Tensor& kept, const Tensor& end, const Tensor& trip, const Tensor& top,
                    const Tensor& before) const;

 private:
  /// The number of trips until then, if there are fewer slots than trips: for 3 trips or more and
  /// at least one slot.
  Tensor trips_to_next(const Tensor& trips_left, const Tensor& slots_left) const;
};

}  // namespace rondo::control_flow
