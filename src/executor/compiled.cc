#include "executor/compiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/memory.h"
#include "executor/backend.h"
#include "executor/for_loops.h"
#include "executor/interchange.h"
#include "executor/loop_report.h"
#include "executor/lowering.h"
#include "executor/runtime/kernels.h"
#include "executor/runtime/pieces.h"
#include "executor/runtime/run.h"
#include "executor/runtime/safepoints.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/run_limits.h"
#include "lower/passes/awaited_selects.h"
#include "lower/passes/clamps.h"
#include "lower/passes/dead_code.h"
#include "lower/passes/forward_stores.h"
#include "lower/passes/hoist_indices.h"
#include "lower/passes/induction.h"
#include "lower/passes/lane_indices.h"
#include "lower/passes/lane_layout.h"
#include "lower/passes/select_to_branch.h"
#include "lower/passes/vectorize_trips.h"
#include "lower/print.h"

namespace rondo::executor {

Compiled::~Compiled() = default;

namespace {

/// Whether the state of a loop is reported although a run has no limits: when a max_trip_count is
/// exceeded.
bool makes_promises(const Function& function) {
  const std::vector<Function> regions = ir::regions_inside_out(function);
  return std::any_of(regions.begin(), regions.end(), [](const Function& region) {
    return std::any_of(region.body().begin(), region.body().end(), [](const ir::Node* node) {
      const auto layout = ir::region_layout(node);
      return layout && layout->max_trip_count;
    });
  });
}

/// The memory of a run on so many threads, beside arguments, results and tapes.
std::int64_t bytes_beside(const Unit& unit, int threads) {
  return unit.program->arena_bytes + unit.part_bytes * threads;
}

bool has_loops_that_ignore(const lower::Program& program) {
  return std::any_of(program.loops.begin(), program.loops.end(),
                     [](const lower::LoopInfo& loop) { return !loop.polls; });
}

}  // namespace

Compiled::Compiled(const Function& function, const CompileOptions& options, bool wants_native,
                   const ir::Form& form)
    : result_types_(function.results()),
      arena_limit_(ir::arena_limit(function, options)),
      options_(options),
      wants_native_(wants_native) {
  const bool has_promises = makes_promises(function);
  std::vector<Function> pending{function};
  regions_.emplace(function.identity(), 0);
  while (units_.size() < pending.size()) {
    auto unit = std::make_unique<Unit>();
    unit->function = pending[units_.size()];
    unit->timed = form.is_measured;
    const auto make = [&](const ir::Node& node, std::uint32_t loop) {
      for (const Function& region : node.regions) {
        if (regions_.emplace(region.identity(), pending.size()).second) pending.push_back(region);
      }
      return node_kernel(node, loop);
    };
    const bool is_region = !units_.empty();
    const Interchanges lanes(unit->function, options.contract, form.has_limits && !is_region);
    const bool keeps_states =
        !is_region && (form.has_limits || (has_promises && !lanes.has_lanes()));
    unit->observers = {options.debugger, options.profiler, unit->function.name()};
    const bool is_observed = unit->observers.any();
    const auto lowered = [&](bool packs) {
      return lower_function(unit->function, make,
                            {.interchanges = lanes,
                             .has_limits = form.has_limits,
                             .keeps_states = keeps_states,
                             .reorders = options.contract,
                             .packs = packs,
                             .variables = is_observed,
                             .locations = is_observed});
    };
    lower::Program program = lowered(true);
    if (arena_limit_ && program.arena_bytes > *arena_limit_) program = lowered(false);
    ignores_limits_ = ignores_limits_ ||
                      (!form.has_limits && (lanes.has_lanes() || has_loops_that_ignore(program)));
    lower::remove_counters(program);
    lower::remove_clamps(program);
    lower::vectorize_trips(program);
    lower::forward_stores(program);
    lower::hoist_indices(program);
    lower::select_to_branch(program);
    lower::mark_awaited_selects(program);
    lower::remove_dead_code(program);
    lower::lay_out_by_lane(program);
    lower::combine_lane_indices(program);
    unit->prepare(std::move(program), wants_native);
    units_.push_back(std::move(unit));
  }
  alone_ = entry().program->calls.empty() && entry().program->tapes.empty();
  // A program that exceeds the limit without its tapes is refused before it runs.
  if (arena_limit_) tape_limit_ = std::max<std::int64_t>(0, *arena_limit_ - arena_bytes());
}

const Unit& Compiled::entry_for(const RunOptions& options) const {
  const int threads = options.threads.value_or(1);
  if (threads <= 1) return entry();
  std::call_once(divided_made_, [&] { divided_ = in_pieces(entry()); });
  if (!divided_ || (options.on_progress && divided_->divides_users_loops)) return entry();
  if (arena_limit_ && bytes_beside(*divided_, threads) > *arena_limit_) return entry();
  return *divided_;
}

std::vector<Literal> Compiled::run(std::span<const Literal> arguments, const RunOptions& options,
                                   RunStats& stats) const {
  const Unit& unit = entry_for(options);
  const auto& loops = unit.program->loops;
  absl::InlinedVector<std::int64_t, 8> total_trips(loops.size(), 0);
  std::vector<Literal> results;
  absl::InlinedVector<const std::byte*, 8> from;
  absl::InlinedVector<std::byte*, 8> to;
  for (const Literal& argument : arguments) from.push_back(argument.bytes());
  results.reserve(result_types_.size());
  for (const TensorType& type : result_types_) {
    results.push_back(Literal::uninitialized(type));
    to.push_back(results.back().mutable_bytes());
  }
  Run run(*this, options);
  const auto count = [&] {
    stats = {};
    for (std::size_t i = 0; i < loops.size(); i++)
      stats.loops.push_back({loops[i].name, total_trips[i]});
    for (std::size_t unit_at = 1; unit_at < units_.size(); unit_at++) {
      const std::int64_t* trips = run.total_trips(*units_[unit_at]);
      const auto& of_region = units_[unit_at]->program->loops;
      for (std::size_t i = 0; i < of_region.size(); i++)
        stats.loops.push_back({of_region[i].name, trips ? trips[i] : 0});
    }
    stats.peak_bytes = bytes_beside(unit, options.threads.value_or(1)) + run.tape_bytes();
    for (const Literal& argument : arguments) stats.peak_bytes += argument.type().bytes();
    for (const Literal& result : results) stats.peak_bytes += result.type().bytes();
  };
  try {
    run.run_entry(unit, only_read(from.data()), to.data(), total_trips.data());
  } catch (...) {
    count();
    throw;
  }
  count();
  return results;
}

bool Compiled::run_alone(const std::byte* const* arguments, std::byte* const* results) const {
  if (!alone_) return false;
  const Unit& unit = entry();
  lower::RunFrame frame;
  const TripCounts counts(*unit.program, frame);
  frame.arguments = only_read(arguments);
  frame.results = results;
  frame.program = unit.program.get();
  const lower::Status status = unit.run(frame, [](lower::Status) {});
  if (status != lower::Status::kDone)
    SafepointHandler(RunOptions()).fail(status, frame, *unit.program, nullptr);
  return true;
}

void Compiled::run_on_memory(const std::byte* const* arguments, std::byte* const* results,
                             const RunOptions& options) const {
  if (ir::is_plain(options) && run_alone(arguments, results)) return;
  Run(*this, options).run_entry(entry_for(options), only_read(arguments), results, nullptr);
}

std::string Compiled::text() const {
  std::string text;
  for (const auto& unit : units_) {
    if (!text.empty()) text += '\n';
    const bool falls_back = wants_native_ && !unit->native;
    text += fmt::format("{} '{}'{}\n", text.empty() ? "program" : "region", unit->function.name(),
                        falls_back ? " (runs as bytecode: no machine code could be made)" : "");
    text += lower::to_text(*unit->program);
    text += executor::loop_report(unit->function, *unit->program, options_.contract);
  }
  return text;
}

std::string Compiled::loop_report() const {
  std::string text;
  for (const auto& unit : units_)
    text += executor::loop_report(unit->function, *unit->program, options_.contract);
  return text;
}

std::string Compiled::disassembly(std::string_view loop) const {
  std::string text;
  for (const auto& unit : units_) {
    if (!unit->native) continue;
    const lower::Program& program = *unit->program;
    if (loop.empty()) {
      text += native_code::disassembly(program, &unit->native->target());
      continue;
    }
    for (std::size_t i = 0; i < program.loops.size(); i++) {
      if (program.loops[i].name == loop)
        text += native_code::disassembly(program, &unit->native->target(),
                                         static_cast<std::uint32_t>(i));
    }
  }
  return text;
}

void Compiled::count_held(HeldBytes& held) const {
  if (!held.shared(this, sizeof(*this))) return;
  held.elements(units_);
  for (const auto& unit : units_) {
    held.block(sizeof(Unit));
    unit->count_held(held);
  }
  held.elements(regions_);
  held.elements(result_types_);
  for (const TensorType& type : result_types_) held.shape(type.shape);
}

}  // namespace rondo::executor
