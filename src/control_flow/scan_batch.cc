// scan and fori_loop for many lanes: they stay counted loops.
#include <algorithm>
#include <numeric>
#include <utility>

#include "control_flow/branch_lanes.h"
#include "control_flow/fori.h"
#include "control_flow/loop_batch.h"
#include "control_flow/scan.h"
#include "fmt/format.h"
#include "ops/permute.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

using ir::BatchCall;
using ir::BatchValue;
using ir::BatchValues;
using ir::Flags;

namespace {

/// Moves the axis of trips, which follows the axis of lanes, to where the loop has it. Then a slice
/// has the lanes as leading axis, and along axis 0 the slices of a trip are contiguous. Its own
/// inverse.
Tensor with_trips_moved(const Tensor& x, std::int64_t axis, SourceLocation at) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.rank()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::swap(order[static_cast<std::size_t>(axis)], order[static_cast<std::size_t>(axis + 1)]);
  return ops::transposed(x, std::move(order), at);
}

}  // namespace

Flags scan_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  return batched_results(node, batched_parameters(node, operands, batching), batching);
}

BatchValues scan_batch(const BatchCall& call) {
  const ir::RegionLayout layout = *ir::region_layout(&call.node);
  const Flags flags = batched_parameters(call.node, call.batched(), call.batching);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < call.operands.size(); i++) {
    using Role = ir::RegionLayout::Role;
    const Role role = layout.role_of_operand(i);
    if (!flags[i] || role == Role::kInvariant)
      operands.push_back(call.x(i));
    else if (role == Role::kCarry)
      operands.push_back(call.full(i));
    else
      operands.push_back(with_trips_moved(call.x(i), layout.axis, call.at()));
  }
  BatchValues all = batch_as_it_is(call, operands, flags);
  for (std::size_t i = layout.carries; i < all.size(); i++) {
    if (all[i].batched) all[i].value = with_trips_moved(all[i].value, layout.axis, call.at());
  }
  call.batching.note(call.node,
                     fmt::format("a scan of {} trips, as for one lane", *layout.trip_count));
  return all;
}

