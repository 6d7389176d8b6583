#include "control_flow/fori.h"

#include <utility>

#include "base/for_dtype.h"
#include "control_flow/carry.h"
#include "control_flow/construct_jvp.h"
#include "control_flow/counted.h"
#include "control_flow/eager.h"
#include "control_flow/loop_batch.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/scan.h"
#include "control_flow/signature.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "ops/support.h"
#include "rondo/ops/elementwise.h"

namespace rondo::control_flow {

namespace {

ir::InferredTypes infer_fori(const ir::InferContext& context) {
  return indexed_loop_types(context,
                            static_cast<std::size_t>(context.attrs<ForiAttributes>().carries));
}

std::vector<Tensor> expand_fori(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& attributes = node.attrs<ForiAttributes>();
  const std::size_t carries = static_cast<std::size_t>(attributes.carries);
  const Function& body = node.regions[0];
  CountedLoop loop{operands[0], operands[1], attributes.step, attributes.reverse, attributes.unroll,
                   {},          {},          node.location()};
  loop.attributes.name = attributes.name;
  loop.attributes.checkpoint = attributes.checkpoint;
  const std::vector<std::string> names = body.param_names();
  loop.names.assign(names.begin() + 1, names.begin() + 1 + attributes.carries);
  loop.carries = attributes.carries;
  const std::span<const Tensor> invariants = operands.subspan(2 + carries);
  const Step step = [&](const Tensor& index, std::vector<Tensor> state) {
    state.insert(state.begin(), index);
    state.insert(state.end(), invariants.begin(), invariants.end());
    return ir::Replay::inline_call(body, state);
  };
  return emit_counted(loop, {operands.begin() + 2, operands.begin() + 2 + attributes.carries},
                      step);
}

ir::RegionLayout fori_layout(const ir::Node& node) {
  const auto& a = node.attrs<ForiAttributes>();
  ir::RegionLayout layout;
  layout.fixed = 2;
  layout.index = 1;
  layout.carries = static_cast<std::size_t>(a.carries);
  layout.name = a.name;
  layout.reverse = a.reverse;
  layout.trip_count = a.trip_count;
  return layout;
}

ir::Attributes fori_relayout(const ir::Node& node, const ir::RegionLayout& layout) {
  ForiAttributes changed = node.attrs<ForiAttributes>();
  changed.carries = static_cast<std::int64_t>(layout.carries);
  changed.name = layout.name;
  changed.reverse = layout.reverse;
  changed.trip_count = layout.trip_count;
  return changed;
}

ir::LoopOverSlices fori_over_slices(const ir::Node& node) {
  const auto& a = node.attrs<ForiAttributes>();
  ScanAttributes attributes;
  attributes.carries = a.carries;
  attributes.xs = 1;
  attributes.length = *a.trip_count;
  attributes.unroll = a.unroll;
  attributes.reverse = a.reverse;
  attributes.name = a.name;
  attributes.checkpoint = a.checkpoint;
  return {&kScan, attributes, fori_indices(node, node.operands[0])};
}

std::optional<ir::Induction> fori_induction(const ir::Node& node) {
  const std::int64_t step = node.attrs<ForiAttributes>().step;
  const auto trips = static_trip_count(node.operands[0], node.operands[1], step);
  return ir::Induction{.step = step, .trips = trips, .limit = 1};
}

bool holds(DType dtype, const Scalar& value) {
  return for_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return value.dtype == DType::kU64
                 ? std::in_range<T>(static_cast<std::uint64_t>(value.integer))
                 : std::in_range<T>(value.integer);
    }
    return false;
  });
}

/// Two C++ integers, whatever their types, in the first of these dtypes that holds both.
std::array<Tensor, 2> common_integers(const Operand& a, const Operand& b) {
  for (const DType dtype : {DType::kS32, DType::kS64, DType::kU64}) {
    if (holds(dtype, a.scalar()) && holds(dtype, b.scalar())) return {a.as(dtype), b.as(dtype)};
  }
  return {a.as(DType::kS64), b.as(DType::kS64)};  // throws: no dtype holds both
}

/// A bound, converted to the dtype that the options require.
Tensor bound_as(DType dtype, const Operand& bound, const std::string& called) {
  if (bound.is_scalar()) return bound.as(dtype);
  ir::checked(bound.tensor(), called.c_str(), bound.at());
  return is_integer(bound.tensor().dtype()) ? convert(bound, dtype) : bound.tensor();
}

/// Both bounds as integer scalars of one dtype. A C++ integer takes the dtype of the other bound if
/// that is a tensor.
std::array<Tensor, 2> checked_bounds(const std::string& called, const Operand& lower,
                                     const Operand& upper, const std::optional<DType>& index,
                                     SourceLocation at) {
  if (index && (!is_integer(*index) || is_small(*index))) {
    throw TraceError(fmt::format("{}: .index is {}\n  at {}\n  Give an integer dtype of 8 "
                                 "bits or more, as DType::kS32.",
                                 called, dtype_name(*index), at.str()),
                     at);
  }
  const auto is_number = [](const Operand& bound) {
    return bound.is_scalar() && is_integer(bound.scalar().dtype);
  };
  std::array<Tensor, 2> bounds =
      index ? std::array{bound_as(*index, lower, called), bound_as(*index, upper, called)}
      : is_number(lower) && is_number(upper)
          ? common_integers(lower, upper)
          : ops::same_dtype(std::string_view(called), lower, upper);
  for (const Tensor& bound : bounds) {
    if (bound.rank() == 0 && is_integer(bound.dtype()) && !is_small(bound.dtype())) continue;
    throw TraceError(fmt::format("{}: the bounds must be integer scalars, they are {} and {}\n  at "
                                 "{}\n  Use rondo::convert or reshape.",
                                 called, bounds[0].type().str(), bounds[1].type().str(), at.str()),
                     at);
  }
  return bounds;
}

