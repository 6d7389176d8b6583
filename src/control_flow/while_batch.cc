// A while for many lanes.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "control_flow/loop_batch.h"
#include "control_flow/while.h"
#include "control_flow/while_lanes.h"
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

/// A while in which all lanes make the same number of trips.
BatchValues while_of_one_length(const BatchCall& call, const Flags& flags) {
  const auto& a = call.node.attrs<WhileAttributes>();
  const std::size_t carries = static_cast<std::size_t>(a.carries);
  const SourceLocation at = call.at();
  const Tensor active = call.batching.active();
  // If no lane is active here the results are unused, and the loop might never end.
  Tensor wanted;
  if (!active.empty() && !a.trip_count && !a.max_trip_count) wanted = any(Operand(active, at));
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < call.operands.size(); i++)
    operands.push_back(flags[i] && i < carries ? call.full(i) : call.x(i));
  return batch_as_it_is(call, operands, flags, wanted);
}

/// Whether only elementwise ops use a scalar parameter. Then batching it costs nothing more;
/// otherwise it may be an index, a bound or a predicate, which should stay the same for all lanes.
bool is_elementwise_in(const Function& region, std::size_t parameter) {
  absl::flat_hash_set<const ir::Node*> dependent{region.parameters()[parameter].node()};
  for (const ir::Node* node : region.body()) {
    const bool depends =
        std::any_of(node->operands.begin(), node->operands.end(),
                    [&](const Tensor& operand) { return dependent.contains(operand.node()); });
    if (!depends) continue;
    if (!node->op->structure.elementwise) return false;
    dependent.insert(node);
  }
  return true;
}

/// Scalars whose last value per lane is used become batched carries from the start, if that loses
/// nothing.
Flags with_results_by_lane(const BatchCall& call, Flags flags, std::size_t carries) {
  for (std::size_t i = 0; i < carries; i++) {
    const bool asked = !flags[i] && call.used[i] && call.type(i).rank() == 0;
    flags[i] = flags[i] || (asked && is_elementwise_in(call.node.regions[0], i) &&
                            is_elementwise_in(call.node.regions[1], i));
  }
  return batched_parameters(call.node.regions[1], 0, carries, std::move(flags), call.batching);
}

/// The carries of a while over lanes, and where each comes from.
struct LaneCarries {
  std::vector<std::size_t> kept;  // of the carries of one lane
  std::vector<std::size_t> last;  // shared ones whose last value is also kept per lane
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

/// Builds a while over lanes. Its carries are in the order of LaneCarries.
class WhileOverLanes {
 public:
  WhileOverLanes(const BatchCall& call, const Flags& flags, std::size_t carries)
      : call_(call),
        attributes_(call.node.attrs<WhileAttributes>()),
        of_(call, flags, carries),
        first_free_(of_.kept.size() + of_.last.size()),
        first_shared_(first_free_ + of_.free.size()) {
    const std::vector<std::string> names = carry_names(call.node);
    const auto add = [&](const std::vector<std::size_t>& some, bool full, const char* suffix) {
      for (const std::size_t i : some) {
        operands_.push_back(full ? call.full(i) : call.x(i));
        names_.push_back(names[i] + suffix);
      }
    };
    add(of_.kept, true, "");
    add(of_.last, true, "_last");
    add(of_.free, true, "");
    add(of_.shared, false, "");
    for (std::size_t i = carries; i < call.operands.size(); i++) {
      if (!call.batched(i)) continue;
      by_lane_.push_back(i);
      operands_.push_back(call.x(i));
    }
  }

  BatchValues build() const {
    std::vector<ir::OpenRegion> regions = traced_regions();
    const std::vector<Tensor> captures = ir::union_captures(regions);
    ir::Operands operands = operands_;
    operands.insert(operands.end(), captures.begin(), captures.end());
    Function condition = ir::close_region(std::move(regions[0]), captures);
    Function body = ir::close_region(std::move(regions[1]), captures);
    return results(ir::make_many(kWhileLanes, std::move(operands), attributes(), call_.at(),
                                 {std::move(condition), std::move(body)}));
  }

 private:
  std::vector<ir::OpenRegion> traced_regions() const {
    std::vector<TensorType> types;
    for (const Tensor& operand : operands_) types.push_back(operand.type());
    const std::string called = construct_name("while_loop", attributes_.name);
    std::vector<std::string> names = names_;
    const std::vector<std::string> of_params = call_.node.regions[0].param_names();
    for (const std::size_t i : by_lane_) names.push_back(of_params[i]);
    RegionTrace condition(
        call_.node.regions[0].name(), "the condition of " + called, types, names,
        [&](std::span<const Tensor> leaves) { return lanes_that_go_on(leaves); }, call_.at());
    types.insert(types.begin(), {DType::kPred, {call_.lanes()}});
    std::vector<std::string> body_names = names;
    body_names.insert(body_names.begin(), "active");
    RegionTrace body(
        call_.node.regions[1].name(), "the body of " + called, types, body_names,
        [&](std::span<const Tensor> leaves) { return next_carries(leaves[0], leaves.subspan(1)); },
        call_.at());
    std::vector<ir::OpenRegion> regions;
    regions.push_back(condition.finish());
    regions.push_back(body.finish());
    return regions;
  }

