#include "ops/contracted.h"

#include <cmath>

#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace {

struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
Tensor multiply_add_formula(std::span<const Tensor> x) { return x[0] * x[1] + x[2]; }

struct MultiplySubtract {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, -c);
  }
};
Tensor multiply_subtract_formula(std::span<const Tensor> x) { return x[0] * x[1] - x[2]; }

struct NegatedMultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(-a, b, c);
  }
};
Tensor negated_multiply_add_formula(std::span<const Tensor> x) { return x[2] - x[0] * x[1]; }

template <lower::Opcode code>
Element fused_element(const ElementCall& c) {
  return {c.builder.fused(code, c.x(0), c.x(1), c.x(2))};
}

}  // namespace

const OpDef kMultiplyAdd = elementwise<3, MultiplyAdd, kFullFloats>(
    {.name = "multiply_add",
     .structure = {.element = fused_element<code::kFma>},
     .expansion = {.rule = expand_by<multiply_add_formula>}});
const OpDef kMultiplySubtract = elementwise<3, MultiplySubtract, kFullFloats>(
    {.name = "multiply_subtract",
     .structure = {.element = fused_element<code::kFms>},
     .expansion = {.rule = expand_by<multiply_subtract_formula>}});
const OpDef kNegatedMultiplyAdd = elementwise<3, NegatedMultiplyAdd, kFullFloats>(
    {.name = "negated_multiply_add",
     .structure = {.element = fused_element<code::kFnma>},
     .expansion = {.rule = expand_by<negated_multiply_add_formula>}});

std::span<const OpDef* const> contracted_records() {
  static constexpr const OpDef* kAll[] = {&kMultiplyAdd, &kMultiplySubtract, &kNegatedMultiplyAdd};
  return kAll;
}

}  // namespace rondo::ops
