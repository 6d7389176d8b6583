#include "ops/reduce.h"

#include <algorithm>
#include <limits>

#include "ir/attribute_text.h"
#include "ir/region.h"
#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/elementwise_region.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/reduce.h"

namespace rondo::ops {

namespace {

std::vector<std::int64_t> dims_kept(const Shape& shape, std::span<const std::int64_t> reduced) {
  std::vector<std::int64_t> kept;
  auto next = reduced.begin();
  for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
    if (next != reduced.end() && *next == axis)
      ++next;
    else
      kept.push_back(shape[axis]);
  }
  return kept;
}

InferredTypes infer_reduce(const InferContext& context) {
  check_reduced(context);
  const TensorType& first = context.type(0);
  const auto& axes = context.attrs<ReduceAttributes>().dimensions;
  for (std::size_t i = 0; i < axes.size(); i++) {
    if (axes[i] < 0 || axes[i] >= first.rank() || (i > 0 && axes[i] <= axes[i - 1])) {
      context.fail(fmt::format(
          "axis {} of {}: axes must lie in the shape and grow\n  Name each axis once, in order.",
          axes[i], first.str()));
    }
  }
  const Shape kept = dims_kept(first.shape, axes);
  InferredTypes results;
  for (std::size_t i = 0; i < context.operands.size() / 2; i++)
    results.push_back({context.type(i).dtype, kept});
  return results;
}

void describe_reduce(ir::AttributeCodec& codec, ReduceAttributes& a) {
  codec.integers({"dimensions"}, a.dimensions);
  if (codec.reads()) std::sort(a.dimensions.begin(), a.dimensions.end());
}

Tensor keep_axes(const Tensor& reduced, const Shape& shape, const std::vector<std::int64_t>& axes,
                 SourceLocation at) {
  std::vector<std::int64_t> dims = shape.vector();
  for (std::int64_t axis : axes) dims[static_cast<std::size_t>(axis)] = 1;
  return reshape_to(reduced, dims, at);
}

struct Reduction {
  Tensor x;
  std::vector<std::int64_t> axes;
  SourceLocation at;
  std::int64_t elements = 1;  // reduced into one result
};

Reduction reduction_of(const char* op, const Operand& x, const std::vector<std::int64_t>& axes) {
  Reduction r{ir::checked(x.any(), op, x.at()), {}, x.at()};
  r.axes = normal_axes(op, axes, r.x.rank(), r.at);
  for (std::int64_t axis : r.axes) r.elements *= r.x.shape()[axis];
  return r;
}

Tensor finish_reduction(const Reduction& r, Combiner combiner, bool keepdims) {
  const Tensor reduced = reduce_by(combiner, r.x, r.axes, r.at);
  return keepdims ? keep_axes(reduced, r.x.shape(), r.axes, r.at) : reduced;
}

/// Sums and products count pred as s32.
Tensor accumulated_reduction(const char* op, Combiner combiner, const Operand& x,
                             const std::vector<std::int64_t>& axes, bool keepdims) {
  Reduction r = reduction_of(op, x, axes);
  if (is_pred(r.x.dtype())) r.x = convert({r.x, r.at}, DType::kS32);
  return finish_reduction(r, combiner, keepdims);
}

Tensor extreme_of(const char* op, Combiner combiner, const Operand& x,
                  const std::vector<std::int64_t>& axes, bool keepdims) {
  const Reduction r = reduction_of(op, x, axes);
  if (is_complex(r.x.dtype())) {
    fail(op,
         fmt::format("{} has no order\n  Take it of abs(x), real(x) or imag(x).", r.x.type().str()),
         r.at);
  }
  if (r.elements == 0) {
    std::string reduced = "{";
    for (std::int64_t axis : r.axes)
      reduced += fmt::format("{}{}", reduced.size() > 1 ? ", " : "", axis);
    fail(op,
         fmt::format("no elements: axes {}}} of {} are empty, and there is no {} of nothing\n  Use "
                     "reduce with an initial value.",
                     reduced, r.x.type().str(), op),
         r.at);
  }
  return finish_reduction(r, combiner, keepdims);
}

Tensor logical_reduction(const char* op, Combiner combiner, const Operand& x,
                         const std::vector<std::int64_t>& axes, bool keepdims) {
  Reduction r = reduction_of(op, x, axes);
  if (!is_pred(r.x.dtype())) r.x = ne({r.x, r.at}, {0, r.at});
  return finish_reduction(r, combiner, keepdims);
}

}  // namespace

const ir::OpDef kReduce{
    .name = "reduce",
    .cost = ir::Cost::kReduction,
    .types = {.infer = infer_reduce},
    .structure = {.loops = reduce_loops},
    .kernel = {.prepare = prepare_reduce},
    .expansion = {.in_loops = reduce_in_loops},
    .derivative = {.linear = ir::Linear::kJointly,
                   .is_linear = is_sum,
                   .jvp = reduce_jvp,
                   .transpose = sum_transpose},
    .batching = {.rule = reduce_batch},
    .text = {.hlo = "reduce",
             .stablehlo = "stablehlo.reduce",
             .attributes = &ir::kAttributeText<ReduceAttributes, describe_reduce>,
             .hlo_regions = "to_apply"}};

