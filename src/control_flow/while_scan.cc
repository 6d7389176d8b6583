// while_scan: a scan that can stop early, as a while over the carry, the rows so far and their
// count.
#include <functional>

#include "control_flow/carry.h"
#include "control_flow/eager.h"
#include "control_flow/scan.h"
#include "control_flow/while.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

/// Runs the loop on values; nothing for no trips, because only a trace tells the types of the ys.
std::vector<Tensor> eager_while_scan(const std::string& called, const RegionCallable& cond,
                                     const RegionCallable& body,
                                     const std::function<void(Leaves&)>& check_body, Leaves state,
                                     std::int64_t limit, SourceLocation at) {
  const std::ptrdiff_t carries = std::ssize(state.values);
  evaluate_all(state, at);
  std::vector<std::vector<Tensor>> ys;
  std::int64_t count = 0;
  for (; count < limit; count++) {
    const Tensor go_on = cond(state.values).values.at(0);
    check_predicate("the condition of " + called, go_on, at);
    if (!go_on.item<bool>(at)) break;
    Leaves out = body(state.values);
    check_body(out);
    evaluate_all(out, at);
    state.values.assign(out.values.begin(), out.values.begin() + carries);
    ys.resize(out.values.size() - static_cast<std::size_t>(carries));
    for (std::size_t i = 0; i < ys.size(); i++)
      ys[i].push_back(out.values[static_cast<std::size_t>(carries) + i]);
  }
  if (count == 0) return {};
  for (const std::vector<Tensor>& rows : ys) {
    const Tensor written = stack(rows, 0, at);
    const Tensor rest = zeros(stacked_type(rows[0].type(), 0, limit - count), at);
    state.values.push_back(concatenate({written, rest}, 0, at));
  }
  state.values.push_back(Operand(count, at).as(DType::kS32));
  return std::move(state.values);
}

void check_most_trips(const std::string& called, std::int64_t limit, SourceLocation at) {
  if (limit >= 0 && limit <= std::numeric_limits<std::int32_t>::max()) return;
  throw TraceError(
      fmt::format("{}: max_trip_count is {}\n  at {}\n  Give the most trips that it may make, "
                  "from 0 to {}: the ys have so many rows.",
                  called,
                  limit == WhileScanOptions().max_trip_count ? "not given" : std::to_string(limit),
                  at.str(), std::numeric_limits<std::int32_t>::max()),
      at);
}

/// Checks the carry that the body returned, and gives it the dtypes of `init`.
void check_step_carry(const std::string& called, const Leaves& init, Leaves& out,
                      SourceLocation at) {
  const auto carries = static_cast<std::ptrdiff_t>(std::min(init.values.size(), out.values.size()));
  Leaves next{{out.values.begin(), out.values.begin() + carries}, {}, out.structure};
  for (const std::string& path : out.paths) {
    if (path.starts_with("carry")) next.paths.push_back(path);
  }
  next.values.resize(next.paths.size());
  for (std::size_t i = 0; i < next.values.size(); i++) next.values[i] = out.values[i];
  check_carry("the body of " + called + " changes the carry", init, next, at);
  std::copy(next.values.begin(), next.values.end(), out.values.begin());
}

/// The body, traced once separately to find the types of the ys. The while replays it.
struct TracedStep {
  Function body;  // of the carry and the captures
  std::vector<Tensor> captures;
  std::vector<std::string> paths;  // of the results
  bool keeps = false;              // something in it runs even if its results are unused

  TracedStep(const std::string& called, const std::string& name, const RegionCallable& step,
             const Leaves& init, SourceLocation at) {
    RegionTrace trace((name.empty() ? "while_scan" : name) + "_body", "the body of " + called,
                      types_of(init.values), short_names(init.paths), step, at);
    check_step_carry(called, init, trace.out(), at);
    paths = trace.out().paths;
    ir::OpenRegion open = trace.finish();
    captures = open.captures;
    keeps = open.keeps;
    body = ir::close_region(std::move(open), captures);
  }
  std::vector<Tensor> run(std::span<const Tensor> carry) const {
    std::vector<Tensor> arguments(carry.begin(), carry.end());
    arguments.insert(arguments.end(), captures.begin(), captures.end());
    std::vector<Tensor> results = ir::Replay::inline_call(body, arguments);
    if (keeps && !results.empty()) ir::keep(results[0]);
    return results;
  }
};

/// The carry, the rows to be written, and their count.
Leaves first_state(const TracedStep& step, const Leaves& init, std::int64_t limit,
                   SourceLocation at) {
  Leaves state{init.values, init.paths};
  const std::vector<TensorType> results = step.body.results();
  for (std::size_t i = init.values.size(); i < results.size(); i++) {
    state.values.push_back(zeros(stacked_type(results[i], 0, limit), at));
    state.paths.push_back(step.paths[i]);
  }
  state.values.push_back(Operand(0, at).as(DType::kS32));
  state.paths.push_back("count");
  return state;
}

}  // namespace

}  // namespace rondo::control_flow

namespace rondo::detail {

std::vector<Tensor> while_scan(const RegionCallable& cond, const RegionCallable& body, Leaves init,
                               const WhileScanOptions& options, SourceLocation at) {
  using namespace control_flow;  // NOLINT: this function is the construct's front
  const std::string called = construct_name("while_scan", options.name);
  check_not_empty("the init of " + called, init, at);
  const std::int64_t limit = options.max_trip_count;
  check_most_trips(called, limit, at);
  if (ir::eager_active()) {
    const auto check = [&](Leaves& out) { check_step_carry(called, init, out, at); };
    std::vector<Tensor> results = eager_while_scan(called, cond, body, check, init, limit, at);
    if (!results.empty()) return results;
  }
  const TracedStep step(called, options.name, body, init, at);
  const Leaves state = first_state(step, init, limit, at);
  const std::size_t carries = init.values.size(), count = state.values.size() - 1;
  const RegionCallable on_condition = [&](std::span<const Tensor> leaves) {
    Leaves out = cond(leaves.first(carries));
    check_predicate("the condition of " + called, out.values.at(0), at);
    out.values[0] =
        Operand(out.values[0], at) & Operand(Operand(leaves[count], at) < Operand(limit, at), at);
    return out;
  };
  const RegionCallable on_body = [&](std::span<const Tensor> leaves) {
    const std::vector<Tensor> out = step.run(leaves.first(carries));
    Leaves next{{leaves.begin(), leaves.end()}, state.paths};
    for (std::size_t i = 0; i < count; i++) {
      // Without trips there are no rows to write.
      if (i < carries)
        next.values[i] = out[i];
      else if (limit > 0)
        next.values[i] = write_slice(leaves[i], out[i], leaves[count], 0, at);
    }
    next.values[count] = Operand(leaves[count], at) + Operand(1, at);
    return next;
  };
  WhileAttributes attributes;
  attributes.name = options.name;
  attributes.max_trip_count = limit;
  attributes.ends_by_itself = true;
  attributes.checkpoint = options.checkpoint;
  return traced_while(on_condition, on_body, state, std::move(attributes), at);
}

}  // namespace rondo::detail
