#include "control_flow/scan.h"

#include <algorithm>

#include "control_flow/carry.h"
#include "control_flow/construct_jvp.h"
#include "control_flow/counted.h"
#include "control_flow/eager.h"
#include "control_flow/loop_batch.h"
#include "control_flow/scan_derivative.h"
#include "control_flow/signature.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "ir/region_facts.h"
#include "ops/broadcast.h"
#include "ops/create.h"
#include "ops/support.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

TensorType slice_type(const TensorType& stacked, std::int64_t axis) {
  std::vector<std::int64_t> dims = stacked.shape.vector();
  dims.erase(dims.begin() + axis);
  return {stacked.dtype, dims};
}

TensorType stacked_type(const TensorType& slice, std::int64_t axis, std::int64_t length) {
  std::vector<std::int64_t> dims = slice.shape.vector();
  dims.insert(dims.begin() + axis, length);
  return {slice.dtype, dims};
}

namespace {

std::vector<Tensor> starts_at(const Tensor& index, std::int64_t axis, std::int64_t rank,
                              SourceLocation at) {
  std::vector<Tensor> starts(static_cast<std::size_t>(rank), Operand(0, at).as(index.dtype()));
  starts[static_cast<std::size_t>(axis)] = index;
  return starts;
}

}  // namespace

Tensor read_slice(const Tensor& stacked, const Tensor& index, std::int64_t axis,
                  SourceLocation at) {
  std::vector<std::int64_t> sizes = stacked.shape().vector();
  sizes[static_cast<std::size_t>(axis)] = 1;
  const Tensor slice =
      dynamic_slice(Operand(stacked, at), starts_at(index, axis, stacked.rank(), at), sizes);
  return reshape(Operand(slice, at), slice_type(stacked.type(), axis).shape.vector());
}

Tensor write_slice(const Tensor& stacked, const Tensor& slice, const Tensor& index,
                   std::int64_t axis, SourceLocation at) {
  const Tensor row =
      reshape(Operand(slice, at), stacked_type(slice.type(), axis, 1).shape.vector());
  return dynamic_update_slice(Operand(stacked, at), Operand(row, at),
                              starts_at(index, axis, stacked.rank(), at));
}

