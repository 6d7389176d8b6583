#include "executor/for_loops.h"

#include <algorithm>
#include <vector>

#include "executor/lane_form.h"
#include "executor/names.h"
#include "ir/function_data.h"
#include "passes/expand.h"

namespace rondo::executor {

std::optional<Function> for_loops(const Function& function) {
  // A kernel that goes element by element, made of ops whose elements loops can compute.
  const auto divides = [](const Node& node) {
    return node.op->runs() && node.op->expand && !node.op->element &&
           node.op->cost == ir::Cost::kElementwise;
  };
  const auto is_other = [&](const Node* node) { return node->op->lane_loop || divides(*node); };
  const std::vector<Function> regions = ir::regions_inside_out(function);
  if (std::none_of(regions.begin(), regions.end(), [&](const Function& region) {
        return std::any_of(region.body().begin(), region.body().end(), is_other);
      }))
    return std::nullopt;
  return passes::expand(
      function, [](const Node& node) { return node.op->lane_loop && lane_form(node, false); },
      divides);
}

}  // namespace rondo::executor
