#include "ir/derivative.h"

#include "fmt/format.h"
#include "rondo/ops/shape.h"

namespace rondo::ir {

namespace {

Tensor full_tangent(const Tensor& tangent, const TensorType& type, SourceLocation at) {
  return tangent.empty() ? zeros(type, at) : tangent;
}

}  // namespace

Tensor JvpCall::full(std::size_t i) const {
  return full_tangent(tangents[i], node.operand_type(i), at());
}
void JvpCall::fail(const std::string& message) const {
  ir::fail(node.op->name, message, node.location());
}

Tensor TransposeCall::full(std::size_t i) const {
  return full_tangent(cotangents[i], node.types[i], at());
}
std::vector<Tensor> added_to(std::span<const Tensor> sums, std::vector<Tensor> cotangents) {
  for (std::size_t i = 0; i < sums.size(); i++)
    cotangents[i] = add_tangents(sums[i], cotangents[i]);
  return cotangents;
}

Tensor sum_or_zeros(std::span<const Tensor> sums, std::size_t i, const TensorType& type) {
  return i < sums.size() && !sums[i].empty() ? sums[i] : zeros(type);
}

void TransposeCall::fail(const std::string& message) const {
  ir::fail(node.op->name, message, node.location());
}

}  // namespace rondo::ir
