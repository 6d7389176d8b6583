#include "executor/runtime/timer.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <vector>

#include "base/detached_thread.h"
#include "rondo/error.h"

namespace rondo::executor {

namespace {

using Clock = std::chrono::steady_clock;
/// Threshold: How late a deadline is noticed against how often the timer thread wakes. Not
/// measured.
constexpr auto kTick = std::chrono::milliseconds(1);
// Threshold: How long the idle timer thread keeps running: waking it takes longer than a short run.
// Not measured; LimitsOnScalars in bench/calls_bench.cc runs it (0.3 µs a run).
constexpr auto kLinger = std::chrono::milliseconds(20);

}  // namespace

void SafepointRequest::raise() {
  word.store(1, std::memory_order_relaxed);
  if (outer) std::atomic_ref(*outer).store(1, std::memory_order_relaxed);
}

struct SafepointTimer::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<SafepointRequest*> requests;
  bool running = false;
  Clock::time_point wakes = {};  // when the thread checks the requests again

  void loop() {
    std::unique_lock lock(mutex);
    Clock::time_point used = Clock::now();
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (!requests.empty()) used = now;
      if (now - used > kLinger) {
        wakes = Clock::time_point::max();
        changed.wait(lock, [this] { return !requests.empty(); });
        continue;
      }
      Clock::time_point next = now + kTick;
      for (SafepointRequest* request : requests) {
        if (request->next <= now) {
          request->raise();
          request->next = now + kTick;
        }
        next = std::min(next, request->next);
      }
      wakes = next;
      changed.wait_until(lock, next);
    }
  }

  void start() {
    try {
      start_detached([this] { loop(); });
    } catch (const std::system_error&) {
      throw ExecutionError(
          "a run with a deadline, a stop token or progress needs a thread that looks at the clock, "
          "and the system starts no more threads\n  Raise the limit on threads or memory of the "
          "process, or leave these options out.");
    }
    running = true;
  }
};

SafepointTimer::SafepointTimer() : state_(new State) {
  // A child process has one thread. The inherited state is not used: another thread may have held
  // the lock.
  pthread_atfork(nullptr, nullptr, [] { instance().state_ = new State; });
}

SafepointTimer& SafepointTimer::instance() {
  static SafepointTimer* const timer = new SafepointTimer;
  return *timer;
}

void SafepointTimer::add(SafepointRequest& request, Clock::time_point first) {
  request.next = std::min(first, Clock::now() + kTick);
  bool is_late = false;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->running) state_->start();
    state_->requests.push_back(&request);
    is_late = request.next < state_->wakes;
  }
  if (is_late) state_->changed.notify_one();
}

void SafepointTimer::remove(SafepointRequest& request) {
  const std::lock_guard lock(state_->mutex);
  std::erase(state_->requests, &request);
}

}  // namespace rondo::executor
