#include "ops/collectives.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/attribute_text.h"
#include "ops/derivative_rules.h"
#include "ops/reduce.h"
#include "ops/support.h"
#include "rondo/ops.h"
#include "rondo/vmap.h"

namespace rondo::ops {

namespace {

/// A named axis of lanes, while this thread traces.
struct NamedAxis {
  std::string name;
  std::int64_t size;
};
thread_local std::vector<NamedAxis> axes_in_force;  // outermost first

InferredTypes infer_axis_reduce(const InferContext& context) {
  const Combiner combiner = context.attrs<AxisReduceAttributes>().combiner;
  if (is_complex(context.type(0).dtype) && combiner != Combiner::kAdd)
    context.fail("complex numbers have no order\n  Take it of abs(x), real(x) or imag(x).");
  return {context.type(0)};
}
InferredTypes infer_axis_gather(const InferContext& context) {
  return {ir::with_lanes(context.type(0), context.attrs<AxisGatherAttributes>().lanes)};
}
InferredTypes infer_axis_index(const InferContext&) { return {{DType::kS32, {}}}; }

std::string_view reduced_axis(const Node& node) { return node.attrs<AxisReduceAttributes>().axis; }
std::string_view gathered_axis(const Node& node) { return node.attrs<AxisGatherAttributes>().axis; }
std::string_view index_axis(const Node& node) { return node.attrs<AxisIndexAttributes>().axis; }

/// n times x: the sum of a value that is the same in all lanes.
Tensor times_lanes(const Tensor& x, std::int64_t lanes, SourceLocation at) {
  if (is_pred(x.dtype())) return lanes > 0 ? x : ir::make_constant(Literal::zeros(x.type()), at);
  const Tensor count = convert(Operand(Tensor(lanes), at), x.dtype());
  return Operand(x, at) * Operand(count, at);
}

ir::BatchValues axis_reduce_batch(const ir::BatchCall& c) {
  const auto& a = c.node.attrs<AxisReduceAttributes>();
  if (a.axis != c.batching.axis_name()) return ir::batch_alike(c);
  if (c.batched(0)) return {{reduce_by(a.combiner, c.x(0), {0}, c.at())}};
  const bool sum = a.combiner == Combiner::kAdd;
  return {{sum ? times_lanes(c.x(0), c.lanes(), c.at()) : c.x(0)}};
}

/// Over its own named axis, the result is the same in all lanes.
ir::Flags axis_reduce_batched(const Node& node, const ir::Flags& operands, ir::Batching& batching) {
  return {operands[0] && reduced_axis(node) != batching.axis_name()};
}

ir::BatchValues axis_gather_batch(const ir::BatchCall& c) {
  const auto& a = c.node.attrs<AxisGatherAttributes>();
  if (a.axis == c.batching.axis_name()) return {{c.full(0)}};
  if (!c.batched(0)) return {{make(kAxisGather, {c.x(0)}, a, c.at())}};
  // The new axis comes before the lanes that are batched here.
  std::vector<std::int64_t> swap(static_cast<std::size_t>(c.x(0).rank()) + 1);
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[0], swap[1]);
  return {{transpose({make(kAxisGather, {c.x(0)}, a, c.at()), c.at()}, swap), true}};
}
ir::Flags axis_gather_batched(const Node& node, const ir::Flags& operands, ir::Batching& batching) {
  return {operands[0] && gathered_axis(node) != batching.axis_name()};
}

ir::BatchValues axis_index_batch(const ir::BatchCall& c) {
  return {{iota({DType::kS32, {c.lanes()}}, 0), true}};
}

/// The tangent of the lanes that attain the extreme, which they share.
std::vector<Tensor> axis_reduce_jvp(const JvpCall& c) {
  const auto& a = c.node.attrs<AxisReduceAttributes>();
  const auto summed = [&](const Tensor& x) {
    return make(kAxisReduce, {x}, AxisReduceAttributes{a.axis, Combiner::kAdd}, c.at());
  };
  const Tensor is_it = convert(eq(c.x(0), c.y()), c.x(0).dtype());
  return {summed(c.dx(0) * (is_it / summed(is_it)))};
}

bool sums(const Node& node) {
  return node.attrs<AxisReduceAttributes>().combiner == Combiner::kAdd;
}

/// Each lane's value is a term of the sum that every lane sees, so that its cotangent is the sum of
/// all lanes' cotangents: the derivative is that of the sum of the lanes' results.
std::vector<Tensor> axis_reduce_transpose(const TransposeCall& c) {
  return {make(kAxisReduce, {c.ct()}, c.node.attributes, c.at())};
}

/// As for a sum: the cotangents that all lanes have for this lane's row.
std::vector<Tensor> axis_gather_transpose(const TransposeCall& c) {
  const auto& a = c.node.attrs<AxisGatherAttributes>();
  const Tensor all =
      make(kAxisReduce, {c.ct()}, AxisReduceAttributes{a.axis, Combiner::kAdd}, c.at());
  return {take({all, c.at()}, make(kAxisIndex, {}, AxisIndexAttributes{a.axis}, c.at()))};
}

std::string known_axes() {
  if (axes_in_force.empty()) return "there is no vmap with an axis_name around";
  std::string names;
  for (const NamedAxis& axis : axes_in_force)
    names += fmt::format("{}\"{}\"", names.empty() ? "the axes around are " : ", ", axis.name);
  return names;
}

const NamedAxis& named_axis(const char* op, std::string_view name, SourceLocation at) {
  const auto found = std::find_if(axes_in_force.begin(), axes_in_force.end(),
                                  [&](const NamedAxis& axis) { return axis.name == name; });
  if (found != axes_in_force.end()) return *found;
  fail(op,
       fmt::format("no axis is named \"{}\" here: {}\n  Give the vmap that is to have it a name: "
                   "vmap(f, {{.axis_name = \"{}\"}}).",
                   name, known_axes(), name),
       at);
}

}  // namespace

