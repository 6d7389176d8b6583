// Reverse mode of while, which depends on what is known of the number of trips.
#include <algorithm>
#include <utility>

#include "control_flow/carry.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/scan.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "rondo/gradients.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

using ir::Flags;

std::vector<std::string> leaf_names(const char* root, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; i++) all.push_back(fmt::format("{}[{}]", root, i));
  return all;
}

std::vector<std::string> carry_paths(const Function& region, std::size_t first, std::size_t count,
                                     std::string_view suffix) {
  const std::vector<std::string> names = region.param_names();
  std::vector<std::string> all;
  for (std::size_t i = first; i < first + count; i++)
    all.push_back(
        fmt::format("{}{}{}", names[i].starts_with("carry") ? "" : "carry.", names[i], suffix));
  return all;
}

void append_tensors(std::vector<Tensor>& to, std::span<const Tensor> more) {
  to.insert(to.end(), more.begin(), more.end());
}

namespace {

/// A while that is known to make n trips, as a scan: its condition is not evaluated.
std::vector<Tensor> while_as_scan(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& a = node.attrs<WhileAttributes>();
  const std::size_t carries = static_cast<std::size_t>(a.carries);
  const std::span<const Tensor> invariants = operands.subspan(carries);
  const std::vector<std::string> names = carry_paths(node.regions[1], 0, carries);
  const RegionCallable body = [&](std::span<const Tensor> leaves) {
    std::vector<Tensor> arguments(leaves.begin(), leaves.end());
    append_tensors(arguments, invariants);
    return Leaves{ir::Replay::inline_call(node.regions[1], arguments), names};
  };
  ScanOptions options;
  options.length = *a.trip_count;
  options.checkpoint = a.checkpoint;
  options.name = a.name.empty() ? "while" : a.name;
  return detail::scan(body, {{operands.begin(), operands.begin() + a.carries}, names}, {}, options,
                      node.location());
}

/// A while of at most N trips, by periods: a while of at most N / p checkpointed ones. Its state is
/// the carry and the number of trips so far, so that a broken promise is one here too.
std::vector<Tensor> while_by_periods(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& a = node.attrs<WhileAttributes>();
  const std::size_t carries = static_cast<std::size_t>(a.carries);
  const std::int64_t period = std::max<std::int64_t>(a.checkpoint.slots, 1);
  const std::int64_t limit = *a.max_trip_count;
  const SourceLocation at = node.location();
  const auto run = [&](const Function& region, std::span<const Tensor> carry) {
    std::vector<Tensor> all(carry.begin(), carry.end());
    append_tensors(all, operands.subspan(carries));
    return ir::Replay::inline_call(region, all);
  };
  std::vector<std::string> names = carry_paths(node.regions[1], 0, carries);
  names.emplace_back("carry.trips");
  const RegionCallable go_on = [&](std::span<const Tensor> state) {
    return Leaves{run(node.regions[0], state.first(carries)), {"condition"}};
  };
  const RegionCallable one_period = [&](std::span<const Tensor> state) {
    const Tensor end = minimum(state[carries] + period, limit);
    const RegionCallable within = [&](std::span<const Tensor> now) {
      Leaves out = go_on(now);
      out.values[0] = out.values[0] & (now[carries] < end);
      return out;
    };
    const RegionCallable trip = [&](std::span<const Tensor> now) {
      Leaves out{run(node.regions[1], now.first(carries)), names};
      out.values.push_back(now[carries] + 1);
      return out;
    };
    WhileAttributes inner;
    inner.name = a.name;
    inner.max_trip_count = period;
    inner.checkpoint = Checkpoint::tape();
    return Leaves{traced_while(within, trip, {{state.begin(), state.end()}, names}, inner, at),
                  names};
  };
  const RegionCallable periods = [&](std::span<const Tensor> state) {
    return Leaves{detail::checkpoint(one_period, {{state.begin(), state.end()}, names}, at), names};
  };
  Leaves init{{operands.begin(), operands.begin() + a.carries}, names};
  init.values.push_back(zeros({DType::kS64, {}}));
  WhileAttributes outer;
  outer.name = a.name;
  outer.max_trip_count = (limit + period - 1) / period;
  outer.promised = limit;
  outer.checkpoint = Checkpoint::tape();
  std::vector<Tensor> last = traced_while(go_on, periods, init, outer, at);
  last.resize(carries);
  return last;
}

/// The size of one trip's residuals, in bytes.
std::int64_t bytes_per_trip(const WhileProblem& problem, ir::Derivatives& derivatives) {
  std::vector<Availability> availability(problem.operands.size(), Availability::kInvariant);
  std::fill_n(availability.begin(), problem.carries, Availability::kUnavailable);
  JointBody joint = problem.joint;
  return split_loop_body(joint, availability, problem.carries, derivatives).residual_bytes();
}

/// Uses a tape if it is small (docs/gradients.md says how small) or if the loop keeps nothing at
/// all.
ir::Reverse reverse_automatic(const WhileProblem& problem, std::optional<std::int64_t> limit,
                              const ir::ReverseCall& call) {
  const std::int64_t per_trip = bytes_per_trip(problem, call.derivatives);
  if (per_trip == 0 || (limit && *limit <= kAutomaticTapeBytes / per_trip))
    return reverse_with_tape(problem, limit, call.derivatives);
  if (!limit) {
    if (const auto rows = growing_tape_rows(call, per_trip))
      return reverse_growing(problem, *rows, call.derivatives);
  }
  return reverse_online(problem, kAutomaticSlots, call.derivatives);
}

}  // namespace

