// What a program consists of.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/node.h"

namespace rondo {

FunctionStats Function::stats() const {
  FunctionStats stats;
  absl::flat_hash_map<const ir::OpDef*, std::int64_t> counts;
  absl::flat_hash_map<const void*, std::int64_t>
      depths;  // of the regions inside, for each function
  const std::vector<Function> functions = ir::regions_inside_out(*this);
  for (const Function& function : functions) {
    std::int64_t depth = 0;
    for (const ir::Node* node : function.body()) {
      stats.nodes++;
      counts[node->op]++;
      if (ir::is_constant(node)) stats.constant_bytes += node->type().bytes();
      if (const auto layout = ir::region_layout(node); layout && layout->is_loop()) stats.loops++;
      for (const Function& region : node->regions) {
        depth = std::max(depth, depths.at(region.identity()) + 1);
      }
    }
    depths[function.identity()] = depth;
    stats.depth = depth;  // the function itself is last
  }
  stats.regions = static_cast<std::int64_t>(functions.size()) - 1;
  for (const auto& [op, count] : counts) stats.ops[std::string(op->name)] += count;
  return stats;
}

namespace ir {

std::int64_t footprint(const Function& function) {
  constexpr std::size_t kAttributes = 64, kFunction = 256;
  std::size_t bytes = 0;
  for (const Function& region : regions_inside_out(function)) {
    bytes += kFunction + region.parameters().size() * (sizeof(Node) + kAttributes);
    for (const Node* node : region.body()) {
      bytes += sizeof(Node) + sizeof(const Node*) + node->regions.size() * sizeof(Function);
      if (node->operands.size() > kInlineOperands) bytes += node->operands.size() * sizeof(Tensor);
      if (!(node->attributes == Attributes())) bytes += kAttributes;
      if (is_constant(node)) bytes += static_cast<std::size_t>(node->type().bytes()) + kAttributes;
    }
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace ir

}  // namespace rondo
