#include "executor/runtime/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "base/memory.h"

namespace rondo::executor {

namespace {

// The depth of nested combiner calls.
constexpr int kMaxCallDepth = 200;

Literal copy_of(const TensorType& type, const std::byte* value) {
  Literal copy = Literal::uninitialized(type);
  copy_bytes(copy.mutable_bytes(), value, type.bytes());
  return copy;
}

}  // namespace

TripCounts::TripCounts(const lower::Program& program, lower::RunFrame& frame) {
  const std::size_t loops = program.loops.size();
  if (4 * loops > std::size(few_)) many_.resize(4 * loops);
  frame.trips = many_.empty() ? few_ : many_.data();
  std::fill_n(frame.trips, 4 * loops, 0);
  frame.total_trips = frame.trips + loops;
  frame.lane_trips = frame.total_trips + loops;
}

class Run::Region final : public ir::RegionCall {
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
    // Threshold: Combiner calls between two polls, as a kernel may call its combiner for each
    // element. Not measured.
    constexpr std::uint32_t kCallsBetweenLooks = 4096;
    if (++calls_ % kCallsBetweenLooks == 0) run_.poll();
    run_.depth_++;
    // Single elements are all read before results are written; arrays may be read later, and
    // results may alias operands.
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
  const Unit& unit() const { return unit_; }
  void add_counts(const Region& other) {
    for (std::size_t i = 0; i < total_trips_.size(); i++) total_trips_[i] += other.total_trips_[i];
  }

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

Run::Run(const Compiled& compiled, const RunOptions& options, bool for_state)
    : compiled_(compiled),
      options_(options),
      for_state_(for_state),
      safepoints_(options, for_state) {
  tapes_.limit = compiled.tape_limit();
}
Run::~Run() = default;

class Run::Measured {
 public:
  Measured(Run& run, Profile* profile) : run_(run), profile_(profile) {
    if (profile_) run_.times = &times_.emplace();
  }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;
  ~Measured() {
    if (profile_) *profile_ = times_->profile();
    run_.times = nullptr;
  }

 private:
  Run& run_;
  Profile* profile_;
  std::optional<ir::TimeTree> times_;
};

void Run::run_entry(const Unit& unit, std::byte* const* arguments, std::byte* const* results,
                    std::int64_t* total_trips) {
  const Measured measured(*this, options_.profile);
  try {
    run_unit(unit, arguments, results, total_trips, true);
  } catch (ir::Interrupt& interrupt) {
    if (safepoints_.lacks_state()) add_state(interrupt, unit, arguments, results);
    std::move(interrupt).rethrow();
  }
}

void Run::run_unit(const Unit& unit, std::byte* const* arguments, std::byte* const* results,
                   std::int64_t* total_trips, bool is_entry) {
  lower::RunFrame frame;
  const TripCounts counts(*unit.program, frame);
  if (total_trips) frame.total_trips = total_trips;
  frame.arguments = arguments;
  frame.results = results;
  frame.host = static_cast<RunHost*>(this);
  frame.tape_use = &tapes_;
  const absl::Cleanup detach = [&] {
    if (is_entry) safepoints_.detach_entry();
  };
  if (is_entry)
    safepoints_.attach_entry(frame, *unit.program);
  else
    safepoints_.attach(frame, *unit.program);
  const lower::Status status = unit.run(
      frame, [&](lower::Status why) { safepoints_.keep_last_state(why, frame, *unit.program); });
  if (status == lower::Status::kDone) return;
  if (times) times->end_all();  // while the counts of the trips are there
  safepoints_.fail(status, frame, *unit.program, std::exchange(failure, nullptr),
                   std::exchange(failed_in, {}));
}

/// Saving a state on each trip, in case an inner loop exceeds its max_trip_count, would slow down
/// every run. A program is a function of its arguments, so the same run ends there again; if a time
/// limit ends it earlier, an earlier state remains.
void Run::add_state(ir::Interrupt& interrupt, const Unit& unit, std::byte* const* arguments,
                    std::byte* const* results) const {
  const RunOptions silent = safepoints_.for_silent_rerun();
  Run again(compiled_, silent, true);
  try {
    again.run_unit(unit, arguments, results, nullptr, true);
  } catch (ir::Interrupt& same) {
    interrupt = std::move(same);
  }
}

const std::int64_t* Run::total_trips(const Unit& region) const {
  const auto found = regions_.find(region.function.identity());
  return found == regions_.end() ? nullptr : found->second->total_trips();
}

ir::RegionCall& Run::region(const Function& function) {
  auto& call = regions_[function.identity()];
  if (!call) call = std::make_unique<Region>(*this, compiled_.unit(function));
  return *call;
}

std::unique_ptr<RunHost> Run::for_part() {
  auto part = std::make_unique<Run>(compiled_, options_, for_state_);
  part->safepoints_.answer_for(safepoints_);
  return part;
}

void Run::add_counts(const RunHost& part) {
  for (const auto& [identity, region] : static_cast<const Run&>(part).regions_) {
    auto& call = regions_[identity];
    if (!call) call = std::make_unique<Region>(*this, region->unit());
    call->add_counts(*region);
  }
}

void Run::tap(std::string_view name, const TensorType& type, const std::byte* value) {
  if (options_.on_tap) options_.on_tap(name, copy_of(type, value));
}
void Run::print(std::string_view format, const TensorType& type, const std::byte* value) {
  if (!for_state_) print_value(format, copy_of(type, value));
}
void Run::progress(std::int64_t i, std::int64_t n) {
  if (options_.on_progress) options_.on_progress({{"progress", i, n}});
}
void Run::progress_of_lane(std::string_view lane, std::int64_t i, std::int64_t n) {
  const std::string name = fmt::format("progress{}", lane);
  if (options_.on_progress) options_.on_progress({{name, i, n}});
}

}  // namespace rondo::executor
