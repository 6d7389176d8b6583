#include "control_flow/max_trip_lane.h"

#include "control_flow/scan.h"
#include "fmt/format.h"
#include "ir/batch.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/reduce.h"

namespace rondo::control_flow {

namespace {

thread_local int lane_traces = 0;

ir::InferredTypes infer_max_trip_lane(const ir::InferContext& context) { return {context.type(1)}; }

std::vector<Tensor> expand_to_value(const ir::Node&, std::span<const Tensor> operands) {
  return {operands[1]};
}

/// Enclosing vmaps then each choose among their own lanes.
ir::BatchValues max_trip_lane_batch(const ir::BatchCall& call) {
  Tensor trips = call.x(0), value = call.x(1);
  const bool any_lanes = call.lanes() > 0;
  const auto row = [&](const Tensor& x, const Tensor& lane, const TensorType& type) {
    return any_lanes ? read_slice(x, lane, 0, call.at()) : ir::make_constant(Literal::zeros(type));
  };
  const Tensor longest =
      !any_lanes || !call.batched(0) ? Tensor(0) : argmax(Operand(call.x(0), call.at()), 0);
  if (call.batched(0)) trips = row(trips, longest, call.type(0));
  if (call.batched(1)) value = row(value, longest, call.type(1));
  return {{of_max_trip_lane(trips, value)}};
}

ir::Flags max_trip_lane_batched(const ir::Node&, const ir::Flags&, ir::Batching&) {
  return {false};
}

}  // namespace

const ir::OpDef kMaxTripLane{
    .name = "max_trip_lane",
    .arity = 2,
    .types = {.infer = infer_max_trip_lane},
    .expansion = {.rule = expand_to_value},
    .derivative = {.zero = true},
    .batching = {.rule = max_trip_lane_batch, .varying = max_trip_lane_batched}};

Tensor of_max_trip_lane(const Tensor& trips, const Tensor& value) {
  return ir::make(kMaxTripLane, {trips, value}, {}, trips.node()->location());
}

bool traced_for_lanes() noexcept { return lane_traces > 0; }
LanesTraceScope::LanesTraceScope() noexcept { lane_traces++; }
LanesTraceScope::~LanesTraceScope() { lane_traces--; }

BackwardTrips::BackwardTrips(const Tensor& own)
    : lanes_(traced_for_lanes() && !ir::known_value(own)), own_(own), count_(last(own)) {}

Tensor BackwardTrips::last(const Tensor& value) const {
  return lanes_ ? of_max_trip_lane(own_, value) : value;
}

std::vector<Tensor> BackwardTrips::from_own_last(
    const Tensor& trip, std::span<const Tensor> values,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& step) const {
  if (!lanes_) return step(values);
  Leaves operands{{values.begin(), values.end()}, {}};
  for (std::size_t i = 0; i < values.size(); i++) operands.paths.push_back(fmt::format("ct{}", i));
  const RegionCallable branches[] = {[&](std::span<const Tensor> given) {
                                       return Leaves{step(given), operands.paths};
                                     },
                                     [&](std::span<const Tensor> given) {
                                       return Leaves{{given.begin(), given.end()}, operands.paths};
                                     }};
  return detail::branch(trip < own_, detail::BranchKind::kCond, branches, operands);
}

}  // namespace rondo::control_flow
