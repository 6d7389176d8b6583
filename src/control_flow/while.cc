#include "control_flow/while.h"

#include <algorithm>

#include "control_flow/carry.h"
#include "control_flow/loop_derivatives.h"
#include "fmt/format.h"
#include "ir/lazy.h"
#include "ops/support.h"

namespace rondo::control_flow {

namespace {

void check_region_params(const ir::InferContext& context, const Function& region,
                         std::size_t first_operand) {
  const auto& params = region.parameters();
  if (params.size() + first_operand != context.operands.size()) {
    context.fail(fmt::format("region '{}' has {} parameters for {} operands", region.name(),
                             params.size(), context.operands.size() - first_operand));
  }
  for (std::size_t i = 0; i < params.size(); i++) {
    if (params[i].type() == context.type(first_operand + i)) continue;
    context.fail(fmt::format("parameter {} of region '{}' is {}, its operand {}", i, region.name(),
                             params[i].type().str(), context.type(first_operand + i).str()));
  }
}

ir::InferredTypes infer_while(const ir::InferContext& context) {
  const auto& attributes = context.attrs<WhileAttributes>();
  const std::size_t carries = static_cast<std::size_t>(attributes.carries);
  if (context.regions.size() != 2) context.fail("needs a condition and a body");
  if (carries > context.operands.size()) context.fail("has fewer operands than carries");
  for (const Function& region : context.regions) check_region_params(context, region, 0);
  const auto& predicate = context.regions[0].outputs();
  if (predicate.size() != 1 || predicate[0].type() != pred())
    context.fail("the condition must return one pred[]");
  const auto& next = context.regions[1].outputs();
  if (next.size() != carries)
    context.fail(fmt::format("the body returns {} values for {} carries", next.size(), carries));
  ir::InferredTypes types;
  for (std::size_t i = 0; i < carries; i++) {
    if (next[i].type() != context.type(i)) {
      context.fail(fmt::format("carry {}: {} goes in, {} comes out", i, context.type(i).str(),
                               next[i].type().str()));
    }
    types.push_back(context.type(i));
  }
  return types;
}

ir::InferredTypes infer_conditional(const ir::InferContext& context) {
  if (context.operands.empty() || context.regions.empty())
    context.fail("needs a selector and a branch");
  const TensorType& selector = context.type(0);
  if (selector != pred() && selector != s32())
    context.fail(fmt::format("the selector must be pred[] or s32[], it is {}", selector.str()));
  if (selector == pred() && context.regions.size() != 2)
    context.fail("a pred selects one of two branches");
  const std::vector<TensorType> results = context.regions[0].results();
  for (const Function& region : context.regions) {
    check_region_params(context, region, 1);
    if (region.results() != results)
      context.fail(fmt::format("branch '{}' returns other types than the first", region.name()));
  }
  return {results.begin(), results.end()};
}

}  // namespace

const ir::OpDef kWhile{.name = "while",
                       .hlo = "while",
                       .stablehlo = "stablehlo.while",
                       .infer = infer_while,
                       .hlo_regions = "condition,body",
                       .kind = ir::OpKind::kWhile,
                       .region_jvp = while_jvp,
                       .reverse = while_reverse};

const ir::OpDef kConditional{.name = "conditional",
                             .hlo = "conditional",
                             .stablehlo = "stablehlo.case",
                             .infer = infer_conditional,
                             .kind = ir::OpKind::kConditional,
                             .region_jvp = conditional_jvp,
                             .reverse = conditional_reverse};

void print_field(std::string& out, const WhileSource& source) {
  const auto& [first, count, bodies, limit, advance] = source;
  if (source == WhileSource{}) {
    out += "none";
    return;
  }
  fmt::format_to(std::back_inserter(out), "carry {}+", first);
  ir::print_field(out, count);
  if (bodies != 1) fmt::format_to(std::back_inserter(out), " bodies {}", bodies);
  if (limit) fmt::format_to(std::back_inserter(out), " up to {} by {}", *limit, advance);
}

std::vector<Tensor> traced_while(const RegionCallable& cond, const RegionCallable& body,
                                 const Leaves& init, WhileAttributes attributes, SourceLocation at,
                                 const Tensor& limit) {
  const std::string called = construct_name("while_loop", attributes.name);
  const std::vector<TensorType> types = types_of(init.values);
  const std::vector<std::string> names = short_names(init.paths);
  const std::string prefix = attributes.name.empty() ? "while" : attributes.name;
  RegionTrace condition(prefix + "_cond", "the condition of " + called, types, names, cond, at);
  check_predicate("the condition of " + called, condition.out().values.at(0), at);
  RegionTrace step(prefix + "_body", "the body of " + called, types, names, body, at);
  check_carry("the body of " + called + " changes the carry", init, step.out(), at);
  ir::OpenRegion regions[] = {condition.finish(), step.finish()};
  const std::vector<Tensor> captures = ir::union_captures(regions);
  ir::Operands operands(init.values.begin(), init.values.end());
  operands.insert(operands.end(), captures.begin(), captures.end());
  attributes.carries = static_cast<std::int64_t>(init.values.size());
  for (std::size_t i = init.values.size(); i < operands.size() && !limit.empty(); i++) {
    if (operands[i].same_as(limit)) attributes.source.limit = static_cast<std::int64_t>(i);
  }
  Function closed_condition = ir::close_region(std::move(regions[0]), captures);
  Function closed_body = ir::close_region(std::move(regions[1]), captures);
  return ir::make_many(kWhile, std::move(operands), std::move(attributes), at,
                       {std::move(closed_condition), std::move(closed_body)});
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
