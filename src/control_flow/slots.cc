#include "control_flow/slots.h"

#include "control_flow/scan.h"
#include "control_flow/split.h"
#include "control_flow/while.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

Tensor s32_scalar(std::int64_t value) { return Tensor(static_cast<std::int32_t>(value)); }

Tensor entry(const Tensor& vector, const Tensor& index) {
  return read_slice(vector, index, 0, index.node()->location());
}

Slots Slots::free(std::int64_t count, std::span<const Tensor> carry, SourceLocation at) {
  Slots slots{count, full({DType::kS32, {count + 1}}, kNever), {}, at};
  for (const Tensor& array : carry)
    slots.rows.push_back(residual_rows(stacked_type(array.type(), 0, count + 1), at));
  return slots;
}

Tensor Slots::kept_trips() const { return slice(trip_of, {0}, {count}); }

Slots Slots::with(const Tensor& slot, const Tensor& trip, std::span<const Tensor> carry) const {
  Slots written{count, write_slice(trip_of, trip, slot, 0, at), {}, at};
  for (std::size_t i = 0; i < rows.size(); i++)
    written.rows.push_back(write_slice(rows[i], carry[i], slot, 0, at));
  return written;
}

std::vector<Tensor> Slots::carry_in(const Tensor& slot) const {
  std::vector<Tensor> carry;
  for (const Tensor& row : rows) carry.push_back(read_slice(row, slot, 0, at));
  return carry;
}

void Slots::add_to(LoopState& state) const {
  state.add("trip_of", trip_of);
  state.add("slots", rows);
}

Slots Slots::read(LeafReader& leaves) const {
  Tensor trips = leaves.next();
  return {count, std::move(trips), leaves.next(rows.size()), at};
}

Tensor RevolveSchedule::next_to_keep(const Tensor& end, const Tensor& trip,
                                     const Tensor& top) const {
  const Tensor length = end - trip, room = slots - top;
  const Tensor none = (room == 0) | (length <= 2);
  const RegionCallable choices[] = {
      // Enough slots for all of them: the next trip.
      [&](std::span<const Tensor>) {
        return Leaves{{where(none, s32_scalar(kNever), trip + 1)}, {}};
      },
      [&](std::span<const Tensor>) {
        return Leaves{{trip + trips_to_next(length, room)}, {}};
      }};
  return detail::branch(none | (length <= room + 2), detail::BranchKind::kCond, choices, {})[0];
}

Tensor RevolveSchedule::next_after(const Tensor& kept, const Tensor& end, const Tensor& trip,
                                   const Tensor& top, const Tensor& before) const {
  const RegionCallable choices[] = {[&](std::span<const Tensor>) {
                                      return Leaves{{next_to_keep(end, trip, top)}, {}};
                                    },
                                    [&](std::span<const Tensor>) {
                                      return Leaves{{before}, {}};
                                    }};
  return detail::branch(kept, detail::BranchKind::kCond, choices, {})[0];
}

Tensor RevolveSchedule::trips_to_next(const Tensor& trips_left, const Tensor& slots_left) const {
  const Tensor length = convert(trips_left, DType::kS64);
  const Tensor room = convert(slots_left, DType::kS64) + 1;
  // The fewest repetitions t for which binomial(room + t, room) reaches the length. `before` is the
  // binomial for t - 1.
  const Tensor one = Tensor(std::int64_t{1});
  const Leaves start{{Tensor(std::int64_t{0}), one, one}, {"t", "reach", "before"}};
  const RegionCallable too_short = [&](std::span<const Tensor> leaves) {
    return Leaves{{leaves[1] < length}, {"condition"}};
  };
  const RegionCallable longer = [&](std::span<const Tensor> leaves) {
    const Tensor t = leaves[0] + 1;
    return Leaves{{t, leaves[1] * (room + t) / t, leaves[1]}, start.paths};
  };
  WhileAttributes search;
  search.name = name;
  const std::vector<Tensor> found = traced_while(too_short, longer, start, search, at);
  const Tensor &t = found[0], &before = found[2];
  const Tensor smaller = before * room / maximum(room + t - 1, one);
  return convert(clamp(one, minimum(before, length - smaller), length - 1), DType::kS32);
}

}  // namespace rondo::control_flow
