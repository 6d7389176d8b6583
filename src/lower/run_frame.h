// What a run of a lower program reads and writes beside its buffers. Native code knows the layout.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rondo::lower {

struct Program;

/// Why a program left before its end.
enum class Status : std::int32_t {
  kDone = 0,
  kPolled,         // `poll` was set: a deadline, a stop token, progress that is due
  kTooManyTrips,   // more than `max_iterations`
  kBrokenPromise,  // more trips than max_trip_count
  kKernelFailed,
};

/// Plain data at fixed offsets.
struct RunFrame {
  std::byte* const* arguments = nullptr;
  std::byte* const* results = nullptr;
  std::byte* const* constants = nullptr;
  std::byte* arena = nullptr;
  /// Nonzero: the program calls `attend`, and leaves if that returns false. Read once a trip.
  const std::atomic<std::uint32_t>* poll = nullptr;
  std::int64_t* trips = nullptr;        // of the present execution of each loop
  std::int64_t* total_trips = nullptr;  // of each loop over the run
  std::int64_t max_iterations = INT64_MAX;
  bool (*attend)(RunFrame*, std::uint32_t loop) = nullptr;
  std::uint32_t failed_loop = 0xffffffffu;  // where a status other than kDone arose
  void* host = nullptr;   // of those who run the program: observers, the reason of a failure
  void* watch = nullptr;  // of `attend`
  const Program* program = nullptr;  // of `attend`
};

}  // namespace rondo::lower
