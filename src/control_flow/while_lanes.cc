#include "control_flow/while_lanes.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "control_flow/branch_lanes.h"
#include "control_flow/carry.h"
#include "control_flow/signature.h"
#include "control_flow/while.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/batch.h"
#include "ir/derivative.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

ir::InferredTypes infer_while_lanes(const ir::InferContext& context) {
  const auto& a = context.attrs<WhileLanesAttributes>();
  const std::size_t carries = static_cast<std::size_t>(a.carries());
  if (context.regions.size() != 2)
    context.fail("needs a condition and a body\n  Give two regions, in this order.");
  if (carries > context.operands.size())
    context.fail("has fewer operands than carries\n  Give the init of each carry.");
  const TensorType lanes{DType::kPred, {a.lanes}};
  check_region_parameters(context, context.regions[0], 0);
  check_region_parameters(context, context.regions[1], 0, 1);
  if (const TensorType& active = context.regions[1].parameters()[0].type(); active != lanes) {
    context.fail(fmt::format("the body takes {} first\n  Let it take {}: which lanes go on.",
                             active.str(), lanes.str()));
  }
  if (context.regions[0].results() != std::vector<TensorType>{lanes}) {
    context.fail(
        fmt::format("the condition must return a pred for each lane\n  Return {}.", lanes.str()));
  }
  ir::InferredTypes types = carried_types(context, context.regions[1].outputs(), 0, carries);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.kept + a.free); i++) {
    if (types[i].rank() == 0 || types[i].shape[0] != a.lanes) {
      context.fail(
          fmt::format("carry {} is {}, without {} lanes in front\n  Give it one row for "
                      "each lane.",
                      i, types[i].str(), a.lanes));
    }
  }
  return types;
}

/// Whether the condition depends only on carries that lanes keep when they are done. Then it stays
/// false.
bool stays_false(const ir::Node& node) {
  const auto& a = node.attrs<WhileLanesAttributes>();
  const Function& condition = node.regions[0];
  absl::flat_hash_set<const ir::Node*> moving;
  for (std::int64_t i = a.kept; i < a.carries(); i++)
    moving.insert(condition.parameters()[static_cast<std::size_t>(i)].node());
  const auto moves = [&](const Tensor& x) { return moving.contains(x.node()); };
  return !moves(condition.outputs()[0]) &&
         std::none_of(condition.body().begin(), condition.body().end(), [&](const ir::Node* n) {
           return std::any_of(n->operands.begin(), n->operands.end(), moves);
         });
}

/// The body, in the form that protects the lanes that are done.
using RunBody = std::function<std::vector<Tensor>(std::span<const Tensor> arguments)>;

/// An ordinary while that also carries the mask of running lanes.
std::vector<Tensor> as_while(const ir::Node& node, std::span<const Tensor> operands,
                             const RunBody& run_body) {
  const auto& a = node.attrs<WhileLanesAttributes>();
  const SourceLocation at = node.location();
  const std::size_t carries = static_cast<std::size_t>(a.carries());
  const std::span<const Tensor> invariants = operands.subspan(carries);
  const auto wants_more = [&](std::span<const Tensor> carry) {
    std::vector<Tensor> all(carry.begin(), carry.end());
    all.insert(all.end(), invariants.begin(), invariants.end());
    return ir::Replay::inline_call(node.regions[0], all)[0];
  };
  Leaves init{{wants_more(operands.first(carries))}, {"active"}};
  init.values.insert(init.values.end(), operands.begin(), operands.begin() + a.carries());
  const std::vector<std::string> names = node.regions[0].param_names();
  init.paths.insert(init.paths.end(), names.begin(), names.begin() + a.carries());
  const bool done_is_done = stays_false(node);
  const RegionCallable any_runs = [&](std::span<const Tensor> leaves) {
    return Leaves{{any(Operand(leaves[0], at))}, {"condition"}};
  };
  const RegionCallable trip = [&](std::span<const Tensor> leaves) {
    const Tensor& active = leaves[0];
    std::vector<Tensor> arguments(leaves.begin(), leaves.end());
    arguments.insert(arguments.end(), invariants.begin(), invariants.end());
    std::vector<Tensor> next = run_body(arguments);
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.kept); i++)
      next[i] = ir::blend(active, next[i], leaves[i + 1], at);
    const Tensor more = wants_more(next);
    next.insert(next.begin(), done_is_done ? more : Operand(active, at) & Operand(more, at));
    return Leaves{std::move(next), init.paths};
  };
  WhileAttributes attributes;
  attributes.name = a.name;
  attributes.max_trip_count = a.max_trip_count;
  attributes.checkpoint = a.checkpoint;
  attributes.promised = a.promised;
  attributes.ends_by_itself = a.ends_by_itself;
  attributes.source.first = 1;
  std::vector<Tensor> last = traced_while(any_runs, trip, init, std::move(attributes), at);
  last.erase(last.begin());
  return last;
}

