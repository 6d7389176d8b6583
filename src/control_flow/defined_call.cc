#include "control_flow/defined_call.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "control_flow/call.h"
#include "control_flow/loop_batch.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region.h"

namespace rondo::control_flow {

namespace {

std::size_t argument_count(const ir::Node& node) {
  return static_cast<std::size_t>(node.attrs<CustomCallAttributes>().arguments);
}

}  // namespace

std::vector<Tensor> make_defined_call(const ir::OpDef& op, std::span<const Tensor> arguments,
                                      const std::vector<DefiningRegion>& regions,
                                      SourceLocation at) {
  if (ir::eager_active()) return regions[0].function(arguments);
  const ir::LocationScope scope(at);
  std::vector<ir::OpenRegion> open;
  for (const DefiningRegion& region : regions) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < region.parameters.size(); i++)
      names.push_back(fmt::format("x{}", i));
    const RegionCallable on_leaves = [&region](std::span<const Tensor> given) {
      Leaves leaves;
      leaves.values = region.function(given);
      for (std::size_t i = 0; i < leaves.values.size(); i++)
        leaves.paths.push_back(fmt::format("result{}", i));
      return leaves;
    };
    RegionTrace traced(region.name, fmt::format("{} of {}", region.name, op.name),
                       region.parameters, names, on_leaves, at);
    open.push_back(traced.finish());
  }
  const std::vector<Tensor> captures = ir::union_captures(open);
  const bool keeps = open[0].keeps;
  std::vector<Function> closed;
  for (ir::OpenRegion& region : open)
    closed.push_back(ir::close_region(std::move(region), captures));
  ir::Operands operands(arguments.begin(), arguments.end());
  operands.insert(operands.end(), captures.begin(), captures.end());
  std::vector<Tensor> results = ir::make_many(
      op, std::move(operands),
      CustomCallAttributes{static_cast<std::int64_t>(arguments.size()), std::string(op.name)}, at,
      std::move(closed));
  if (keeps) ir::keep(results[0]);
  return results;
}

std::vector<Tensor> defined_call_again(const ir::Node& node, std::span<const Tensor> operands,
                                       std::vector<Function> regions) {
  return ir::make_many(*node.op, ir::Operands(operands.begin(), operands.end()), node.attributes,
                       node.location(), std::move(regions));
}

ir::InferredTypes infer_defined_call(const ir::InferContext& context) {
  if (context.operands.size() != context.regions[0].parameters().size()) {
    context.fail(fmt::format(
        "the function has {} parameters for {} operands\n  Give it one for each operand, in order.",
        context.regions[0].parameters().size(), context.operands.size()));
  }
  const std::vector<TensorType> results = context.regions[0].results();
  return {results.begin(), results.end()};
}

ir::RegionLayout defined_call_layout(const ir::Node& node) {
  ir::RegionLayout layout;
  layout.kind = ir::RegionLayout::Kind::kCall;
  layout.fixed = layout.index = argument_count(node);
  layout.name = node.attrs<CustomCallAttributes>().name;
  return layout;
}

ir::Attributes defined_call_relayout(const ir::Node&, const ir::RegionLayout& layout) {
  return CustomCallAttributes{static_cast<std::int64_t>(layout.fixed), std::string(layout.name)};
}

std::vector<Tensor> expand_defined_call(const ir::Node& node, std::span<const Tensor> operands) {
  return ir::Replay::inline_call(node.regions[0], operands);
}

ir::Flags defined_call_batched(const ir::Node& node, const ir::Flags& operands, ir::Batching&) {
  const bool any = std::find(operands.begin(), operands.end(), true) != operands.end();
  return ir::Flags(node.types.size(), any);
}

ir::BatchValues defined_call_batch(const ir::BatchCall& call) {
  const std::size_t arguments = argument_count(call.node);
  std::vector<ir::BatchValue> operands(call.operands.begin(), call.operands.end());
  for (std::size_t i = 0; i < arguments; i++) operands[i] = {call.full(i), true};
  const ir::BatchCall full{call.node, operands, call.used, call.batching};
  const ir::Flags given = full.batched();
  const auto captures = given.begin() + static_cast<std::ptrdiff_t>(arguments);
  const auto capture_count = static_cast<std::size_t>(given.end() - captures);
  std::vector<ir::OpenRegion> open;
  for (const Function& region : call.node.regions) {
    ir::Flags parameters(region.parameters().size() - capture_count, true);
    parameters.insert(parameters.end(), captures, given.end());
    open.push_back(batched_region(full, region, parameters, [&](const ir::BatchValues& values) {
      return with_flags(full, values, ir::Flags(values.size(), true));
    }));
  }
  return ir::all_batched(batched_call(full, std::move(open)));
}

std::vector<Tensor> with_first(const Tensor& x, std::span<const Tensor> captures) {
  std::vector<Tensor> all{x};
  all.insert(all.end(), captures.begin(), captures.end());
  return all;
}

void pull_back_to_captures(ir::Derivatives& derivatives, const Function& region, const Tensor& x,
                           std::span<const Tensor> captures, const ir::Flags& perturbed,
                           const Tensor& u, const ir::Cotangents& of_operands) {
  const std::size_t before = perturbed.size() - captures.size();
  ir::Flags of_captures{false};
  of_captures.insert(of_captures.end(), perturbed.begin() + static_cast<std::ptrdiff_t>(before),
                     perturbed.end());
  if (std::find(of_captures.begin(), of_captures.end(), true) == of_captures.end()) return;
  const ir::Reverse made =
      derivatives.reverse(region, with_first(x, captures), of_captures, ir::Flags{true});
  ir::Cotangents sums;
  sums.append(nullptr);
  for (std::size_t i = before; i < of_operands.size(); i++) sums.append(of_operands[i]);
  made.pullback(std::array{-u}, sums.telling_as(of_operands));
}

std::vector<Tensor> call_region(const Function& region, std::span<const Tensor> first,
                                std::span<const Tensor> captures) {
  std::vector<Tensor> all(first.begin(), first.end());
  all.insert(all.end(), captures.begin(), captures.end());
  return ir::Replay::inline_call(region, all);
}

}  // namespace rondo::control_flow
