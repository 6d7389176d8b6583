// What the batching rules of constructs share, and the rules of calls.
#include "control_flow/loop_batch.h"

#include <algorithm>
#include <utility>

#include "control_flow/call.h"
#include "control_flow/extend.h"
#include "fmt/format.h"
#include "rondo/ops/reduce.h"

namespace rondo::control_flow {

using ir::BatchCall;
using ir::BatchValue;
using ir::BatchValues;
using ir::Flags;

Flags batched_parameters(const Function& body, std::size_t first, std::size_t carries,
                         Flags parameters, ir::Batching& batching) {
  while (true) {
    const Flags results = batching.batched_results(body, parameters);
    bool grows = false;
    for (std::size_t i = 0; i < carries; i++) {
      if (!results[i] || parameters[first + i]) continue;
      parameters[first + i] = true;
      grows = true;
    }
    if (!grows) return parameters;
  }
}

Flags batched_parameters(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  const ir::RegionLayout layout = *ir::region_layout(&node);
  const auto bounds = operands.begin() + static_cast<std::ptrdiff_t>(layout.fixed);
  Flags parameters(layout.index, layout.fixed > 0 && operands[0]);  // it starts at a bound
  parameters.insert(parameters.end(), bounds, operands.end());
  if (std::find(operands.begin(), bounds, true) != bounds)
    std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(layout.index), layout.carries,
                true);
  return batched_parameters(node.regions[layout.body()], layout.index, layout.carries,
                            std::move(parameters), batching);
}

Flags batched_results(const ir::Node& node, const Flags& parameters, ir::Batching& batching) {
  const ir::RegionLayout layout = *ir::region_layout(&node);
  Flags results(layout.results());
  for (std::size_t k = 0; k < node.regions.size(); k++) {
    if (!layout.is_body(k)) continue;
    const Flags of = batching.batched_results(node.regions[k], parameters);
    for (std::size_t r = 0; r < results.size(); r++) results[r] = results[r] || of[r];
  }
  for (std::size_t c = 0; c < layout.carries; c++) results[c] = parameters[layout.index + c];
  return results;
}

BatchValues batch_as_it_is(const BatchCall& call, std::span<const Tensor> operands,
                           const Flags& parameters, const Tensor& wanted) {
  const Flags results = batched_results(call.node, parameters, call.batching);
  const auto region = [&](const ExtendedParameters& given) {
    return call.batching.batch(call.node.regions[given.region], flagged(given.own, parameters),
                               call.batching.active());
  };
  const ExtendedCondition condition = [&](const ExtendedParameters& given) {
    const Tensor more = region(given)[0].value;
    return wanted.empty() ? more : Operand(more, call.at()) & Operand(wanted, call.at());
  };
  const ExtendedBody body = [&](const ExtendedParameters& given) {
    const BatchValues values = region(given);
    ExtendedResults out;
    for (std::size_t i = 0; i < values.size(); i++)
      out.own.push_back(as_flagged(values[i], results[i], call.batching, call.at()));
    return out;
  };
  const ir::RegionLayout layout = *ir::region_layout(&call.node);
  return flagged(extend(layout, operands, {}, body, condition).own, results);
}

BatchValues flagged(std::span<const Tensor> values, const Flags& flags) {
  BatchValues all;
  for (std::size_t i = 0; i < values.size(); i++) all.push_back({values[i], flags[i]});
  return all;
}

Tensor as_flagged(const BatchValue& value, bool batched, const ir::Batching& batching,
                  SourceLocation at) {
  if (batched) return ir::full_value(value, batching.lanes(), at);
  if (value.batched) throw InternalError("a value differs by lane that was to be the same", at);
  return value.value;
}

Flags checkpoint_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  return batching.batched_results(node.regions[0], operands);
}

namespace {

std::size_t arguments_of(const ir::Node& node) {
  return static_cast<std::size_t>(node.attrs<CustomCallAttributes>().arguments);
}

void merge(Flags& into, const Flags& more, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) into[i] = into[i] || more[i];
}

/// Appends the flags of those values whose types have tangents.
void append_tangents(Flags& to, std::span<const TensorType> types, const Flags& of_values) {
  for (std::size_t i = 0; i < types.size(); i++) {
    if (ir::has_tangent(types[i])) to.push_back(of_values[i]);
  }
}

/// Which parameters of a custom rule (arguments, tangents of the arguments that have them,
/// captures) differ by lane.
Flags rule_parameters(const ir::Node& node, const Flags& operands) {
  const auto captures = operands.begin() + static_cast<std::ptrdiff_t>(arguments_of(node));
  Flags flags(operands.begin(), captures);
  const std::vector<TensorType> types = node.regions[0].params();
  append_tangents(flags, std::span(types).first(arguments_of(node)), operands);
  flags.insert(flags.end(), captures, operands.end());
  return flags;
}

}  // namespace

