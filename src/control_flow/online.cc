// Reverse mode through a while of unknown length, in bounded memory.
//
// The forward loop keeps the carries of some trips in N slots (control_flow/online_schedule.h). The
// backward pass visits the trips from last to first: it recomputes forward from the nearest kept
// carry, keeping further ones on the way, and pulls the cotangent back through one body. It
// consists of ordinary loops of the IR.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "control_flow/carry.h"
#include "control_flow/extend.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/max_trip_lane.h"
#include "control_flow/online_schedule.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/region_facts.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/order.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

using ir::Flags;

/// The loop, and what its forward run kept.
struct OnlineLoop {
  Function body;
  JointBody joint;
  WhileAttributes attributes;
  std::size_t carries;
  std::int64_t slots;
  Flags needed;  // carries that the backward pass uses; `some` are the values of these
  std::vector<Tensor> init, invariants;
  SourceLocation at;

  // After the forward loop.
  Slots kept;
  BackwardTrips trips;

  std::vector<Tensor> with_invariants(std::span<const Tensor> carry) const {
    std::vector<Tensor> all(carry.begin(), carry.end());
    append_tensors(all, invariants);
    return all;
  }
  std::vector<Tensor> needed_of(std::span<const Tensor> carry) const {
    std::vector<Tensor> some;
    for (std::size_t i = 0; i < carries; i++) {
      if (needed[i]) some.push_back(carry[i]);
    }
    return some;
  }
  /// A complete carry, with zeros for the carries that are not needed.
  std::vector<Tensor> whole_carry(std::span<const Tensor> some) const {
    std::vector<Tensor> all;
    std::size_t next = 0;
    for (std::size_t i = 0; i < carries; i++)
      all.push_back(needed[i] ? some[next++] : zeros(init[i].type()));
    return all;
  }
  std::vector<Tensor> after_a_trip(std::span<const Tensor> some) const {
    return needed_of(ir::Replay::inline_call(body, with_invariants(whole_carry(some))));
  }
  /// The cotangents before a trip, from those after it and the carry at its start.
  std::vector<Tensor> pulled_back(std::span<const Tensor> some,
                                  std::span<const Tensor> cotangents) const {
    std::vector<Tensor> arguments = with_invariants(whole_carry(some));
    append_tensors(arguments, cotangents);
    const std::vector<Tensor> both = ir::Replay::inline_call(joint.function, arguments);
    return {both.begin() + static_cast<std::ptrdiff_t>(joint.results), both.end()};
  }

  /// The name of an auxiliary loop of this one.
  std::string loop_name(const char* suffix) const {
    return (attributes.name.empty() ? "while" : attributes.name) + suffix;
  }
  RevolveSchedule revolve() const { return {slots, loop_name("_schedule"), at}; }

  std::vector<Tensor> run_forward(const WhileProblem& problem);
  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) const;

 private:
  ExtendedResults run(const WhileProblem& problem, Checkpoint policy,
                      const ForwardSchedule& schedule, const ExtendedCondition& go_on) const;
};

/// The loop of the problem, with a trip number, the schedule's state and the slots as further
/// carries.
ExtendedResults OnlineLoop::run(const WhileProblem& problem, Checkpoint policy,
                                const ForwardSchedule& schedule,
                                const ExtendedCondition& go_on) const {
  LoopState state;
  state.add("k", s32_scalar(0));
  for (std::size_t i = 0; i < schedule.start.values.size(); i++)
    state.add(schedule.start.paths[i], schedule.start.values[i]);
  const Slots free = Slots::free(slots, needed_of(init), at);
  free.add_to(state);
  const ExtendedBody trip = [&](const ExtendedParameters& given) {
    LeafReader read(given.carries);
    const Tensor k = read.next();
    const std::vector<Tensor> planned = read.next(schedule.start.values.size());
    const Slots now = free.read(read);
    const KeepDecision decision = schedule.decide(k, planned, now);
    LoopState next;
    next.add("k", k + 1);
    next.add("schedule", decision.next);
    now.with(where(decision.keep, decision.slot, now.spare()), k, needed_of(given.own))
        .add_to(next);
    // After the slots are written, so the body may update its carry in place.
    return ExtendedResults{ir::Replay::inline_call(body, given.own), next.leaves().values, {}};
  };
  Residuals residuals{policy, static_cast<std::int64_t>(free.rows.size())};
  for (const Tensor& row : free.rows) residuals.bytes += row.type().bytes();
  ir::RegionLayout layout = *ir::region_layout(&problem.node);
  layout.residuals = &residuals;
  return extend(layout, problem.operands, {state.leaves(), {}}, trip, go_on);
}

