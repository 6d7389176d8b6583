#include <array>

#include "ir/attribute_text.h"
#include "ir/region.h"
#include "ops/broadcast.h"
#include "ops/elementwise_region.h"
#include "ops/reduce.h"
#include "ops/reduce_window.h"
#include "ops/scatter.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_select_and_scatter(const InferContext& context) {
  const TensorType &x = context.type(0), &source = context.type(1), &init = context.type(2);
  const auto& window = context.attrs<WindowDims>();
  const Shape windows = window_counts(context, window, x);
  if (window.base_dilation != window.window_dilation ||
      window.base_dilation != std::vector<std::int64_t>(window.size.size(), 1))
    context.fail("the window has dilations, which it cannot have\n  Leave them out.");
  if (source != TensorType{x.dtype, windows}) {
    context.fail(
        fmt::format("the source is {}, and there are {} windows of {}\n  It must have an element "
                    "for each window.",
                    source.str(), windows.str(), x.str()));
  }
  const TensorType scalar{x.dtype, {}};
  if (init != scalar)
    context.fail(fmt::format("the initial value is {}; it must be {}\n  Write a C++ scalar.",
                             init.str(), scalar.str()));
  if (context.regions.size() != 2)
    context.fail("it takes two regions, the selection and the combiner\n  Give two functions.");
  const std::array<TensorType, 2> results{pred(), scalar};
  for (std::size_t i = 0; i < 2; i++) {
    const Function& region = context.regions[i];
    if (region.parameters().size() == 2 && region.parameters()[0].type() == scalar &&
        region.parameters()[1].type() == scalar && region.outputs().size() == 1 &&
        region.outputs()[0].type() == results[i])
      continue;
    context.fail(fmt::format("the {} must take two {} and return {}\n  Return {}.",
                             i == 0 ? "selection" : "combiner", scalar.str(), results[i].str(),
                             i == 0 ? "a comparison: a >= b" : "what combines both: a + b"));
  }
  if (const ir::Node* other = first_not_elementwise(context.regions[0])) {
    context.fail(
        fmt::format("the selection uses {} at {}; it may use elementwise ops alone\n  "
                    "Write it without loops and branches.",
                    other->op->name, other->location().str()));
  }
  return {x};
}

/// Each window finds the place of its element along with it, in the numbering of x as one row.
std::vector<Tensor> expand_select_and_scatter(const Node& node, std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  const Tensor& x = operands[0];
  const std::int64_t elements = x.type().elements();
  const TensorType row{x.dtype(), {elements}};
  const Tensor places = reshape_to(iota({DType::kS64, {elements}}, 0, at), x.shape(), at);
  const auto select = [&](std::span<const Tensor> both) {
    const std::array<Tensor, 2> values{both[0], both[2]};
    const Tensor stays = call_elementwise(node.regions[0], values, values[0].shape())[0];
    return std::vector<Tensor>{where({stays, at}, {both[0], at}, {both[2], at}),
                               where({stays, at}, {both[1], at}, {both[3], at})};
  };
  const CombinedWindows windows =
      combine_covered({x, places}, node.attrs<WindowDims>(), select, at);
  Tensor place = windows.values[1];
  // Updates at places that do not exist are dropped.
  if (!windows.covered.empty()) place = where({windows.covered, at}, {place, at}, {elements, at});
  const std::int64_t count = place.type().elements();
  const ScatterDims dims{
      .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1};
  const Tensor start = broadcast_axes(operands[2], row.shape, {}, at);
  const Tensor result = make(
      kScatter, {start, reshape_to(place, {count, 1}, at), reshape_to(operands[1], {count}, at)},
      ScatterAttributes{dims}, at, {node.regions[1]});
  return {reshape_to(result, x.shape(), at)};
}

}  // namespace

const ir::OpDef kSelectAndScatter{
    .name = "select_and_scatter",
    .arity = 3,
    .types = {.infer = infer_select_and_scatter},
    .expansion = {.rule = expand_select_and_scatter, .inlines_regions = true},
    .text = {.hlo = "select-and-scatter",
             .stablehlo = "stablehlo.select_and_scatter",
             .attributes = &ir::kAttributeText<WindowDims, describe_window>,
             .hlo_regions = "select,scatter"}};

}  // namespace rondo::ops

namespace rondo {

Tensor detail::select_and_scatter_with(const Operand& x, const Operand& source, const Operand& init,
                                       const WindowDims& window, const ops::LeafFunction& select,
                                       const ops::LeafFunction& scatter) {
  constexpr const char* kOp = "select_and_scatter";
  const SourceLocation at = x.at();
  const Tensor array = ops::any_tensor(kOp, x);
  const DType dtype = array.dtype();
  const auto adopted = [&](const Operand& operand) {
    return operand.is_scalar() ? operand.as(dtype) : ops::any_tensor(kOp, operand);
  };
  const std::array<TensorType, 2> scalars{TensorType{dtype, {}}, TensorType{dtype, {}}};
  const auto region = [&](const char* name, const ops::LeafFunction& function, DType result) {
    const auto traced = [&](std::span<const Tensor> p) {
      return std::vector<Tensor>{
          ops::adopt_dtype(ir::checked(function(p)[0], kOp, at), result, at)};
    };
    return ir::trace_closed(name, fmt::format("the function `{}` of {}", name, kOp), scalars,
                            traced, at);
  };
  return ir::make(ops::kSelectAndScatter, {array, adopted(source), adopted(init)},
                  ops::whole_window(kOp, window, array.rank(), at), at,
                  {region("select", select, DType::kPred), region("scatter", scatter, dtype)});
}

}  // namespace rondo
