// Safepoints: the limits of a run, its progress reports, and the errors that end it.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/runtime/timer.h"
#include "ir/run_limits.h"
#include "lower/program.h"
#include "lower/run_frame.h"
#include "rondo/execute.h"

namespace rondo::executor {

class SafepointHandler {
 public:
  /// `exactly`: states are saved on each trip of the outermost loop, so that max_iterations leaves
  /// the state in which its trip began; this is slower.
  explicit SafepointHandler(const RunOptions& options, bool exactly = false);
  ~SafepointHandler() { detach_entry(); }
  SafepointHandler(const SafepointHandler&) = delete;
  SafepointHandler& operator=(const SafepointHandler&) = delete;

  /// Whether a limit or a report is requested.
  bool active() const { return limits_.active(); }
  /// Whether max_iterations ended the run inside a trip of a loop whose state was not saved.
  bool lacks_state() const { return lacks_state_; }
  RunOptions for_silent_rerun() const { return limits_.for_silent_rerun(); }
  /// Sets the fields of a frame that a program polls.
  void attach(lower::RunFrame& frame, const lower::Program& program);
  /// The same for the program that the user called; the state of its loops is saved.
  void attach_entry(lower::RunFrame& frame, const lower::Program& program);
  /// Ends that; nothing is written to the frame any more.
  void detach_entry();
  /// Throws ir::Interrupt if a long-running kernel is to end.
  void poll() const { limits_.poll(); }
  /// The same for parts of a loop, when a poll of the run is requested; on any thread.
  void poll_part(const lower::LoopInfo* loop, std::int64_t trip);
  /// Saves the state of the outermost loop if a limit ended it between two trips; called while the
  /// memory of the run is allocated.
  void keep_last_state(lower::Status status, const lower::RunFrame& frame,
                       const lower::Program& program);
  /// Throws the reason why a program ended early; `failure` is that of a kernel, `inner` the loops
  /// in which it occurred if these are loops of a part.
  [[noreturn]] void fail(lower::Status status, const lower::RunFrame& frame,
                         const lower::Program& program, std::exception_ptr failure,
                         const std::string& inner = {});
  /// Polls for a part of its program's loops, when the other object is asked to.
  void answer_for(SafepointHandler& whole) { word_ = whole.word_; }

 private:
  using Clock = ir::RunLimits::Clock;
  static bool at_safepoint(lower::RunFrame* frame, std::uint32_t loop) noexcept;
  void look(lower::RunFrame& frame, std::uint32_t loop);
  void keep_state(const lower::RunFrame& frame, std::uint32_t loop);
  void report(const lower::RunFrame& frame, std::uint32_t innermost);
  void add_state(ir::Interrupt& interrupt, const lower::RunFrame& frame,
                 const lower::Program& program);
  bool is_timed() const { return options_.deadline || options_.stop_token.stop_possible(); }

  const RunOptions& options_;
  ir::RunLimits limits_;
  SafepointRequest request_;
  std::atomic<std::uint32_t>* word_ = &request_.word;
  bool registered_ = false;
  const bool exactly_;
  bool lacks_state_ = false;
  std::exception_ptr failure_;
  // For the entry.
  std::vector<std::uint64_t> state_;
  std::vector<std::int64_t> trips_to_come_;
  std::vector<std::pair<std::int64_t, std::int64_t>> reported_;  // trips, at the last report
  std::uint32_t kept_loop_ = lower::kNoLoop;
  std::int64_t kept_trips_ = 0;
  Interrupted::Carry kept_;
  Clock::time_point kept_at_;
  struct Raise {
    SafepointRequest* request;
    void operator()() const { request->raise(); }
  };
  std::optional<std::stop_callback<Raise>> on_stop_;
};

/// For a message: the loops in which a program ended early, the outermost first.
std::string loops_of_failure(lower::Status status, const lower::RunFrame& frame,
                             const lower::Program& program);
/// Throws that a loop continues beyond its max_trip_count.
[[noreturn]] void fail_for_promise(const lower::LoopInfo& loop);

void print_value(std::string_view format, const Literal& value);

}  // namespace rondo::executor