std::vector<Tensor> OnlineLoop::run_forward(const WhileProblem& problem) {
  const auto slots_of = [&](std::span<const Tensor> state) {
    LeafReader read(state.last(1 + needed_of(init).size()));
    return Slots::free(slots, needed_of(init), at).read(read);
  };
  const std::optional<std::int64_t> known = attributes.trip_count;
  if (known && *known >= kNever) {
    throw TraceError(fmt::format("reverse mode cannot go back through the {} trips of the loop "
                                 "'{}'\n  at {}\n  It numbers "
                                 "up to 2^31 - 2 trips: make it two loops, one in the other.",
                                 *known, loop_name(""), at.str()),
                     at);
  }
  if (known && attributes.checkpoint.policy == Checkpoint::Policy::kRevolve) {
    const Tensor count = s32_scalar(*known);
    const ExtendedCondition go_on = [&](const ExtendedParameters& given) {
      return given.carries[0] < count;
    };
    ExtendedResults last =
        run(problem, Checkpoint::revolve(slots), planned_schedule(revolve(), count), go_on);
    trips = BackwardTrips(count);
    kept = slots_of(last.carries);
    return std::move(last.own);
  }
  ExtendedResults last = run(problem, Checkpoint::online(slots), online_schedule(slots), nullptr);
  trips = BackwardTrips(last.carries[0]);
  kept = slots_of(last.carries);
  kept.trip_of = trips.last(kept.trip_of);
  return std::move(last.own);
}

/// The backward pass: a loop over the trips from last to first, with an inner loop that recomputes
/// the carry at the start of the trip.
class OnlineBackward {
 public:
  explicit OnlineBackward(const OnlineLoop& loop)
      : loop_(loop),
        slot_at_(concatenate({argsort(loop.kept.kept_trips(), 0),
                              full({DType::kS32, {1}}, static_cast<std::int32_t>(loop.slots))},
                             0)) {}

  /// The cotangents before the first trip, from those after the last one.
  std::vector<Tensor> run(std::vector<Tensor> cotangents) const;

 private:
  /// A carry that is available.
  struct Position {
    Tensor trip;  // the one that starts with it
    Tensor top;   // slots in use on the stack once it is left
    std::vector<Tensor> carry;
  };
  struct State {
    Tensor left;  // number of trips not yet pulled back
    Position nearest;
    Slots slots;
    std::vector<Tensor> cotangents;

    Leaves leaves() const {
      LoopState state;
      state.add("left", left);
      state.add("trip", nearest.trip);
      state.add("top", nearest.top);
      slots.add_to(state);
      state.add("carry", nearest.carry);
      state.add("ct", cotangents);
      return state.leaves();
    }
  };
  State read(std::span<const Tensor> leaves) const {
    LeafReader from(leaves);
    State state;
    state.left = from.next();
    state.nearest.trip = from.next();
    state.nearest.top = from.next();
    state.slots = loop_.kept.read(from);
    state.nearest.carry = from.next(loop_.kept.rows.size());
    state.cotangents = from.next(leaves.size() - 4 - 2 * loop_.kept.rows.size());
    return state;
  }

  Position topmost(const Slots& slots, const Tensor& left, const Tensor& top) const;
  Position of_last_trip() const;
  State at_last_trip(const State& state) const;
  State pulled_back(const State& state) const;

  const OnlineLoop& loop_;
  Tensor slot_at_;  // stack of slots, ordered by trip at first; also the dummy slot
};

/// Popped from the stack at its last use.
OnlineBackward::Position OnlineBackward::topmost(const Slots& slots, const Tensor& left,
                                                 const Tensor& top) const {
  const Tensor below = maximum(top - 1, s32_scalar(0));
  const Tensor slot = entry(slot_at_, below);
  Position position{entry(slots.trip_of, slot), {}, slots.carry_in(slot)};
  position.top = where(position.trip + 1 == left, below, top);
  return position;
}

/// The carry of the last trip may be in the dummy slot.
OnlineBackward::Position OnlineBackward::of_last_trip() const {
  const Slots& kept = loop_.kept;
  const Tensor& left = loop_.trips.count();
  const Tensor in_use = sum(convert(kept.kept_trips() != kNever, DType::kS32));
  Position position = topmost(kept, left, in_use);
  const Tensor spare_trip = entry(kept.trip_of, kept.spare());
  const Tensor is_spare = spare_trip + 1 == left;
  position.trip = where(is_spare, spare_trip, position.trip);
  const std::vector<Tensor> spare = kept.carry_in(kept.spare());
  for (std::size_t i = 0; i < spare.size(); i++)
    position.carry[i] = where(is_spare, spare[i], position.carry[i]);
  return position;
}

