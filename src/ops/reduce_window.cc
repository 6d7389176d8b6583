#include "ops/reduce_window.h"

#include <algorithm>
#include <utility>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/combiners.h"
#include "ops/derivative_rules.h"
#include "ops/elementwise_region.h"
#include "ops/pad.h"
#include "ops/reduce.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_reduce_window(const InferContext& context) {
  check_reduced(context);
  const ir::Node* other = first_not_elementwise(context.regions[0]);
  if (other) {
    context.fail(fmt::format(
        "the combiner uses {} at {}; it may use elementwise ops alone\n  Write it without loops "
        "and branches (rondo::where selects), or use rondo::scan.",
        other->op->name, other->location().str()));
  }
  const Shape windows = window_counts(context, context.attrs<WindowDims>(), context.type(0));
  InferredTypes results;
  for (std::size_t i = 0; i < context.operands.size() / 2; i++)
    results.push_back({context.type(i).dtype, windows});
  return results;
}

Combiner combiner_of_windows(const Node& node) {
  return node.types.size() == 1 ? known_combiner(node.regions[0]) : Combiner::kOther;
}
bool is_window_sum(const Node& node) { return combiner_of_windows(node) == Combiner::kAdd; }

/// Whether the elements are combined in a wider type than they have.
bool widens(Combiner combiner, DType dtype) {
  return (combiner == Combiner::kAdd || combiner == Combiner::kMultiply) && is_floating(dtype) &&
         byte_width(dtype) == 2;
}

std::vector<Tensor> combine_known(const Node& node, std::span<const Tensor> operands,
                                  Combiner combiner) {
  const SourceLocation at = node.location();
  const DType dtype = node.type().dtype;
  const bool wide = widens(combiner, dtype);
  const Tensor x = wide ? convert({operands[0], at}, DType::kF32) : operands[0];
  const Literal identity = combiner_identity(combiner, x.dtype());
  const Tensor padding = ir::make_constant(identity, at);
  const auto combine = [&](std::span<const Tensor> both) {
    return std::vector<Tensor>{combined(combiner, both[0], both[1], at)};
  };
  Tensor result =
      combine_windows({x}, std::span(&padding, 1), node.attrs<WindowDims>(), combine, at)[0];
  const Literal* init = ir::constant_value(operands[1]);
  if (!init || !init->identical(combiner_identity(combiner, dtype))) {
    const Tensor start = wide ? convert({operands[1], at}, DType::kF32) : operands[1];
    result = combined(combiner, broadcast_axes(start, result.shape(), {}, at), result, at);
  }
  return {wide ? convert({result, at}, dtype) : result};
}

std::vector<Tensor> expand_reduce_window(const Node& node, std::span<const Tensor> operands) {
  if (const Combiner combiner = combiner_of_windows(node); combiner != Combiner::kOther)
    return combine_known(node, operands, combiner);
  const SourceLocation at = node.location();
  const std::size_t count = node.types.size();
  const Function& region = node.regions[0];
  const auto combine = [&](std::span<const Tensor> both) {
    return call_elementwise(region, both, both[0].shape());
  };
  CombinedWindows windows =
      combine_covered({operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(count)},
                      node.attrs<WindowDims>(), combine, at);
  std::vector<Tensor> both;
  for (std::size_t i = 0; i < count; i++)
    both.push_back(broadcast_axes(operands[count + i], node.type().shape, {}, at));
  both.insert(both.end(), windows.values.begin(), windows.values.end());
  std::vector<Tensor> results = combine(both);
  if (windows.covered.empty()) return results;
  for (std::size_t i = 0; i < count; i++)
    results[i] = where({windows.covered, at}, {results[i], at}, {both[i], at});
  return results;
}

/// Each element gets the cotangents of the windows that cover it: again sums over windows, with the
/// stride as base dilation and the other way round.
std::vector<Tensor> window_sum_transpose(const TransposeCall& c) {
  std::vector<Tensor> all(2);
  if (c.linear[1]) all[1] = sum_of_cotangents(c.ct(), all_axes(c.ct()), c.at());
  if (!c.linear[0]) return all;
  const TensorType& type = c.type(0);
  if (type.elements() == 0 || c.ct().type().elements() == 0) {
    all[0] = zeros(type, c.at());
    return all;
  }
  WindowDims back = c.node.attrs<WindowDims>();
  std::swap(back.stride, back.base_dilation);
  for (std::size_t axis = 0; axis < back.size.size(); axis++) {
    const auto i = static_cast<std::int64_t>(axis);
    const std::int64_t covers = (back.size[axis] - 1) * back.window_dilation[axis] + 1;
    const std::int64_t low = covers - 1 - back.padding[axis].first;
    const std::int64_t elements = (type.shape[i] - 1) * back.stride[axis] + 1;
    const std::int64_t windows = (c.ct().shape()[i] - 1) * back.base_dilation[axis] + 1;
    back.padding[axis] = {low, elements + covers - 1 - windows - low};
  }
  all[0] = make(kReduceWindow,
                {c.ct(), ir::make_constant(combiner_identity(Combiner::kAdd, type.dtype), c.at())},
                std::move(back), c.at(), {combiner_region(Combiner::kAdd, type.dtype)});
  return all;
}

