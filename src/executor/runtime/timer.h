// A timer for runs that have to poll from time to time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace rondo::executor {

/// The request words of one run. Loops read them on each trip, which costs a load and a branch; the
/// clock is read only when they are set.
struct SafepointRequest {
  std::atomic<std::uint32_t> word{0};
  std::uint32_t* outer = nullptr;  // of the run's frame; set atomically
  std::chrono::steady_clock::time_point next = {};

  void raise();
};

/// Sets requests about every millisecond. One thread for all runs, which sleeps when there have
/// been none for a while; a process that forks starts another one when needed.
class SafepointTimer {
 public:
  static SafepointTimer& instance();

  /// The first time at `first`, or after a millisecond if that is sooner.
  void add(SafepointRequest& request, std::chrono::steady_clock::time_point first);
  void remove(SafepointRequest& request);

 private:
  struct State;
  SafepointTimer();
  State* state_;  // never destroyed: its thread runs as long as the process
};

}  // namespace rondo::executor
