// vmap and explain_batching on leaves.
#include "rondo/vmap.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "control_flow/carry.h"
#include "control_flow/max_trip_lane.h"
#include "fmt/format.h"
#include "ir/lazy.h"
#include "ops/collectives.h"
#include "ops/permute.h"
#include "passes/growing_tapes.h"
#include "rondo/loops.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"
#include "transforms/batching.h"
#include "transforms/derivatives.h"
#include "transforms/eager.h"
#include "transforms/observed.h"

namespace rondo::detail {

namespace {

using ir::BatchValue;
using ir::BatchValues;
using Axis = std::optional<std::int64_t>;

/// The lane axis of each leaf, counted from the front.
std::vector<Axis> lane_axes(const ArgumentLeaves& arguments, std::size_t count,
                            const VmapOptions& options, SourceLocation at) {
  if (!options.in_axes.empty() && options.in_axes.size() != count) {
    throw TraceError(fmt::format("vmap: {} in_axes for {} arguments\n  at {}\n  Give one an "
                                 "argument, std::nullopt for one that is the same in all lanes.",
                                 options.in_axes.size(), count, at.str()),
                     at);
  }
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < arguments.owner.size(); i++) {
    const Tensor& leaf = ir::checked(arguments.leaves.values[i], "vmap", at);
    Axis axis = options.in_axes.empty() ? Axis(0) : options.in_axes[arguments.owner[i]];
    if (axis && (*axis < -leaf.rank() || *axis >= leaf.rank())) {
      throw TraceError(
          fmt::format("vmap: {} is {}, which has no axis {}\n  at {}\n  Give it an axis from {} to "
                      "{}, or std::nullopt in in_axes if it is the same for all lanes.",
                      arguments.leaves.paths[i], leaf.type().str(), *axis, at.str(), -leaf.rank(),
                      leaf.rank() - 1),
          at);
    }
    if (axis && *axis < 0) *axis += leaf.rank();
    axes.push_back(axis);
  }
  return axes;
}

std::int64_t lane_count(const ArgumentLeaves& arguments, std::span<const Axis> axes, Axis given,
                        SourceLocation at) {
  Axis lanes = given;
  bool agree = true;
  std::string sizes;
  if (given) sizes += fmt::format("\n  axis_size: {}", *given);
  for (std::size_t i = 0; i < axes.size(); i++) {
    if (!axes[i]) continue;
    const Tensor& leaf = arguments.leaves.values[i];
    const std::int64_t size = leaf.shape()[*axes[i]];
    if (!lanes) lanes = size;
    agree = agree && size == *lanes;
    sizes += fmt::format("\n  {}: {} along axis {} ({})", arguments.leaves.paths[i], size, *axes[i],
                         leaf.type().str());
  }
  if (!agree) {
    throw TraceError(fmt::format("vmap: the numbers of lanes disagree{}\n  at {}\n  Give all "
                                 "batched arguments one size, or std::nullopt in in_axes to those "
                                 "that are the same for all lanes.",
                                 sizes, at.str()),
                     at);
  }
  if (!lanes || *lanes < 0) {
    throw TraceError(
        fmt::format("vmap: {}\n  at {}\n  Give an argument an axis in in_axes, or the number of "
                    "lanes: {{.axis_size = n}}.",
                    lanes ? fmt::format("axis_size is {}", *lanes)
                          : "no argument has an axis of lanes, so their number is not known",
                    at.str()),
        at);
  }
  return *lanes;
}

Tensor with_axis_in_front(const Tensor& x, std::int64_t axis, SourceLocation at) {
  std::vector<std::int64_t> order{axis};
  for (std::int64_t other = 0; other < x.rank(); other++) {
    if (other != axis) order.push_back(other);
  }
  return ops::transposed(x, std::move(order), at);
}

Tensor with_front_axis_at(const Tensor& x, std::int64_t axis, SourceLocation at) {
  std::vector<std::int64_t> order;
  for (std::int64_t other = 1; other < x.rank(); other++) order.push_back(other);
  order.insert(order.begin() + axis, 0);
  return ops::transposed(x, std::move(order), at);
}

/// A user's function, traced for one lane, and its arguments.
struct VmapCall {
  std::int64_t lanes;
  Function function;
  BatchValues arguments;
  std::vector<std::string> result_paths;

