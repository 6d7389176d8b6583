// The limits of a run, what it reports while it runs, and the errors that end it.
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
  /// `exactly`: states are kept on each trip of the outermost loop, so that max_iterations leaves
  /// that in which its trip began; it takes time.
  explicit SafepointHandler(const RunOptions& options, bool exactly = false);
  ~SafepointHandler() { detach_entry(); }
  SafepointHandler(const SafepointHandler&) = delete;
  SafepointHandler& operator=(const SafepointHandler&) = delete;

  /// Whether a limit or a report is asked for.
  bool active() const { return limits_.active(); }
  /// Whether max_iterations ended the run inside a trip of a loop whose state was not kept.
  bool lacks_state() const { return lacks_state_; }
  RunOptions for_silent_rerun() const { return limits_.for_silent_rerun(); }
  /// Sets what a program looks at.
  void attach(lower::RunFrame& frame, const lower::Program& program);
  /// The same for the program that was called by the user, the state of whose loops is kept.
  void attach_entry(lower::RunFrame& frame, const lower::Program& program);
  /// Ends that; nothing is written to the frame any more.
  void detach_entry();
  /// Throws ir::Interrupt where a kernel that goes on for long is to end.
  void poll() const { limits_.poll(); }
  /// The same for parts of a loop, where the run has been asked to look; on any thread.
  void poll_part(const lower::LoopInfo* loop, std::int64_t trip);
  /// Keeps the state of the outermost loop where a limit ended it between two trips. While the
  /// memory of the run stands.
  void keep_last_state(lower::Status status, const lower::RunFrame& frame,
                       const lower::Program& program);
  /// Throws why a program left before its end; `failure` is that of a kernel, `inner` the loops in
  /// which it arose where these are those of a part of a loop.
  [[noreturn]] void fail(lower::Status status, const lower::RunFrame& frame,
                         const lower::Program& program, std::exception_ptr failure,
                         const std::string& inner = {});
  /// Looks where the other one is asked to, for a part of its program's loops.
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
  // Of the entry.
  std::vector<std::uint64_t> state_;
  std::vector<std::int64_t> bounds_;
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

/// For a message: the loops in which a program left before its end, the outermost first.
std::string loops_of_failure(lower::Status status, const lower::RunFrame& frame,
                             const lower::Program& program);
/// Throws that a loop goes on after the trips that were promised for it.
[[noreturn]] void fail_for_promise(const lower::LoopInfo& loop);

void print_value(std::string_view format, const Literal& value);

}  // namespace rondo::executor
