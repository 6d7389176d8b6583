#include "passes/hoist.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "ir/layout.h"
#include "ir/loop_nest.h"
#include "ir/region_facts.h"

namespace rondo::passes {

namespace {

using ir::Node;

/// Finds the nodes that can be moved out of one region of a loop.
class HoistedNodes {
 public:
  HoistedNodes(const ir::RegionLayout& layout, std::size_t region, bool with_indices)
      : layout_(layout), function_(layout.node->regions[region]) {
    const bool always_runs =
        layout.condition == region || layout.runs_first || layout.trip_count.value_or(0) > 0;
    for (std::size_t p = 0; p < layout.params(); p++) {
      if (layout.role_of_param(p) == ir::RegionLayout::Role::kInvariant)
        still_.insert(function_.parameters()[p].node());
    }
    for (const Node* node : function_.body()) {
      if (ir::is_constant(node)) {
        still_.insert(node);
      } else if (can_leave(node) && !ir::observes(node) &&
                 (always_runs || !ir::may_not_end(node))) {
        if (!always_runs && !with_indices && ir::takes_indices(node)) {
          withheld_ = true;
          continue;
        }
        still_.insert(node);
        nodes_.push_back(node);
      }
    }
    keep_repetitions();
    if (nodes_.empty()) return;
    absl::flat_hash_set<const Node*> leaving(nodes_.begin(), nodes_.end());
    absl::flat_hash_set<ir::ValueKey> seen;
    auto use = [&](const Tensor& value) {
      if (leaving.contains(value.node()) && seen.insert(value).second) used_.push_back(value);
    };
    for (const Node* node : function_.body()) {
      if (leaving.contains(node)) continue;
      for (const Tensor& operand : node->operands) use(operand);
    }
    for (const Tensor& result : function_.outputs()) use(result);
  }

  bool empty() const { return nodes_.empty(); }
  bool withheld() const { return withheld_; }
  const Function& function() const { return function_; }
  /// The hoisted values that the rest of the region uses.
  const std::vector<Tensor>& used() const { return used_; }

  /// Copies the nodes into the function around the loop, whose operands have become `operands`.
  /// Returns the new values of `used()`.
  std::vector<Tensor> move_out(const ir::Operands& operands) const {
    ir::Replay replay;
    for (std::size_t p = layout_.index; p < layout_.params(); p++) {
      replay.bind(function_.parameters()[p], operands[layout_.operand_of_param(p)]);
    }
    for (const Node* node : nodes_) replay.copy(node);
    std::vector<Tensor> moved;
    for (const Tensor& value : used_) moved.push_back(replay(value));
    return moved;
  }

 private:
  /// An array that only repeats the elements of a smaller one stays where it is used, unless other
  /// nodes that leave read it: the smaller one takes less memory, and loops read it as well. Not of
  /// numbers that have cotangents, which are summed once if they are repeated before the loop.
  void keep_repetitions() {
    absl::flat_hash_set<const Node*> read;
    std::vector<const Node*> kept;
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (repeats_elements(**node) && !read.contains(*node)) continue;
      kept.push_back(*node);
      for (const Tensor& operand : (*node)->operands) read.insert(operand.node());
    }
    nodes_.assign(kept.rbegin(), kept.rend());
  }
  static bool repeats_elements(const Node& node) {
    const DType dtype = node.type().dtype;
    return node.regions.empty() && node.operands.size() == 1 && !is_floating(dtype) &&
           !is_complex(dtype) && node.type().elements() > node.operand_type(0).elements() &&
           ir::has_loops<ir::AccessMap>(node);
  }
  bool can_leave(const Node* node) const {
    std::int64_t operand_bytes = 0, result_bytes = 0;
    auto add = [](std::int64_t& sum, std::int64_t bytes) {
      if (__builtin_add_overflow(sum, bytes, &sum)) sum = INT64_MAX;
    };
    for (const Tensor& operand : node->operands) {
      if (!still_.contains(operand.node())) return false;
      add(operand_bytes, operand.type().bytes());
    }
    for (const TensorType& type : node->types) add(result_bytes, type.bytes());
    return result_bytes <= std::max(kHoistedBytes, operand_bytes);
  }

  const ir::RegionLayout& layout_;
  const Function& function_;
  absl::flat_hash_set<const Node*> still_;  // parameters and nodes that are equal in every trip
  std::vector<const Node*> nodes_;          // to be hoisted, in the order of the body
  std::vector<Tensor> used_;
  bool withheld_ = false;
};

/// The region with `added` more invariants; those from `own` on replace what was hoisted from it.
Function without_hoisted(const HoistedNodes& hoisted, const std::vector<Tensor>& added,
                         std::size_t own) {
  const Function& region = hoisted.function();
  FunctionRewrite rewrite(region);
  std::vector<Tensor> params = region.parameters();
  auto token = params.empty() ? std::make_shared<ir::RegionToken>()
                              : params[0].node()->attrs<ir::ParameterAttributes>().region;
  for (std::size_t i = 0; i < added.size(); i++) {
    const Node* from = added[i].node();
    params.push_back(ir::make_parameter(added[i].type(), std::string(from->op->name),
                                        static_cast<std::int64_t>(params.size()), token,
                                        from->location()));
    if (i >= own && i < own + hoisted.used().size())
      rewrite.bind(hoisted.used()[i - own], params.back());
  }
  for (const Node* node : region.body()) {
    if (rewrite.changed()) rewrite.replace(node, rewrite.rebuilt(node));
  }
  std::vector<Tensor> results;
  for (const Tensor& result : region.outputs()) results.push_back(rewrite(result));
  return rewrite.finish(std::move(params), std::move(results), region.result_names());
}

Hoisted hoisted_from(const Function& function, bool with_indices) {
  FunctionRewrite rewrite(function);
  bool withheld = false;
  for (const Node* node : function.body()) {
    const auto layout = ir::region_layout(node);
    std::vector<HoistedNodes> hoisted;
    bool any = false;
    for (std::size_t k = 0; layout && layout->is_loop() && k < node->regions.size(); k++) {
      hoisted.emplace_back(*layout, k, with_indices);
      any = any || !hoisted.back().empty();
      withheld = withheld || hoisted.back().withheld();
    }
    if (!any) {
      if (rewrite.changed()) rewrite.replace(node, rewrite.rebuilt(node));
      continue;
    }
    ir::Operands operands = rewrite.operands_of(node);
    std::vector<Tensor> added;
    std::vector<std::size_t> own;  // where those of each region begin
    for (const HoistedNodes& nodes : hoisted) {
      own.push_back(added.size());
      const std::vector<Tensor> moved = nodes.move_out(operands);
      added.insert(added.end(), moved.begin(), moved.end());
    }
    std::vector<Function> regions;
    for (std::size_t k = 0; k < hoisted.size(); k++)
      regions.push_back(without_hoisted(hoisted[k], added, own[k]));
    operands.insert(operands.end(), added.begin(), added.end());
    rewrite.replace(node, ir::rebuild(node, std::move(operands), std::move(regions)));
  }
  return {rewrite.finish(), withheld};
}

}  // namespace

Function hoist_function(const Function& function) { return hoisted_from(function, true).function; }
Hoisted hoist_unchecked(const Function& function) { return hoisted_from(function, false); }

}  // namespace rondo::passes
