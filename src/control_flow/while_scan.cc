// while_scan: a scan that can stop early, as a while over the carry, the rows so far and their
// count.
#include "control_flow/carry.h"
#include "control_flow/scan.h"
#include "control_flow/while.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::detail {

std::vector<Tensor> while_scan(const RegionCallable& cond, const RegionCallable& body, Leaves init,
                               const WhileScanOptions& options, SourceLocation at) {
  using namespace control_flow;  // NOLINT: this function is the construct's front
  const std::string called = construct_name("while_scan", options.name);
  check_not_empty("the init of " + called, init, at);
  const std::int64_t limit = options.max_trip_count;
  if (limit < 0 || limit > std::numeric_limits<std::int32_t>::max()) {
    throw TraceError(fmt::format("{}: max_trip_count is {}; it must be from 0 to {}\n  at {}",
                                 called, limit, std::numeric_limits<std::int32_t>::max(), at.str()),
                     at);
  }
  const std::size_t carries = init.values.size();
  const auto split = [&](Leaves& out) {
    Leaves next{{out.values.begin(), out.values.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                              carries, out.values.size()))},
                {}};
    for (const std::string& path : out.paths) {
      if (path.starts_with("carry")) next.paths.push_back(path);
    }
    next.values.resize(next.paths.size());
    for (std::size_t i = 0; i < next.values.size(); i++) next.values[i] = out.values[i];
    check_carry("the body of " + called + " changes the carry", init, next, at);
    std::copy(next.values.begin(), next.values.end(), out.values.begin());
  };

  // The body is traced once, on its own, which tells the types of the ys; the while replays it.
  const std::vector<TensorType> types = types_of(init.values);
  RegionTrace step((options.name.empty() ? "while_scan" : options.name) + "_body",
                   "the body of " + called, types, short_names(init.paths), body, at);
  split(step.out());
  const std::vector<std::string> result_paths = step.out().paths;
  ir::OpenRegion open = step.finish();
  const std::vector<Tensor> captures = open.captures;
  const Function traced = ir::close_region(std::move(open), captures);

  Leaves state = init;
  const std::vector<TensorType> results = traced.results();
  for (std::size_t i = carries; i < results.size(); i++) {
    state.values.push_back(zeros(stacked_type(results[i], 0, limit), at));
    state.paths.push_back(result_paths[i]);
  }
  state.values.push_back(Operand(0, at).as(DType::kS32));
  state.paths.push_back("count");
  const std::size_t count = state.values.size() - 1;
  const std::vector<std::string> paths = state.paths;

  const RegionCallable on_condition = [&](std::span<const Tensor> leaves) {
    Leaves out = cond(leaves.first(carries));
    check_predicate("the condition of " + called, out.values.at(0), at);
    out.values[0] =
        Operand(out.values[0], at) & Operand(Operand(leaves[count], at) < Operand(limit, at), at);
    return out;
  };
  const RegionCallable on_body = [&](std::span<const Tensor> leaves) {
    std::vector<Tensor> arguments(leaves.begin(),
                                  leaves.begin() + static_cast<std::ptrdiff_t>(carries));
    arguments.insert(arguments.end(), captures.begin(), captures.end());
    const std::vector<Tensor> out = ir::Replay::inline_call(traced, arguments);
    Leaves next{{leaves.begin(), leaves.end()}, paths};
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
  const RegionCallable on_eager_body = [&](std::span<const Tensor> leaves) {
    Leaves out = body(leaves.first(carries));
    split(out);
    Leaves next{{leaves.begin(), leaves.end()}, paths};
    for (std::size_t i = 0; i < count; i++)
      next.values[i] =
          i < carries ? out.values[i] : write_slice(leaves[i], out.values[i], leaves[count], 0, at);
    next.values[count] = Operand(leaves[count], at) + Operand(1, at);
    return next;
  };
  WhileOptions while_options;
  while_options.name = options.name;
  while_options.checkpoint = options.checkpoint;
  return detail::while_loop(on_condition, ir::eager_active() ? on_eager_body : on_body,
                            std::move(state), while_options, at);
}

}  // namespace rondo::detail
