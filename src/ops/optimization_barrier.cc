#include "ops/optimization_barrier.h"

#include <utility>

#include "ir/batch.h"
#include "ir/derivative.h"
#include "ir/kernel.h"
#include "ops/support.h"
#include "rondo/ops/barrier.h"

namespace rondo::ops {

namespace {

InferredTypes infer_barrier(const InferContext& context) {
  InferredTypes types;
  for (const Tensor& operand : context.operands) types.push_back(operand.type());
  return types;
}

std::vector<Tensor> barrier_jvp(const ir::JvpCall& call) {
  std::vector<Tensor> given;
  for (const Tensor& tangent : call.tangents) {
    if (!tangent.empty()) given.push_back(tangent);
  }
  given = optimization_barrier(std::move(given));
  std::vector<Tensor> tangents(call.tangents.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < tangents.size(); i++) {
    if (call.has(i)) tangents[i] = given[next++];
  }
  return tangents;
}

std::vector<Tensor> barrier_transpose(const ir::TransposeCall& call) {
  return {call.cotangents.begin(), call.cotangents.end()};
}

/// Its values are independent of one another.
ir::BatchValues barrier_batch(const ir::BatchCall& call) {
  ir::Operands operands;
  for (const ir::BatchValue& operand : call.operands) operands.push_back(operand.value);
  const std::vector<Tensor> results =
      ir::make_many(kOptimizationBarrier, std::move(operands), {}, call.at());
  ir::BatchValues values;
  for (std::size_t i = 0; i < results.size(); i++) values.push_back({results[i], call.batched(i)});
  return values;
}
ir::Flags barrier_batched(const Node&, const ir::Flags& operands, ir::Batching&) {
  return operands;
}

}  // namespace

const OpDef kOptimizationBarrier{
    .name = "optimization_barrier",
    .types = {.infer = infer_barrier},
    .kernel = {.prepare = ir::prepare_forwarding},
    .derivative = {.linear = ir::Linear::kJointly,
                   .jvp = barrier_jvp,
                   .transpose = barrier_transpose},
    .batching = {.rule = barrier_batch, .varying = barrier_batched},
    .text = {
        .hlo = "opt-barrier", .stablehlo = "stablehlo.optimization_barrier", .hlo_tuple = true}};

std::vector<Tensor> optimization_barrier(std::vector<Tensor> values, SourceLocation at) {
  if (values.empty()) return values;
  return ir::make_many(kOptimizationBarrier, ir::Operands(values.begin(), values.end()), {}, at);
}

}  // namespace rondo::ops

std::vector<rondo::Tensor> rondo::detail::optimization_barrier(std::vector<Tensor> values,
                                                               SourceLocation at) {
  for (const Tensor& value : values) ir::checked(value, "optimization_barrier", at);
  return ops::optimization_barrier(std::move(values), at);
}
