#include "executor/compiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "base/memory.h"
#include "executor/backend.h"
#include "executor/for_loops.h"
#include "executor/kernels.h"
#include "executor/lane_form.h"
#include "executor/loop_report.h"
#include "executor/lowering.h"
#include "executor/pieces.h"
#include "executor/watch.h"
#include "ir/function_data.h"
#include "ir/run_limits.h"
#include "lower/clamps.h"
#include "lower/contract.h"
#include "lower/dear_choices.h"
#include "lower/hoist_indices.h"
#include "lower/print.h"

namespace rondo::executor {

Compiled::~Compiled() = default;

Compiled::Compiled(const Function& function, const CompileOptions& options, bool wants_native,
                   bool has_limits)
    : result_types_(function.results()), options_(options), wants_native_(wants_native) {
  std::vector<Function> pending{function};
  regions_.emplace(function.identity(), 0);
  while (units_.size() < pending.size()) {
    auto unit = std::make_unique<Unit>();
    unit->function = pending[units_.size()];
    const auto make = [&](const ir::Node& node, std::uint32_t loop) {
      for (const Function& region : node.regions) {
        if (regions_.emplace(region.identity(), pending.size()).second) pending.push_back(region);
      }
      return node_kernel(node, loop);
    };
    const bool is_region = !units_.empty();
    const LaneForms lanes(unit->function, options.contract, has_limits && !is_region);
    ignores_limits_ = ignores_limits_ || (!has_limits && lanes.has_lanes());
    const auto lowered = [&](bool packs) {
      return lower_function(unit->function, make,
                            {.lane_forms = lanes,
                             .has_limits = has_limits,
                             .keeps_states = !is_region && (has_limits || !lanes.has_lanes()),
                             .reorders = options.contract,
                             .packs = packs});
    };
    lower::Program program = lowered(true);
    if (options.memory_limit && program.arena_bytes > *options.memory_limit)
      program = lowered(false);
    lower::remove_clamps(program);
    lower::hoist_indices(program);
    if (options.contract) lower::contract(program);
    lower::branch_to_dear_choices(program);
    unit->prepare(std::move(program), wants_native);
    units_.push_back(std::move(unit));
  }
  alone_ = entry().program->calls.empty() && entry().program->tapes.empty();
  // A program that takes more than the limit without its tapes is refused before it runs.
  if (options.memory_limit)
    tape_limit_ = std::max<std::int64_t>(0, *options.memory_limit - arena_bytes());
}

namespace {

// As deep as combiners in combiners may call.
constexpr int kMaxCallDepth = 200;

/// What a run counts of the loops of its program.
class TripCounts {
 public:
  TripCounts(const lower::Program& program, lower::RunFrame& frame) {
    const std::size_t loops = program.loops.size();
    if (4 * loops > std::size(few_)) many_.resize(4 * loops);
    frame.trips = many_.empty() ? few_ : many_.data();
    std::fill_n(frame.trips, 4 * loops, 0);
    frame.total_trips = frame.trips + loops;
    frame.lane_trips = frame.total_trips + loops;
  }
  TripCounts(const TripCounts&) = delete;
  TripCounts& operator=(const TripCounts&) = delete;

 private:
  std::int64_t few_[16];
  std::vector<std::int64_t> many_;
};

class Run final : public RunHost {
 public:
  /// `for_state`: a run that is made again for the state in which it ends.
  Run(const Compiled& compiled, const RunOptions& options, bool for_state = false)
      : compiled_(compiled), options_(options), for_state_(for_state), watch_(options, for_state) {
    tapes_.limit = compiled.tape_limit();
  }

  /// The program that was called by the user. Adds to `total_trips` of its loops, if that is not
  /// null. Throws what ends the run.
  void run_entry(const Unit& unit, std::byte* const* arguments, std::byte* const* results,
                 std::int64_t* total_trips) {
    try {
      run_unit(unit, arguments, results, total_trips, true);
    } catch (ir::Interrupt& interrupt) {
      if (watch_.lacks_state()) add_state(interrupt, unit, arguments, results);
      std::move(interrupt).rethrow();
    }
  }

