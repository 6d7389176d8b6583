// The limits of a run, when it reports progress, and what a stopped run throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/execute.h"

namespace rondo::ir {

/// Thrown through executors and kernels. The frames that it passes add where they are; the
/// outermost converts it to a public exception.
struct Interrupt {
  enum class Kind : std::uint8_t { kStopped, kDeadline, kTooManyIterations } kind;
  std::string message;
  SourceLocation at = {};
  // Of the outermost loop that it has passed.
  std::string loop = {};
  std::int64_t trip = 0;
  Interrupted::Carry carry = {};

  [[noreturn]] void rethrow() &&;
};

/// ` 'solve'`, or nothing.
std::string quoted_loop_name(const std::string& name);
/// `the loop 'solve' (house.cc:12)`
std::string loop_text(const std::string& name, SourceLocation at);
/// The message for a loop, given as loop_text writes it, that goes on after the promised number of
/// trips.
std::string broken_promise_text(std::string_view loop, std::int64_t promised);

/// Whether a run under these options may be stopped or reports progress. It then has a state
/// between two trips.
inline bool has_limits(const RunOptions& options) noexcept {
  return options.max_iterations || options.deadline || options.on_progress ||
         options.stop_token.stop_possible();
}
/// Whether a run under these options has no limit, reports nothing while it runs or after, and
/// stays on its thread. Taps are part of the program and do not count.
inline bool is_plain(const RunOptions& options) noexcept {
  return !has_limits(options) && options.threads.value_or(1) == 1 && !options.check_finite &&
         !options.check_bounds && !options.stats && !options.profile;
}

class RunLimits {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RunLimits(const RunOptions& options);

  /// Whether there is a limit or a report to check.
  bool active() const { return active_; }
  /// Whether the run may be stopped from outside.
  bool limited() const { return limited_; }
  /// Throws Interrupt if the run has to end.
  void poll() const;
  /// The same before trip number `trip` (from 1) of a loop.
  void check_trip(const std::string& loop, SourceLocation at, std::int64_t trip) const;

  /// `options` for another run of the same program that reports nothing, within the same deadline.
  RunOptions for_silent_rerun() const;
  /// When the clock is to be checked first.
  Clock::time_point first_due() const;
  /// Whether progress is to be reported now; true a few times per second.
  bool report_is_due();
  void report(const Progress& progress) const { options_.on_progress(progress); }

 private:
  /// `trip` is 0 outside loops.
  void check_clock(const std::string& loop, SourceLocation at, std::int64_t trip) const;

  const RunOptions& options_;
  bool active_, limited_;
  Clock::time_point started_, next_report_;
};

}  // namespace rondo::ir
