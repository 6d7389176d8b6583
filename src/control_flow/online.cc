// Reverse mode through a while whose number of trips is not known, in bounded memory.
//
// The forward loop keeps the carries of some trips in N slots, so that wherever it stops the slots
// are placed well (P. Stumm, A. Walther, "New algorithms for optimal online checkpointing", 2010,
// up to N(N+3)/2 trips; Q. Wang, P. Moin, G. Iaccarino, "Minimal repetition dynamic checkpointing
// algorithm for unsteady adjoint calculation", 2009, beyond). The backward pass takes the trips
// from the last to the first: it advances from the nearest kept carry, keeping further ones on the
// way where A. Griewank and A. Walther's binomial schedule ("Algorithm 799: revolve", 2000) puts
// them, and pulls the cotangent through one body. All of it is ordinary loops of the IR.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "control_flow/call.h"
#include "control_flow/carry.h"
#include "control_flow/extend.h"
#include "control_flow/longest_lane.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/scan.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/order.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

using ir::Flags;

constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

/// Named scalars and arrays of a loop's state, then lists of leaves.
class LoopState {
 public:
  void add(std::string name, Tensor value) {
    leaves_.values.push_back(std::move(value));
    leaves_.paths.push_back(std::move(name));
  }
  void add(const char* name, std::span<const Tensor> values) {
    for (std::size_t i = 0; i < values.size(); i++) add(fmt::format("{}{}", name, i), values[i]);
  }
  const Leaves& leaves() const { return leaves_; }

 private:
  Leaves leaves_;
};

/// Takes values off the front of a list, in the order in which they were put there.
class LeafReader {
 public:
  explicit LeafReader(std::span<const Tensor> leaves) : rest_(leaves) {}
  Tensor next() {
    Tensor first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  std::vector<Tensor> next(std::size_t count) {
    std::vector<Tensor> all(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count));
    rest_ = rest_.subspan(count);
    return all;
  }

 private:
  std::span<const Tensor> rest_;
};

Tensor s32_scalar(std::int64_t value) { return Tensor(static_cast<std::int32_t>(value)); }

/// With entry `index` of a vector replaced.
Tensor with_entry(const Tensor& vector, const Tensor& index, const Tensor& value) {
  return write_slice(vector, value, index, 0, value.node()->location());
}
Tensor entry(const Tensor& vector, const Tensor& index) {
  return read_slice(vector, index, 0, index.node()->location());
}

/// The loop and the number of its slots, for both directions.
struct OnlineLoop {
  Function body;
  JointBody joint;
  WhileAttributes attributes;
  std::size_t carries;
  std::int64_t slots;
  Flags needed;  // carries that the backward pass computes with
  std::vector<Tensor> init, invariants;
  SourceLocation at;

  // After the forward loop.
  std::vector<Tensor> kept;  // a stack of slots for each carry that is needed, and a row to spare
  Tensor step_of;            // the trip of each slot
  TripsBack trips;

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
  /// A whole carry in which those that are not needed are zero.
  std::vector<Tensor> whole_carry(std::span<const Tensor> some) const {
    std::vector<Tensor> all;
    std::size_t next = 0;
    for (std::size_t i = 0; i < carries; i++)
      all.push_back(needed[i] ? some[next++] : zeros(init[i].type()));
    return all;
  }
  std::vector<Tensor> advanced(std::span<const Tensor> some) const {
    return needed_of(ir::Replay::inline_call(body, with_invariants(whole_carry(some))));
  }

  /// The name of a loop that serves this one.
  std::string loop_name(const char* suffix) const {
    return (attributes.name.empty() ? "while" : attributes.name) + suffix;
  }