  /// Carries of the original while, from those of the while over lanes.
  BatchValues carries_of_one_lane(std::span<const Tensor> carries) const {
    BatchValues all(static_cast<std::size_t>(attributes_.carries));
    for (std::size_t k = 0; k < of_.kept.size(); k++) all[of_.kept[k]] = {carries[k], true};
    for (std::size_t k = 0; k < of_.free.size(); k++)
      all[of_.free[k]] = {carries[first_free_ + k], true};
    for (std::size_t k = 0; k < of_.shared.size(); k++)
      all[of_.shared[k]] = {carries[first_shared_ + k], false};
    return all;
  }

  /// Operands of the original while, from those that the regions of the while over lanes take.
  BatchValues of_one_lane(std::span<const Tensor> leaves) const {
    BatchValues all = carries_of_one_lane(leaves);
    all.insert(all.end(), call_.operands.begin() + attributes_.carries, call_.operands.end());
    for (std::size_t k = 0; k < by_lane_.size(); k++)
      all[by_lane_[k]] = {leaves[names_.size() + k], true};
    return all;
  }

  Leaves lanes_that_go_on(std::span<const Tensor> carries) const {
    const Tensor outer = call_.batching.active();
    const BatchValue more =
        call_.batching.batch(call_.node.regions[0], of_one_lane(carries), outer)[0];
    Tensor lanes = ir::full_value(more, call_.lanes(), call_.at());
    if (!outer.empty()) lanes = Operand(lanes, call_.at()) & Operand(outer, call_.at());
    return Leaves{{lanes}, {"condition"}};
  }

  Leaves next_carries(const Tensor& active, std::span<const Tensor> carries) const {
    const BatchValues next =
        call_.batching.batch(call_.node.regions[1], of_one_lane(carries), active);
    Leaves out{{}, names_};
    const auto give = [&](const std::vector<std::size_t>& some, bool full) {
      for (const std::size_t i : some)
        out.values.push_back(as_flagged(next[i], full, call_.batching, call_.at()));
    };
    give(of_.kept, true);
    give(of_.last, true);
    give(of_.free, true);
    give(of_.shared, false);
    return out;
  }

  WhileLanesAttributes attributes() const {
    WhileLanesAttributes all;
    all.lanes = call_.lanes();
    all.kept = static_cast<std::int64_t>(first_free_);
    all.free = static_cast<std::int64_t>(of_.free.size());
    all.shared = static_cast<std::int64_t>(of_.shared.size());
    for (std::size_t k = 0; k < by_lane_.size(); k++)
      all.batched_invariants.push_back(static_cast<std::int64_t>(k));
    all.collective = call_.batching.has_collectives(call_.node.regions[0]) ||
                     call_.batching.has_collectives(call_.node.regions[1]);
    all.name = attributes_.name;
    all.max_trip_count = attributes_.max_trip_count;
    all.checkpoint = attributes_.checkpoint;
    all.promised = attributes_.promised;
    all.ends_by_itself = attributes_.ends_by_itself;
    return all;
  }

  /// Results of the original while, from the last carries of the while over lanes.
  BatchValues results(std::span<const Tensor> last) const {
    BatchValues all = carries_of_one_lane(last);
    for (std::size_t k = 0; k < of_.last.size(); k++)
      all[of_.last[k]] = {last[of_.kept.size() + k], true};
    return all;
  }

  const BatchCall& call_;
  const WhileAttributes& attributes_;
  const LaneCarries of_;
  const std::size_t first_free_, first_shared_;
  ir::Operands operands_;  // without captures: inits of the carries, then those of by_lane_
  std::vector<std::string> names_;  // of the carries
  /// Batched invariants, by their positions among the operands. They are parameters of the regions
  /// rather than captures: a capture is identified by its value, and the same array may also be an
  /// invariant that all lanes share.
  std::vector<std::size_t> by_lane_;
};

BatchValues while_over_lanes(const BatchCall& call, const Flags& must) {
  const auto carries = static_cast<std::size_t>(call.node.attrs<WhileAttributes>().carries);
  const WhileOverLanes loop(call, with_results_by_lane(call, must, carries), carries);
  BatchValues results = loop.build();
  call.batching.note(call.node, reason(call, must));
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

}  // namespace rondo::control_flow
