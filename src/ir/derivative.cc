#include "ir/derivative.h"

#include "fmt/format.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ir {

Tensor full_tangent(const Tensor& tangent, const TensorType& type) {
  return tangent.empty() ? zeros(type) : tangent;
}

Tensor JvpCall::full(std::size_t i) const {
  return tangents[i].empty() ? zeros(node.operand_type(i), at()) : tangents[i];
}
void JvpCall::fail(const std::string& message) const {
  ir::fail(node.op->name, message, node.location());
}

Tensor TransposeCall::full(std::size_t i) const {
  return cotangents[i].empty() ? zeros(node.types[i], at()) : cotangents[i];
}
void TransposeCall::fail(const std::string& message) const {
  ir::fail(node.op->name, message, node.location());
}

Tensor add_tangents(const Tensor& a, const Tensor& b) {
  if (a.empty()) return b;
  return b.empty() ? a : a + b;
}

std::vector<Tensor> pull_back(const Pullback& pullback, std::span<const Tensor> cotangents,
                              std::size_t count) {
  std::vector<CotangentSum> sums(count);
  pullback(cotangents, Cotangents(sums));
  std::vector<Tensor> all;
  for (CotangentSum& sum : sums) all.push_back(sum.take());
  return all;
}

}  // namespace rondo::ir
