#include "executor/runtime/safepoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/array_text.h"
#include "base/memory.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

std::string loop_text(const lower::LoopInfo& loop) { return ir::loop_text(loop.name, loop.at); }

/// Loop `at` and the loops around it, the outermost first.
std::string loops_text(const lower::RunFrame& frame, const lower::Program& program,
                       std::uint32_t at) {
  std::string where;
  for (; at != lower::kNoLoop; at = program.loops[at].outer) {
    where.insert(0,
                 fmt::format("\n  in {}, trip {}", loop_text(program.loops[at]), frame.trips[at]));
  }
  return where;
}

std::uint32_t outermost(const lower::Program& program, std::uint32_t loop) {
  while (loop != lower::kNoLoop && program.loops[loop].outer != lower::kNoLoop)
    loop = program.loops[loop].outer;
  return loop;
}

std::int64_t bytes_of(const std::vector<lower::CarriedLeaf>& state) {
  std::int64_t bytes = 0;
  for (const lower::CarriedLeaf& leaf : state) bytes += leaf.type.bytes();
  return bytes;
}

/// A part of a single element, in its memory format.
void write_part(std::byte* to, lower::Type type, std::uint64_t bits) {
  if (type == lower::Type::kF16 || type == lower::Type::kBF16) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    bits = type == lower::Type::kF16 ? std::bit_cast<std::uint16_t>(float16(value))
                                     : std::bit_cast<std::uint16_t>(bfloat16(value));
  }
  std::memcpy(to, &bits, static_cast<std::size_t>(lower::width(type)));
}

Interrupted::Carry carry_of(const lower::Program& program, const lower::LoopInfo& loop,
                            const std::uint64_t* bits) {
  Interrupted::Carry carry;
  for (const lower::CarriedLeaf& leaf : loop.state) {
    Literal value = Literal::uninitialized(leaf.type);
    if (program.types[leaf.parts[0]] == lower::Type::kPointer) {
      copy_bytes(value.mutable_bytes(), std::bit_cast<const std::byte*>(*bits++),
                 leaf.type.bytes());
    } else {
      std::byte* to = value.mutable_bytes();
      for (const lower::Value part : leaf.parts) {
        const lower::Type type = program.types[part];
        write_part(to, type, *bits++);
        to += lower::width(type);
      }
    }
    carry.emplace_back(leaf.name, std::move(value));
  }
  return carry;
}

/// The trip count of a loop, of which so many were to come when it began.
std::optional<std::int64_t> trips_of(const lower::LoopInfo& loop, std::int64_t to_come) {
  if (loop.trip_count || loop.trips == lower::kNone) return loop.trip_count;
  if (to_come == INT64_MAX) return std::nullopt;  // or more
  return to_come;
}

/// Whether a run ended before the trip that the counter of its loop gives.
bool is_between_trips(lower::Status status) {
  return status != lower::Status::kKernelFailed && status != lower::Status::kTapeFailed &&
         status != lower::Status::kPolledInside;
}

[[noreturn]] void fail_for_tape(const lower::RunFrame& frame, const lower::Program& program) {
  const lower::Tape& tape = program.tapes[frame.failed_tape];
  if (frame.failed_rows < 0) throw InternalError("a row of a tape below 0");
  const lower::TapeUse& use = *frame.tape_use;
  std::string limit;
  if (use.limit != INT64_MAX)
    limit = fmt::format("; CompileOptions::memory_limit leaves {} for them", use.limit);
  throw ExecutionError(
      fmt::format("{}: out of memory for its tape, for {} rows of {} bytes\n  Tapes have taken {} "
                  "bytes{}.\n  Keep less for the reverse pass: {{.checkpoint = "
                  "Checkpoint::online(n)}} keeps n states and runs trips again.",
                  tape.loop, frame.failed_rows, tape.row_bytes, use.peak, limit));
}

}  // namespace

SafepointHandler::SafepointHandler(const RunOptions& options, bool exactly)
    : options_(options), limits_(options), exactly_(exactly) {}

void SafepointHandler::detach_entry() {
  on_stop_.reset();
  if (std::exchange(registered_, false)) SafepointTimer::instance().remove(request_);
}

