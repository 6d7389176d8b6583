#include "passes/small_types.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/small_format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ops/small.h"
#include "passes/rewrite.h"

namespace rondo::passes {

namespace {

using ir::Node;

bool is_small_type(const TensorType& type) { return is_small(type.dtype); }
bool has_small_types(const Node& node) {
  return std::any_of(node.types.begin(), node.types.end(), is_small_type) ||
         std::any_of(node.operands.begin(), node.operands.end(),
                     [](const Tensor& operand) { return is_small(operand.dtype()); });
}

TensorType stored_type(const TensorType& type) { return {storage_dtype(type.dtype), type.shape}; }

/// A parameter or constant of a small dtype.
Tensor stored(const Node& node) {
  if (const auto* constant = node.attributes.try_as<ir::ConstantAttributes>())
    return ir::make_constant(constant->value.reinterpreted(stored_type(node.type())),
                             node.location());
  const auto& parameter = node.attrs<ir::ParameterAttributes>();
  return ir::make_parameter(stored_type(node.type()), parameter.name, parameter.index,
                            parameter.region, node.location());
}

bool copies_elements(const Node& node) {
  const ir::OpDef& op = *node.op;
  if (op.observer) return false;  // who sees them sees numbers
  return op.types.copies || op.cost == ir::Cost::kMovement || !node.regions.empty();
}

/// A node on bytes, whose results are bytes.
std::vector<Tensor> node_on_bytes(const Node& node, ir::Operands operands) {
  const SourceLocation at = node.location();
  if (node.op->types.on_bytes) return node.op->types.on_bytes(node, operands);
  const bool copies = copies_elements(node);
  ir::ResultTypes types;
  for (const TensorType& type : node.types)
    types.push_back({(copies ? storage_dtype : computing_dtype)(type.dtype), type.shape});
  if (!copies) {
    for (std::size_t i = 0; i < operands.size(); i++) {
      const DType dtype = node.operand_type(i).dtype;
      if (is_small(dtype)) operands[i] = ops::numbers_of(operands[i], dtype, at);
    }
  }
  const Tensor made = ir::make_typed(*node.op, std::move(operands), node.attributes,
                                     std::move(types), at, node.regions);
  std::vector<Tensor> results = ir::results_of(made.node());
  for (std::size_t i = 0; !copies && i < results.size(); i++) {
    const DType dtype = node.types[i].dtype;
    if (is_small(dtype)) results[i] = ops::bytes_of(results[i], dtype, at);
  }
  return results;
}

/// A function whose regions are on bytes already.
Function function_on_bytes(const Function& function) {
  FunctionRewrite rewrite(function);
  std::vector<Tensor> parameters;
  for (const Tensor& parameter : function.parameters()) {
    parameters.push_back(is_small(parameter.dtype()) ? stored(*parameter.node()) : parameter);
    rewrite.bind(parameter, parameters.back());
  }
  for (const Node* node : function.body()) {
    if (!has_small_types(*node)) {
      rewrite.replace(node, rewrite.rebuilt(node));
    } else if (ir::is_constant(node)) {
      rewrite.replace(node, stored(*node));
    } else {
      const ir::LocationScope scope(node->location());
      rewrite.replace(node, node_on_bytes(*node, rewrite.operands_of(node)));
    }
  }
  if (!rewrite.changed()) return function;
  std::vector<Tensor> results;
  for (const Tensor& result : function.outputs()) results.push_back(rewrite(result));
  return rewrite.finish(std::move(parameters), std::move(results), function.result_names());
}

}  // namespace

Function on_bytes(const Function& function) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  return rewrite_regions(function, nullptr, function_on_bytes);
}

}  // namespace rondo::passes