/// Of equal elements the first one is the maximum, as in JAX.
std::vector<Tensor> window_extreme_jvp(const JvpCall& c, bool greatest) {
  const SourceLocation at = c.at();
  const auto choose = [&](std::span<const Tensor> both) {
    const Operand a(both[0], at), b(both[2], at);
    const Tensor goes_first = greatest ? a >= b : a <= b;
    const Tensor first = Operand(goes_first, at) | Operand(is_nan(a), at);
    return std::vector<Tensor>{where({first, at}, a, b),
                               where({first, at}, {both[1], at}, {both[3], at})};
  };
  const Combiner combiner = greatest ? Combiner::kMaximum : Combiner::kMinimum;
  const DType dtype = c.x(0).dtype();
  const std::vector<Tensor> padding{ir::make_constant(combiner_identity(combiner, dtype), at),
                                    zeros({dtype, {}}, at)};
  std::vector<Tensor> windows =
      combine_windows({c.x(0), c.full(0)}, padding, c.node.attrs<WindowDims>(), choose, at);
  const Shape& shape = c.y().shape();
  const std::vector<Tensor> both{broadcast_axes(c.x(1), shape, {}, at),
                                 broadcast_axes(c.full(1), shape, {}, at), windows[0], windows[1]};
  return {choose(both)[1]};
}

std::vector<Tensor> reduce_window_jvp(const JvpCall& c) {
  switch (combiner_of_windows(c.node)) {
    case Combiner::kMaximum:
      return window_extreme_jvp(c, true);
    case Combiner::kMinimum:
      return window_extreme_jvp(c, false);
    default:
      return c.derivatives.jvp_expanded(c, expand_reduce_window).tangents;
  }
}

BatchValues reduce_window_batch(const BatchCall& c) {
  const std::size_t count = c.node.types.size();
  ir::Operands operands;
  for (std::size_t i = 0; i < 2 * count; i++) {
    if (i >= count && c.batched(i)) return c.batching.batch_expanded(c, expand_reduce_window);
    operands.push_back(i < count ? c.full(i) : c.x(i));
  }
  WindowDims window = c.node.attrs<WindowDims>();
  for (auto* list : {&window.size, &window.stride, &window.base_dilation, &window.window_dilation})
    list->insert(list->begin(), 1);
  window.padding.insert(window.padding.begin(), {0, 0});
  return ir::all_batched(ir::make_many(kReduceWindow, std::move(operands), std::move(window),
                                       c.at(), {c.node.regions[0]}));
}

}  // namespace

const ir::OpDef kReduceWindow{
    .name = "reduce_window",
    .cost = ir::Cost::kReduction,
    .types = {.infer = infer_reduce_window},
    .expansion = {.rule = expand_reduce_window, .inlines_regions = true},
    .derivative = {.linear = Linear::kJointly,
                   .is_linear = is_window_sum,
                   .jvp = reduce_window_jvp,
                   .transpose = window_sum_transpose},
    .batching = {.rule = reduce_window_batch},
    .text = {.hlo = "reduce-window",
             .stablehlo = "stablehlo.reduce_window",
             .attributes = &ir::kAttributeText<WindowDims, describe_window>,
             .hlo_regions = "to_apply"}};

}  // namespace rondo::ops

namespace rondo {

std::vector<Tensor> detail::reduce_window_leaves(std::vector<Tensor> operands,
                                                 std::vector<Tensor> inits,
                                                 const WindowDims& window,
                                                 const ops::LeafFunction& combine,
                                                 SourceLocation at) {
  ops::ReducedLeaves reduced =
      ops::reduced_leaves("reduce_window", std::move(operands), std::move(inits), combine, at);
  WindowDims whole = ops::whole_window("reduce_window", window, reduced.operands[0].rank(), at);
  return ir::make_many(ops::kReduceWindow, std::move(reduced.operands), std::move(whole), at,
                       {std::move(reduced.combiner)});
}

}  // namespace rondo
