#include "executor/runtime/loop_timers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "executor/runtime/kernels.h"
#include "ir/time_tree.h"
#include "lower/run_frame.h"

namespace rondo::executor {

namespace {

using lower::kNoLoop;
using lower::Op;
using lower::Opcode;

/// Begins a loop of the user's, or a loop over lanes with those that are in it: these are not timed
/// one by one.
class BeginLoops final : public lower::Kernel {
 public:
  /// `timed`: false if they make no trip there and only count those that were made elsewhere.
  BeginLoops(const lower::Program& program, const std::vector<std::uint32_t>& numbers, bool timed)
      : timed_(timed) {
    for (const std::uint32_t number : numbers) {
      const lower::LoopInfo& info = program.loops[number];
      const auto outer = std::find(numbers.begin(), numbers.end(), info.outer);
      loops_.push_back({{info.name, info.at, true},
                        number,
                        info.in_lanes,
                        static_cast<std::size_t>(outer - numbers.begin())});
    }
    // An outer loop begins before those in it.
    std::vector<bool> has_begun(loops_.size() + 1);
    has_begun.back() = true;
    while (order_.size() < loops_.size()) {
      for (std::size_t i = 0; i < loops_.size(); i++) {
        if (has_begun[i] || !has_begun[loops_[i].outer]) continue;
        has_begun[i] = true;
        order_.push_back(i);
      }
    }
  }

  bool run(std::byte* const*, lower::RunFrame& frame) const noexcept override {
    ir::TimeTree& times = *static_cast<RunHost*>(frame.host)->times;
    const std::uint32_t around = times.innermost();
    const Loop& first = loops_[order_.front()];
    const std::uint32_t place = times.begin(first.place, trips_of(first, frame), timed_);
    if (loops_.size() == 1) return true;
    absl::InlinedVector<std::uint32_t, 4> places(loops_.size() + 1, around);
    places[order_.front()] = place;
    for (std::size_t next = 1; next < order_.size(); next++) {
      const Loop& loop = loops_[order_[next]];
      places[order_[next]] =
          times.begin_inside(loop.place, trips_of(loop, frame), places[loop.outer]);
    }
    return true;
  }
  void count_held(HeldBytes& held) const override { held.shared(this, sizeof(*this)); }

 private:
  struct Loop {
    ir::TimedPlace place;
    std::uint32_t number;  // in Program::loops
    bool in_lanes;
    std::size_t outer;  // in `loops_`; behind its end if none of them is around it
  };
  static ir::TimedTrips trips_of(const Loop& loop, const lower::RunFrame& frame) {
    return {.total = &frame.total_trips[loop.number],
            .present = loop.in_lanes ? nullptr : &frame.trips[loop.number]};
  }

  std::vector<Loop> loops_;
  std::vector<std::size_t> order_;
  bool timed_;
};

class EndLoops final : public lower::Kernel {
 public:
  bool run(std::byte* const*, lower::RunFrame& frame) const noexcept override {
    static_cast<RunHost*>(frame.host)->times->end();
    return true;
  }
  void count_held(HeldBytes& held) const override { held.shared(this, sizeof(*this)); }
};

class LoopTimers {
 public:
  explicit LoopTimers(lower::Program& program) : program_(program) {}

  void run() {
    std::vector<Op> code;
    code.reserve(program_.code.size());
    std::size_t lanes_around = 0;
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      const Op& op = program_.code[at];
      const bool ends = op.code == Opcode::kEndFor || op.code == Opcode::kEndRepeat ||
                        op.code == Opcode::kEndLanes;
      if (op.code == Opcode::kEndLanes) lanes_around--;
      const std::vector<std::uint32_t> loops =
          lanes_around == 0 ? timed_by(op) : std::vector<std::uint32_t>();
      if (op.code == Opcode::kLanes) lanes_around++;
      if (!loops.empty() && !ends)
        code.push_back(call(std::make_shared<BeginLoops>(program_, loops, makes_trips(at))));
      code.push_back(op);
      if (!loops.empty() && ends) code.push_back(call(end_));
    }
    program_.code = std::move(code);
  }

 private:
  /// Whether the construct that begins at `at` has anything in its trips.
  bool makes_trips(std::size_t at) const {
    if (program_.code[at].code != Opcode::kRepeat) return true;
    while (program_.code[at].code != Opcode::kTest) at++;
    return program_.code[at + 1].code != Opcode::kEndRepeat;
  }
  /// The loops whose time is that of the construct which `op` begins or ends.
  std::vector<std::uint32_t> timed_by(const Op& op) const {
    std::vector<std::uint32_t> loops;
    switch (op.code) {
      case Opcode::kFor:
      case Opcode::kEndFor: {
        const lower::For& loop = program_.fors[op.bits];
        if (loop.loop != kNoLoop) loops.push_back(loop.loop);
        loops.insert(loops.end(), loop.lane_loops.begin(), loop.lane_loops.end());
        break;
      }
      case Opcode::kRepeat:
      case Opcode::kEndRepeat:
        if (program_.whiles[op.bits].loop != kNoLoop)
          loops.push_back(program_.whiles[op.bits].loop);
        break;
      case Opcode::kLanes:
      case Opcode::kEndLanes:
        if (!program_.lanes[op.bits].trips_later) loops = program_.lanes[op.bits].loops;
        break;
      default:
        break;
    }
    return loops;
  }

  Op call(std::shared_ptr<const lower::Kernel> kernel) {
    program_.calls.push_back({std::move(kernel), {}, "timer"});
    Op op{Opcode::kCall};
    op.bits = program_.calls.size() - 1;
    return op;
  }

  lower::Program& program_;
  const std::shared_ptr<const lower::Kernel> end_ = std::make_shared<EndLoops>();
};

}  // namespace

void add_loop_timers(lower::Program& program) { LoopTimers(program).run(); }

}  // namespace rondo::executor