ir::Reverse while_reverse(const ir::ReverseCall& call) {
  const auto& a = call.node.attrs<WhileAttributes>();
  using Policy = Checkpoint::Policy;
  const Policy policy = a.checkpoint.policy;
  if (policy == Policy::kNone) refuse_reverse(construct_name("while_loop", a.name), call.at());
  const bool by_slots = policy == Policy::kOnline || policy == Policy::kRevolve;
  const bool promise_breaks = a.max_trip_count && a.trip_count && *a.trip_count > *a.max_trip_count;
  if (a.trip_count && !promise_breaks && !(by_slots && a.checkpoint.slots < *a.trip_count))
    return call.derivatives.reverse_expanded(call, while_as_scan);
  if (policy == Policy::kPeriodic && a.max_trip_count && a.checkpoint.slots < *a.max_trip_count)
    return call.derivatives.reverse_expanded(call, while_by_periods);

  const Function& body = call.node.regions[1];
  const std::size_t carries = static_cast<std::size_t>(a.carries);
  WhileProblem problem{call.node, a, carries, {}, {}, {}, call.at()};
  append_tensors(problem.operands, call.operands);
  problem.flags = active_carries(body, 0, carries, call.perturbed, call.active, call.derivatives);
  if (std::find(problem.flags.active.begin(), problem.flags.active.end(), true) ==
      problem.flags.active.end()) {
    const Tensor plain =
        ir::make_typed(*call.node.op, ir::Operands(call.operands.begin(), call.operands.end()),
                       call.node.attributes, call.node.types, call.at(), call.node.regions);
    return {ir::results_of(plain.node()), [](std::span<const Tensor>, const ir::Cotangents&) {}};
  }
  Flags always(call.operands.size());
  for (std::size_t i = 0; i < carries; i++) always[i] = problem.flags.active[i];
  Flags summed(call.operands.size(), true);
  std::fill_n(summed.begin(), carries, false);
  problem.joint = joint_body(body, problem.flags.perturbed, problem.flags.active, always, summed,
                             call.derivatives, call.at());
  const std::optional<std::int64_t> limit = a.max_trip_count;
  switch (policy) {
    case Policy::kTape:
      // Outside all traces each value may be evaluated alone and used as a constant. A growing tape
      // cannot be: it has more elements than its type.
      if (!limit && !ir::tracing())
        return reverse_online(problem, kAutomaticSlots, call.derivatives);
      return reverse_with_tape(problem, limit, call.derivatives);
    case Policy::kOnline:
    case Policy::kRevolve:
      return reverse_online(problem, a.checkpoint.slots, call.derivatives);
    case Policy::kAutomatic:
      return reverse_automatic(problem, limit, call);
    default:
      return reverse_online(problem, kAutomaticSlots, call.derivatives);
  }
}

}  // namespace rondo::control_flow
