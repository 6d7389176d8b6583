// What a run of a lower program reads and writes beside its buffers. Native code knows the layout.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rondo::lower {

struct Program;
class RunTapes;

/// What the tapes of a run hold and may hold, in bytes.
struct TapeUse {
  std::int64_t limit = INT64_MAX;
  std::int64_t now = 0;
  std::int64_t peak = 0;
};

/// Why a program left before its end.
enum class Status : std::int32_t {
  kDone = 0,
  kPolled,         // `poll` was set: a deadline, a stop token, progress that is due
  kPolledInside,   // the same between two blocks of lanes, inside a trip of `failed_loop`
  kTooManyTrips,   // more than `max_iterations`
  kBrokenPromise,  // more trips than max_trip_count
  kKernelFailed,
  kTapeFailed,  // a tape has no memory for its next row: failed_tape, failed_rows
};

/// The rows that a tape has now.
struct TapeRows {
  std::byte* first = nullptr;
  std::int64_t count = 0;
};

/// Plain data at fixed offsets.
struct RunFrame {
  /// Written out, so that the members are set one by one: of an aggregate g++ clears the bytes as a
  /// string first, which takes longer than all else that a small run needs.
  RunFrame() noexcept {}  // NOLINT(modernize-use-equals-default)

  std::byte* const* arguments = nullptr;
  std::byte* const* results = nullptr;
  std::byte* const* constants = nullptr;
  std::byte* arena = nullptr;
  TapeRows* rows = nullptr;  // of each tape
  RunTapes* tapes = nullptr;
  TapeUse* tape_use = nullptr;  // of a program that has tapes
  /// Nonzero: the program calls `at_safepoint`, and leaves if that returns false. Read once a trip.
  const std::atomic<std::uint32_t>* poll = nullptr;
  /// The same for trips of loops whose state is to be kept (LoopInfo::ends_inside), which set it to
  /// `keeps_state` when they begin.
  std::uint32_t outer_poll = 0;  // atomically, by who sets it meanwhile
  std::uint32_t keeps_state = 0;
  std::int64_t* trips = nullptr;        // of the present execution of each loop
  std::int64_t* total_trips = nullptr;  // of each loop over the run
  /// For each loop inside lanes its trips in this block, and in the block that made most,
  /// of the lanes that are open. Zero between lanes.
  std::int64_t* lane_trips = nullptr;
  /// For each loop that has it LoopInfo::trips, when it began; or null.
  std::int64_t* trips_to_come = nullptr;
  /// Where `at_safepoint` is called for, or a limit ends, a loop with state: the bits of the parts
  /// of its leaves in order, f16 and bf16 as f32.
  std::uint64_t* state = nullptr;
  std::int64_t max_iterations = INT64_MAX;
  bool (*at_safepoint)(RunFrame*, std::uint32_t loop) = nullptr;
  std::uint32_t failed_loop = 0xffffffffu;  // where a status other than kDone arose
  std::uint32_t failed_tape = 0;
  std::int64_t failed_rows = 0;  // that it had no memory for
  void* host = nullptr;          // of those who run the program: observers, the reason of a failure
  void* handler = nullptr;       // of `at_safepoint`
  const Program* program = nullptr;  // of `at_safepoint`
};

}  // namespace rondo::lower
