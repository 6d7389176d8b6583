// Carries that a loop keeps of some of its trips, and where the backward pass keeps further ones.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "control_flow/loop_state.h"

namespace rondo::control_flow {

/// The number of a trip that does not come.
inline constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

Tensor s32_scalar(std::int64_t value);
/// Entry `index` of a vector.
Tensor entry(const Tensor& vector, const Tensor& index);

/// N slots for the carry of a trip, and a spare one that takes what is not to be kept, so that each
/// trip writes one row whatever it decided.
struct Slots {
  std::int64_t count = 0;    // N
  Tensor trip_of;            // s32[N + 1]: whose carry a slot has, kNever where it is free
  std::vector<Tensor> rows;  // for each array of the carry N + 1 of them, along axis 0
  SourceLocation at;

  static Slots free(std::int64_t count, std::span<const Tensor> carry, SourceLocation at);
  Tensor spare() const { return s32_scalar(count); }
  /// s32[N]: without the spare one.
  Tensor kept_trips() const;
  Slots with(const Tensor& slot, const Tensor& trip, std::span<const Tensor> carry) const;
  std::vector<Tensor> carry_in(const Tensor& slot) const;

  void add_to(LoopState& state) const;
  /// The same slots as they stand in a loop's state.
  Slots read(LeafReader& leaves) const;
};

/// Where to keep carries on the way through trips of known number: the binomial schedule of
/// A. Griewank and A. Walther ("Algorithm 799: revolve", 2000).
struct RevolveSchedule {
  std::int64_t slots;
  std::string name;  // of the loop that searches
  SourceLocation at;

  /// The next trip after `trip` whose carry to keep on the way to trip `end`, while the slots from
  /// `top` on are free. Never for two trips or fewer, and without room.
  Tensor next_to_keep(const Tensor& end, const Tensor& trip, const Tensor& top) const;
  /// The same where trip `trip` was just kept, or else `before`.
  Tensor next_after(const Tensor& kept, const Tensor& end, const Tensor& trip, const Tensor& top,
                    const Tensor& before) const;

 private:
  /// How many trips on it is, without room for all of them: 3 trips or more, a slot or more.
  Tensor trips_to_next(const Tensor& trips_left, const Tensor& slots_left) const;
};

}  // namespace rondo::control_flow