  VmapCall(const RegionCallable& f, const ArgumentLeaves& given, std::size_t count,
           const VmapOptions& options, SourceLocation at) {
    const std::vector<Axis> axes = lane_axes(given, count, options, at);
    lanes = lane_count(given, axes, options.axis_size, at);
    std::vector<TensorType> types;
    for (std::size_t i = 0; i < axes.size(); i++) {
      const Tensor& leaf = given.leaves.values[i];
      if (!axes[i]) {
        arguments.push_back({leaf});
        types.push_back(leaf.type());
        continue;
      }
      const Tensor moved = with_axis_in_front(leaf, *axes[i], at);
      arguments.push_back({moved, true});
      types.push_back({leaf.dtype(), Shape(moved.shape().dims().subspan(1))});
    }
    const RegionCallable recorded = [&](std::span<const Tensor> leaves) {
      const ops::NamedAxisScope scope(options.axis_name, lanes, at);
      const control_flow::LanesTraceScope for_lanes;
      Leaves out = f(leaves);
      for (const Tensor& leaf : out.values) ir::checked(leaf, "vmap", at);
      result_paths = out.paths;
      return out;
    };
    control_flow::RegionTrace traced("vmap", "the function of vmap", types, given.leaves.paths,
                                     recorded, at);
    ir::OpenRegion region = traced.finish();
    const std::vector<Tensor> captures = region.captures;
    // Growing tapes belong to loops that were differentiated for one lane.
    function = transforms::derivatives().simplified(
        passes::without_growing_tapes(ir::close_region(std::move(region), captures)));
    for (const Tensor& capture : captures) arguments.push_back({capture});
  }
};

/// The axis of result leaf i.
Axis out_axis(const VmapCall& call, const OutAxes& out_axes, std::size_t i, SourceLocation at) {
  const std::size_t leaves = call.result_paths.size();
  if (out_axes.by_leaf() && out_axes.axes().size() != leaves) {
    std::string paths;
    for (const std::string& path : call.result_paths) paths += "\n  " + path;
    throw TraceError(fmt::format("vmap: {} out_axes for {} leaves of the result{}\n  at {}\n  Give "
                                 "one for all, or one a leaf.",
                                 out_axes.axes().size(), leaves, paths, at.str()),
                     at);
  }
  return out_axes.axes()[out_axes.by_leaf() ? i : 0];
}

Tensor placed(const VmapCall& call, const BatchValue& result, Axis axis, std::size_t i,
              SourceLocation at) {
  if (!axis) {
    if (!result.batched) return result.value;
    throw TraceError(
        fmt::format("vmap: {} differs by lane, and its out_axes is std::nullopt\n  at {}\n  Give "
                    "it an axis, or make it the same in all lanes: rondo::axis_sum(x, \"name\").",
                    call.result_paths[i], at.str()),
        at);
  }
  const Tensor full = ir::full_value(result, call.lanes, at);
  const std::int64_t rank = full.rank();
  if (*axis < -rank || *axis >= rank) {
    throw TraceError(
        fmt::format("vmap: out_axes has axis {} for {}, which is {} with its axis of lanes\n  at "
                    "{}\n  Give an axis from {} to {}.",
                    *axis, call.result_paths[i], full.type().str(), at.str(), -rank, rank - 1),
        at);
  }
  return with_front_axis_at(full, *axis < 0 ? *axis + rank : *axis, at);
}

}  // namespace

std::vector<Tensor> vmap(const RegionCallable& f, const ArgumentLeaves& arguments,
                         std::size_t argument_count, const VmapOptions& options,
                         SourceLocation at) {
  std::vector<Tensor> results;
  {
    const ir::EagerPause pause;
    const VmapCall call(f, arguments, argument_count, options, at);
    transforms::Batcher batcher(call.lanes, options.axis_name);
    const BatchValues batched = batcher.batch(call.function, call.arguments, Tensor());
    for (std::size_t i = 0; i < batched.size(); i++)
      results.push_back(placed(call, batched[i], out_axis(call, options.out_axes, i, at), i, at));
    transforms::keep_observed(call.function, results);
  }
  transforms::compute_if_eager(results, at);
  return results;
}

