#include "ops/contracted.h"

#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace {

struct MultiplyAdd : UsesFma {
  template <lower::Float N>
  N operator()(N a, N b, N c) const {
    return fma(a, b, c);
  }
};
Tensor multiply_add_formula(std::span<const Tensor> x) { return x[0] * x[1] + x[2]; }

struct MultiplySubtract : UsesFma {
  template <lower::Float N>
  N operator()(N a, N b, N c) const {
    return fms(a, b, c);
  }
};
Tensor multiply_subtract_formula(std::span<const Tensor> x) { return x[0] * x[1] - x[2]; }

struct NegatedMultiplyAdd : UsesFma {
  template <lower::Float N>
  N operator()(N a, N b, N c) const {
    return fnma(a, b, c);
  }
};
Tensor negated_multiply_add_formula(std::span<const Tensor> x) { return x[2] - x[0] * x[1]; }

}  // namespace

const OpDef kMultiplyAdd = elementwise<3, MultiplyAdd, kFullFloats>(
    {.name = "multiply_add", .expansion = {.rule = expand_by<multiply_add_formula>}});
const OpDef kMultiplySubtract = elementwise<3, MultiplySubtract, kFullFloats>(
    {.name = "multiply_subtract", .expansion = {.rule = expand_by<multiply_subtract_formula>}});
const OpDef kNegatedMultiplyAdd = elementwise<3, NegatedMultiplyAdd, kFullFloats>(
    {.name = "negated_multiply_add",
     .expansion = {.rule = expand_by<negated_multiply_add_formula>}});

std::span<const OpDef* const> contracted_records() {
  static constexpr const OpDef* kAll[] = {&kMultiplyAdd, &kMultiplySubtract, &kNegatedMultiplyAdd};
  return kAll;
}

}  // namespace rondo::ops
