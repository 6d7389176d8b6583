#include "executor/for_loops.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "executor/branch_work.h"
#include "executor/interchange.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/function_data.h"
#include "ir/loop_nest.h"
#include "native/target.h"
#include "passes/expand.h"
#include "passes/prune.h"

namespace rondo::executor {

namespace {

/// For bytecode too: it runs the loops that native code of this machine runs.
ir::LoopCode loop_code() {
  const native_code::Target* target = native_code::available_target();
  return {.is_native = target != nullptr,
          .has_strided_vectors = target != nullptr && target->most_lane_stride > 0};
}

/// An elementwise kernel of ops whose elements loops can compute; or one whose record says so.
bool decomposes(const Node& node, const ir::LoopCode& code) {
  const ir::OpDef& op = *node.op;
  if (op.expansion.is_preferred) return op.expansion.is_preferred(node, code);
  return op.runs() && op.expansion.rule && !op.structure.element &&
         op.cost == ir::Cost::kElementwise;
}

/// A kernel that a rule can replace.
bool is_replaceable_kernel(const Node& node) {
  const ir::OpExpansion& expansion = node.op->expansion;
  if (!node.op->runs() || node.op->observer) return false;
  if (!expansion.rule && !expansion.in_lanes && !expansion.in_loops) return false;
  return strategy_of(node) == Strategy::kKernel && !ir::contraction(node);
}

Function expanded_for_loops(const Function& function, passes::Chooses decomposes_node,
                            const ir::LoopCode& code) {
  BranchWork branches;
  const auto keeps = [&](const Node& node) {
    return node.op->construct.lane_loop &&
           (!stands_for_branch(node) || branches.is_expensive(node)) && interchange(node, false);
  };
  const auto declines = [&](const Node& node) {
    return !node.op->construct.lane_loop || branches.is_too_deep(node);
  };
  return passes::expand(function, keeps, declines, decomposes_node, code);
}

}  // namespace

std::optional<Function> for_loops(const Function& given) {
  // While slices of an iota are xs of loops, which their indices give.
  const Function function = passes::copy_indices(given);
  const auto decomposes_node = [code = loop_code()](const Node& node) {
    return decomposes(node, code);
  };
  const auto is_other = [&](const Node* node) {
    return node->op->construct.lane_loop || node->op->expansion.in_lanes || decomposes_node(*node);
  };
  const std::vector<Function> regions = ir::regions_inside_out(function);
  if (function.same_as(given) &&
      std::none_of(regions.begin(), regions.end(), [&](const Function& region) {
        return std::any_of(region.body().begin(), region.body().end(), is_other);
      }))
    return std::nullopt;
  return expanded_for_loops(function, decomposes_node, loop_code());
}

Function for_loops_alone(const Function& function) {
  const ir::LoopCode code{.calls_kernels = false, .is_native = true};
  const auto decomposes_node = [&](const Node& node) {
    return decomposes(node, code) || is_replaceable_kernel(node);
  };
  return expanded_for_loops(function, decomposes_node, code);
}

namespace {

/// Branches represented as loops that contain loops and are in none.
absl::flat_hash_set<const Node*> branches_around_loops(const Function& function) {
  absl::flat_hash_set<const Node*> found;
  BranchWork branches;
  std::vector<Function> open{function};
  while (!open.empty()) {
    const Function region = std::move(open.back());
    open.pop_back();
    for (const Node* node : region.body()) {
      if (node->op->construct.flow == ir::Flow::kSelect)
        open.insert(open.end(), node->regions.begin(), node->regions.end());
      else if (stands_for_branch(*node) && branches.has_loops(node->regions[1]))
        found.insert(node);
    }
  }
  return found;
}

}  // namespace

std::optional<Function> with_loops_outermost(Function function) {
  bool changed = false;
  const auto keeps = [](const Node& node) {
    return static_cast<bool>(node.op->construct.lane_loop);
  };
  // A branch inside such a branch may be one.
  for (auto found = branches_around_loops(function); !found.empty();
       found = branches_around_loops(function)) {
    changed = true;
    function =
        passes::expand(function, keeps, [&](const Node& node) { return found.contains(&node); });
  }
  if (!changed) return std::nullopt;
  return function;
}

}  // namespace rondo::executor
