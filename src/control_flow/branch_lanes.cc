#include "control_flow/branch_lanes.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "control_flow/carry.h"
#include "control_flow/scan.h"
#include "control_flow/signature.h"
#include "control_flow/while_lanes.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "ir/loop_nest.h"
#include "rondo/gradients.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

using ir::BatchCall;
using ir::BatchValues;
using ir::Flags;

namespace {

ir::InferredTypes infer_branch_lanes(const ir::InferContext& context) {
  const auto& a = context.attrs<BranchLanesAttributes>();
  if (context.operands.empty() || context.regions.empty())
    context.fail(
        "needs a selector and a branch\n  Give the selector as the first operand, and a region for "
        "each branch.");
  const TensorType& selector = context.type(0);
  if (selector != TensorType{DType::kPred, {a.lanes}} &&
      selector != TensorType{DType::kS32, {a.lanes}}) {
    context.fail(
        fmt::format("the selector is {}, it must be pred or s32 for {} lanes\n  Give it "
                    "one element for each lane.",
                    selector.str(), a.lanes));
  }
  ir::InferredTypes results = branch_types(context);
  for (const TensorType& type : results) {
    if (type.rank() == 0 || type.shape[0] != a.lanes) {
      context.fail(
          fmt::format("a result is {}, without {} lanes in front\n  Return one row for each lane.",
                      type.str(), a.lanes));
    }
  }
  return results;
}

/// The lanes that take branch b.
Tensor takers(const Tensor& selector, std::size_t branch, SourceLocation at) {
  if (is_pred(selector.dtype())) return branch == 0 ? selector : !Operand(selector, at);
  return eq(Operand(selector, at), Operand(static_cast<std::int64_t>(branch), at));
}

/// Each lane's results from the branch that it takes.
std::vector<Tensor> merged(const Tensor& selector, std::vector<std::vector<Tensor>> of_branches,
                           SourceLocation at) {
  std::vector<Tensor> results = std::move(of_branches.back());
  for (std::size_t b = of_branches.size() - 1; b-- > 0;) {
    const Tensor take = takers(selector, b, at);
    for (std::size_t i = 0; i < results.size(); i++)
      results[i] = ir::blend(take, of_branches[b][i], results[i], at);
  }
  return results;
}

std::vector<Tensor> expand_branch_lanes(const ir::Node& node, std::span<const Tensor> operands) {
  std::vector<std::vector<Tensor>> of_branches;
  for (const Function& branch : node.regions)
    of_branches.push_back(ir::Replay::inline_call(branch, operands.subspan(1)));
  return merged(operands[0], std::move(of_branches), node.location());
}

Flags batched_arguments(const ir::Node& node) {
  Flags flags(node.operands.size() - 1);
  for (const std::int64_t i : node.attrs<BranchLanesAttributes>().batched)
    flags[static_cast<std::size_t>(i)] = true;
  return flags;
}

/// A form that can be differentiated: see replay_in_safe_lanes.
std::vector<Tensor> branches_in_safe_lanes(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& a = node.attrs<BranchLanesAttributes>();
  if (a.collective || a.lanes == 0) return expand_branch_lanes(node, operands);
  const SourceLocation at = node.location();
  const Flags batched = batched_arguments(node);
  std::vector<std::vector<Tensor>> of_branches;
  for (std::size_t b = 0; b < node.regions.size(); b++) {
    const Tensor take = takers(operands[0], b, at);
    const RegionCallable run = [&](std::span<const Tensor>) {
      Leaves out{replay_in_safe_lanes(node.regions[b], operands.subspan(1), batched, take, at), {}};
      for (std::size_t i = 0; i < out.values.size(); i++)
        out.paths.push_back(fmt::format("result{}", i));
      return out;
    };
    const RegionCallable skip = [&](std::span<const Tensor>) {
      Leaves out;
      for (std::size_t i = 0; i < node.types.size(); i++) {
        out.values.push_back(zeros(node.types[i], at));
        out.paths.push_back(fmt::format("result{}", i));
      }
      return out;
    };
    const RegionCallable both[] = {run, skip};
    of_branches.push_back(
        detail::branch(Operand(any(Operand(take, at)), at), detail::BranchKind::kCond, both, {}));
  }
  return merged(operands[0], std::move(of_branches), at);
}

/// Each branch as a loop over the lanes that take it, where that is worth a loop.
std::vector<Tensor> branches_once(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& a = node.attrs<BranchLanesAttributes>();
  if (a.collective) return expand_branch_lanes(node, operands);
  const SourceLocation at = node.location();
  std::vector<Tensor> results;
  for (const TensorType& type : node.types) results.push_back(zeros(type, at));
  // The last branch runs first. Lanes that do not take it get their results from the other
  // branches.
  const std::size_t last = node.regions.size() - 1;
  for (std::size_t b = last + 1; b-- > 0;) {
    results = branch_as_loop(node.regions[b], operands.subspan(1), takers(operands[0], b, at),
                             results, b != last, a.name, at);
  }
  return results;
}

ir::Jvp branch_lanes_jvp(const ir::JvpCall& call) {
  return call.derivatives.jvp_expanded(call, expand_branch_lanes);
}
ir::Reverse branch_lanes_reverse(const ir::ReverseCall& call) {
  return call.derivatives.reverse_expanded(call, branches_in_safe_lanes);
}

}  // namespace

