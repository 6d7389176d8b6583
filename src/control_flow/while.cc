#include "control_flow/while.h"

#include <algorithm>

#include "control_flow/carry.h"
#include "control_flow/construct_jvp.h"
#include "control_flow/eager.h"
#include "control_flow/for.h"
#include "control_flow/induction.h"
#include "control_flow/loop_batch.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/promise.h"
#include "control_flow/read_counted.h"
#include "control_flow/signature.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/read_construct.h"
#include "ops/support.h"

namespace rondo::control_flow {

namespace {

ir::InferredTypes infer_while(const ir::InferContext& context) {
  const auto& attributes = context.attrs<WhileAttributes>();
  const std::size_t carries = static_cast<std::size_t>(attributes.carries);
  if (context.regions.size() != 2)
    context.fail("needs a condition and a body\n  Give two regions, in this order.");
  if (carries > context.operands.size())
    context.fail("has fewer operands than carries\n  Give the init of each carry.");
  for (const Function& region : context.regions) check_region_parameters(context, region, 0);
  const auto& predicate = context.regions[0].outputs();
  if (predicate.size() != 1 || predicate[0].type() != pred())
    context.fail(
        "the condition must return one pred[]\n  Compare, and combine with rondo::all or "
        "rondo::any.");
  return carried_types(context, context.regions[1].outputs(), 0, carries);
}

ir::RegionLayout while_layout(const ir::Node& node) {
  const auto& a = node.attrs<WhileAttributes>();
  ir::RegionLayout layout;
  layout.carries = static_cast<std::size_t>(a.carries);
  layout.condition = 0;
  layout.name = a.name;
  layout.trip_count = a.trip_count;
  layout.max_trip_count = a.max_trip_count;
  layout.promised = a.promised;
  layout.ends_by_itself = a.ends_by_itself;
  layout.residuals = a.residuals ? &*a.residuals : nullptr;
  layout.source = a.source;
  return layout;
}

ir::Attributes while_relayout(const ir::Node& node, const ir::RegionLayout& layout) {
  WhileAttributes changed = node.attrs<WhileAttributes>();
  changed.carries = static_cast<std::int64_t>(layout.carries);
  changed.name = layout.name;
  changed.trip_count = layout.trip_count;
  changed.max_trip_count = layout.max_trip_count;
  changed.promised = layout.promised;
  changed.ends_by_itself = layout.ends_by_itself;
  changed.residuals = layout.residuals ? std::optional(*layout.residuals) : std::nullopt;
  // The name of the source is the carry's number.
  const bool same = changed.carries == node.attrs<WhileAttributes>().carries;
  changed.source = same ? layout.source : ir::LoopSource{.bodies = layout.source.bodies};
  return changed;
}

std::vector<Tensor> read_while(const ir::ReadConstruct& read) {
  if (read.regions.size() != 2)
    ir::fail("while", "needs a condition and a body\n  Give two regions, in this order.", read.at);
  const RegionCallable condition = [&](std::span<const Tensor> carry) {
    Leaves go_on = read.regions[0](carry);
    if (go_on.values.size() != 1) {
      ir::fail(
          "while",
          fmt::format("the condition gives {} values\n  Return one pred[].", go_on.values.size()),
          read.at);
    }
    return go_on;
  };
  const RegionCallable body = [&](std::span<const Tensor> carry) {
    Leaves next = read.regions[1](carry);
    if (next.values.size() == read.names.size()) next.paths = read.names;
    return next;
  };
  const std::vector<Tensor> results =
      traced_while(condition, body, {read.operands, read.names}, {}, read.at);
  return results.empty() ? results : read_counted(*results[0].node());
}

}  // namespace

const ir::OpDef kWhile{.name = "while",
                       .types = {.infer = infer_while},
                       .expansion = {.rule = while_with_checked_promise},
                       .derivative = {.region_jvp = construct_jvp, .reverse = while_reverse},
                       .batching = {.rule = while_batch, .varying = while_batched},
                       .text = {.hlo = "while",
                                .stablehlo = "stablehlo.while",
                                .attributes = &ir::kFieldText<WhileAttributes>,
                                .can_express = promise_needs_no_check,
                                .read = read_while},
                       .construct = {.flow = ir::Flow::kRepeat,
                                     .layout = while_layout,
                                     .relayout = while_relayout,
                                     .induction = while_induction,
                                     .counted = while_as_for}};

std::vector<Tensor> traced_while(const RegionCallable& cond, const RegionCallable& body,
                                 const Leaves& init, WhileAttributes attributes,
                                 SourceLocation at) {
  const std::string called = construct_name("while_loop", attributes.name);
  const std::vector<TensorType> types = types_of(init.values);
  const std::vector<std::string> names = short_names(init.paths);
  const std::string prefix = attributes.name.empty() ? "while" : attributes.name;
  RegionTrace condition(prefix + "_cond", "the condition of " + called, types, names, cond, at);
  check_predicate("the condition of " + called, condition.out().values.at(0), at);
  RegionTrace step(prefix + "_body", "the body of " + called, types, names, body, at);
  check_carry("the body of " + called + " changes the carry", init, step.out(), at);
  attributes.carries = static_cast<std::int64_t>(init.values.size());
  std::vector<ir::OpenRegion> regions{condition.finish(), step.finish()};
  return make_construct(kWhile, ir::Operands(init.values.begin(), init.values.end()),
                        std::move(attributes), std::move(regions), at);
}

namespace {

std::vector<Tensor> eager_while(const RegionCallable& cond, const RegionCallable& body,
                                Leaves state, const WhileOptions& options, SourceLocation at) {
  const std::string called = construct_name("while_loop", options.name);
  evaluate_all(state, at);
  for (std::int64_t trip = 0;; trip++) {
    const Tensor go_on = cond(state.values).values.at(0);
    check_predicate("the condition of " + called, go_on, at);
    if (!go_on.item<bool>(at)) return state.values;
    if (options.max_trip_count && trip == *options.max_trip_count) {
      throw ExecutionError(fmt::format("{} goes on after {} trips, its promised max_trip_count\n  "
                                       "at {}\n  Raise max_trip_count, or "
                                       "leave it out.",
                                       called, trip, at.str()),
                           at);
    }
    Leaves next = body(state.values);
    check_carry("the body of " + called + " changes the carry", state, next, at);
    evaluate_all(next, at);
    state.values = std::move(next.values);
  }
}

}  // namespace

}  // namespace rondo::control_flow

namespace rondo::detail {

std::vector<Tensor> while_loop(const RegionCallable& cond, const RegionCallable& body, Leaves init,
                               const WhileOptions& options, SourceLocation at) {
  const std::string called = control_flow::construct_name("while_loop", options.name);
  control_flow::check_not_empty("the init of " + called, init, at);
  control_flow::check_slots(called, options.checkpoint, at);
  if (options.max_trip_count && *options.max_trip_count < 0) {
    throw TraceError(
        fmt::format("while_loop: max_trip_count is {}; it cannot be negative\n  at {}\n"
                    "  Give 0 or more, or leave it out.",
                    *options.max_trip_count, at.str()),
        at);
  }
  if (ir::eager_active())
    return control_flow::eager_while(cond, body, std::move(init), options, at);
  control_flow::WhileAttributes attributes;
  attributes.name = options.name;
  attributes.max_trip_count = options.max_trip_count;
  attributes.checkpoint = options.checkpoint;
  return control_flow::traced_while(cond, body, init, std::move(attributes), at);
}

}  // namespace rondo::detail