  std::int64_t tape_bytes() const { return tapes_.peak; }
  /// Of all calls of a region that a kernel calls, loop by loop; null if there were none.
  const std::int64_t* total_trips(const Unit& region) const {
    const auto found = regions_.find(region.function.identity());
    return found == regions_.end() ? nullptr : found->second->total_trips();
  }

  ir::RegionCall& region(const Function& function) override {
    auto& call = regions_[function.identity()];
    if (!call) call = std::make_unique<Region>(*this, compiled_.unit(function));
    return *call;
  }
  void poll() override { watch_.poll(); }
  void poll_part(const lower::LoopInfo* loop, std::int64_t trip) override {
    watch_.poll_part(loop, trip);
  }
  int threads() const override { return options_.threads.value_or(1); }
  void tap(std::string_view name, const TensorType& type, const std::byte* value) override {
    if (options_.on_tap) options_.on_tap(name, copy_of(type, value));
  }
  void print(std::string_view format, const TensorType& type, const std::byte* value) override {
    if (!for_state_) print_value(format, copy_of(type, value));
  }
  void progress(std::int64_t i, std::int64_t n) override {
    if (options_.on_progress) options_.on_progress({{"progress", i, n}});
  }
  void progress_of_lane(std::string_view lane, std::int64_t i, std::int64_t n) override {
    const std::string name = fmt::format("progress{}", lane);
    if (options_.on_progress) options_.on_progress({{name, i, n}});
  }

 private:
  void run_unit(const Unit& unit, std::byte* const* arguments, std::byte* const* results,
                std::int64_t* total_trips, bool is_entry) {
    lower::RunFrame frame;
    const TripCounts counts(*unit.program, frame);
    if (total_trips) frame.total_trips = total_trips;
    frame.arguments = arguments;
    frame.results = results;
    frame.host = static_cast<RunHost*>(this);
    frame.tape_use = &tapes_;
    const absl::Cleanup detach = [&] {
      if (is_entry) watch_.detach_entry();
    };
    if (is_entry)
      watch_.attach_entry(frame, *unit.program);
    else
      watch_.attach(frame, *unit.program);
    const lower::Status status = unit.run(
        frame, [&](lower::Status why) { watch_.keep_last_state(why, frame, *unit.program); });
    if (status == lower::Status::kDone) return;
    watch_.fail(status, frame, *unit.program, std::exchange(failure, nullptr));
  }

  /// A state kept on each trip, in case that a loop inside makes too many trips, would cost every
  /// run something. A program is a function of its arguments, so that the same run ends there
  /// again; where a limit of time ends it before, an earlier state remains.
  void add_state(ir::Interrupt& interrupt, const Unit& unit, std::byte* const* arguments,
                 std::byte* const* results) const {
    const RunOptions silent = watch_.for_silent_rerun();
    Run again(compiled_, silent, true);
    try {
      again.run_unit(unit, arguments, results, nullptr, true);
    } catch (ir::Interrupt& same) {
      interrupt = std::move(same);
    }
  }

  static Literal copy_of(const TensorType& type, const std::byte* value) {
    Literal copy = Literal::uninitialized(type);
    copy_bytes(copy.mutable_bytes(), value, type.bytes());
    return copy;
  }

  class Region final : public ir::RegionCall {
   public:
    Region(Run& run, const Unit& unit)
        : run_(run), unit_(unit), total_trips_(unit.program->loops.size()) {
      for (const Tensor& output : unit.function.outputs()) {
        if (output.type().elements() != 1) apart_.push_back(Literal::uninitialized(output.type()));
      }
    }
    void run(ir::OperandPlaces operands, ir::ResultPlaces results) override {
      if (run_.depth_ >= kMaxCallDepth) {
        throw ExecutionError(
            fmt::format("combiners are nested more than {} deep (a reduce in the combiner of a "
                        "reduce ...)\n  Reduce over several axes at once.",
                        kMaxCallDepth));
      }
      // A kernel may call its combiner once for each element.
      constexpr std::uint32_t kCallsBetweenLooks = 4096;
      if (++calls_ % kCallsBetweenLooks == 0) run_.poll();
      run_.depth_++;
      // Single elements are all read before results are written; arrays may be read later, and
      // results may lie where operands do.
      std::byte* const* arguments = only_read(operands.data());
      try {
        if (apart_.empty())
          run_.run_unit(unit_, arguments, results.data(), total_trips_.data(), false);
        else
          run_apart(arguments, results);
      } catch (...) {
        run_.depth_--;
        throw;
      }
      run_.depth_--;
    }

