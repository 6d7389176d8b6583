#include "ops/expansions.h"

#include "ops/elementwise.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

Tensor apply_formula(const ir::Node& node, std::span<const Tensor> operands, Formula formula) {
  const ir::LocationScope scope(node.location());
  const DType dtype = node.type().dtype;
  if (is_floating(dtype) && byte_width(dtype) == 2) {
    std::vector<Tensor> wide;
    for (const Tensor& operand : operands) wide.push_back(convert(operand, DType::kF32));
    return convert(formula(wide), dtype);
  }
  return formula(operands);
}

}  // namespace rondo::ops
