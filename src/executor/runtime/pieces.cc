#include "executor/runtime/pieces.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "base/parallel.h"
#include "executor/runtime/kernels.h"
#include "executor/runtime/safepoints.h"
#include "lower/passes/divide.h"

namespace rondo::executor {

namespace {

// Threshold: Work of a loop that is split over threads, and of its parts: a loop must take some ten
// times as long as waking a thread. Not measured; SeveralLoops in bench/rondo_bench.cc runs it.
constexpr lower::DivisionCosts kCosts{.least_work = 1 << 20, .part_work = 1 << 18};
// For tests: splits all loops that can be split.
constexpr lower::DivisionCosts kNoCosts{.least_work = 0, .part_work = 1};

/// The state that the program of a part uses while it runs, and that its kernels reach.
class PartRun final : public RunHost {
 public:
  PartRun(RunHost& whole, OrderedSection& turns_of_parts, std::int64_t number_of_part,
          ir::TimeTree* times_of_part)
      : turns(turns_of_parts), number(number_of_part), whole_(whole) {
    times = times_of_part;
  }

  static bool at_safepoint(lower::RunFrame* frame, std::uint32_t loop) noexcept {
    auto& part = *static_cast<PartRun*>(frame->handler);
    try {
      if (loop == lower::kNoLoop)
        part.poll();
      else
        part.poll_part(&frame->program->loops[loop], frame->trips[loop]);
      return true;
    } catch (...) {
      part.failure = std::current_exception();
      return false;
    }
  }

  ir::RegionCall& region(const Function& function) override {
    if (!own_) own_ = whole_.for_part();
    own_->times = times;
    return own_->region(function);
  }
  void poll() override { whole_.poll_part(nullptr, 0); }
  void poll_part(const lower::LoopInfo* loop, std::int64_t trip) override {
    whole_.poll_part(loop, trip);
  }
  std::unique_ptr<RunHost> for_part() override { return whole_.for_part(); }
  void add_counts(const RunHost& part) override { whole_.add_counts(part); }
  // Loops whose trips are observed are not split.
  void tap(std::string_view, const TensorType&, const std::byte*) override { fail_observed(); }
  void print(std::string_view, const TensorType&, const std::byte*) override { fail_observed(); }
  void progress(std::int64_t, std::int64_t) override { fail_observed(); }

  /// For the regions that its kernels called; or null.
  std::unique_ptr<RunHost> take_counts() { return std::move(own_); }

  OrderedSection& turns;
  const std::int64_t number;

 private:
  [[noreturn]] static void fail_observed() {
    throw InternalError("a part of a loop reports to the outside");
  }
  RunHost& whole_;
  std::unique_ptr<RunHost> own_;
};

/// The call, in a part, that continues when earlier parts have ended (ordered section).
class WaitForTurn final : public lower::Kernel {
 public:
  void count_held(HeldBytes& held) const override { held.shared(this, sizeof(*this)); }
  bool run(std::byte* const*, lower::RunFrame& frame) const noexcept override {
    const auto& part = *static_cast<PartRun*>(static_cast<RunHost*>(frame.host));
    return part.turns.wait(part.number);
  }
};

/// What the parts of a loop measure, in a run that measures a profile.
class PartTimes {
 public:
  PartTimes(ir::TimeTree* whole, const lower::DividedLoop& loop) : whole_(whole), loop_(loop) {
    if (whole_) parts_.resize(static_cast<std::size_t>(loop.parts()));
  }
  PartTimes(const PartTimes&) = delete;
  PartTimes& operator=(const PartTimes&) = delete;
  /// However the parts have ended.
  ~PartTimes() {
    if (!whole_) return;
    std::vector<ir::TimeTree*> trees;
    for (std::optional<ir::TimeTree>& part : parts_) {
      if (part) trees.push_back(&*part);
    }
    whole_->add_parts(trees, {.ticks = ir::TimeTree::ticks() - began_,
                              .adds_trips = loop_.adds_trips,
                              .are_one_loop = loop_.is_users});
  }