    const std::int64_t* total_trips() const { return total_trips_.data(); }

   private:
    void run_apart(std::byte* const* arguments, ir::ResultPlaces results) {
      std::vector<std::byte*> places(results.begin(), results.end());
      const auto& outputs = unit_.function.outputs();
      std::size_t next = 0;
      for (std::size_t i = 0; i < outputs.size(); i++) {
        if (outputs[i].type().elements() != 1) places[i] = apart_[next++].mutable_bytes();
      }
      run_.run_unit(unit_, arguments, places.data(), total_trips_.data(), false);
      for (std::size_t i = 0; i < outputs.size(); i++) {
        if (places[i] != results[i]) copy_bytes(results[i], places[i], outputs[i].type().bytes());
      }
    }

    Run& run_;
    const Unit& unit_;
    std::vector<Literal> apart_;  // results that are arrays
    std::vector<std::int64_t> total_trips_;
    std::uint32_t calls_ = 0;
  };

  const Compiled& compiled_;
  const RunOptions& options_;
  const bool for_state_;
  Watch watch_;
  absl::flat_hash_map<const void*, std::unique_ptr<Region>> regions_;
  int depth_ = 0;
  lower::TapeUse tapes_;
};

}  // namespace

const Unit& Compiled::entry_for(const RunOptions& options) const {
  if (options.threads.value_or(1) <= 1) return entry();
  std::call_once(divided_made_, [&] {
    divided_ = in_pieces(entry());
    if (!divided_ || !options_.memory_limit) return;
    if (divided_->program->arena_bytes > *options_.memory_limit) divided_.reset();
  });
  return divided_ ? *divided_ : entry();
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
    stats.peak_bytes = unit.program->arena_bytes + run.tape_bytes();
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
    Watch(RunOptions()).fail(status, frame, *unit.program, nullptr);
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
    text += loop_report(unit->function, options_.contract);
  }
  return text;
}

std::string Compiled::disassembly(std::string_view loop) const {
  std::string text;
  for (const auto& unit : units_) {
    if (!unit->native) continue;
    const lower::Program& program = *unit->program;
    if (loop.empty()) {
      text += native_code::disassembly(program, unit->native->isa());
      continue;
    }
    for (std::size_t i = 0; i < program.loops.size(); i++) {
      if (program.loops[i].name == loop)
        text +=
            native_code::disassembly(program, unit->native->isa(), static_cast<std::uint32_t>(i));
    }
  }
  return text;
}

std::int64_t Compiled::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& unit : units_) {
    if (unit != units_.front()) bytes += ir::footprint(unit->function);
    bytes += unit->bytes();
  }
  return bytes;
}

namespace {

class ExecutorBackend final : public ir::Backend {
 public:
  ExecutorBackend(std::string_view name, bool wants_native)
      : name_(name), wants_native_(wants_native) {}
  std::string_view name() const override { return name_; }
  std::shared_ptr<const ir::Prepared> prepare(const Function& function,
                                              const CompileOptions& options) const override {
    return std::make_shared<Compiled>(function, options, wants_native_);
  }
  std::shared_ptr<const ir::Prepared> prepare_with_limits(
      const Function& function, const CompileOptions& options) const override {
    const std::optional<Function> other = with_loops_outermost(function);
    return std::make_shared<Compiled>(other ? *other : function, options, wants_native_, true);
  }

 private:
  std::string_view name_;
  bool wants_native_;
};

}  // namespace

const ir::Backend& bytecode_backend() {
  static const ExecutorBackend backend("bytecode", false);
  return backend;
}

const ir::Backend& compiled_backend() {
  static const ExecutorBackend backend("native", true);
  return native_code::available_isa() == native_code::Isa::kNone ? bytecode_backend() : backend;
}

}  // namespace rondo::executor
