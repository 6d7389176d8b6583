// Formulas of ops that a text format or a compiler lacks: the same values in ops that all of them
// have.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::ops {

/// A value as Tensor code on operands of f32, f64, c64 or c128.
using Formula = Tensor (*)(std::span<const Tensor> operands);

Tensor erfc_formula(std::span<const Tensor> operands);

/// The formula on these operands; f16 and bf16 are computed in f32. Its nodes get the source
/// location of `node`.
Tensor apply_formula(const ir::Node& node, std::span<const Tensor> operands, Formula formula);

/// The expand rule of an op that has a formula.
template <Formula formula>
std::vector<Tensor> expand_by(const ir::Node& node, std::span<const Tensor> operands) {
  return {apply_formula(node, operands, formula)};
}

}  // namespace rondo::ops