Flags custom_jvp_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  // A result and its tangent have the same flag.
  Flags flags = batching.batched_results(node.regions[0], operands);
  const Flags ruled = batching.batched_results(node.regions[1], rule_parameters(node, operands));
  merge(flags, ruled, flags.size());
  for (std::size_t i = 0, tangent = flags.size(); i < flags.size(); i++) {
    if (ir::has_tangent(node.types[i])) flags[i] = ruled[tangent++] || flags[i];
  }
  return flags;
}

Flags custom_vjp_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  Flags flags = batching.batched_results(node.regions[0], operands);
  merge(flags, batching.batched_results(node.regions[1], operands), flags.size());
  return flags;
}

namespace {

std::vector<Tensor> values_of(std::span<const BatchValue> operands) {
  std::vector<Tensor> values;
  for (const BatchValue& operand : operands) values.push_back(operand.value);
  return values;
}

}  // namespace

ir::OpenRegion batched_region(const BatchCall& call, const Function& region, const Flags& given,
                              const std::function<Leaves(BatchValues)>& finish) {
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < given.size(); i++) {
    const TensorType& type = region.parameters()[i].type();
    types.push_back(given[i] ? ir::with_lanes(type, call.lanes()) : type);
  }
  const RegionCallable body = [&](std::span<const Tensor> leaves) {
    return finish(call.batching.batch(region, flagged(leaves, given), call.batching.active()));
  };
  RegionTrace traced(region.name(), "the batched " + region.name(), types, region.param_names(),
                     body, call.at());
  return traced.finish();
}

std::vector<Tensor> batched_call(const BatchCall& call, std::vector<ir::OpenRegion> open) {
  const std::vector<Tensor> captures = ir::union_captures(open);
  std::vector<Function> regions;
  for (ir::OpenRegion& region : open)
    regions.push_back(ir::close_region(std::move(region), captures));
  const std::vector<Tensor> values = values_of(call.operands);
  ir::Operands operands(values.begin(), values.end());
  operands.insert(operands.end(), captures.begin(), captures.end());
  return ir::make_many(*call.node.op, std::move(operands), call.node.attributes, call.at(),
                       std::move(regions));
}

Leaves with_flags(const BatchCall& call, const BatchValues& values, const Flags& flags) {
  Leaves leaves;
  for (std::size_t i = 0; i < values.size(); i++) {
    leaves.values.push_back(as_flagged(values[i], flags[i], call.batching, call.at()));
    leaves.paths.push_back(fmt::format("result{}", i));
  }
  return leaves;
}

BatchValues checkpoint_batch(const BatchCall& call) {
  return batch_as_it_is(call, values_of(call.operands), call.batched());
}

BatchValues custom_jvp_batch(const BatchCall& call) {
  const Flags given = call.batched();
  const Flags results = custom_jvp_batched(call.node, given, call.batching);
  Flags with_tangents = results;
  append_tangents(with_tangents, call.node.types, results);
  std::vector<ir::OpenRegion> open;
  open.push_back(batched_region(call, call.node.regions[0], given, [&](const BatchValues& values) {
    return with_flags(call, values, results);
  }));
  open.push_back(batched_region(
      call, call.node.regions[1], rule_parameters(call.node, given),
      [&](const BatchValues& values) { return with_flags(call, values, with_tangents); }));
  return flagged(batched_call(call, std::move(open)), results);
}

BatchValues custom_vjp_batch(const BatchCall& call) {
  const Function &function = call.node.regions[0], &fwd = call.node.regions[1],
                 &bwd = call.node.regions[2];
  const Flags given = call.batched();
  const Flags results = custom_vjp_batched(call.node, given, call.batching);
  const auto count = static_cast<std::ptrdiff_t>(results.size());
  Flags forward = call.batching.batched_results(fwd, given);
  std::copy(results.begin(), results.end(), forward.begin());
  // bwd takes the residuals, the cotangents of the results, and the captures.
  Flags backward(forward.begin() + count, forward.end());
  append_tangents(backward, call.node.types, results);
  backward.insert(backward.end(),
                  given.begin() + static_cast<std::ptrdiff_t>(arguments_of(call.node)),
                  given.end());
  std::vector<ir::OpenRegion> open;
  open.push_back(batched_region(call, function, given, [&](const BatchValues& values) {
    return with_flags(call, values, results);
  }));
  open.push_back(batched_region(call, fwd, given, [&](const BatchValues& values) {
    return with_flags(call, values, forward);
  }));
  open.push_back(batched_region(call, bwd, backward, [&](const BatchValues& values) {
    Leaves leaves;
    for (std::size_t i = 0; i < values.size(); i++) {
      // An argument that is the same in all lanes gets the sum of the lanes' cotangents.
      const bool summed = values[i].batched && !given[i];
      leaves.values.push_back(summed ? sum(Operand(values[i].value, call.at()), {0})
                                     : as_flagged(values[i], given[i], call.batching, call.at()));
      leaves.paths.push_back(fmt::format("cotangent{}", i));
    }
    return leaves;
  }));
  return flagged(batched_call(call, std::move(open)), results);
}

}  // namespace rondo::control_flow
