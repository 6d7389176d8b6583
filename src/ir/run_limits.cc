#include "ir/run_limits.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"

namespace rondo::ir {

namespace {

constexpr auto kReportInterval = std::chrono::milliseconds(200);

// For loops that make more trips than intended.
constexpr std::string_view kLookAtCondition =
    "look at the condition: does it ever become false? A C++ variable in it keeps one value (k++ "
    "runs once): put what changes into the carry.";

}  // namespace

void Interrupt::rethrow() && {
  switch (kind) {
    case Kind::kStopped:
      throw Stopped(message, at, std::move(loop), trip, std::move(carry));
    case Kind::kDeadline:
      throw DeadlineExceeded(message, at, std::move(loop), trip, std::move(carry));
    case Kind::kTooManyIterations:
      throw TooManyIterations(message, at, std::move(loop), trip, std::move(carry));
  }
  throw InternalError("an interruption of no kind");
}

std::string quoted_loop_name(const std::string& name) {
  return name.empty() ? "" : fmt::format(" '{}'", name);
}
std::string loop_text(const std::string& name, SourceLocation at) {
  return fmt::format("the loop{} ({})", quoted_loop_name(name), at.str());
}
std::string broken_promise_text(std::string_view loop, std::int64_t promised) {
  return fmt::format(
      "{} goes on after {} trips, its promised max_trip_count\n  Raise max_trip_count, or leave it "
      "out, or {}",
      loop, promised, kLookAtCondition);
}

RunLimits::RunLimits(const RunOptions& options)
    : options_(options),
      active_(has_limits(options)),
      limited_(options.max_iterations || options.deadline || options.stop_token.stop_possible()) {
  if (!active_) return;
  started_ = Clock::now();
  next_report_ = started_ + kReportInterval;
}

void RunLimits::poll() const {
  if (limited_) check_clock("", {}, 0);
}

void RunLimits::check_trip(const std::string& loop, SourceLocation at, std::int64_t trip) const {
  if (!limited_) return;
  if (options_.max_iterations && trip > *options_.max_iterations) {
    throw Interrupt{
        Interrupt::Kind::kTooManyIterations,
        fmt::format("{} exceeded max_iterations = {}: it would begin trip {}\n  Raise "
                    "RunOptions::max_iterations, or {}",
                    loop_text(loop, at), *options_.max_iterations, trip, kLookAtCondition),
        at};
  }
  check_clock(loop, at, trip);
}

RunOptions RunLimits::for_silent_rerun() const {
  RunOptions options = options_;
  options.on_tap = nullptr;
  options.on_progress = nullptr;
  options.stats = nullptr;
  options.profile = nullptr;
  if (options.deadline) {
    const std::chrono::nanoseconds elapsed = Clock::now() - started_;
    options.deadline->nanoseconds =
        std::max<std::int64_t>(0, options.deadline->nanoseconds - elapsed.count());
  }
  return options;
}

void RunLimits::check_clock(const std::string& loop, SourceLocation at, std::int64_t trip) const {
  if (options_.stop_token.stop_requested()) {
    throw Interrupt{
        Interrupt::Kind::kStopped,
        trip == 0
            ? "stopped by the stop token\n  Run the program again to have its results."
            : fmt::format("stopped by the stop token in {} at trip {}\n  To go on, begin with "
                          "the carry that this error has.",
                          loop_text(loop, at), trip),
        at};
  }
  if (!options_.deadline) return;
  const std::chrono::nanoseconds limit(options_.deadline->nanoseconds);
  if (Clock::now() - started_ <= limit) return;
  const double seconds = std::chrono::duration<double>(limit).count();
  throw Interrupt{Interrupt::Kind::kDeadline,
                  trip == 0
                      ? fmt::format("the program ran past the deadline of {} s\n  Raise "
                                    "RunOptions::deadline.",
                                    seconds)
                      : fmt::format("{} ran past the deadline of {} s: it is at trip {}\n  Raise "
                                    "RunOptions::deadline, or look at the condition: does it ever "
                                    "become false?",
                                    loop_text(loop, at), seconds, trip),
                  at};
}

RunLimits::Clock::time_point RunLimits::first_due() const {
  // A deadline may be beyond the range of the clock.
  const std::chrono::nanoseconds soon = kReportInterval;
  if (!options_.deadline) return started_ + soon;
  return started_ + std::min(std::chrono::nanoseconds(options_.deadline->nanoseconds), soon);
}

bool RunLimits::report_is_due() {
  if (!options_.on_progress) return false;
  const auto now = Clock::now();
  if (now < next_report_) return false;
  next_report_ = now + kReportInterval;
  return true;
}

}  // namespace rondo::ir
