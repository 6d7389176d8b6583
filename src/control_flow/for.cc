#include "control_flow/for.h"

#include <utility>

#include "base/for_dtype.h"
#include "control_flow/counted.h"
#include "control_flow/signature.h"
#include "control_flow/while.h"
#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "rondo/ops/elementwise.h"

namespace rondo::control_flow {

namespace {

ir::InferredTypes infer_for(const ir::InferContext& context) {
  const auto& attributes = context.attrs<ForAttributes>();
  if (attributes.step == 0) context.fail("the step is 0\n  Give another one.");
  return indexed_loop_types(context, static_cast<std::size_t>(attributes.carries));
}

/// The while that texts have: its counter is the index.
std::vector<Tensor> for_as_while(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& a = node.attrs<ForAttributes>();
  const ir::LocationScope scope(node.location());
  const auto carries = static_cast<std::size_t>(a.carries);
  const Function& body = node.regions[0];
  const Tensor& limit = operands[1];
  const std::span<const Tensor> invariants = operands.subspan(2 + carries);
  WhileAttributes attributes;
  attributes.name = a.name;
  attributes.trip_count = a.trip_count;
  attributes.checkpoint = a.checkpoint;
  attributes.residuals = a.residuals;
  attributes.source = a.source;
  attributes.source.first++;
  Leaves init{{operands[0]}, body.param_names()};
  init.values.insert(init.values.end(), operands.begin() + 2, operands.begin() + 2 + a.carries);
  init.paths.resize(1 + carries);
  const RegionCallable cond = [&](std::span<const Tensor> leaves) {
    const Tensor& index = leaves[0];
    return Leaves{{a.step < 0 ? index > limit : index < limit}, {"condition"}};
  };
  const RegionCallable step = [&](std::span<const Tensor> leaves) {
    std::vector<Tensor> arguments(leaves.begin(), leaves.end());
    arguments.insert(arguments.end(), invariants.begin(), invariants.end());
    std::vector<Tensor> next = ir::Replay::inline_call(body, arguments);
    next.insert(next.begin(), leaves[0] + integer(a.step, leaves[0].dtype(), node.location()));
    return Leaves{std::move(next), init.paths};
  };
  std::vector<Tensor> last = traced_while(cond, step, init, std::move(attributes), node.location());
  last.erase(last.begin());
  return last;
}

ir::RegionLayout for_layout(const ir::Node& node) {
  const auto& a = node.attrs<ForAttributes>();
  ir::RegionLayout layout;
  layout.fixed = 2;
  layout.index = 1;
  layout.carries = static_cast<std::size_t>(a.carries);
  layout.name = a.name;
  layout.trip_count = a.trip_count;
  layout.residuals = a.residuals ? &*a.residuals : nullptr;
  layout.independent = a.independent;
  layout.source = a.source;
  return layout;
}

ir::Attributes for_relayout(const ir::Node& node, const ir::RegionLayout& layout) {
  ForAttributes changed = node.attrs<ForAttributes>();
  const bool same = std::cmp_equal(layout.carries, changed.carries);
  changed.independent = layout.independent && std::cmp_less_equal(layout.carries, changed.carries);
  // The name of the source is the carry's number.
  changed.source = same ? layout.source : ir::LoopSource{.bodies = layout.source.bodies};
  changed.carries = static_cast<std::int64_t>(layout.carries);
  changed.name = layout.name;
  changed.trip_count = layout.trip_count;
  changed.residuals = layout.residuals ? std::optional(*layout.residuals) : std::nullopt;
  return changed;
}

std::optional<ir::Induction> for_induction(const ir::Node& node) {
  const std::int64_t step = node.attrs<ForAttributes>().step;
  const auto trips = static_trip_count(node.operands[0], node.operands[1], step);
  return ir::Induction{.step = step, .trips = trips, .limit = 1};
}

}  // namespace

const ir::OpDef kFor{.name = "for",
                     .types = {.infer = infer_for},
                     .expansion = {.rule = for_as_while},
                     .text = {.attributes = &ir::kFieldText<ForAttributes>},
                     .construct = {.flow = ir::Flow::kCount,
                                   .layout = for_layout,
                                   .relayout = for_relayout,
                                   .induction = for_induction}};

std::vector<Tensor> traced_for(const RegionCallable& body, const Tensor& first, const Tensor& limit,
                               const Leaves& init, ForAttributes attributes, SourceLocation at) {
  const std::string called = construct_name("fori_loop", attributes.name);
  std::vector<TensorType> types = types_of(init.values);
  types.insert(types.begin(), first.type());
  // Paths from a user's tree, or names that a region has, in which a dot is part of the name.
  std::vector<std::string> names{"i"};
  for (const std::string& path : init.paths)
    names.push_back(path.starts_with("carry.") ? path.substr(6) : path);
  RegionTrace step((attributes.name.empty() ? "for" : attributes.name) + "_body",
                   "the body of " + called, types, names, body, at);
  ir::Operands operands{first, limit};
  operands.insert(operands.end(), init.values.begin(), init.values.end());
  attributes.carries = static_cast<std::int64_t>(init.values.size());
  attributes.trip_count = static_trip_count(first, limit, attributes.step);
  return make_construct(kFor, std::move(operands), std::move(attributes), {step.finish()}, at);
}

std::vector<Tensor> while_as_for(const ir::Node& node, std::span<const Tensor> operands) {
  const ir::RegionLayout layout = *ir::region_layout(&node);
  const ir::Induction induction = *ir::induction_of(node);
  const std::size_t counter = *induction.carry;
  const Function& body = node.regions[layout.body()];
  const Tensor& first = operands[counter];
  const Tensor limit =
      induction.trips ? integer(index_after(*static_bound(first), *induction.trips, induction.step),
                                first.dtype(), node.location())
                      : operands[*induction.limit];
  ForAttributes attributes;
  attributes.step = induction.step;
  attributes.name = layout.name;
  attributes.residuals = layout.residuals ? std::optional(*layout.residuals) : std::nullopt;
  attributes.source = layout.source;
  const std::span<const Tensor> carry = layout.carry_of(operands);
  Leaves init{{carry.begin(), carry.end()}, body.param_names()};
  init.paths.resize(layout.carries);
  const RegionCallable step = [&](std::span<const Tensor> leaves) {
    std::vector<Tensor> arguments(leaves.begin() + 1, leaves.end());
    arguments[counter] = leaves[0];
    const std::span<const Tensor> invariants = layout.invariants_of(operands);
    arguments.insert(arguments.end(), invariants.begin(), invariants.end());
    return Leaves{ir::Replay::inline_call(body, arguments), init.paths};
  };
  return traced_for(step, first, limit, init, std::move(attributes), node.location());
}

}  // namespace rondo::control_flow