const ir::OpDef kBranchLanes{
    .name = "branch_lanes",
    .types = {.infer = infer_branch_lanes},
    .expansion = {.rule = expand_branch_lanes,
                  .in_lanes = branches_once,
                  .in_safe_lanes = branches_in_safe_lanes,
                  .inlines_regions = true},
    .derivative = {.region_jvp = branch_lanes_jvp, .reverse = branch_lanes_reverse},
    .text = {.attributes = &ir::kFieldText<BranchLanesAttributes>}};

std::vector<Tensor> branch_by_lane(const BatchCall& call, const Tensor& selector,
                                   const std::vector<LaneBranch>& branches,
                                   const BatchValues& arguments) {
  const SourceLocation at = call.at();
  std::vector<Tensor> values;
  std::vector<TensorType> types;
  std::vector<std::string> names;
  BranchLanesAttributes attributes{call.lanes(), {}, false, std::string(call.node.op->name)};
  for (std::size_t i = 0; i < arguments.size(); i++) {
    values.push_back(arguments[i].value);
    types.push_back(arguments[i].value.type());
    names.push_back(fmt::format("x{}", i));
    if (arguments[i].batched) attributes.batched.push_back(static_cast<std::int64_t>(i));
  }
  for (const Function& region : call.node.regions)
    attributes.collective = attributes.collective || call.batching.has_collectives(region);
  std::vector<ir::OpenRegion> open;
  for (std::size_t b = 0; b < branches.size(); b++) {
    Tensor active = takers(selector, b, at);
    if (const Tensor& outer = call.batching.active(); !outer.empty())
      active = Operand(active, at) & Operand(outer, at);
    const RegionCallable on_lanes = [&](std::span<const Tensor> leaves) {
      BatchValues given = arguments;
      for (std::size_t i = 0; i < given.size(); i++) given[i].value = leaves[i];
      Leaves out;
      for (const ir::BatchValue& result : branches[b](given, active)) {
        out.values.push_back(ir::full_value(result, call.lanes(), at));
        out.paths.push_back(fmt::format("result{}", out.paths.size()));
      }
      return out;
    };
    RegionTrace traced(fmt::format("branch_{}", b), "a branch by lane", types, names, on_lanes, at);
    open.push_back(traced.finish());
  }
  const std::vector<Tensor> captures = ir::union_captures(open);
  ir::Operands operands{selector};
  operands.insert(operands.end(), values.begin(), values.end());
  operands.insert(operands.end(), captures.begin(), captures.end());
  std::vector<Function> regions;
  for (ir::OpenRegion& region : open)
    regions.push_back(ir::close_region(std::move(region), captures));
  return ir::make_many(kBranchLanes, std::move(operands), std::move(attributes), at,
                       std::move(regions));
}

namespace {

/// Values that differ by lane, in two versions: as they are, and with the inactive lanes replaced
/// by the values of an active source lane.
class SafeLanes {
 public:
  SafeLanes(Tensor active, SourceLocation at)
      : active_(std::move(active)), source_(argmax(Operand(active_, at), 0)), at_(at) {}