  /// The loop itself, with the carries that are kept on the way.
  std::vector<Tensor> run_forward(const WhileProblem& problem);
  /// The same for a number of trips that is known before: kept where the backward pass would keep
  /// them.
  std::vector<Tensor> run_forward_planned(const WhileProblem& problem, std::int64_t known_trips);
  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) const;
  /// The forward loop: that of the problem with more state beside its carry.
  ExtendedResults extended(const WhileProblem& problem, Checkpoint policy, const Leaves& state,
                           const ExtendedBody& trip, const ExtendedCondition& go_on) const {
    Residuals residuals{policy};
    for (const Tensor& carry : needed_of(init)) {
      residuals.arrays++;
      residuals.bytes += carry.type().bytes() * (slots + 1);
    }
    ir::RegionLayout layout = *ir::region_layout(&problem.node);
    layout.residuals = &residuals;
    return extend(layout, problem.operands, {state, {}}, trip, go_on);
  }

 private:
  /// Where to keep the next carry between trip `s` and trip `g`, with the slots from `top` on still
  /// free: revolve's choice for `g - s` trips. Never for two trips or fewer, and without room.
  Tensor next_to_keep(const Tensor& g, const Tensor& s, const Tensor& top) const;
  /// How many trips on it is, without room for all of them: 3 trips or more, a slot or more.
  Tensor split_of(const Tensor& trips_left, const Tensor& slots_left) const;

  struct Controller {
    Tensor first, open, until, save, level, displaced;
  };
  /// One trip's decision: whether and where to keep the carry.
  std::pair<Controller, std::pair<Tensor, Tensor>> early(const Controller& c,
                                                         const Tensor& k) const;
  std::pair<Controller, std::pair<Tensor, Tensor>> late(const Controller& c) const;
  Tensor real_steps() const { return slice(step_of, {0}, {slots}); }
};

/// While there have been fewer than N(N+3)/2 trips: rounds of slots, each one smaller.
std::pair<OnlineLoop::Controller, std::pair<Tensor, Tensor>> OnlineLoop::early(
    const Controller& c, const Tensor& k) const {
  Controller next = c;
  const Tensor stepped = c.first + 1;
  next.first = where(c.save, where(stepped > c.open, s32_scalar(1), stepped), c.first);
  const Tensor turn = k == c.until;
  next.save = c.save & (k + 1 != c.until);
  const Tensor fewer = c.open - 1;
  next.until = where(turn, c.until + c.open, c.until);
  next.open = where(turn, fewer, c.open);
  next.first = where(turn, fewer, next.first);
  next.save = where(turn, fewer > 0, next.save);
  return {next, {c.save, c.first}};
}

/// Beyond: by levels. `step_of` is the member as it stands inside the loop.
std::pair<OnlineLoop::Controller, std::pair<Tensor, Tensor>> OnlineLoop::late(
    const Controller& c) const {
  Controller next = c;
  if (slots == 1) return {next, {Tensor(false), s32_scalar(0)}};
  const Tensor steps = real_steps();
  const Tensor any_displaced = any(c.displaced);
  const Tensor places = iota({DType::kS32, {slots}}, 0);
  const Tensor index = argmax(where(any_displaced & ~c.displaced, s32_scalar(0), steps), 0);
  const Tensor level = entry(c.level, index);
  const Tensor here = places == index;
  next.level = where(here, where(any_displaced, s32_scalar(0), level + 1), c.level);
  next.displaced = where(any_displaced, c.displaced & ~here, c.displaced | (c.level < level));
  return {next, {Tensor(true), index}};
}