  /// For part `i`, which begins; null if nothing is measured.
  ir::TimeTree* of(std::size_t i) { return whole_ ? &parts_[i].emplace() : nullptr; }

 private:
  ir::TimeTree* whole_;
  const lower::DividedLoop& loop_;
  std::vector<std::optional<ir::TimeTree>> parts_;
  std::uint64_t began_ = ir::TimeTree::ticks();
};

class LoopInPieces final : public lower::Kernel {
 public:
  LoopInPieces(lower::DividedLoop loop, std::size_t pointers, const Unit& whole)
      : loop_(std::move(loop)), pointers_(pointers) {
    unit_.function = whole.function;
    unit_.observers = whole.observers;
    unit_.guarded = false;  // its memory is part of a run that is guarded itself
    unit_.timed = whole.timed;
    for (lower::Call& call : loop_.program.calls) {
      if (call.kernel) continue;
      call.kernel = std::make_shared<WaitForTurn>();
      in_order_ = true;
    }
    unit_.prepare(std::move(loop_.program), whole.native != nullptr);
  }

  void count_held(HeldBytes& held) const override {
    if (held.shared(this, sizeof(*this))) unit_.count_held(held);
  }
  bool run(std::byte* const* buffers, lower::RunFrame& frame) const noexcept override {
    RunHost& host = *static_cast<RunHost*>(frame.host);
    try {
      // For each part the fields that TripCounts has for a run.
      const std::size_t loops = loop_.loops.size();
      std::vector<std::int64_t> counts(static_cast<std::size_t>(loop_.parts()) * 4 * loops, 0);
      std::vector<std::unique_ptr<RunHost>> hosts(static_cast<std::size_t>(loop_.parts()));
      PartTimes times(host.times, loop_);
      OrderedSection turns;
      const auto run_one = [&](std::int64_t part) {
        try {
          const auto at = static_cast<std::size_t>(part);
          PartRun run(host, turns, part, times.of(at));
          run_part(run, buffers, frame, counts.data() + at * 4 * loops);
          hosts[at] = run.take_counts();
        } catch (...) {
          turns.end();
          throw;
        }
      };
      run_parts(host.threads(), run_one);
      add_trips(counts, frame.total_trips);
      for (const auto& part : hosts) {
        if (part) host.add_counts(*part);
      }
      return true;
    } catch (PartFailure& failed) {
      host.failure = std::move(failed.reason);
      host.failed_in = std::move(failed.loops);
    } catch (...) {
      host.failure = std::current_exception();
    }
    frame.failed_loop = loop_.around;
    return false;
  }

 private:
  /// Why a part ended early, and in which of its loops.
  struct PartFailure {
    std::exception_ptr reason;
    std::string loops;
  };

  void run_parts(int threads, absl::FunctionRef<void(std::int64_t)> run_one) const {
    const std::int64_t parts = loop_.parts();
    if (loop_.known_work) return parallel_for(parts, threads, run_one, in_order_);
    // The time of the first part estimates that of the others. Bits do not depend on which thread
    // runs them.
    using Clock = std::chrono::steady_clock;
    // Threshold: Time of the other parts from which threads share them: some times what waking a
    // thread takes. Not measured; ParallelMap in bench/rondo_bench.cc runs it.
    constexpr auto kTimeToWakeThreads = std::chrono::microseconds(50);
    const auto begin = Clock::now();
    run_one(0);
    const bool gains = (Clock::now() - begin) * (parts - 1) > kTimeToWakeThreads;
    parallel_for(parts - 1, gains ? threads : 1, [&](std::int64_t part) { run_one(part + 1); });
  }