void SafepointHandler::attach(lower::RunFrame& frame, const lower::Program& program) {
  frame.poll = word_;
  frame.at_safepoint = at_safepoint;
  if (options_.max_iterations) frame.max_iterations = *options_.max_iterations;
  frame.handler = this;
  frame.program = &program;
}

void SafepointHandler::attach_entry(lower::RunFrame& frame, const lower::Program& program) {
  attach(frame, program);
  if (!limits_.active()) return;
  std::size_t parts = 0;
  bool nested = false;
  for (const lower::LoopInfo& loop : program.loops) {
    std::size_t of_loop = 0;
    for (const lower::CarriedLeaf& leaf : loop.state) of_loop += leaf.parts.size();
    parts = std::max(parts, of_loop);
    nested = nested || loop.ends_inside;
  }
  state_.resize(parts + 1);
  trips_to_come_.resize(program.loops.size());
  reported_.resize(program.loops.size());
  frame.state = state_.data();
  frame.trips_to_come = trips_to_come_.data();
  frame.keeps_state = exactly_ || is_timed();
  request_.outer = &frame.outer_poll;
  // A deadline may have passed already.
  if (limits_.limited()) request_.raise();
  if (options_.deadline || options_.on_progress || (nested && is_timed())) {
    SafepointTimer::instance().add(request_, limits_.first_due());
    registered_ = true;
  }
  if (options_.stop_token.stop_possible()) on_stop_.emplace(options_.stop_token, Raise{&request_});
}

void SafepointHandler::poll_part(const lower::LoopInfo* loop, std::int64_t trip) {
  // First, so that requests that arrive meanwhile are handled next. Outer loops have separate
  // request words if they have something to report.
  word_->store(0, std::memory_order_relaxed);
  if (loop)
    limits_.check_trip(loop->name, loop->at, trip);
  else
    limits_.poll();
}

bool SafepointHandler::at_safepoint(lower::RunFrame* frame, std::uint32_t loop) noexcept {
  SafepointHandler& handler = *static_cast<SafepointHandler*>(frame->handler);
  handler.word_->store(0, std::memory_order_relaxed);
  try {
    handler.look(*frame, loop);
    return true;
  } catch (...) {
    handler.failure_ = std::current_exception();
    return false;
  }
}

void SafepointHandler::look(lower::RunFrame& frame, std::uint32_t loop) {
  if (loop == lower::kNoLoop) return limits_.poll();
  const lower::LoopInfo& info = frame.program->loops[loop];
  limits_.check_trip(info.name, info.at, frame.trips[loop]);
  if (!frame.state) return;
  if (info.ends_inside) {
    std::atomic_ref(frame.outer_poll).store(exactly_, std::memory_order_relaxed);
    if (frame.keeps_state) keep_state(frame, loop);
  }
  if (limits_.report_is_due()) report(frame, loop);
}

void SafepointHandler::keep_state(const lower::RunFrame& frame, std::uint32_t loop) {
  // Threshold: States of up to this size are saved after every trip that polls, larger ones as
  // kNanosecondsForByte allows. Not measured.
  constexpr std::int64_t kSmallBytes = std::int64_t{64} * 1024;
  const lower::LoopInfo& info = frame.program->loops[loop];
  if (const std::int64_t bytes = bytes_of(info.state); kept_loop_ == loop && bytes > kSmallBytes) {
    // Threshold: Time between two copies of a larger state: a copy takes about a nanosecond a byte
    // at worst, so copies take a twentieth of the time. Not measured.
    constexpr std::int64_t kNanosecondsForByte = 20;
    const auto now = Clock::now();
    if (now - kept_at_ < std::chrono::nanoseconds(kNanosecondsForByte * bytes)) return;
    kept_at_ = now;
  }
  kept_loop_ = loop;
  kept_trips_ = frame.trips[loop] - 1;
  kept_ = carry_of(*frame.program, info, frame.state);
}

