#include "executor/ticker.h"

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
constexpr auto kTick = std::chrono::milliseconds(1);
// How long the thread goes on when there is no alarm: waking it takes longer than a small run.
constexpr auto kLinger = std::chrono::milliseconds(20);

}  // namespace

void Alarm::ring() {
  word.store(1, std::memory_order_relaxed);
  if (outer) std::atomic_ref(*outer).store(1, std::memory_order_relaxed);
}

struct Ticker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Alarm*> alarms;
  bool running = false;
  Clock::time_point wakes = {};  // when the thread looks at the alarms again

  void loop() {
    std::unique_lock lock(mutex);
    Clock::time_point used = Clock::now();
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (!alarms.empty()) used = now;
      if (now - used > kLinger) {
        wakes = Clock::time_point::max();
        changed.wait(lock, [this] { return !alarms.empty(); });
        continue;
      }
      Clock::time_point next = now + kTick;
      for (Alarm* alarm : alarms) {
        if (alarm->next <= now) {
          alarm->ring();
          alarm->next = now + kTick;
        }
        next = std::min(next, alarm->next);
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

Ticker::Ticker() : state_(new State) {
  // A child has one thread. What it inherits is left alone: others may have held the lock.
  pthread_atfork(nullptr, nullptr, [] { instance().state_ = new State; });
}

Ticker& Ticker::instance() {
  static Ticker* const ticker = new Ticker;
  return *ticker;
}

void Ticker::add(Alarm& alarm, Clock::time_point first) {
  alarm.next = std::min(first, Clock::now() + kTick);
  bool is_late = false;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->running) state_->start();
    state_->alarms.push_back(&alarm);
    is_late = alarm.next < state_->wakes;
  }
  if (is_late) state_->changed.notify_one();
}

void Ticker::remove(Alarm& alarm) {
  const std::lock_guard lock(state_->mutex);
  std::erase(state_->alarms, &alarm);
}

}  // namespace rondo::executor
