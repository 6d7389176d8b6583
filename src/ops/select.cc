// Selects elements from two tensors.
#include "ops/derivative_rules.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace {

InferredTypes infer_select(const InferContext& context) {
  const TensorType &predicate = context.type(0), &a = context.type(1), &b = context.type(2);
  if (!is_pred(predicate.dtype)) {
    context.fail(fmt::format("the predicate is {}; it must be pred\n  Compare first: x != 0.",
                             predicate.str()));
  }
  if (a != b || predicate.shape != a.shape) {
    context.fail(
        fmt::format("the predicate is {}, the choices are {} and {}; the choices must be of one "
                    "type and all of one "
                    "shape\n  Convert one (rondo::convert) or broadcast one (rondo::broadcast_to).",
                    predicate.str(), a.str(), b.str()));
  }
  return {a};
}

template <class U>
void select_loop(const std::byte* const* operands, std::byte* result, std::int64_t n) {
  const bool* chosen = reinterpret_cast<const bool*>(operands[0]);
  const U* a = reinterpret_cast<const U*>(operands[1]);
  const U* b = reinterpret_cast<const U*>(operands[2]);
  U* to = reinterpret_cast<U*>(result);
  RONDO_INDEPENDENT_TRIPS
  for (std::int64_t i = 0; i < n; i++) to[i] = chosen[i] ? a[i] : b[i];
}

std::unique_ptr<ir::Kernel> prepare_select(const Node& node) {
  ElementLoop loop = nullptr;
  for_width(byte_width(node.type().dtype), [&]<class U>() { loop = select_loop<U>; });
  return elementwise_kernel(node, loop);
}

/// Each cotangent goes to the selected operand.
std::vector<Tensor> select_transpose(const TransposeCall& c) {
  std::vector<Tensor> given(3);
  if (c.linear[1]) given[1] = where(c.x(0), c.ct(), 0);
  if (c.linear[2]) given[2] = where(c.x(0), 0, c.ct());
  return given;
}

}  // namespace

const OpDef kSelect{.name = "select",
                    .arity = 3,
                    .cost = ir::Cost::kElementwise,
                    .types = {.infer = infer_select, .copies = true},
                    .structure = {.element = select_element, .elementwise = true},
                    .kernel = {.prepare = prepare_select},
                    .derivative = {.linear = Linear::kJointly, .transpose = select_transpose},
                    .text = {.hlo = "select", .stablehlo = "stablehlo.select"}};

std::span<const OpDef* const> select_records() {
  static constexpr const OpDef* kAll[] = {&kSelect};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor where(const Operand& predicate, const Operand& a, const Operand& b) {
  std::array<Tensor, 2> choices = ops::same_dtype("where", a, b);
  std::array<Tensor, 3> all{ir::checked(predicate.any(), "where", predicate.at()),
                            std::move(choices[0]), std::move(choices[1])};
  if (!is_pred(all[0].dtype())) {
    ops::fail(
        "where",
        fmt::format("the predicate is {}; it must be pred\n  Compare first: where(x != 0, a, b).",
                    all[0].type().str()),
        predicate.at());
  }
  ops::broadcast_together("where", all, predicate.at());
  return ops::make(ops::kSelect, {all[0], all[1], all[2]}, {}, predicate.at());
}

}  // namespace rondo