namespace {

ir::InferredTypes infer_scan(const ir::InferContext& context) {
  const auto& a = context.attrs<ScanAttributes>();
  const std::size_t carries = static_cast<std::size_t>(a.carries),
                    xs = static_cast<std::size_t>(a.xs);
  if (context.regions.size() != 1 || context.operands.size() < carries + xs)
    context.fail(
        "needs a body, the carry and the xs\n  Give one region, and the inits of the carry before "
        "the xs.");
  const auto& params = context.regions[0].parameters();
  if (params.size() != context.operands.size())
    context.fail(fmt::format(
        "the body has {} parameters for {} operands\n  Give it one for each operand, in "
        "order.",
        params.size(), context.operands.size()));
  for (std::size_t i = 0; i < params.size(); i++) {
    const TensorType& operand = context.type(i);
    const bool is_x = i >= carries && i < carries + xs;
    if (is_x && (a.axis >= operand.rank() || operand.shape[a.axis] != a.length)) {
      context.fail(
          fmt::format("xs of {} do not have {} slices along axis {}\n  Give xs of the "
                      "scan's length, or walk along another axis.",
                      operand.str(), a.length, a.axis));
    }
    if (params[i].type() != (is_x ? slice_type(operand, a.axis) : operand)) {
      context.fail(
          fmt::format("parameter {} of the body is {} for an operand {}\n  Give one of xs "
                      "the type of a slice, any other that of its operand.",
                      i, params[i].type().str(), operand.str()));
    }
  }
  const std::span<const Tensor> results = context.regions[0].outputs();
  ir::InferredTypes types =
      carried_types(context, results.first(std::min(carries, results.size())), 0, carries);
  for (std::size_t i = carries; i < results.size(); i++) {
    if (a.axis > results[i].rank())
      context.fail(
          fmt::format("a y of {} cannot be stacked along axis {}\n  The axis is one of the "
                      "stacked ys, {{.axis = 0}} to {{.axis = {}}} here.",
                      results[i].type().str(), a.axis, results[i].rank()));
    types.push_back(stacked_type(results[i].type(), a.axis, a.length));
  }
  return types;
}

/// Threshold: Ops from an element back to an index, which are computed again in each trip in place
/// of a load. Not measured.
constexpr int kMostToIndex = 4;

/// The element at `index` of an array of integers that follows from its indices and constants, as
/// those of a fori_loop do; empty for any other. Loops then know what their trips access.
Tensor element_by_index(const Tensor& x, const Tensor& index, int depth = 0) {
  const ir::Node* const node = x.node();
  const bool is_wide = x.dtype() == DType::kS32 || x.dtype() == DType::kS64;
  if (node == nullptr || !is_wide || x.rank() != 1 || depth > kMostToIndex) return {};
  if (node->op == &ops::kIota) return convert(index, x.dtype());
  if (node->op == &ops::kBroadcastInDim) {
    const Tensor& source = node->operands[0];
    const Literal* const value = source.rank() == 0 ? ir::constant_value(source) : nullptr;
    return value != nullptr ? constant(*value) : Tensor();
  }
  if (!node->op->structure.elementwise || node->op->observer || node->operands.empty()) return {};
  ir::Operands elements;
  for (const Tensor& operand : node->operands) {
    elements.push_back(element_by_index(operand, index, depth + 1));
    if (elements.back().node() == nullptr) return {};
  }
  return ir::make(*node->op, std::move(elements), node->attributes, node->location());
}

std::vector<Tensor> expand_scan(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& a = node.attrs<ScanAttributes>();
  const std::size_t carries = static_cast<std::size_t>(a.carries);
  const Function& body = node.regions[0];
  const SourceLocation at = node.location();
  const std::span<const Tensor> xs = operands.subspan(carries, static_cast<std::size_t>(a.xs));
  const std::span<const Tensor> invariants = operands.subspan(carries + xs.size());
  // The state of the while: the carry, then a buffer for each y.
  std::vector<Tensor> state(operands.begin(), operands.begin() + a.carries);
  for (std::size_t i = carries; i < node.types.size(); i++)
    state.push_back(ops::unset(node.types[i], at));  // each trip writes its row
  const DType index_dtype =
      a.length > std::numeric_limits<std::int32_t>::max() ? DType::kS64 : DType::kS32;
  CountedLoop loop{Operand(0, at).as(index_dtype),
                   Operand(a.length, at).as(index_dtype),
                   1,
                   a.reverse,
                   a.unroll,
                   {},
                   {},
                   at};
  loop.attributes.name = a.name;
  loop.attributes.checkpoint = a.checkpoint;
  loop.attributes.residuals = a.residuals;
  loop.attributes.independent = a.carries == 0 && !ir::observes(body);
  const std::vector<std::string> names = body.param_names();
  loop.names.assign(names.begin(), names.begin() + a.carries);
  loop.carries = a.carries;
  for (std::size_t i = carries; i < node.types.size(); i++) {
    const std::vector<std::string>& results = body.result_names();
    loop.names.push_back(i < results.size() ? results[i] : fmt::format("y{}", i - carries));
  }
  const Step step = [&](const Tensor& index, std::vector<Tensor> now) {
    std::vector<Tensor> arguments(now.begin(), now.begin() + a.carries);
    for (std::size_t i = 0; i < xs.size(); i++) {
      const Tensor element = element_by_index(node.operands[carries + i], index);
      arguments.push_back(element.node() ? element : read_slice(xs[i], index, a.axis, at));
    }
    arguments.insert(arguments.end(), invariants.begin(), invariants.end());
    const std::vector<Tensor> results = ir::Replay::inline_call(body, arguments);
    for (std::size_t i = 0; i < now.size(); i++)
      now[i] = i < carries ? results[i] : write_slice(now[i], results[i], index, a.axis, at);
    return now;
  };
  return emit_counted(loop, std::move(state), step);
}

ir::RegionLayout scan_layout(const ir::Node& node) {
  const auto& a = node.attrs<ScanAttributes>();
  ir::RegionLayout layout;
  layout.carries = static_cast<std::size_t>(a.carries);
  layout.xs = static_cast<std::size_t>(a.xs);
  layout.name = a.name;
  layout.axis = a.axis;
  layout.reverse = a.reverse;
  layout.trip_count = a.length;
  layout.residuals = a.residuals ? &*a.residuals : nullptr;
  return layout;
}

ir::Attributes scan_relayout(const ir::Node& node, const ir::RegionLayout& layout) {
  ScanAttributes changed = node.attrs<ScanAttributes>();
  changed.carries = static_cast<std::int64_t>(layout.carries);
  changed.xs = static_cast<std::int64_t>(layout.xs);
  changed.name = layout.name;
  changed.axis = layout.axis;
  changed.reverse = layout.reverse;
  changed.length = layout.trip_count.value_or(changed.length);
  return changed;
}

void check_scan_axis(const std::string& called, const Leaves& xs, std::int64_t axis,
                     SourceLocation at) {
  for (std::size_t i = 0; i < xs.values.size(); i++) {
    const TensorType& type = xs.values[i].type();
    if (axis < -type.rank() || axis >= type.rank()) {
      throw TraceError(fmt::format("{}: {} is {}, which has no axis {} to walk along\n  at {}\n"
                                   "  Give xs that axis, or put what is the same in every trip "
                                   "into the carry or capture it.",
                                   called, xs.paths[i], type.str(), axis, at.str()),
                       at);
    }
  }
}

/// The array with one axis moved to another position; negative positions count from the end.
Tensor with_axis_moved(const Tensor& x, std::int64_t from, std::int64_t to, SourceLocation at) {
  const std::int64_t rank = x.rank();
  if (from < 0) from += rank;
  if (to < 0) to += rank;
  std::vector<std::int64_t> order;
  for (std::int64_t axis = 0; axis < rank; axis++) {
    if (axis != from) order.push_back(axis);
  }
  order.insert(order.begin() + to, from);
  return transpose(Operand(x, at), order);
}

std::int64_t checked_length(const std::string& called, const Leaves& xs, const ScanOptions& options,
                            std::int64_t axis, SourceLocation at) {
  if (options.length && *options.length < 0) {
    throw TraceError(fmt::format("{}: length is {}; it cannot be negative\n  at {}\n"
                                 "  Give 0 or more.",
                                 called, *options.length, at.str()),
                     at);
  }
  if (xs.values.empty()) {
    if (options.length) return *options.length;
    throw TraceError(
        fmt::format("{}: without xs the length is not known\n  at {}\n  Give it: {{.length = n}}.",
                    called, at.str()),
        at);
  }
  const std::int64_t length = options.length.value_or(xs.values[0].shape()[axis]);
  const bool agree = std::all_of(xs.values.begin(), xs.values.end(),
                                 [&](const Tensor& x) { return x.shape()[axis] == length; });
  if (agree) return length;
  std::string sizes;
  if (options.length) sizes += fmt::format("\n  length: {}", length);
  for (std::size_t i = 0; i < xs.values.size(); i++) {
    sizes += fmt::format("\n  {}: {} ({})", xs.paths[i], xs.values[i].shape()[axis],
                         xs.values[i].type().str());
  }
  throw TraceError(
      fmt::format(
          "{}: the lengths along axis {} disagree{}\n  at {}\n  Slice or pad the xs to one length.",
          called, axis, sizes, at.str()),
      at);
}

std::vector<Tensor> eager_scan(const std::string& called, const RegionCallable& body, Leaves state,
                               Leaves xs, std::int64_t length, std::int64_t axis, bool reverse,
                               SourceLocation at) {
  evaluate_all(state, at);
  evaluate_all(xs, at);
  std::vector<std::vector<Tensor>> ys;
  for (std::int64_t trip = 0; trip < length; trip++) {
    const Tensor index(reverse ? length - 1 - trip : trip);
    std::vector<Tensor> arguments = state.values;
    for (const Tensor& x : xs.values) arguments.push_back(read_slice(x, index, axis, at));
    Leaves out = body(arguments);
    const std::ptrdiff_t carries = static_cast<std::ptrdiff_t>(
        std::count_if(out.paths.begin(), out.paths.end(),
                      [](const std::string& p) { return p.starts_with("carry"); }));
    Leaves next{{out.values.begin(), out.values.begin() + carries},
                {out.paths.begin(), out.paths.begin() + carries},
                out.structure};
    check_carry("the body of " + called + " changes the carry", state, next, at);
    state.values = std::move(next.values);
    ys.resize(out.values.size() - static_cast<std::size_t>(carries));
    for (std::size_t i = 0; i < ys.size(); i++)
      ys[i].push_back(out.values[i + static_cast<std::size_t>(carries)]);
  }
  for (std::vector<Tensor>& rows : ys) {
    if (reverse) std::reverse(rows.begin(), rows.end());
    state.values.push_back(stack(rows, axis, at));
  }
  return state.values;
}

}  // namespace