/// Products, sorts and similar ops, with more elements per lane than loops over lanes handle.
bool has_heavy_kernels(const Function& region, std::int64_t lanes) {
  // Threshold: Elements per lane from which a product or sort in a branch makes it worth testing
  // whether any lane takes the branch; loops over lanes have no more. Not measured.
  constexpr std::int64_t kManyElements = 16;
  return std::any_of(region.body().begin(), region.body().end(), [&](const ir::Node* node) {
    return node->op->runs() && node->op->cost == ir::Cost::kHeavy &&
           std::any_of(node->operands.begin(), node->operands.end(), [&](const Tensor& operand) {
             return operand.type().elements() > kManyElements * lanes;
           });
  });
}

/// If lanes make at most one trip, no loop is needed, and nothing runs if no lane makes it.
std::vector<Tensor> as_branch(const ir::Node& node, std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  const Tensor takes = ir::Replay::inline_call(node.regions[0], operands)[0];
  const auto run = [&] {
    std::vector<Tensor> arguments{takes};
    arguments.insert(arguments.end(), operands.begin(), operands.end());
    std::vector<Tensor> results = ir::Replay::inline_call(node.regions[1], arguments);
    const auto kept = static_cast<std::size_t>(node.attrs<WhileLanesAttributes>().kept);
    for (std::size_t i = 0; i < kept; i++)
      results[i] = ir::blend(takes, results[i], operands[i], at);
    return results;
  };
  if (!has_heavy_kernels(node.regions[1], node.attrs<WhileLanesAttributes>().lanes)) return run();
  std::vector<std::string> names = node.regions[0].param_names();
  names.resize(node.types.size());
  // Which lanes took the branch is not used again.
  const auto without_first = [&](std::vector<Tensor> values) {
    return Leaves{{values.begin() + 1, values.begin() + std::ssize(names)},
                  {names.begin() + 1, names.end()}};
  };
  const RegionCallable both[] = {[&](std::span<const Tensor>) { return without_first(run()); },
                                 [&](std::span<const Tensor>) {
                                   return without_first({operands.begin(), operands.end()});
                                 }};
  std::vector<Tensor> results =
      detail::branch(Operand(any(Operand(takes, at)), at), detail::BranchKind::kCond, both, {});
  results.insert(results.begin(), takes);
  return results;
}

std::vector<Tensor> expand_while_lanes(const ir::Node& node, std::span<const Tensor> operands) {
  if (node.attrs<WhileLanesAttributes>().predicated) return as_branch(node, operands);
  return as_while(node, operands, [&](std::span<const Tensor> arguments) {
    return ir::Replay::inline_call(node.regions[1], arguments);
  });
}

/// A form that reverse mode can differentiate: see replay_in_safe_lanes.
std::vector<Tensor> while_in_safe_lanes(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& a = node.attrs<WhileLanesAttributes>();
  if (a.collective || a.lanes == 0) return expand_while_lanes(node, operands);
  ir::Flags batched(operands.size() + 1);
  std::fill_n(batched.begin() + 1, a.kept + a.free, true);
  for (const std::int64_t i : a.batched_invariants)
    batched[static_cast<std::size_t>(1 + a.carries() + i)] = true;
  return as_while(node, operands, [&](std::span<const Tensor> arguments) {
    return replay_in_safe_lanes(node.regions[1], arguments, batched, arguments[0], node.location());
  });
}

ir::Jvp while_lanes_jvp(const ir::JvpCall& call) {
  return call.derivatives.jvp_expanded(call, expand_while_lanes);
}
ir::Reverse while_lanes_reverse(const ir::ReverseCall& call) {
  return call.derivatives.reverse_expanded(call, while_in_safe_lanes);
}