std::vector<Tensor> OnlineLoop::run_forward(const WhileProblem& problem) {
  const std::int64_t few = slots * (slots + 3) / 2;
  const std::size_t kinds = needed_of(init).size();
  std::vector<std::int32_t> levels(static_cast<std::size_t>(slots), 0);
  levels[0] = kNever;
  LoopState state;
  state.add("k", s32_scalar(0));
  state.add("first", s32_scalar(0));
  state.add("open", s32_scalar(slots));
  state.add("until", s32_scalar(slots));
  state.add("save", Tensor(true));
  state.add("level", constant(levels, Shape{slots}));
  state.add("displaced", zeros({DType::kPred, {slots}}));
  state.add("step_of", full({DType::kS32, {slots + 1}}, kNever));
  for (const Tensor& carry : needed_of(init))
    state.add("slots", zeros(stacked_type(carry.type(), 0, slots + 1)));

  const ExtendedBody trip = [&](const ExtendedParameters& given) {
    LeafReader read(given.carries);
    const Tensor k = read.next();
    Controller c;
    c.first = read.next();
    c.open = read.next();
    c.until = read.next();
    c.save = read.next();
    c.level = read.next();
    c.displaced = read.next();
    OnlineLoop now = *this;
    now.step_of = read.next();
    const std::vector<Tensor> rows = read.next(kinds);
    const auto as_leaves = [](const std::pair<Controller, std::pair<Tensor, Tensor>>& decision) {
      const Controller& next = decision.first;
      return Leaves{{next.first, next.open, next.until, next.save, next.level, next.displaced,
                     decision.second.first, decision.second.second},
                    {}};
    };
    const RegionCallable phases[] = {
        [&](std::span<const Tensor>) { return as_leaves(now.early(c, k)); },
        [&](std::span<const Tensor>) { return as_leaves(now.late(c)); }};
    const std::vector<Tensor> decision = detail::branch(k < few, false, phases, {});
    const Tensor place = where(decision[6], decision[7], s32_scalar(slots));
    ExtendedResults next{ir::Replay::inline_call(body, given.own), {k + 1}, {}};
    append_tensors(next.carries, std::span(decision).first(6));
    next.carries.push_back(with_entry(now.step_of, place, k));
    const std::vector<Tensor> to_keep = needed_of(given.own);
    for (std::size_t i = 0; i < kinds; i++)
      next.carries.push_back(write_slice(rows[i], to_keep[i], place, 0, at));
    return next;
  };
  ExtendedResults last =
      extended(problem, Checkpoint::online(slots), state.leaves(), trip, nullptr);
  LeafReader read(last.carries);
  trips = TripsBack(read.next());
  read.next(6);
  step_of = trips.last(read.next());
  kept = read.next(kinds);
  return std::move(last.own);
}

Tensor OnlineLoop::next_to_keep(const Tensor& g, const Tensor& s, const Tensor& top) const {
  const Tensor length = g - s, room = slots - top;
  const Tensor none = (room == 0) | (length <= 2);
  const RegionCallable choices[] = {// Room for all of them: the next one.
                                    [&](std::span<const Tensor>) {
                                      return Leaves{{where(none, s32_scalar(kNever), s + 1)}, {}};
                                    },
                                    [&](std::span<const Tensor>) {
                                      return Leaves{{s + split_of(length, room)}, {}};
                                    }};
  return detail::branch(none | (length <= room + 2), false, choices, {})[0];
}

Tensor OnlineLoop::split_of(const Tensor& trips_left, const Tensor& slots_left) const {
  const Tensor length = convert(trips_left, DType::kS64);
  const Tensor room = convert(slots_left, DType::kS64) + 1;
  // The fewest repetitions t for which binomial(room + t, room) reaches the length; `before` is the
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
  search.name = loop_name("_schedule");
  const std::vector<Tensor> found = traced_while(too_short, longer, start, search, at);
  const Tensor &t = found[0], &before = found[2];
  const Tensor smaller = before * room / maximum(room + t - 1, one);
  return convert(clamp(one, minimum(before, length - smaller), length - 1), DType::kS32);
}

std::vector<Tensor> OnlineLoop::run_forward_planned(const WhileProblem& problem,
                                                    std::int64_t known_trips) {
  const std::size_t kinds = needed_of(init).size();
  const Tensor known = s32_scalar(known_trips);
  trips = TripsBack(known);
  LoopState state;
  state.add("k", s32_scalar(0));
  state.add("top", s32_scalar(0));
  state.add("next", s32_scalar(0));
  state.add("step_of", full({DType::kS32, {slots + 1}}, kNever));
  for (const Tensor& carry : needed_of(init))
    state.add("slots", zeros(stacked_type(carry.type(), 0, slots + 1)));
  const ExtendedCondition go_on = [&](const ExtendedParameters& given) {
    return given.carries[0] < known;
  };
  const ExtendedBody trip = [&](const ExtendedParameters& given) {
    LeafReader read(given.carries);
    const Tensor k = read.next(), top = read.next(), next = read.next(), steps = read.next();
    const std::vector<Tensor> rows = read.next(kinds);
    const Tensor keep = k == next;
    const Tensor place = where(keep, top, s32_scalar(slots));
    const Tensor higher = top + convert(keep, DType::kS32);
    const RegionCallable plan[] = {[&](std::span<const Tensor>) {
                                     return Leaves{{next_to_keep(known, k, higher)}, {}};
                                   },
                                   [&](std::span<const Tensor>) {
                                     return Leaves{{next}, {}};
                                   }};
    ExtendedResults out{ir::Replay::inline_call(body, given.own),
                        {k + 1, higher, detail::branch(keep, false, plan, {})[0]},
                        {}};
    out.carries.push_back(with_entry(steps, place, k));
    const std::vector<Tensor> to_keep = needed_of(given.own);
    for (std::size_t i = 0; i < kinds; i++)
      out.carries.push_back(write_slice(rows[i], to_keep[i], place, 0, at));
    return out;
  };
  ExtendedResults last = extended(problem, Checkpoint::revolve(slots), state.leaves(), trip, go_on);
  LeafReader read(last.carries);
  read.next(3);
  step_of = read.next();
  kept = read.next(kinds);
  return std::move(last.own);
}