void check_reduced(const InferContext& context) {
  const std::size_t count = context.operands.size() / 2;
  if (count == 0 || context.operands.size() % 2 != 0) {
    context.fail(
        fmt::format("{} operands: each array needs a scalar to start from\n  Give the arrays, then "
                    "as many scalars.",
                    context.operands.size()));
  }
  const TensorType& first = context.type(0);
  for (std::size_t i = 0; i < count; i++) {
    const TensorType &x = context.type(i), &init = context.type(count + i);
    if (x.shape != first.shape) {
      context.fail(
          fmt::format("operand {} is {}, operand 0 is {}\n  Arrays that are reduced together need "
                      "one shape: use broadcast_to.",
                      i, x.str(), first.str()));
    }
    if (init != TensorType{x.dtype, {}}) {
      context.fail(
          fmt::format("the initial value of operand {} is {}; it must be a scalar of the operand's "
                      "dtype, {}[]\n  Write a C++ scalar, or rondo::convert(init, dtype).",
                      i, init.str(), dtype_name(x.dtype)));
    }
  }
  check_combiner(context, count);
}

ReducedLeaves reduced_leaves(const char* op, std::vector<Tensor> operands,
                             std::vector<Tensor> inits, const LeafFunction& combine,
                             SourceLocation at) {
  if (operands.empty())
    fail(op,
         "there is nothing to reduce: the operands hold no array\n  Give an array, or a tree of "
         "them.",
         at);
  if (inits.size() != operands.size()) {
    fail(op,
         fmt::format("{} arrays and {} initial values; each array needs one\n  Give initial values "
                     "as a tree like that of the arrays.",
                     operands.size(), inits.size()),
         at);
  }
  std::vector<TensorType> scalars;
  for (std::size_t i = 0; i < operands.size(); i++) {
    const DType dtype = ir::checked(operands[i], op, at).dtype();
    inits[i] = adopt_dtype(ir::checked(inits[i], op, at), dtype, at);
    scalars.push_back({dtype, {}});
  }
  scalars.insert(scalars.end(), scalars.begin(),
                 scalars.begin() + static_cast<std::ptrdiff_t>(operands.size()));
  auto traced = [&](std::span<const Tensor> p) {
    std::vector<Tensor> results = combine(p);
    for (std::size_t i = 0; i < results.size() && i < p.size(); i++)
      results[i] = adopt_dtype(ir::checked(results[i], op, at), p[i].dtype(), at);
    return results;
  };
  ReducedLeaves made{
      {operands.begin(), operands.end()},
      ir::trace_closed("combine", fmt::format("the combiner of {}", op), scalars, traced, at)};
  made.operands.insert(made.operands.end(), inits.begin(), inits.end());
  return made;
}

Tensor reduce_by(Combiner combiner, const Tensor& x, std::vector<std::int64_t> axes,
                 SourceLocation at) {
  return make(kReduce, {x, ir::make_constant(combiner_identity(combiner, x.dtype()), at)},
              ReduceAttributes{std::move(axes)}, at, {combiner_region(combiner, x.dtype())});
}

}  // namespace rondo::ops

namespace rondo {

std::vector<Tensor> detail::reduce_leaves(
    std::vector<Tensor> operands, std::vector<Tensor> inits, const std::vector<std::int64_t>& axes,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& combine, SourceLocation at) {
  ops::ReducedLeaves reduced =
      ops::reduced_leaves("reduce", std::move(operands), std::move(inits), combine, at);
  std::vector<std::int64_t> normal =
      ops::normal_axes("reduce", axes, reduced.operands[0].rank(), at);
  return ir::make_many(ops::kReduce, std::move(reduced.operands),
                       ops::ReduceAttributes{std::move(normal)}, at, {std::move(reduced.combiner)});
}

Tensor sum(const Operand& x, const Axes& axes, bool keepdims) {
  return ops::accumulated_reduction("sum", ops::Combiner::kAdd, x, axes, keepdims);
}
Tensor prod(const Operand& x, const Axes& axes, bool keepdims) {
  return ops::accumulated_reduction("prod", ops::Combiner::kMultiply, x, axes, keepdims);
}
Tensor max(const Operand& x, const std::vector<std::int64_t>& axes, bool keepdims) {
  return ops::extreme_of("max", ops::Combiner::kMaximum, x, axes, keepdims);
}
Tensor min(const Operand& x, const std::vector<std::int64_t>& axes, bool keepdims) {
  return ops::extreme_of("min", ops::Combiner::kMinimum, x, axes, keepdims);
}
Tensor any(const Operand& x, const Axes& axes, bool keepdims) {
  return ops::logical_reduction("any", ops::Combiner::kOr, x, axes, keepdims);
}
Tensor all(const Operand& x, const Axes& axes, bool keepdims) {
  return ops::logical_reduction("all", ops::Combiner::kAnd, x, axes, keepdims);
}

Tensor mean(const Operand& x, const Axes& axes, bool keepdims) {
  ops::Reduction r = ops::reduction_of("mean", x, axes);
  const DType dtype = r.x.dtype();
  if (!is_floating(dtype) && !is_complex(dtype)) {
    ops::fail("mean",
              fmt::format("{} has no exact mean in its own dtype\n  Convert it: "
                          "mean(rondo::convert(x, DType::kF32)).",
                          r.x.type().str()),
              r.at);
  }
  const bool narrow = byte_width(dtype) <= 2;
  if (narrow) r.x = convert({r.x, r.at}, DType::kF32);
  const Tensor quotient = Operand(ops::finish_reduction(r, ops::Combiner::kAdd, keepdims), r.at) /
                          Operand(static_cast<double>(r.elements), r.at);
  return narrow ? convert({quotient, r.at}, dtype) : quotient;
}

}  // namespace rondo