const OpDef kAxisReduce{.name = "axis_reduce",
                        .arity = 1,
                        .types = {.infer = infer_axis_reduce},
                        .derivative = {.linear = Linear::kJointly,
                                       .is_linear = sums,
                                       .jvp = axis_reduce_jvp,
                                       .transpose = axis_reduce_transpose},
                        .batching = {.rule = axis_reduce_batch,
                                     .varying = axis_reduce_batched,
                                     .axis_name = reduced_axis},
                        .text = {.attributes = &ir::kFieldText<AxisReduceAttributes>}};
const OpDef kAxisGather{
    .name = "axis_gather",
    .arity = 1,
    .types = {.infer = infer_axis_gather},
    .derivative = {.linear = Linear::kJointly, .transpose = axis_gather_transpose},
    .batching = {.rule = axis_gather_batch,
                 .varying = axis_gather_batched,
                 .axis_name = gathered_axis},
    .text = {.attributes = &ir::kFieldText<AxisGatherAttributes>}};
const OpDef kAxisIndex{.name = "axis_index",
                       .arity = 0,
                       .types = {.infer = infer_axis_index},
                       .derivative = {.zero = true},
                       .batching = {.rule = axis_index_batch, .axis_name = index_axis},
                       .text = {.attributes = &ir::kFieldText<AxisIndexAttributes>}};

std::optional<std::int64_t> named_axis_size(std::string_view name) {
  for (const NamedAxis& axis : axes_in_force) {
    if (axis.name == name) return axis.size;
  }
  return std::nullopt;
}

NamedAxisScope::NamedAxisScope(const std::string& name, std::int64_t size, SourceLocation at)
    : named_(!name.empty()) {
  if (!named_) return;
  for (const NamedAxis& axis : axes_in_force) {
    if (axis.name != name) continue;
    fail("vmap",
         fmt::format("a vmap around has the axis_name \"{}\" already\n  Give each of them a name "
                     "of its own.",
                     name),
         at);
  }
  axes_in_force.push_back({name, size});
}

NamedAxisScope::~NamedAxisScope() {
  if (named_) axes_in_force.pop_back();
}

namespace {

Tensor axis_reduce(const char* op, Combiner combiner, const Operand& x, std::string_view name) {
  named_axis(op, name, x.at());
  Tensor value = ir::checked(x.any(), op, x.at());
  if (combiner == Combiner::kAdd && is_pred(value.dtype()))
    value = convert(Operand(value, x.at()), DType::kS32);
  return make(kAxisReduce, {value}, AxisReduceAttributes{std::string(name), combiner}, x.at());
}

}  // namespace

}  // namespace rondo::ops

namespace rondo {

Tensor axis_sum(const Operand& x, std::string_view name) {
  return ops::axis_reduce("axis_sum", ops::Combiner::kAdd, x, name);
}
Tensor axis_max(const Operand& x, std::string_view name) {
  return ops::axis_reduce("axis_max", ops::Combiner::kMaximum, x, name);
}
Tensor axis_min(const Operand& x, std::string_view name) {
  return ops::axis_reduce("axis_min", ops::Combiner::kMinimum, x, name);
}

Tensor axis_mean(const Operand& x, std::string_view name) {
  const Tensor value = ir::checked(x.any(), "axis_mean", x.at());
  if (!is_floating(value.dtype()) && !is_complex(value.dtype())) {
    ops::fail("axis_mean",
              fmt::format("{} has no exact mean in its own dtype\n  Convert it: "
                          "axis_mean(rondo::convert(x, DType::kF32), \"{}\").",
                          value.type().str(), name),
              x.at());
  }
  const std::int64_t lanes = ops::named_axis("axis_mean", name, x.at()).size;
  const bool narrow = byte_width(value.dtype()) == 2;
  const Tensor wide = narrow ? convert(Operand(value, x.at()), DType::kF32) : value;
  const Tensor mean = Operand(axis_sum(Operand(wide, x.at()), name), x.at()) /
                      Operand(static_cast<double>(lanes), x.at());
  return narrow ? convert(Operand(mean, x.at()), value.dtype()) : mean;
}

Tensor axis_gather(const Operand& x, std::string_view name) {
  const std::int64_t lanes = ops::named_axis("axis_gather", name, x.at()).size;
  return ir::make(ops::kAxisGather, {ir::checked(x.any(), "axis_gather", x.at())},
                  ops::AxisGatherAttributes{std::string(name), lanes}, x.at());
}

Tensor axis_index(std::string_view name, SourceLocation at) {
  ops::named_axis("axis_index", name, at);
  return ir::make(ops::kAxisIndex, {}, ops::AxisIndexAttributes{std::string(name)}, at);
}

std::int64_t axis_size(std::string_view name, SourceLocation at) {
  return ops::named_axis("axis_size", name, at).size;
}

}  // namespace rondo
