#include "passes/batch_trips.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "passes/rewrite.h"

namespace rondo::passes {

namespace {

using ir::Node;
using ir::RegionLayout;

/// The part of a loop's body that is computed for all trips at once.
class BatchedPart {
 public:
  explicit BatchedPart(const RegionLayout& layout)
      : layout_(layout), body_(layout.node->regions[0]), sources_(layout) {
    const double room = room_for_trips(layout);
    for (const Node* node : body_.body()) {
      if (pays(node) && !add(node, room)) break;
    }
  }

  bool empty() const { return part_.empty(); }

  /// Whether the loop reads the slices of its results. Cheap values are also computed in the loop
  /// if that needs them.
  bool is_read(const Node* node) const {
    return part_.contains(node) && sources_.of(node) == TripSource::kSlices &&
           node->op->cost >= ir::Cost::kReduction;
  }
  /// The results that the loop reads, in the order of the body.
  std::vector<Tensor> results() const {
    std::vector<Tensor> all;
    for (const Node* node : body_.body()) {
      for (std::uint32_t r = 0; is_read(node) && r < node->types.size(); r++)
        all.push_back(Tensor::of(node, r));
    }
    return all;
  }

  /// These results for all trips, stacked along the axis of the loop, as new nodes before the loop.
  std::vector<Tensor> computed(BatchingFor batching) const {
    const std::int64_t trips = *layout_.trip_count;
    const SourceLocation at = layout_.node->location();
    Function::Data part{body_.name(), {}, {}, results(), {}};
    ir::BatchValues arguments;
    for (std::size_t p = 0; p < layout_.params(); p++) {
      const Tensor& param = body_.parameters()[p];
      if (!params_.contains(param.node())) continue;
      const bool is_x = layout_.role_of_param(p) == RegionLayout::Role::kX;
      const Tensor& operand = layout_.node->operands[layout_.operand_of_param(p)];
      part.params.push_back(param);
      arguments.push_back({is_x ? with_axis_moved(operand, layout_.axis, 0, at) : operand, is_x});
    }
    for (const Node* node : body_.body()) {
      if (part_.contains(node)) part.body.push_back(node);
    }
    const Function function = FunctionAccess::make(std::move(part));
    std::vector<Tensor> stacked;
    for (const ir::BatchValue& value : batching(trips)->batch(function, arguments, Tensor()))
      stacked.push_back(with_axis_moved(ir::full_value(value, trips, at), 0, layout_.axis, at));
    return stacked;
  }

 private:
  bool pays(const Node* node) const {
    if (sources_.of(node) != TripSource::kSlices || !is_product(node)) return false;
    const auto is_shared = [&](std::size_t i) {
      return sources_.of(node->operands[i]) == TripSource::kInvariants;
    };
    if (is_shared(0) == is_shared(1)) return false;
    const std::size_t shared = is_shared(0) ? 0 : 1;
    return uses(node->operand_type(shared), node->operand_type(1 - shared), node->type()) <=
           kMostUsesOfFactor;
  }

  /// Adds the values that a product is computed from, if they fit in `room` bytes; false if not.
  bool add(const Node* product, double room) {
    std::vector<const Node*> found, params, pending{product};
    absl::flat_hash_set<const Node*> seen{product};
    double bytes = bytes_;
    while (!pending.empty()) {
      const Node* node = pending.back();
      pending.pop_back();
      if (ir::is_constant(node) || part_.contains(node)) continue;
      if (ir::is_parameter(node)) {
        params.push_back(node);
        continue;
      }
      found.push_back(node);
      if (sources_.of(node) == TripSource::kSlices && !node->op->structure.elementwise) {
        for (const TensorType& type : node->types) {
          bytes += bytes_of_trips(layout_, type);
          if (type.rank() < layout_.axis) return false;  // it has no axis to stack along
        }
      }
      for (const Tensor& operand : node->operands) {
        if (seen.insert(operand.node()).second) pending.push_back(operand.node());
      }
    }
    if (bytes > room) return false;
    bytes_ = bytes;
    part_.insert(found.begin(), found.end());
    params_.insert(params.begin(), params.end());
    return true;
  }

  const RegionLayout& layout_;
  const Function& body_;
  const TripSources sources_;
  absl::flat_hash_set<const Node*> part_, params_;
  double bytes_ = 0;  // of the stacks
};

/// The body with further xs in place of the results of the part.
Function reading_slices(const RegionLayout& layout, const BatchedPart& part) {
  const Function& body = layout.node->regions[0];
  FunctionRewrite rewrite(body);
  const std::size_t first_invariant = layout.params() - layout.invariants;
  std::vector<Tensor> params(
      body.parameters().begin(),
      body.parameters().end() - static_cast<std::ptrdiff_t>(layout.invariants));
  const auto token = params[0].node()->attrs<ir::ParameterAttributes>().region;
  for (const Tensor& result : part.results()) {
    const Node* from = result.node();
    params.push_back(ir::make_parameter(result.type(), std::string(from->op->name),
                                        static_cast<std::int64_t>(params.size()), token,
                                        from->location()));
    rewrite.bind(result, params.back());
  }
  for (std::size_t p = first_invariant; p < layout.params(); p++) {
    params.push_back(parameter_at(body.parameters()[p], params.size()));
    rewrite.bind(body.parameters()[p], params.back());
  }
  for (const Node* node : body.body()) {
    if (!part.is_read(node)) rewrite.replace(node, rewrite.rebuilt(node));
  }
  std::vector<Tensor> results;
  for (const Tensor& result : body.outputs()) results.push_back(rewrite(result));
  return rewrite.finish(std::move(params), std::move(results), body.result_names());
}

/// A loop over slices, preceded by what is computed for all of its trips.
Tensor with_part_before(const Node* loop, BatchingFor batching) {
  const RegionLayout layout = *ir::region_layout(loop);
  const BatchedPart part(layout);
  const auto all = [](RegionLayout::Tensors operands) {
    return std::vector<Tensor>(operands.begin(), operands.end());
  };
  ir::ConstructParts parts;
  parts.carries = all(layout.carry_of(loop->operands));
  parts.xs = all(layout.xs_of(loop->operands));
  const std::vector<Tensor> stacked = part.computed(batching);
  parts.xs.insert(parts.xs.end(), stacked.begin(), stacked.end());
  parts.invariants = all(layout.invariants_of(loop->operands));
  parts.ys.assign(loop->types.begin() + static_cast<std::ptrdiff_t>(layout.carries),
                  loop->types.end());
  parts.regions.push_back(reading_slices(layout, part));
  return ir::rebuild(layout, std::move(parts));
}

Function batch_in(const Function& function, BatchingFor batching) {
  FunctionRewrite rewrite(function);
  for (const Node* node : function.body()) {
    const auto layout = batchable_layout(node);
    const Tensor loop = rewrite.rebuilt(node);
    if (!layout || BatchedPart(*layout).empty())
      rewrite.replace(node, loop);
    else
      rewrite.replace(node, with_part_before(over_slices(loop.node()).node(), batching));
  }
  return rewrite.finish();
}

}  // namespace

Function batch_trips(const Function& function, BatchingFor batching) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  return rewrite_regions(function, nullptr,
                         [&](const Function& region) { return batch_in(region, batching); });
}

}  // namespace rondo::passes
