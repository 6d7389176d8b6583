// The statistics of a program.
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

bool FunctionAccess::count_held(HeldBytes& held, const Function& function) {
  constexpr std::size_t kControlBlock = 32;  // of a pointer with a custom deleter
  const Function::Data* data = function.data_.get();
  if (data->notes.has(FunctionNotes::kPermanent)) return false;
  if (!held.shared(data, sizeof(Function::Data))) return false;
  held.block(kControlBlock);
  held.text(data->name);
  held.elements(data->params);
  held.elements(data->body);
  held.elements(data->results);
  held.elements(data->result_names);
  for (const std::string& name : data->result_names) held.text(name);
  return true;
}

namespace ir {

namespace {

void count_node(HeldBytes& held, const Node& node) {
  if (!held.shared(&node, sizeof(Node))) return;
  held.block(node.operands.bytes_there());
  held.block(node.types.bytes_there());
  for (const TensorType& type : node.types) held.shape(type.shape);
  node.attributes.count_held(held);
  if (node.regions.empty()) return;
  held.block(sizeof(std::vector<Function>));
  held.block(node.regions.size() * sizeof(Function));
}

}  // namespace

void count_held(HeldBytes& held, const Function& function) {
  for (const Function& region : regions_inside_out(function)) {
    if (!FunctionAccess::count_held(held, region)) continue;
    for (const Tensor& parameter : region.parameters()) count_node(held, *parameter.node());
    for (const Node* node : region.body()) count_node(held, *node);
  }
}

}  // namespace ir

}  // namespace rondo