ir::LaneLoop lanes_of_while(const ir::Node& node) {
  const auto& a = node.attrs<WhileLanesAttributes>();
  ir::LaneLoop loop;
  loop.lanes = a.lanes;
  loop.name = a.name;
  if (!a.ends_by_itself) loop.max_trip_count = a.max_trip_count;
  loop.promised = a.promised;
  loop.predicated = a.predicated;
  return loop;
}

}  // namespace

namespace {

/// Nodes that compute scalars from nothing but scalars: the same for all lanes.
absl::flat_hash_set<const ir::Node*> nodes_of_singles(const Function& function) {
  absl::flat_hash_set<const ir::Node*> found;
  const auto is_single = [](const TensorType& type) { return type.elements() == 1; };
  for (const ir::Node* node : function.body()) {
    const auto is_given = [&](const Tensor& operand) {
      return is_single(operand.type()) &&
             (ir::is_parameter(operand.node()) || ir::is_constant(operand.node()) ||
              found.contains(operand.node()));
    };
    if (node->regions.empty() && !node->op->observer && !ir::is_constant(node) &&
        std::all_of(node->types.begin(), node->types.end(), is_single) &&
        std::all_of(node->operands.begin(), node->operands.end(), is_given))
      found.insert(node);
  }
  return found;
}

}  // namespace

const ir::OpDef kWhileLanes{
    .name = "while_lanes",
    .types = {.infer = infer_while_lanes},
    .expansion = {.rule = expand_while_lanes,
                  .in_safe_lanes = while_in_safe_lanes,
                  .inlines_regions = true},
    .derivative = {.region_jvp = while_lanes_jvp, .reverse = while_lanes_reverse},
    .text = {.attributes = &ir::kFieldText<WhileLanesAttributes>},
    .construct = {.lane_loop = lanes_of_while}};

std::vector<Tensor> branch_as_loop(const Function& branch, std::span<const Tensor> arguments,
                                   const Tensor& takes, const std::vector<Tensor>& otherwise,
                                   bool keeps, const std::string& name, SourceLocation at) {
  ir::Replay replay;
  for (std::size_t i = 0; i < arguments.size(); i++)
    replay.bind(branch.parameters()[i], arguments[i]);
  const absl::flat_hash_set<const ir::Node*> of_singles = nodes_of_singles(branch);
  const auto copy = [&](bool singles) {
    for (const ir::Node* node : branch.body()) {
      if (ir::is_constant(node) || of_singles.contains(node) != singles) continue;
      replay.bind_results(
          node, ir::make_typed(*node->op, replay.operands_of(node), node->attributes, node->types,
                               node->location(), node->regions));
    }
  };
  copy(true);  // once, not in each block of lanes
  std::vector<std::string> names{"takes"};
  for (std::size_t i = 0; i < otherwise.size(); i++) names.push_back(fmt::format("result{}", i));
  ir::Operands carries{takes};
  carries.insert(carries.end(), otherwise.begin(), otherwise.end());
  std::vector<TensorType> types = types_of(carries);
  const RegionCallable has_yet_to = [&](std::span<const Tensor> leaves) {
    return Leaves{{leaves[0]}, {"takes"}};
  };
  const RegionCallable trip = [&](std::span<const Tensor>) {
    Leaves out{{zeros(takes.type(), at)}, names};
    copy(false);
    for (const Tensor& result : branch.outputs()) out.values.push_back(replay(result));
    return out;
  };
  RegionTrace condition(name + "_cond", "the lanes of " + name, types, names, has_yet_to, at);
  types.insert(types.begin(), takes.type());
  std::vector<std::string> body_names = names;
  body_names.insert(body_names.begin(), "active");
  RegionTrace body(name + "_body", name, types, body_names, trip, at);
  WhileLanesAttributes attributes;
  attributes.lanes = takes.type().elements();
  attributes.kept = keeps ? static_cast<std::int64_t>(carries.size()) : 1;
  attributes.free = static_cast<std::int64_t>(carries.size()) - attributes.kept;
  attributes.name = name;
  attributes.predicated = true;
  std::vector<ir::OpenRegion> regions{condition.finish(), body.finish()};
  std::vector<Tensor> last = make_construct(kWhileLanes, std::move(carries), std::move(attributes),
                                            std::move(regions), at);
  last.erase(last.begin());
  return last;
}

}  // namespace rondo::control_flow