  void run_part(PartRun& run, std::byte* const* buffers, const lower::RunFrame& whole,
                std::int64_t* counts) const {
    lower::DividedLoop::Part part = loop_.part(run.number);
    absl::InlinedVector<std::byte*, 16> arguments{reinterpret_cast<std::byte*>(&part)};
    arguments.insert(arguments.end(), buffers, buffers + pointers_);
    lower::RunFrame frame;
    frame.arguments = arguments.data();
    frame.poll = whole.poll;
    frame.at_safepoint = PartRun::at_safepoint;
    frame.handler = &run;
    frame.host = static_cast<RunHost*>(&run);
    frame.program = unit_.program.get();
    frame.max_iterations = whole.max_iterations;
    frame.trips = counts;
    frame.total_trips = counts + loop_.loops.size();
    frame.lane_trips = frame.total_trips + loop_.loops.size();
    const lower::Status status = unit_.run(frame, [](lower::Status) {});
    if (status == lower::Status::kDone) {
      if (in_order_) run.turns.pass(run.number);
      return;
    }
    // If it waited in vain, another part has failed.
    if (status == lower::Status::kKernelFailed && !run.failure) return;
    fail(run, frame, status);
  }

  [[noreturn]] void fail(PartRun& run, lower::RunFrame& frame, lower::Status status) const {
    if (status == lower::Status::kKernelFailed) {
      // Kernels name the loop of the whole program.
      const auto found = std::find(loop_.loops.begin(), loop_.loops.end(), frame.failed_loop);
      frame.failed_loop = found == loop_.loops.end()
                              ? lower::kNoLoop
                              : static_cast<std::uint32_t>(found - loop_.loops.begin());
    }
    const lower::LoopInfo* info =
        frame.failed_loop == lower::kNoLoop ? nullptr : &unit_.program->loops[frame.failed_loop];
    std::exception_ptr reason = run.failure;
    std::string loops = loops_of_failure(status, frame, *unit_.program);
    try {
      if (reason) std::rethrow_exception(reason);
      if (status == lower::Status::kTooManyTrips)
        run.poll_part(info, frame.trips[frame.failed_loop]);
      if (status == lower::Status::kBrokenPromise) fail_for_promise(*info);
      throw InternalError("a part of a loop left without a reason");
    } catch (ir::Interrupt& interrupt) {
      if (loop_.is_users && loop_.around == lower::kNoLoop) {
        const lower::LoopInfo& outermost = unit_.program->loops.front();
        interrupt.loop = outermost.name;
        interrupt.trip = (frame.trips[0] - 1) * outermost.bodies;
      }
      reason = std::current_exception();
    } catch (...) {
      reason = std::current_exception();
    }
    throw PartFailure{std::move(reason), std::move(loops)};
  }

  void add_trips(const std::vector<std::int64_t>& counts, std::int64_t* total_trips) const {
    const std::size_t loops = loop_.loops.size();
    for (std::size_t loop = 0; loop < loops; loop++) {
      std::int64_t all = 0, most = 0;
      for (std::size_t at = loops + loop; at < counts.size(); at += 4 * loops) {
        all += counts[at];
        most = std::max(most, counts[at]);
      }
      total_trips[loop_.loops[loop]] += loop_.adds_trips ? all : most;
    }
  }

  lower::DividedLoop loop_;  // without its program
  bool in_order_ = false;    // parts wait for one another
  std::size_t pointers_;
  Unit unit_;
};

}  // namespace

std::unique_ptr<const Unit> in_pieces(const Unit& whole) {
  const bool is_native = whole.native != nullptr;
  lower::DivisionCosts costs = whole.guarded ? kNoCosts : kCosts;
  costs.lanes_copy = is_native;  // bytecode moves each element by a separate instruction
  std::optional<lower::Divided> divided =
      lower::divided(whole.undivided ? *whole.undivided : *whole.program, costs);
  if (!divided) return nullptr;
  auto made = std::make_unique<Unit>();
  std::vector<lower::Call>& calls = divided->program.calls;
  std::size_t next = calls.size() - divided->loops.size();
  for (lower::DividedLoop& loop : divided->loops) {
    lower::Call& call = calls[next++];
    made->part_bytes = std::max(made->part_bytes, loop.program.arena_bytes);
    made->divides_users_loops |= loop.is_users;
    call.kernel = std::make_shared<LoopInPieces>(std::move(loop), call.pointers.size(), whole);
  }
  made->function = whole.function;
  made->timed = whole.timed;
  made->observers = whole.observers;
  made->prepare(std::move(divided->program), is_native);
  return made;
}

}  // namespace rondo::executor