void OnlineLoop::pull_back(std::span<const Tensor> cotangents,
                           const ir::Cotangents& of_operands) const {
  const std::size_t kinds = kept.size();
  // The slots as a stack, by the trip that they hold.
  const Tensor order = argsort(real_steps(), 0);
  const Tensor filled = sum(convert(real_steps() != kNever, DType::kS32));
  const Tensor spare =
      concatenate({order, full({DType::kS32, {1}}, static_cast<std::int32_t>(slots))}, 0);
  struct Position {
    Tensor s, top;
    std::vector<Tensor> x;
  };
  // The topmost carry; it goes off the stack with its last use.
  const auto load = [&](const Tensor& g, const Tensor& top, const Tensor& steps,
                        std::span<const Tensor> rows) {
    const Tensor below = maximum(top - 1, s32_scalar(0));
    const Tensor place = entry(order, below);
    Position at_top{entry(steps, place), {}, {}};
    for (const Tensor& row : rows) at_top.x.push_back(read_slice(row, place, 0, at));
    at_top.top = where(at_top.s + 1 == g, below, top);
    return at_top;
  };
  std::vector<Tensor> backward = joint.of_results(cotangents, 0, carries);
  append_tensors(backward, joint.take_sums(of_operands));

  Position start = load(trips.count(), filled, step_of, kept);
  // The last trip's carry may stand in the row to spare.
  const Tensor spare_step = entry(step_of, s32_scalar(slots));
  const Tensor spared = spare_step + 1 == trips.count();
  start.s = where(spared, spare_step, start.s);
  for (std::size_t i = 0; i < kinds; i++)
    start.x[i] = where(spared, read_slice(kept[i], s32_scalar(slots), 0, at), start.x[i]);
  LoopState state;
  state.add("g", trips.count());
  state.add("s", start.s);
  state.add("top", start.top);
  state.add("step_of", step_of);
  state.add("slots", kept);
  state.add("x", start.x);
  state.add("ct", backward);

  const RegionCallable more = [&](std::span<const Tensor> leaves) {
    return Leaves{{leaves[0] > 0}, {"condition"}};
  };
  const RegionCallable one_back = [&](std::span<const Tensor> leaves) {
    LeafReader read(leaves);
    const Tensor g = read.next(), s = read.next(), top = read.next();
    LoopState forward;
    forward.add("s", s);
    forward.add("top", top);
    forward.add("next", next_to_keep(g, s, top));
    forward.add("step_of", read.next());
    forward.add("slots", read.next(kinds));
    forward.add("x", read.next(kinds));
    const std::vector<Tensor> ct = read.next(backward.size());
    // From the nearest carry to the one before trip g - 1 ends.
    const RegionCallable before = [&](std::span<const Tensor> inner) {
      return Leaves{{inner[0] + 1 < g}, {"condition"}};
    };
    const RegionCallable advance = [&](std::span<const Tensor> inner) {
      LeafReader from(inner);
      const Tensor now = from.next() + 1, height = from.next(), next = from.next(),
                   steps = from.next();
      const std::vector<Tensor> rows = from.next(kinds);
      const std::vector<Tensor> x = advanced(from.next(kinds));
      const Tensor keep = now == next;
      const Tensor place = entry(spare, where(keep, height, s32_scalar(slots)));
      const Tensor higher = height + convert(keep, DType::kS32);
      const RegionCallable plan[] = {[&](std::span<const Tensor>) {
                                       return Leaves{{next_to_keep(g, now, higher)}, {}};
                                     },
                                     [&](std::span<const Tensor>) {
                                       return Leaves{{next}, {}};
                                     }};
      LoopState out;
      out.add("s", now);
      out.add("top", higher);
      out.add("next", detail::branch(keep, false, plan, {})[0]);
      out.add("step_of", with_entry(steps, place, now));
      std::vector<Tensor> written;
      for (std::size_t i = 0; i < kinds; i++)
        written.push_back(write_slice(rows[i], x[i], place, 0, at));
      out.add("slots", written);
      out.add("x", x);
      return out.leaves();
    };
    WhileAttributes inner;
    inner.name = loop_name("_again");
    const std::vector<Tensor> there = traced_while(before, advance, forward.leaves(), inner, at);
    LeafReader reached(there);
    (void)reached.next();
    const Tensor height = reached.next();
    (void)reached.next();
    const Tensor steps = reached.next();
    const std::vector<Tensor> rows = reached.next(kinds);
    // One body back.
    const Tensor fewer = g - 1;
    const std::vector<Tensor> x = reached.next(kinds);
    const std::vector<Tensor> pulled =
        trips.from_own_last(fewer, ct, [&](std::span<const Tensor> cotangents_now) {
          std::vector<Tensor> arguments = with_invariants(whole_carry(x));
          append_tensors(arguments, cotangents_now);
          const std::vector<Tensor> both = ir::Replay::inline_call(joint.function, arguments);
          return std::vector<Tensor>(both.begin() + static_cast<std::ptrdiff_t>(joint.results),
                                     both.end());
        });
    const Position then = load(fewer, height, steps, rows);
    LoopState out;
    out.add("g", fewer);
    out.add("s", then.s);
    out.add("top", then.top);
    out.add("step_of", steps);
    out.add("slots", rows);
    out.add("x", then.x);
    out.add("ct", pulled);
    return out.leaves();
  };
  WhileAttributes outer;
  outer.name = loop_name("_gradient");
  const std::vector<Tensor> last = traced_while(more, one_back, state.leaves(), outer, at);
  joint.add(std::span(last).last(backward.size()), of_operands);
}

}  // namespace

