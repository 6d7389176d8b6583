// while and conditional for many lanes.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "control_flow/branch.h"
#include "control_flow/branch_lanes.h"
#include "control_flow/loop_batch.h"
#include "control_flow/while.h"
#include "control_flow/while_lanes.h"
#include "fmt/format.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/reduce.h"

namespace rondo::control_flow {

using ir::BatchCall;
using ir::BatchValue;
using ir::BatchValues;
using ir::Flags;

namespace {

/// The carries' names in the body.
std::vector<std::string> carry_names(const ir::Node& node) {
  std::vector<std::string> names = node.regions[1].param_names();
  names.resize(static_cast<std::size_t>(node.attrs<WhileAttributes>().carries));
  return names;
}

/// One that all lanes make the same number of trips of.
BatchValues while_of_one_length(const BatchCall& call, const Flags& flags) {
  const auto& a = call.node.attrs<WhileAttributes>();
  const std::size_t carries = static_cast<std::size_t>(a.carries);
  const SourceLocation at = call.at();
  const Tensor active = call.batching.active();
  // Where no lane is active here nobody needs the loop, which might never end.
  Tensor wanted;
  if (!active.empty() && !a.trip_count && !a.max_trip_count) wanted = any(Operand(active, at));
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < call.operands.size(); i++)
    operands.push_back(flags[i] && i < carries ? call.full(i) : call.x(i));
  return batch_as_it_is(call, operands, flags, wanted);
}

/// Do only elementwise ops compute with a scalar parameter? Then it is as well batched; else it
/// may be an index, a bound or a predicate that is worth to be the same for all.
bool is_elementwise_in(const Function& region, std::size_t parameter) {
  absl::flat_hash_set<const ir::Node*> dependent{region.parameters()[parameter].node()};
  for (const ir::Node* node : region.body()) {
    const bool depends =
        std::any_of(node->operands.begin(), node->operands.end(),
                    [&](const Tensor& operand) { return dependent.contains(operand.node()); });
    if (!depends) continue;
    if (!node->op->elementwise) return false;
    dependent.insert(node);
  }
  return true;
}

/// Scalars whose last value in each lane is asked for are kept by lane at once, if nothing is lost
/// by it.
Flags with_results_by_lane(const BatchCall& call, Flags flags, std::size_t carries) {
  for (std::size_t i = 0; i < carries; i++) {
    const bool asked = !flags[i] && call.used[i] && call.type(i).rank() == 0;
    flags[i] = flags[i] || (asked && is_elementwise_in(call.node.regions[0], i) &&
                            is_elementwise_in(call.node.regions[1], i));
  }
  return batched_parameters(call.node.regions[1], 0, carries, std::move(flags), call.batching);
}

/// The carries of a while over lanes: where each comes from.
struct LaneCarries {
  std::vector<std::size_t> kept;  // of the carries of one lane
  std::vector<std::size_t> last;  // shared ones whose last value is kept for each lane, too
  std::vector<std::size_t> free;
  std::vector<std::size_t> shared;

