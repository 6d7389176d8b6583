#include "executor/watch.h"

#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <string>

#include "base/array_text.h"
#include "executor/kernels.h"

namespace rondo::executor {

namespace {

constexpr auto kReportInterval = std::chrono::milliseconds(200);

std::string loop_text(const lower::LoopInfo& loop) {
  return fmt::format("the loop{} ({})", loop.name.empty() ? "" : fmt::format(" '{}'", loop.name),
                     loop.at.str());
}

}  // namespace

Watch::Watch(const RunOptions& options)
    : options_(options), limited_(options.deadline || options.stop_token.stop_possible()) {
  // Whatever can end a run from outside is looked at on each trip.
  if (!limited_ && !options.on_progress) return;
  poll_ = 1;
  started_ = Clock::now();
  next_report_ = started_ + kReportInterval;
}

void Watch::attach(lower::RunFrame& frame, const lower::Program& program) {
  frame.poll = &poll_;
  frame.attend = attend;
  if (options_.max_iterations) frame.max_iterations = *options_.max_iterations;
  frame.watch = this;
  frame.program = &program;
}

bool Watch::must_end() {
  if (options_.stop_token.stop_requested()) return true;
  past_deadline_ = options_.deadline && Clock::now() - started_ > *options_.deadline;
  return past_deadline_;
}

bool Watch::attend(lower::RunFrame* frame, std::uint32_t loop) {
  Watch& watch = *static_cast<Watch*>(frame->watch);
  if (watch.limited_ && watch.must_end()) return false;
  if (!watch.options_.on_progress || loop == lower::kNoLoop) return true;
  const Clock::time_point now = Clock::now();
  if (now < watch.next_report_) return true;
  watch.next_report_ = now + kReportInterval;
  Progress progress;
  const auto& loops = frame->program->loops;
  for (std::uint32_t at = loop; at != lower::kNoLoop; at = loops[at].outer)
    progress.path.insert(progress.path.begin(),
                         {loops[at].name, frame->trips[at], loops[at].trip_count});
  static_cast<LoopPosition&>(progress) = progress.path.back();
  watch.options_.on_progress(progress);
  return true;
}

void Watch::throw_ended(const std::string& loop, const std::string& where, SourceLocation at,
                        std::int64_t trip) const {
  const std::string in = where.empty() ? "the program" : where;
  if (!past_deadline_) {
    throw Stopped(where.empty() ? "stopped by the stop token"
                                : fmt::format("stopped by the stop token in {}", where),
                  at, loop, trip, {});
  }
  throw DeadlineExceeded(
      fmt::format("{} ran past the deadline of {} s\n  Raise RunOptions::deadline, or look at the "
                  "condition: does it ever become false?",
                  in, std::chrono::duration<double>(*options_.deadline).count()),
      at, loop, trip, {});
}

void Watch::poll() {
  if (limited_ && must_end()) throw_ended("", "", {}, 0);
}

void Watch::fail(lower::Status status, const lower::RunFrame& frame, const lower::Program& program,
                 std::exception_ptr failure) const {
  const std::uint32_t loop = frame.failed_loop;
  if (failure) {
    // In which loops, from the outermost, and at which trips?
    std::string where;
    for (std::uint32_t at = loop; at != lower::kNoLoop; at = program.loops[at].outer)
      where =
          fmt::format("\n  in {}, trip {}", loop_text(program.loops[at]), frame.trips[at]) + where;
    try {
      std::rethrow_exception(failure);
    } catch (const Interrupted&) {
      throw;
    } catch (const ExecutionError& error) {
      if (where.empty()) throw;
      throw ExecutionError(error.what() + where, error.location());
    } catch (const std::bad_alloc&) {
      throw ExecutionError(fmt::format("out of memory{}", where));
    }
  }
  const lower::LoopInfo none;
  const lower::LoopInfo& info = loop == lower::kNoLoop ? none : program.loops[loop];
  const std::int64_t trip = loop == lower::kNoLoop ? 0 : frame.trips[loop];
  const std::string text = loop == lower::kNoLoop ? "" : loop_text(info);
  switch (status) {
    case lower::Status::kTooManyTrips:
      throw TooManyIterations(
          fmt::format("{} exceeded max_iterations = {}: it would begin trip {}\n  "
                      "Raise RunOptions::max_iterations, or "
                      "look at the condition: does it ever become false?",
                      text, frame.max_iterations, trip),
          info.at, info.name, trip - 1, {});
    case lower::Status::kBrokenPromise:
      throw ExecutionError(
          fmt::format("{} goes on after {} trips, its promised max_trip_count\n  "
                      "Raise max_trip_count, or leave it out.",
                      text, info.promised.value_or(info.max_trip_count.value_or(0))),
          info.at);
    case lower::Status::kPolled:
      throw_ended(info.name, text.empty() ? text : fmt::format("{} at trip {}", text, trip),
                  info.at, trip);
    default:
      break;
  }
  throw InternalError("a program left without a reason");
}

void print_value(std::string_view format, const Literal& value) {
  // The format was checked when the op was made.
  fmt::print("{}\n", formatted_literal(format, value));
  std::fflush(stdout);
}

}  // namespace rondo::executor