std::vector<Tensor> map_in_batches(const RegionCallable& f, const Leaves& xs,
                                   const MapOptions& options, SourceLocation at) {
  const std::int64_t length = xs.values[0].dim(0), batch = *options.batch_size;
  const std::int64_t trips = length / batch;
  std::vector<std::string> paths;
  const RegionCallable with_paths = [&](std::span<const Tensor> leaves) {
    Leaves out = f(leaves);
    paths = out.paths;
    return out;
  };
  const auto on_lanes = [&](std::span<const Tensor> rows) {
    ArgumentLeaves given{{{rows.begin(), rows.end()}, xs.paths}, {}};
    given.owner.assign(rows.size(), 0);
    return vmap(with_paths, given, 1, {}, at);
  };
  if (trips == 0 || length == batch) return on_lanes(xs.values);
  const auto shaped = [&](const Tensor& x, std::initializer_list<std::int64_t> in_front,
                          std::size_t without) {
    std::vector<std::int64_t> dims(in_front);
    const auto rest = x.shape().dims().subspan(without);
    dims.insert(dims.end(), rest.begin(), rest.end());
    return reshape(Operand(x, at), dims);
  };
  const auto rows_of = [&](const Tensor& x, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> starts(x.shape().size(), 0), limits = x.shape().vector();
    starts[0] = begin;
    limits[0] = end;
    return slice(Operand(x, at), starts, limits);
  };
  Leaves batches{{}, xs.paths};
  std::vector<Tensor> left_over;
  for (const Tensor& x : xs.values) {
    batches.values.push_back(shaped(rows_of(x, 0, trips * batch), {trips, batch}, 1));
    left_over.push_back(rows_of(x, trips * batch, length));
  }
  ScanOptions scan_options;
  scan_options.name = options.name;
  const RegionCallable a_batch = [&](std::span<const Tensor> rows) {
    std::vector<Tensor> results = on_lanes(rows);
    return Leaves{std::move(results), paths};
  };
  std::vector<Tensor> ys = detail::scan(a_batch, Leaves(), std::move(batches), scan_options, at);
  for (Tensor& y : ys) y = shaped(y, {trips * batch}, 2);
  if (trips * batch == length) return ys;
  const std::vector<Tensor> last = on_lanes(left_over);
  for (std::size_t i = 0; i < ys.size(); i++) ys[i] = concatenate({ys[i], last[i]}, 0);
  return ys;
}

std::string explain_batching(const RegionCallable& f, const ArgumentLeaves& arguments,
                             std::size_t argument_count, const VmapOptions& options,
                             SourceLocation at) {
  const ir::EagerPause pause;
  const VmapCall call(f, arguments, argument_count, options, at);
  transforms::Batcher batcher(call.lanes, options.axis_name);
  batcher.note_all_ops();
  const BatchValues batched = batcher.batch(call.function, call.arguments, Tensor());
  std::string text = fmt::format("vmap over {} lanes\n", call.lanes);
  // By source line, in the order of the file.
  std::vector<transforms::BatchNote> notes = batcher.notes();
  std::stable_sort(notes.begin(), notes.end(), [](const auto& a, const auto& b) {
    return std::tuple(std::string_view(a.at.file), a.at.line, a.of_plain_op ? a.text : "") <
           std::tuple(std::string_view(b.at.file), b.at.line, b.of_plain_op ? b.text : "");
  });
  for (std::size_t i = 0; i < notes.size(); i++) {
    // Ops of a line with the same report share one note.
    std::string ops = notes[i].op;
    const transforms::BatchNote& note = notes[i];
    for (; i + 1 < notes.size() && notes[i + 1].of_plain_op && note.of_plain_op &&
           notes[i + 1].text == note.text && notes[i + 1].at.str() == note.at.str();
         i++)
      ops += ", " + notes[i + 1].op;
    text += fmt::format("{}: {}: {}\n", note.at.str(), ops, note.text);
  }
  for (std::size_t i = 0; i < batched.size(); i++) {
    text += fmt::format("{}: {}\n", call.result_paths[i],
                        batched[i].batched ? "differs by lane" : "is the same in all lanes");
  }
  return text;
}

}  // namespace rondo::detail
