#include "ops/stop_gradient.h"

#include "ir/batch.h"
#include "ir/derivative.h"
#include "ops/support.h"
#include "rondo/gradients.h"

namespace rondo::ops {

namespace {

InferredTypes infer_identity(const InferContext& context) { return {context.type(0)}; }

std::vector<Tensor> expand_to_operands(const Node&, std::span<const Tensor> operands) {
  return {operands.begin(), operands.end()};
}

}  // namespace

const OpDef kStopGradient{.name = "stop_gradient",
                          .arity = 1,
                          .types = {.infer = infer_identity},
                          .expansion = {.rule = expand_to_operands},
                          .derivative = {.zero = true, .by_user = true},
                          .batching = {.rule = ir::batch_alike}};

}  // namespace rondo::ops

namespace rondo::detail {

Tensor stop_gradient(const Tensor& x, SourceLocation at) {
  ir::checked(x, "stop_gradient", at);
  return ir::has_tangent(x.type()) ? ir::make(ops::kStopGradient, {x}, {}, at) : x;
}

}  // namespace rondo::detail