void SafepointHandler::report(const lower::RunFrame& frame, std::uint32_t innermost) {
  const auto& loops = frame.program->loops;
  std::vector<std::uint32_t> around;
  for (std::uint32_t i = innermost; i != lower::kNoLoop; i = loops[i].outer) around.push_back(i);
  std::reverse(around.begin(), around.end());
  Progress progress;
  bool found = false;
  for (const std::uint32_t i : around) {
    const std::pair<std::int64_t, std::int64_t> began{frame.total_trips[i], frame.trips[i]};
    const bool moved = std::exchange(reported_[i], began) != began;
    if (found) continue;
    std::optional<std::int64_t> of = trips_of(loops[i], trips_to_come_[i]);
    if (of) *of *= loops[i].bodies;
    progress.path.push_back({loops[i].name, (frame.trips[i] - 1) * loops[i].bodies + 1, of});
    found = moved;
  }
  static_cast<LoopPosition&>(progress) = progress.path.back();
  limits_.report(progress);
}

void SafepointHandler::keep_last_state(lower::Status status, const lower::RunFrame& frame,
                                       const lower::Program& program) {
  const std::uint32_t loop = frame.failed_loop;
  if (!frame.state || loop == lower::kNoLoop || !is_between_trips(status)) return;
  if (program.loops[loop].outer != lower::kNoLoop) return;
  kept_loop_ = loop;
  kept_trips_ = frame.trips[loop] - 1;  // the trip that does not begin is counted already
  kept_ = carry_of(program, program.loops[loop], frame.state);
}

void SafepointHandler::add_state(ir::Interrupt& interrupt, const lower::RunFrame& frame,
                                 const lower::Program& program) {
  const std::uint32_t loop = outermost(program, frame.failed_loop);
  if (loop == lower::kNoLoop) return;
  interrupt.loop = program.loops[loop].name;
  // A combiner's program keeps no states. If it was called in a loop, that loop is reported later.
  interrupt.trip = frame.state ? 0 : (frame.trips[loop] - 1) * program.loops[loop].bodies;
  if (!frame.state) return;
  const bool is_exact = kept_loop_ == loop && kept_trips_ + 1 == frame.trips[loop];
  lacks_state_ = !is_exact && interrupt.kind == ir::Interrupt::Kind::kTooManyIterations;
  if (kept_loop_ != loop) return;
  interrupt.trip = kept_trips_ * program.loops[loop].bodies;
  interrupt.carry = kept_;
}

std::string loops_of_failure(lower::Status status, const lower::RunFrame& frame,
                             const lower::Program& program) {
  const std::uint32_t loop = frame.failed_loop;
  const bool between = loop != lower::kNoLoop && is_between_trips(status);
  return loops_text(frame, program, between ? program.loops[loop].outer : loop);
}

void SafepointHandler::fail(lower::Status status, const lower::RunFrame& frame,
                            const lower::Program& program, std::exception_ptr failure,
                            const std::string& inner) {
  const std::uint32_t loop = frame.failed_loop;
  const lower::LoopInfo* info = loop == lower::kNoLoop ? nullptr : &program.loops[loop];
  if (status == lower::Status::kPolled || status == lower::Status::kPolledInside)
    failure = std::exchange(failure_, nullptr);
  const std::string where = loops_of_failure(status, frame, program) + inner;
  try {
    if (status == lower::Status::kTooManyTrips)
      limits_.check_trip(info->name, info->at, frame.trips[loop]);
    if (status == lower::Status::kBrokenPromise) fail_for_promise(*info);
    if (status == lower::Status::kTapeFailed) fail_for_tape(frame, program);
    if (failure) std::rethrow_exception(failure);
    throw InternalError("a program left without a reason");
  } catch (ir::Interrupt& interrupt) {
    interrupt.message += where;
    add_state(interrupt, frame, program);
    throw;
  } catch (const ExecutionError& error) {
    if (where.empty()) throw;
    throw ExecutionError(error.what() + where, error.location());
  } catch (const std::bad_alloc&) {
    throw ExecutionError(
        fmt::format("out of memory\n  Make the arrays smaller, or release others first.{}", where));
  }
}

void fail_for_promise(const lower::LoopInfo& loop) {
  throw ExecutionError(
      ir::broken_promise_text(loop_text(loop),
                              loop.promised.value_or(loop.max_trip_count.value_or(0))),
      loop.at);
}

void print_value(std::string_view format, const Literal& value) {
  // The format was checked when the op was made.
  fmt::print("{}\n", formatted_literal(format, value));
  std::fflush(stdout);
}

}  // namespace rondo::executor
