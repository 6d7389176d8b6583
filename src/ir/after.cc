#include "ir/after.h"

#include <utility>

#include "ir/batch.h"
#include "ir/derivative.h"
#include "ir/kernel.h"

namespace rondo::ir {

namespace {

InferredTypes infer_after(const InferContext& context) { return {context.type(0)}; }

std::vector<Tensor> expand_after(const Node&, std::span<const Tensor> operands) {
  return {operands[0]};
}

std::vector<Tensor> after_jvp(const JvpCall& call) { return {call.dx(0)}; }

std::vector<Tensor> after_transpose(const TransposeCall& call) {
  std::vector<Tensor> all(call.operands.size());
  all[0] = call.ct();
  return all;
}

BatchValues after_batch(const BatchCall& call) {
  Operands operands;
  for (const BatchValue& operand : call.operands) operands.push_back(operand.value);
  return {{make(kAfter, std::move(operands), {}, call.at()), call.batched(0)}};
}

Flags after_batched(const Node&, const Flags& operands, Batching&) { return {operands[0]}; }

}  // namespace

const OpDef kAfter{
    .name = "after",
    .cost = Cost::kMovement,
    .observer = true,
    .types = {.infer = infer_after},
    .kernel = {.prepare = prepare_forwarding},
    .expansion = {.rule = expand_after},
    .derivative = {.linear = Linear::kFirst, .jvp = after_jvp, .transpose = after_transpose},
    .batching = {.rule = after_batch, .varying = after_batched}};

Tensor after(const Tensor& value, const std::vector<Tensor>& others) {
  if (others.empty()) return value;
  Operands operands{value};
  operands.insert(operands.end(), others.begin(), others.end());
  return make(kAfter, std::move(operands), {}, others[0].node()->location());
}

Tensor value_behind_observers(Tensor value) {
  while (value.node()->op->observer) value = value.node()->operands[0];
  return value;
}

}  // namespace rondo::ir