  void add_raw(const Tensor& value) { raw_.insert(key(value)); }
  bool is_raw(const Tensor& value) const { return raw_.contains(key(value)); }
  Tensor safe(const Tensor& value) {
    const auto [place, is_new] = safe_.try_emplace(key(value));
    if (is_new) {
      const Tensor row = read_slice(value, source_, 0, at_);
      std::vector<std::int64_t> map;
      for (std::int64_t axis = 1; axis < value.rank(); axis++) map.push_back(axis);
      const Tensor rows = broadcast_in_dim(Operand(detail::stop_gradient(row, at_), at_),
                                           value.shape().vector(), map);
      place->second = where(Operand(ir::broadcast_lanes(active_, value.shape(), at_), at_),
                            Operand(value, at_), Operand(rows, at_));
    }
    return place->second;
  }

 private:
  using Key = std::pair<const ir::Node*, std::uint32_t>;
  static Key key(const Tensor& value) { return {value.node(), value.result()}; }

  Tensor active_, source_;
  SourceLocation at_;
  absl::flat_hash_set<Key> raw_;
  absl::flat_hash_map<Key, Tensor> safe_;
};

/// Whether the op leaves the lanes on axis 0, where batching puts them. In the xs and ys of a scan
/// they are on axis 1.
bool keeps_lanes_in_front(const ir::Node& node) {
  const auto read = ir::loops_as<ir::AccessMap>(node);
  if (!read) return true;
  const ir::AxisRead& lanes = read->front();
  return lanes.axis == 0 && lanes.start == 0 && lanes.step == 1 &&
         (lanes.dynamic < 0 || lanes.room == 0) &&
         node.type().shape[0] == node.operand_type(0).shape[0];
}

/// Whether lane i of the results depends on lane i of the batched operands only, linearly, and with
/// coefficients that are the same in all lanes.
bool passes_lanes_on(const ir::Node& node, const std::vector<bool>& raw) {
  const ir::OpDef& op = *node.op;
  if ((op.derivative.is_linear && !op.derivative.is_linear(node)) || !keeps_lanes_in_front(node))
    return false;
  if (op.derivative.linear == ir::Linear::kJointly) return true;
  return op.derivative.linear == ir::Linear::kFirst &&
         std::find(raw.begin() + 1, raw.end(), true) == raw.end();
}

}  // namespace

std::vector<Tensor> replay_in_safe_lanes(const Function& function,
                                         std::span<const Tensor> arguments, const Flags& batched,
                                         const Tensor& active, SourceLocation at) {
  SafeLanes lanes(active, at);
  ir::Replay replay;
  std::vector<Tensor> kept;  // keeps alive what is found by address
  for (std::size_t i = 0; i < arguments.size(); i++) {
    replay.bind(function.parameters()[i], arguments[i]);
    // Found by its parameter: the same array may also be an argument that is the same for all
    // lanes.
    if (batched[i]) lanes.add_raw(function.parameters()[i]);
  }
  for (const ir::Node* node : function.body()) {
    if (ir::is_constant(node)) continue;
    const ir::LocationScope scope(node->location());
    ir::Operands operands = replay.operands_of(node);
    std::vector<bool> raw;
    for (const Tensor& operand : node->operands) raw.push_back(lanes.is_raw(operand));
    const bool any_raw = std::find(raw.begin(), raw.end(), true) != raw.end();
    const bool raw_result = any_raw && passes_lanes_on(*node, raw);
    for (std::size_t i = 0; any_raw && !raw_result && i < operands.size(); i++) {
      if (raw[i]) operands[i] = lanes.safe(operands[i]);
    }
    const Tensor copy = ir::make_typed(*node->op, std::move(operands), node->attributes,
                                       node->types, node->location(), node->regions);
    kept.push_back(copy);
    replay.bind_results(node, copy);
    for (std::uint32_t r = 0; raw_result && r < node->types.size(); r++)
      lanes.add_raw(Tensor::of(node, r));
  }
  std::vector<Tensor> results;
  for (const Tensor& output : function.outputs()) results.push_back(replay(output));
  return results;
}

}  // namespace rondo::control_flow