/// Recomputes from the nearest carry to that of the last trip left, keeping some on the way.
OnlineBackward::State OnlineBackward::at_last_trip(const State& state) const {
  const RevolveSchedule revolve = loop_.revolve();
  const auto leaves = [](const Position& position, const Tensor& next, const Slots& slots) {
    LoopState all;
    all.add("trip", position.trip);
    all.add("top", position.top);
    all.add("next", next);
    slots.add_to(all);
    all.add("carry", position.carry);
    return all.leaves();
  };
  const RegionCallable is_before = [&](std::span<const Tensor> now) {
    return Leaves{{now[0] + 1 < state.left}, {"condition"}};
  };
  const RegionCallable advance = [&](std::span<const Tensor> now) {
    LeafReader from(now);
    const Tensor trip = from.next() + 1, top = from.next(), next = from.next();
    const Slots slots = state.slots.read(from);
    const std::vector<Tensor> carry = loop_.after_a_trip(from.next(slots.rows.size()));
    const Tensor keep = trip == next;
    const Tensor slot = entry(slot_at_, where(keep, top, slots.spare()));
    const Tensor higher = top + convert(keep, DType::kS32);
    const Tensor then = revolve.next_after(keep, state.left, trip, higher, next);
    return leaves({trip, higher, carry}, then, slots.with(slot, trip, carry));
  };
  const Position& nearest = state.nearest;
  const Tensor next = revolve.next_to_keep(state.left, nearest.trip, nearest.top);
  WhileAttributes attributes;
  attributes.name = loop_.loop_name("_again");
  const std::vector<Tensor> last =
      traced_while(is_before, advance, leaves(nearest, next, state.slots), attributes, loop_.at);
  LeafReader from(last);
  State there = state;
  there.nearest.trip = from.next();
  there.nearest.top = from.next();
  (void)from.next();
  there.slots = state.slots.read(from);
  there.nearest.carry = from.next(nearest.carry.size());
  return there;
}

/// Pulls back through one body, from the carry at its start.
OnlineBackward::State OnlineBackward::pulled_back(const State& state) const {
  State before = state;
  before.left = state.left - 1;
  before.cotangents = loop_.trips.from_own_last(
      before.left, state.cotangents, [&](std::span<const Tensor> cotangents) {
        return loop_.pulled_back(state.nearest.carry, cotangents);
      });
  before.nearest = topmost(state.slots, before.left, state.nearest.top);
  return before;
}

std::vector<Tensor> OnlineBackward::run(std::vector<Tensor> cotangents) const {
  const State start{loop_.trips.count(), of_last_trip(), loop_.kept, std::move(cotangents)};
  const RegionCallable any_left = [](std::span<const Tensor> leaves) {
    return Leaves{{leaves[0] > 0}, {"condition"}};
  };
  const RegionCallable trip = [&](std::span<const Tensor> leaves) {
    return pulled_back(at_last_trip(read(leaves))).leaves();
  };
  WhileAttributes attributes;
  attributes.name = loop_.loop_name("_gradient");
  return read(traced_while(any_left, trip, start.leaves(), attributes, loop_.at)).cotangents;
}

void OnlineLoop::pull_back(std::span<const Tensor> cotangents,
                           const ir::Cotangents& of_operands) const {
  std::vector<Tensor> all = joint.of_results(cotangents, 0, carries);
  append_tensors(all, joint.take_sums(of_operands));
  joint.add(OnlineBackward(*this).run(std::move(all)), of_operands);
}

/// The carries that the backward pass needs: those that the pullback of a body uses, and those from
/// which these are computed.
Flags needed_carries(const OnlineLoop& loop) {
  Flags backward(loop.joint.function.outputs().size());
  std::fill(backward.begin() + static_cast<std::ptrdiff_t>(loop.joint.results), backward.end(),
            true);
  Flags needed = used_parameters(loop.joint.function, backward);
  needed.resize(loop.carries);
  for (bool changed = true; changed;) {
    const Flags used = used_parameters(loop.body, needed);
    changed = false;
    for (std::size_t i = 0; i < loop.carries; i++) {
      changed = changed || (used[i] && !needed[i]);
      needed[i] = needed[i] || used[i];
    }
  }
  return needed;
}

}  // namespace

ir::Reverse reverse_online(const WhileProblem& problem, std::int64_t slots,
                           ir::Derivatives& derivatives) {
  auto loop = std::make_shared<OnlineLoop>();
  loop->joint = problem.joint;
  // The body as in the joint program, where the forward function of a custom rule is in place.
  const std::vector<Tensor>&params = loop->joint.function.parameters(),
        &outputs = loop->joint.function.outputs();
  loop->body = Function::make(
      problem.node.regions[1].name(),
      {params.begin(), params.begin() + static_cast<std::ptrdiff_t>(loop->joint.parameters)},
      {outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(loop->joint.results)});
  if (ir::has_own_forward(loop->body)) loop->body = derivatives.simplified(loop->body);
  loop->attributes = problem.attributes;
  loop->carries = problem.carries;
  loop->slots = slots;
  loop->at = problem.at;
  append_tensors(loop->init, problem.carry());
  append_tensors(loop->invariants, problem.invariants());
  loop->needed = needed_carries(*loop);
  std::vector<Tensor> results = loop->run_forward(problem);
  return {std::move(results), std::bind_front(&OnlineLoop::pull_back, loop)};
}

}  // namespace rondo::control_flow