  LaneCarries(const BatchCall& call, const Flags& flags, std::size_t carries) {
    for (std::size_t i = 0; i < carries; i++) {
      if (flags[i]) {
        (call.used[i] ? kept : free).push_back(i);
      } else {
        shared.push_back(i);
        if (call.used[i]) last.push_back(i);
      }
    }
  }
};

std::string reason(const BatchCall& call, const Flags& flags) {
  const std::vector<std::string> names = carry_names(call.node);
  std::string batched, same;
  for (std::size_t i = 0; i < names.size(); i++)
    (flags[i] ? batched : same) += (flags[i] ? batched : same).empty() ? names[i] : ", " + names[i];
  std::string text = "its condition differs by lane: it runs over lanes, each until it is done";
  if (!batched.empty()) text += "; carries that differ by lane: " + batched;
  if (!same.empty()) text += "; the same in all lanes that run: " + same;
  return text;
}

BatchValues while_over_lanes(const BatchCall& call, const Flags& must) {
  const auto& a = call.node.attrs<WhileAttributes>();
  const std::size_t carries = static_cast<std::size_t>(a.carries);
  const Flags flags = with_results_by_lane(call, must, carries);
  const SourceLocation at = call.at();
  const Tensor outer = call.batching.active();
  const LaneCarries of(call, flags, carries);
  const std::vector<std::string> names = carry_names(call.node);
  ir::Operands operands;
  std::vector<std::string> carried;
  const auto add = [&](const std::vector<std::size_t>& some, bool full, const char* suffix) {
    for (const std::size_t i : some) {
      operands.push_back(full ? call.full(i) : call.x(i));
      carried.push_back(names[i] + suffix);
    }
  };
  add(of.kept, true, "");
  add(of.last, true, "_last");
  add(of.free, true, "");
  add(of.shared, false, "");
  const std::size_t first_free = of.kept.size() + of.last.size();
  const std::size_t first_shared = first_free + of.free.size();
  // Values of the regions of one lane, from the carries of all.
  const auto values = [&](std::span<const Tensor> leaves) {
    BatchValues all(carries);
    for (std::size_t k = 0; k < of.kept.size(); k++) all[of.kept[k]] = {leaves[k], true};
    for (std::size_t k = 0; k < of.free.size(); k++)
      all[of.free[k]] = {leaves[first_free + k], true};
    for (std::size_t k = 0; k < of.shared.size(); k++)
      all[of.shared[k]] = {leaves[first_shared + k], false};
    all.insert(all.end(), call.operands.begin() + a.carries, call.operands.end());
    return all;
  };
  const RegionCallable wants_more = [&](std::span<const Tensor> leaves) {
    const BatchValue more = call.batching.batch(call.node.regions[0], values(leaves), outer)[0];
    Tensor lanes = ir::full_value(more, call.lanes(), at);
    if (!outer.empty()) lanes = Operand(lanes, at) & Operand(outer, at);
    return Leaves{{lanes}, {"condition"}};
  };
  const RegionCallable trip = [&](std::span<const Tensor> leaves) {
    const BatchValues next =
        call.batching.batch(call.node.regions[1], values(leaves.subspan(1)), leaves[0]);
    Leaves out{{}, carried};
    const auto give = [&](const std::vector<std::size_t>& some, bool full) {
      for (const std::size_t i : some)
        out.values.push_back(as_flagged(next[i], full, call.batching, at));
    };
    give(of.kept, true);
    give(of.last, true);
    give(of.free, true);
    give(of.shared, false);
    return out;
  };
  std::vector<TensorType> types;
  for (const Tensor& operand : operands) types.push_back(operand.type());
  const std::string called = construct_name("while_loop", a.name);
  RegionTrace condition(call.node.regions[0].name(), "the condition of " + called, types, carried,
                        wants_more, at);
  types.insert(types.begin(), {DType::kPred, {call.lanes()}});
  std::vector<std::string> body_names = carried;
  body_names.insert(body_names.begin(), "active");
  RegionTrace body(call.node.regions[1].name(), "the body of " + called, types, body_names, trip,
                   at);
  ir::OpenRegion regions[] = {condition.finish(), body.finish()};
  const std::vector<Tensor> captures = ir::union_captures(regions);
  WhileLanesAttributes attributes;
  attributes.lanes = call.lanes();
  attributes.kept = static_cast<std::int64_t>(first_free);
  attributes.free = static_cast<std::int64_t>(of.free.size());
  attributes.shared = static_cast<std::int64_t>(of.shared.size());
  attributes.collective = call.batching.has_collectives(call.node.regions[0]) ||
                          call.batching.has_collectives(call.node.regions[1]);
  attributes.name = a.name;
  attributes.max_trip_count = a.max_trip_count;
  attributes.checkpoint = a.checkpoint;
  attributes.promised = a.promised;
  attributes.ends_by_itself = a.ends_by_itself;
  for (std::size_t k = 0; k < captures.size(); k++) {
    const bool batched =
        std::any_of(call.operands.begin(), call.operands.end(), [&](const BatchValue& operand) {
          return operand.batched && operand.value.node() == captures[k].node() &&
                 operand.value.result() == captures[k].result();
        });
    if (batched) attributes.batched_invariants.push_back(static_cast<std::int64_t>(k));
  }
  operands.insert(operands.end(), captures.begin(), captures.end());
  Function closed_condition = ir::close_region(std::move(regions[0]), captures);
  Function closed_body = ir::close_region(std::move(regions[1]), captures);
  const std::vector<Tensor> last =
      ir::make_many(kWhileLanes, std::move(operands), std::move(attributes), at,
                    {std::move(closed_condition), std::move(closed_body)});
  call.batching.note(call.node, reason(call, must));
  BatchValues results(carries);
  for (std::size_t k = 0; k < of.free.size(); k++)
    results[of.free[k]] = {last[first_free + k], true};
  for (std::size_t k = 0; k < of.shared.size(); k++)
    results[of.shared[k]] = {last[first_shared + k]};
  for (std::size_t k = 0; k < of.kept.size(); k++) results[of.kept[k]] = {last[k], true};
  for (std::size_t k = 0; k < of.last.size(); k++)
    results[of.last[k]] = {last[of.kept.size() + k], true};
  return results;
}

}  // namespace

Flags while_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  Flags flags = batched_parameters(node, operands, batching);
  const bool by_lane = batching.batched_results(node.regions[0], flags)[0];
  flags.resize(node.types.size());
  if (by_lane) flags.assign(flags.size(), true);
  return flags;
}

BatchValues while_batch(const BatchCall& call) {
  const Flags flags = batched_parameters(call.node, call.batched(), call.batching);
  if (call.batching.batched_results(call.node.regions[0], flags)[0])
    return while_over_lanes(call, flags);
  call.batching.note(call.node, "its condition is the same in all lanes: an ordinary while");
  return while_of_one_length(call, flags);
}

Flags conditional_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  if (operands[0]) return Flags(node.types.size(), true);
  return batched_results(node, Flags(operands.begin() + 1, operands.end()), batching);
}

BatchValues conditional_batch(const BatchCall& call) {
  if (call.batched(0)) {
    std::vector<LaneBranch> branches;
    for (const Function& branch : call.node.regions) {
      branches.push_back([&call, &branch](const BatchValues& values, const Tensor& active) {
        return call.batching.batch(branch, values, active);
      });
    }
    call.batching.note(call.node, "its predicate differs by lane: both branches and a select");
    return ir::all_batched(branch_by_lane(call, call.x(0), branches,
                                          {call.operands.begin() + 1, call.operands.end()}));
  }
  std::vector<Tensor> operands;
  for (const BatchValue& operand : call.operands) operands.push_back(operand.value);
  Flags arguments = call.batched();
  arguments.erase(arguments.begin());
  call.batching.note(call.node, "its predicate is the same in all lanes: one branch runs");
  return batch_as_it_is(call, operands, arguments);
}

}  // namespace rondo::control_flow