namespace {

/// A loop whose bounds differ by lane: `index`, and whether a lane runs at this index.
struct LaneTrips {
  Tensor lower, upper;  // of the loop for all
  ForiAttributes attributes;
  std::function<BatchValue(const Tensor&)> index;
  std::function<Tensor(const Tensor&)> in_loop;
};

/// The largest entry; for no lanes, the lowest number of the dtype.
Tensor largest(const Tensor& lanes, SourceLocation at) {
  return lanes.dim(0) == 0 ? ir::make_constant(Literal::zeros({lanes.dtype(), {}}), at)
                           : max(Operand(lanes, at));
}

/// With a lower bound that is the same for all lanes, the index is one number. A lane runs while it
/// is below the lane's upper bound.
LaneTrips with_common_index(const BatchCall& call, ForiAttributes attributes) {
  const SourceLocation at = call.at();
  Tensor uppers = call.x(1);
  if (const Tensor& active = call.batching.active(); !active.empty())
    uppers = where(Operand(active, at), Operand(uppers, at), Operand(call.x(0), at));
  LaneTrips trips{call.x(0), largest(uppers, at), std::move(attributes), {}, {}};
  trips.index = [](const Tensor& i) { return BatchValue{i}; };
  trips.in_loop = [uppers, at](const Tensor& i) { return Operand(i, at) < Operand(uppers, at); };
  return trips;
}

/// Otherwise trips are counted, unsigned, so no distance between bounds overflows.
LaneTrips with_own_index(const BatchCall& call, ForiAttributes attributes) {
  const SourceLocation at = call.at();
  const Tensor lower = call.full(0), upper = call.full(1);
  const DType dtype = lower.dtype();
  const DType wide = DType::kU64;
  const Tensor zero = Operand(0, at).as(wide), one = Operand(1, at).as(wide);
  const auto widened = [&](const Tensor& x) -> Tensor { return convert(Operand(x, at), wide); };
  const Tensor distance = Operand(widened(upper), at) - Operand(widened(lower), at);
  const Tensor several = Operand(Operand(Operand(distance, at) - Operand(one, at), at) /
                                     Operand(Operand(attributes.step, at).as(wide), at),
                                 at) +
                         Operand(one, at);
  Tensor any = Operand(lower, at) < Operand(upper, at);
  if (const Tensor& active = call.batching.active(); !active.empty())
    any = Operand(any, at) & Operand(active, at);
  const Tensor counts = where(Operand(any, at), Operand(several, at), Operand(zero, at));
  const std::int64_t step = std::exchange(attributes.step, 1);
  const bool reverse = std::exchange(attributes.reverse, false);
  LaneTrips trips{zero, largest(counts, at), std::move(attributes), {}, {}};
  trips.index = [=](const Tensor& trip) {
    Tensor k = broadcast_to(Operand(trip, at), counts.shape().vector());
    if (reverse) k = Operand(Operand(counts, at) - Operand(one, at), at) - Operand(k, at);
    const Tensor offset =
        Operand(convert(Operand(k, at), dtype), at) * Operand(Operand(step, at).as(dtype), at);
    return BatchValue{Operand(lower, at) + Operand(offset, at), true};
  };
  trips.in_loop = [=](const Tensor& trip) { return Operand(trip, at) < Operand(counts, at); };
  return trips;
}

BatchValues fori_of_own_length(const BatchCall& call) {
  const auto& a = call.node.attrs<ForiAttributes>();
  const Function& body = call.node.regions[0];
  const std::size_t carries = static_cast<std::size_t>(a.carries);
  ForiAttributes attributes = a;
  attributes.trip_count.reset();
  attributes.unroll = std::max<std::int64_t>(attributes.unroll, 1);
  const LaneTrips trips = call.batched(0) ? with_own_index(call, std::move(attributes))
                                          : with_common_index(call, std::move(attributes));
  Leaves init;
  const std::vector<std::string> names = body.param_names();
  for (std::size_t i = 0; i < carries; i++) {
    init.values.push_back(call.full(i + 2));
    init.paths.push_back(names[i + 1]);
  }
  const RegionCallable trip = [&](std::span<const Tensor> leaves) {
    BatchValues arguments{trips.index(leaves[0])};
    for (const Tensor& carry : leaves.subspan(1)) arguments.push_back({carry, true});
    arguments.insert(arguments.end(),
                     call.operands.begin() + static_cast<std::ptrdiff_t>(carries + 2),
                     call.operands.end());
    const Tensor in_loop = trips.in_loop(leaves[0]);
    const LaneBranch step = [&](const BatchValues& values, const Tensor& active) {
      return call.batching.batch(body, values, active);
    };
    const LaneBranch stay = [&](const BatchValues& values, const Tensor&) {
      return BatchValues(values.begin() + 1,
                         values.begin() + 1 + static_cast<std::ptrdiff_t>(carries));
    };
    return Leaves{branch_by_lane(call, in_loop, {step, stay}, arguments), init.paths};
  };
  ForiOptions options;
  options.step = trips.attributes.step;
  options.unroll = trips.attributes.unroll;
  options.reverse = trips.attributes.reverse;
  options.checkpoint = trips.attributes.checkpoint;
  options.name = trips.attributes.name;
  call.batching.note(call.node,
                     "its bounds differ by lane: it makes the most trips of a lane, "
                     "and lanes that are done stay as they are");
  return ir::all_batched(detail::fori_loop(Operand(trips.lower, call.at()),
                                           Operand(trips.upper, call.at()), trip, init, options,
                                           call.at()));
}

}  // namespace

Flags fori_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  return batched_results(node, batched_parameters(node, operands, batching), batching);
}

BatchValues fori_batch(const BatchCall& call) {
  if (call.batched(0) || call.batched(1)) return fori_of_own_length(call);
  const auto carries = static_cast<std::size_t>(call.node.attrs<ForiAttributes>().carries);
  const Flags flags = batched_parameters(call.node, call.batched(), call.batching);
  std::vector<Tensor> operands{call.x(0), call.x(1)};
  for (std::size_t i = 2; i < call.operands.size(); i++)
    operands.push_back(flags[i - 1] && i < carries + 2 ? call.full(i) : call.x(i));
  call.batching.note(call.node, "counted as for one lane");
  return batch_as_it_is(call, operands, flags);
}

}  // namespace rondo::control_flow