const ir::OpDef kScan{.name = "scan",
                      .types = {.infer = infer_scan},
                      .expansion = {.rule = expand_scan},
                      .derivative = {.region_jvp = construct_jvp, .reverse = scan_reverse},
                      .batching = {.rule = scan_batch, .varying = scan_batched},
                      .text = {.attributes = &ir::kFieldText<ScanAttributes>},
                      .construct = {.layout = scan_layout, .relayout = scan_relayout}};

}  // namespace rondo::control_flow

namespace rondo::detail {

void check_map(const Leaves& xs, const MapOptions& options, SourceLocation at) {
  const std::string called = control_flow::construct_name("map", options.name);
  if (options.batch_size && *options.batch_size < 1) {
    throw TraceError(fmt::format("{}: batch_size is {}\n  at {}\n  Give a positive number of "
                                 "elements per trip, or leave it out.",
                                 called, *options.batch_size, at.str()),
                     at);
  }
  control_flow::check_not_empty(called, xs, at);
  if (xs.values.empty()) {
    throw TraceError(fmt::format("{}: there are no xs to walk along\n  at {}\n  Give a tensor or a "
                                 "tree of them; a scan needs none: {{.length = n}}.",
                                 called, at.str()),
                     at);
  }
  control_flow::check_scan_axis(called, xs, 0, at);
  control_flow::checked_length(called, xs, {}, 0, at);
}

namespace {

/// A negative axis is a different one in each array, so the scan runs along their axis 0 instead.
std::vector<Tensor> scan_from_the_end(const std::string& called, const RegionCallable& body,
                                      Leaves init, Leaves xs, const ScanOptions& options,
                                      SourceLocation at) {
  const std::int64_t axis = options.axis;
  for (Tensor& x : xs.values) x = control_flow::with_axis_moved(x, axis, 0, at);
  ScanOptions along_first = options;
  along_first.axis = 0;
  const std::size_t carries = init.values.size();
  std::vector<Tensor> results = scan(body, std::move(init), std::move(xs), along_first, at);
  for (std::size_t y = carries; y < results.size(); y++) {
    const std::int64_t rank = results[y].rank();
    if (axis < -rank) {
      throw TraceError(fmt::format("{}: a y cannot be stacked along axis {}: with its new axis it "
                                   "has {}\n  at {}\n  Give an axis from {} on, or a larger y.",
                                   called, axis, rank, at.str(), -rank),
                       at);
    }
    results[y] = control_flow::with_axis_moved(results[y], 0, axis, at);
  }
  return results;
}

}  // namespace

std::vector<Tensor> scan(const RegionCallable& body, Leaves init, Leaves xs,
                         const ScanOptions& options, SourceLocation at) {
  using namespace control_flow;  // NOLINT: this function is the construct's front
  const std::string called = construct_name("scan", options.name);
  check_not_empty("the init of " + called, init, at);
  check_not_empty(called, xs, at);
  check_scan_axis(called, xs, options.axis, at);
  check_slots(called, options.checkpoint, at);
  if (options.axis < 0)
    return scan_from_the_end(called, body, std::move(init), std::move(xs), options, at);
  const std::int64_t axis = options.axis;
  const std::int64_t length = checked_length(called, xs, options, axis, at);
  const std::int64_t unroll = checked_unroll(called.c_str(), options.unroll, length, at);
  // Without trips, only a trace tells the types of the ys.
  if (ir::eager_active() && length > 0)
    return eager_scan(called, body, std::move(init), std::move(xs), length, axis, options.reverse,
                      at);

  std::vector<TensorType> types = types_of(init.values);
  for (const Tensor& x : xs.values) types.push_back(slice_type(x.type(), axis));
  std::vector<std::string> names = short_names(init.paths);
  for (const std::string& path : xs.paths)
    names.push_back("x" + path.substr(2));  // the slice of xs.force is named x.force
  RegionTrace step((options.name.empty() ? "scan" : options.name) + "_body",
                   "the body of " + called, types, names, body, at);
  Leaves& out = step.out();
  const auto first_y =
      std::find_if(out.paths.begin(), out.paths.end(),
                   [](const std::string& path) { return !path.starts_with("carry"); });
  const std::ptrdiff_t carries = first_y - out.paths.begin();
  Leaves next{{out.values.begin(), out.values.begin() + carries},
              {out.paths.begin(), first_y},
              out.structure};
  check_carry("the body of " + called + " changes the carry", init, next, at);
  std::copy(next.values.begin(), next.values.end(), out.values.begin());
  ir::Operands operands(init.values.begin(), init.values.end());
  operands.insert(operands.end(), xs.values.begin(), xs.values.end());
  ScanAttributes attributes{static_cast<std::int64_t>(init.values.size()),
                            static_cast<std::int64_t>(xs.values.size()),
                            length,
                            axis,
                            unroll,
                            options.reverse,
                            options.name,
                            options.checkpoint,
                            std::nullopt};
  return make_construct(kScan, std::move(operands), std::move(attributes), {step.finish()}, at);
}

}  // namespace rondo::detail
