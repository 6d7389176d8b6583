#include "executor/pieces.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/parallel.h"
#include "executor/kernels.h"
#include "executor/safepoints.h"
#include "lower/divide.h"

namespace rondo::executor {

namespace {

// A loop takes some ten times as long as it takes to wake a thread.
constexpr lower::DivisionCosts kCosts{.least_work = 1 << 20, .part_work = 1 << 18};
// For tests: all loops that can be divided are.
constexpr lower::DivisionCosts kNoCosts{.least_work = 0, .part_work = 1};

/// What the program of a part looks at while it runs.
struct PartRun {
  RunHost& host;
  OrderedSection& turns;
  std::int64_t number;
  std::exception_ptr failure = nullptr;

  static bool at_safepoint(lower::RunFrame* frame, std::uint32_t loop) noexcept {
    auto& part = *static_cast<PartRun*>(frame->handler);
    try {
      if (loop == lower::kNoLoop)
        part.host.poll_part(nullptr, 0);
      else
        part.host.poll_part(&frame->program->loops[loop], frame->trips[loop]);
      return true;
    } catch (...) {
      part.failure = std::current_exception();
      return false;
    }
  }
};

/// The call in a part that goes on when those before have ended.
class WaitForTurn final : public lower::Kernel {
 public:
  void count_held(HeldBytes& held) const override { held.shared(this, sizeof(*this)); }
  bool run(std::byte* const*, lower::RunFrame& frame) const noexcept override {
    const PartRun& part = *static_cast<PartRun*>(frame.host);
    return part.turns.wait(part.number);
  }
};

class LoopInPieces final : public lower::Kernel {
 public:
  LoopInPieces(lower::DividedLoop loop, std::size_t pointers, const Unit& whole)
      : loop_(std::move(loop)), pointers_(pointers) {
    unit_.function = whole.function;
    unit_.guarded = false;  // its memory is that of a run which is
    for (lower::Call& call : loop_.program.calls) call.kernel = std::make_shared<WaitForTurn>();
    unit_.prepare(std::move(loop_.program), whole.native != nullptr);
  }

  void count_held(HeldBytes& held) const override {
    if (held.shared(this, sizeof(*this))) unit_.count_held(held);
  }
  bool run(std::byte* const* buffers, lower::RunFrame& frame) const noexcept override {
    RunHost& host = *static_cast<RunHost*>(frame.host);
    try {
      // Of each part what TripCounts has of a run.
      const std::size_t loops = loop_.loops.size();
      std::vector<std::int64_t> counts(static_cast<std::size_t>(loop_.parts()) * 4 * loops, 0);
      OrderedSection turns;
      const auto run_one = [&](std::int64_t part) {
        try {
          PartRun run{host, turns, part};
          run_part(run, buffers, frame, counts.data() + static_cast<std::size_t>(part) * 4 * loops);
        } catch (...) {
          turns.end();
          throw;
        }
      };
      const bool in_order = !unit_.program->calls.empty();
      parallel_for(loop_.parts(), host.threads(), run_one, in_order);
      add_trips(counts, frame.total_trips);
      return true;
    } catch (...) {
      host.failure = std::current_exception();
      frame.failed_loop = loop_.around;
      return false;
    }
  }

 private:
  void run_part(PartRun& run, std::byte* const* buffers, const lower::RunFrame& whole,
                std::int64_t* counts) const {
    lower::DividedLoop::Part part = loop_.part(run.number);
    absl::InlinedVector<std::byte*, 16> arguments{reinterpret_cast<std::byte*>(&part)};
    arguments.insert(arguments.end(), buffers, buffers + pointers_);
    lower::RunFrame frame;
    frame.arguments = arguments.data();
    frame.poll = whole.poll;
    frame.at_safepoint = PartRun::at_safepoint;
    frame.handler = frame.host = &run;
    frame.program = unit_.program.get();
    frame.max_iterations = whole.max_iterations;
    frame.trips = counts;
    frame.total_trips = counts + loop_.loops.size();
    frame.lane_trips = frame.total_trips + loop_.loops.size();
    const lower::Status status = unit_.run(frame, [](lower::Status) {});
    if (status == lower::Status::kDone && !unit_.program->calls.empty()) run.turns.pass(run.number);
    // Where it waited in vain another part has failed.
    if (status == lower::Status::kDone || status == lower::Status::kKernelFailed) return;
    if (run.failure) std::rethrow_exception(run.failure);
    if (status == lower::Status::kTooManyTrips)
      run.host.poll_part(&unit_.program->loops[frame.failed_loop], counts[frame.failed_loop]);
    if (status == lower::Status::kBrokenPromise)
      fail_for_promise(unit_.program->loops[frame.failed_loop]);
    throw InternalError("a part of a loop left without a reason");
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
  std::size_t pointers_;
  Unit unit_;
};

}  // namespace

std::unique_ptr<const Unit> in_pieces(const Unit& whole) {
  const bool is_native = whole.native != nullptr;
  lower::DivisionCosts costs = whole.guarded ? kNoCosts : kCosts;
  costs.lanes_copy = is_native;  // bytecode moves each element by an instruction of its own
  std::optional<lower::Divided> divided = lower::divided(*whole.program, costs);
  if (!divided) return nullptr;
  std::vector<lower::Call>& calls = divided->program.calls;
  std::size_t next = calls.size() - divided->loops.size();
  for (lower::DividedLoop& loop : divided->loops) {
    lower::Call& call = calls[next++];
    call.kernel = std::make_shared<LoopInPieces>(std::move(loop), call.pointers.size(), whole);
  }
  auto made = std::make_unique<Unit>();
  made->function = whole.function;
  made->prepare(std::move(divided->program), is_native);
  return made;
}

}  // namespace rondo::executor
