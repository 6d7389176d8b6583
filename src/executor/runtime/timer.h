// A clock for runs that have to look at something from time to time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace rondo::executor {

/// The words of one run. Loops read them on each trip, which costs a load and a branch; the clock
/// is read where they are set.
struct SafepointRequest {
  std::atomic<std::uint32_t> word{0};
  std::uint32_t* outer = nullptr;  // of the run's frame; set atomically
  std::chrono::steady_clock::time_point next = {};

  void raise();
};

/// Raises requests about every millisecond. One thread for all runs, which sleeps where there have
/// been none for a while; a process that forks gets another one when it needs it.
class SafepointTimer {
 public:
  static SafepointTimer& instance();

  /// The first time at `first`, or after a millisecond if that is sooner.
  void add(SafepointRequest& request, std::chrono::steady_clock::time_point first);
  void remove(SafepointRequest& request);

 private:
  struct State;
  SafepointTimer();
  State* state_;  // never destroyed: its thread lives as long as the process
};

}  // namespace rondo::executor