void check_step(const std::string& called, std::int64_t step, DType dtype, SourceLocation at) {
  const Scalar scalar = Scalar::of(step);
  if (step < 1) {
    throw TraceError(
        fmt::format(
            "{}: step is {}\n  at {}\n  Give a positive step; {{.reverse = true}} walks backwards.",
            called, step, at.str()),
        at);
  }
  ir::scalar_literal(scalar, dtype, at);  // throws if the dtype of the index cannot represent it
}

std::vector<Tensor> eager_fori(const std::string& called, const std::array<Tensor, 2>& bounds,
                               const RegionCallable& body, Leaves state, const ForiOptions& options,
                               SourceLocation at) {
  evaluate_all(state, at);
  const DType dtype = bounds[0].dtype();
  for_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const T first = bounds[0].item<T>(), limit = bounds[1].item<T>();
      const auto step = static_cast<std::uint64_t>(options.step);
      const std::uint64_t trips =
          trip_count(static_cast<std::int64_t>(first), static_cast<std::int64_t>(limit),
                     options.step, std::is_signed_v<T>);
      for (std::uint64_t trip = 0; trip < trips; trip++) {
        const std::uint64_t k = options.reverse ? trips - 1 - trip : trip;
        const T index = static_cast<T>(static_cast<std::uint64_t>(first) + k * step);
        std::vector<Tensor> arguments{ir::make_constant(Literal::scalar(index), at)};
        arguments.insert(arguments.end(), state.values.begin(), state.values.end());
        Leaves next = body(arguments);
        check_carry("the body of " + called + " changes the carry", state, next, at);
        evaluate_all(next, at);
        state.values = std::move(next.values);
      }
    }
  });
  return state.values;
}

}  // namespace

const ir::OpDef kForiLoop{.name = "fori_loop",
                          .types = {.infer = infer_fori},
                          .expansion = {.rule = expand_fori},
                          .derivative = {.region_jvp = construct_jvp, .reverse = fori_reverse},
                          .batching = {.rule = fori_batch, .varying = fori_batched},
                          .text = {.attributes = &ir::kFieldText<ForiAttributes>},
                          .construct = {.layout = fori_layout,
                                        .relayout = fori_relayout,
                                        .induction = fori_induction,
                                        .over_slices = fori_over_slices}};

}  // namespace rondo::control_flow

namespace rondo::detail {

std::vector<Tensor> fori_loop(const Operand& lower, const Operand& upper,
                              const RegionCallable& body, Leaves init, const ForiOptions& options,
                              SourceLocation at) {
  using namespace control_flow;  // NOLINT: this function is the construct's front
  const std::string called = construct_name("fori_loop", options.name);
  check_not_empty("the init of " + called, init, at);
  std::array<Tensor, 2> bounds = checked_bounds(called, lower, upper, options.index, at);
  if (ir::eager_active()) {
    const std::vector<Literal> values = ir::evaluate(bounds, at);
    for (std::size_t i = 0; i < bounds.size(); i++) bounds[i] = ir::make_constant(values[i], at);
  }
  check_step(called, options.step, bounds[0].dtype(), at);
  check_slots(called, options.checkpoint, at);
  const std::optional<std::int64_t> trips = static_trip_count(bounds[0], bounds[1], options.step);
  const std::int64_t unroll = checked_unroll(called.c_str(), options.unroll, trips, at);
  if (options.unroll == kUnrollAll && !trips) {
    throw TraceError(fmt::format("{}: kUnrollAll needs constant bounds, and these are computed\n  "
                                 "at {}\n  Give the bounds as C++ integers, or a "
                                 "number of bodies per trip.",
                                 called, at.str()),
                     at);
  }
  if (ir::eager_active()) return eager_fori(called, bounds, body, std::move(init), options, at);

  std::vector<TensorType> types = types_of(init.values);
  types.insert(types.begin(), bounds[0].type());
  std::vector<std::string> names = short_names(init.paths);
  names.insert(names.begin(), "i");
  RegionTrace step((options.name.empty() ? "fori" : options.name) + "_body",
                   "the body of " + called, types, names, body, at);
  check_carry("the body of " + called + " changes the carry", init, step.out(), at);
  ir::Operands operands{bounds[0], bounds[1]};
  operands.insert(operands.end(), init.values.begin(), init.values.end());
  ForiAttributes attributes{static_cast<std::int64_t>(init.values.size()),
                            options.step,
                            unroll,
                            options.reverse,
                            options.name,
                            trips,
                            options.checkpoint};
  return make_construct(kForiLoop, std::move(operands), std::move(attributes), {step.finish()}, at);
}

}  // namespace rondo::detail
