#include "executor/tapes.h"

#include <vector>

#include "executor/names.h"
#include "executor/region_plan.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/loop_nest.h"

namespace rondo::executor {

namespace {

using ir::ValueKey;

/// Values that are one tape, through loops, branches and writes.
class Classes {
 public:
  std::uint32_t of(const ValueKey& value) {
    const auto [found, is_new] =
        numbers_.try_emplace(value, static_cast<std::uint32_t>(parents_.size()));
    if (is_new) parents_.push_back(found->second);
    return root(found->second);
  }
  void join(const ValueKey& a, const ValueKey& b) { parents_[of(a)] = of(b); }
  std::uint32_t root(std::uint32_t number) {
    while (parents_[number] != number) number = parents_[number] = parents_[parents_[number]];
    return number;
  }
  const absl::flat_hash_map<ValueKey, std::uint32_t>& numbers() const { return numbers_; }

 private:
  absl::flat_hash_map<ValueKey, std::uint32_t> numbers_;
  std::vector<std::uint32_t> parents_;
};

/// Whether a value of this node may be a tape: other values are initial values of tapes.
bool hands_on(const Node* node) {
  if (ir::is_parameter(node)) return true;
  switch (strategy_of(*node)) {
    case Strategy::kLoop:
    case Strategy::kBranch:
    case Strategy::kForward:
    case Strategy::kTapeWrite:
      return true;
    default:
      return false;
  }
}

void join_flow(const Node& node, Classes& classes) {
  const ir::RegionLayout layout = *ir::region_layout(&node);
  const auto join = [&](const Tensor& a, const Tensor& b) {
    if (hands_on(a.node()) && hands_on(b.node())) classes.join(a, b);
  };
  for (std::size_t i = layout.fixed; i < node.operands.size(); i++) {
    for (const Function& region : node.regions)
      join(node.operands[i], region.parameters()[layout.param_of_operand(i)]);
  }
  for (std::size_t k = 0; k < node.regions.size(); k++) {
    if (!layout.is_body(k)) continue;
    for (std::uint32_t i = 0; i < node.types.size(); i++) {
      join(node.regions[k].outputs()[i], Tensor::of(&node, i));
      // A loop's result is the last value of its parameter.
      if (layout.is_loop())
        join(node.regions[k].parameters()[layout.index + i], Tensor::of(&node, i));
    }
  }
}

bool may_have_tape(const Node& node, std::size_t operand) {
  switch (strategy_of(node)) {
    case Strategy::kLoop:
    case Strategy::kBranch:
    case Strategy::kForward:
      return true;
    case Strategy::kTapeRead:
    case Strategy::kTapeWrite:
      return operand == 0;
    default:
      return false;
  }
}

}  // namespace

Tapes tapes_of(const Function& function) {
  Tapes tapes;
  const std::vector<Function> regions = ir::regions_inside_out(function);
  std::vector<const Node*> ends;
  for (const Function& region : regions) {
    for (const Node* node : region.body()) {
      if (ir::has_loops<ir::TapeAccess>(*node)) ends.push_back(node);
    }
  }
  if (ends.empty()) return tapes;
  Classes classes;
  for (const Function& region : regions) {
    for (const Node* node : region.body()) {
      const Strategy form = strategy_of(*node);
      if (form == Strategy::kLoop || form == Strategy::kBranch) join_flow(*node, classes);
      if (form == Strategy::kForward) {
        for (std::uint32_t i = 0; i < node->types.size(); i++) {
          if (hands_on(node->operands[i].node()))
            classes.join(node->operands[i], Tensor::of(node, i));
        }
      }
      if (form == Strategy::kTapeWrite && hands_on(node->operands[0].node()))
        classes.join(node->operands[0], Tensor::of(node, 0));
    }
  }
  absl::flat_hash_map<std::uint32_t, std::string_view> loops;  // of classes
  for (const Node* node : ends) {
    const ir::TapeAccess access = *ir::loops_as<ir::TapeAccess>(*node);
    if (access.writes) loops.try_emplace(classes.of(Tensor::of(node, 0)), access.loop);
    if (hands_on(node->operands[0].node()))
      loops.try_emplace(classes.of(node->operands[0]), access.loop);
  }
  for (const auto& [value, number] : classes.numbers()) {
    if (const auto loop = loops.find(classes.root(number)); loop != loops.end())
      tapes.values.emplace(value, loop->second);
  }
  const auto refuse = [&](const char* what, const Tensor& value) {
    if (tapes.why_not.empty() && tapes.values.contains(value)) {
      tapes.why_not = fmt::format("{} at {}: a tape of unknown length {}", value.node()->op->name,
                                  value.node()->location().str(), what);
    }
  };
  for (const Tensor& parameter : function.parameters()) refuse("is a parameter", parameter);
  for (const Tensor& output : function.outputs()) refuse("is a result", output);
  for (const Function& region : regions) {
    for (const Node* node : region.body()) {
      for (std::size_t i = 0; i < node->operands.size(); i++) {
        if (!may_have_tape(*node, i)) refuse("is an array for another op", node->operands[i]);
      }
    }
  }
  return tapes;
}

}  // namespace rondo::executor