ir::Reverse reverse_online(const WhileProblem& problem, std::int64_t slots,
                           ir::Derivatives& derivatives) {
  auto loop = std::make_shared<OnlineLoop>();
  loop->joint = problem.joint;
  // The body as the joint program runs it: a custom rule has put its forward function in place.
  const std::vector<Tensor>&params = loop->joint.function.parameters(),
        &outputs = loop->joint.function.outputs();
  loop->body = Function::make(
      problem.node.regions[1].name(),
      {params.begin(), params.begin() + static_cast<std::ptrdiff_t>(loop->joint.parameters)},
      {outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(loop->joint.results)});
  if (uses_custom_vjp(loop->body)) loop->body = derivatives.simplified(loop->body);
  loop->attributes = problem.attributes;
  loop->carries = problem.carries;
  loop->slots = slots;
  loop->at = problem.at;
  append_tensors(loop->init, problem.carry());
  append_tensors(loop->invariants, problem.invariants());
  // The backward pass needs what the pullback of a body uses, and what that is computed from.
  Flags back(outputs.size());
  std::fill(back.begin() + static_cast<std::ptrdiff_t>(loop->joint.results), back.end(), true);
  loop->needed = used_parameters(loop->joint.function, back);
  loop->needed.resize(loop->carries);
  for (bool changed = true; changed;) {
    const Flags used = used_parameters(loop->body, loop->needed);
    changed = false;
    for (std::size_t i = 0; i < loop->carries; i++) {
      changed = changed || (used[i] && !loop->needed[i]);
      loop->needed[i] = loop->needed[i] || used[i];
    }
  }
  const std::optional<std::int64_t> trips = problem.attributes.trip_count;
  const bool planned =
      trips && problem.attributes.checkpoint.policy == Checkpoint::Policy::kRevolve;
  std::vector<Tensor> results =
      planned ? loop->run_forward_planned(problem, *trips) : loop->run_forward(problem);
  return {std::move(results), std::bind_front(&OnlineLoop::pull_back, loop)};
}

}  // namespace rondo::control_flow
