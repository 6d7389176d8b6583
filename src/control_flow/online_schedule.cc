#include "control_flow/online_schedule.h"

#include <utility>

#include "rondo/ops/elementwise.h"
#include "rondo/ops/order.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

struct OnlineState {
  // Early phase: rounds over the slots, each shorter by one slot than the one before.
  Tensor first;  // the next slot
  Tensor open;   // number of slots in the round
  Tensor until;  // the trip that ends the round
  Tensor save;   // whether the round writes its slots
  // Late phase: levels of slots.
  Tensor level;      // s32[N]
  Tensor displaced;  // pred[N]: a slot of a higher level came later, so this one is replaceable

  explicit OnlineState(std::span<const Tensor> leaves) {
    LeafReader read(leaves);
    for (Tensor* field : {&first, &open, &until, &save, &level, &displaced}) *field = read.next();
  }
  Leaves with(const Tensor& keep, const Tensor& slot) const {
    return {{first, open, until, save, level, displaced, keep, slot}, {}};
  }
};

/// For fewer than N(N+3)/2 trips.
Leaves decide_early(const OnlineState& now, const Tensor& trip) {
  OnlineState next = now;
  const Tensor stepped = now.first + 1;
  next.first = where(now.save, where(stepped > now.open, s32_scalar(1), stepped), now.first);
  const Tensor turn = trip == now.until;
  next.save = now.save & (trip + 1 != now.until);
  const Tensor fewer = now.open - 1;
  next.until = where(turn, now.until + now.open, now.until);
  next.open = where(turn, fewer, now.open);
  next.first = where(turn, fewer, next.first);
  next.save = where(turn, fewer > 0, next.save);
  return next.with(now.save, now.first);
}

/// For the trips after that.
Leaves decide_late(const OnlineState& now, const Slots& slots) {
  if (slots.count == 1) return now.with(Tensor(false), s32_scalar(0));
  OnlineState next = now;
  const Tensor any_displaced = any(now.displaced);
  const Tensor places = iota({DType::kS32, {slots.count}}, 0);
  const Tensor index =
      argmax(where(any_displaced & ~now.displaced, s32_scalar(0), slots.kept_trips()), 0);
  const Tensor level = entry(now.level, index);
  const Tensor here = places == index;
  next.level = where(here, where(any_displaced, s32_scalar(0), level + 1), now.level);
  next.displaced = where(any_displaced, now.displaced & ~here, now.displaced | (now.level < level));
  return next.with(Tensor(true), index);
}

}  // namespace

ForwardSchedule online_schedule(std::int64_t slots) {
  std::vector<std::int32_t> levels(static_cast<std::size_t>(slots), 0);
  levels[0] = kNever;
  LoopState start;
  start.add("first", s32_scalar(0));
  start.add("open", s32_scalar(slots));
  start.add("until", s32_scalar(slots));
  start.add("save", Tensor(true));
  start.add("level", constant(levels, Shape{slots}));
  start.add("displaced", zeros({DType::kPred, {slots}}));
  const auto decide = [](const Tensor& trip, std::span<const Tensor> state, const Slots& now) {
    const OnlineState before(state);
    const RegionCallable phases[] = {
        [&](std::span<const Tensor>) { return decide_early(before, trip); },
        [&](std::span<const Tensor>) { return decide_late(before, now); }};
    const std::int64_t few = now.count * (now.count + 3) / 2;
    std::vector<Tensor> all = detail::branch(trip < few, detail::BranchKind::kCond, phases, {});
    KeepDecision decision{all[6], all[7], {}};
    all.resize(6);
    decision.next = std::move(all);
    return decision;
  };
  return {start.leaves(), decide};
}

ForwardSchedule planned_schedule(RevolveSchedule revolve, const Tensor& trips) {
  const auto decide = [revolve = std::move(revolve), trips](
                          const Tensor& trip, std::span<const Tensor> state, const Slots&) {
    const Tensor &top = state[0], &next = state[1];
    const Tensor keep = trip == next;
    const Tensor higher = top + convert(keep, DType::kS32);
    return KeepDecision{keep, top, {higher, revolve.next_after(keep, trips, trip, higher, next)}};
  };
  return {{{s32_scalar(0), s32_scalar(0)}, {"top", "next"}}, decide};
}

}  // namespace rondo::control_flow
