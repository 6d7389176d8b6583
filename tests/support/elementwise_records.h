// Test cases for elementwise ops that are derived from the records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/node.h"
#include "rondo/ops/shape.h"
#include "transforms/registry.h"

namespace rondo::testing {

/// An op without attributes on operands of one type.
inline Tensor apply_op(const ir::OpDef& op, const std::vector<Tensor>& operands) {
  return ir::make(op, ir::Operands(operands.begin(), operands.end()), {}, {});
}

/// Whether an op without attributes takes operands of a dtype.
inline bool takes(const ir::OpDef& op, DType dtype) {
  try {
    apply_op(op, std::vector<Tensor>(static_cast<std::size_t>(op.arity), zeros({dtype, {1}})));
    return true;
  } catch (const TraceError&) {
    return false;
  }
}

/// The elementwise ops with so many operands, in the order of the registry, except observers and
/// ops with attributes, which have separate tests.
inline std::vector<const ir::OpDef*> elementwise_ops(int arity) {
  std::vector<const ir::OpDef*> ops;
  for (const ir::OpDef* op : transforms::all_ops()) {
    if (!op->structure.elementwise || op->observer || op->arity != arity) continue;
    try {
      takes(*op, DType::kF32);
      ops.push_back(op);
    } catch (const InternalError&) {
      continue;  // its type rule asks for attributes
    }
  }
  return ops;
}

/// The same without those that a test has rows for: those in `seen`, named as in Function::stats.
inline std::vector<const ir::OpDef*> elementwise_ops_but(
    const std::map<std::string, std::int64_t>& seen, int arity) {
  std::vector<const ir::OpDef*> ops = elementwise_ops(arity);
  std::erase_if(ops, [&](const ir::OpDef* op) { return seen.contains(std::string(op->name)); });
  return ops;
}

}  // namespace rondo::testing
