// What tests measure time by: what the processor did for a thread, as a multiple of a piece of work
// that is measured beside it. What else the machine does counts in neither.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>
#include <stop_token>
#include <thread>

namespace rondo::testing {

inline double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds that this thread has computed for.
inline double thread_seconds() { return seconds_on(CLOCK_THREAD_CPUTIME_ID); }

/// Of the fastest of some calls of `work`: caches and pages are cold in the first.
template <class Work>
double least_seconds(const Work& work, int calls = 3) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < calls; i++) {
    const double start = thread_seconds();
    work();
    least = std::min(least, thread_seconds() - start);
  }
  return least;
}

/// How many times as long `many` takes as `few`: the fastest calls of each, which alternate, since
/// what else a machine does to caches and clock rates lasts longer than a call. It is measured
/// until it is below `wanted`: what grows as it should comes there, and what does not never will.
template <class Few, class Many>
double growth(const Few& few, const Many& many, double wanted, int calls = 10) {
  double least_of_few = std::numeric_limits<double>::max(), least_of_many = least_of_few;
  for (int i = 0; i < calls && (i == 0 || least_of_many >= wanted * least_of_few); i++) {
    least_of_few = std::min(least_of_few, least_seconds(few));
    least_of_many = std::min(least_of_many, least_seconds(many, 1));
  }
  return least_of_many / least_of_few;
}

/// As long as a million steps of a 64-bit generator take, each through memory: about a millisecond,
/// with any compiler's settings.
inline double work_seconds() {
  return least_seconds([] {
    volatile std::uint64_t state = 1;
    for (int i = 0; i < 1'000'000; i++) state = state * 6364136223846793005u + 1442695040888963407u;
  });
}

/// Asks what the thread that made it does to stop, when that has computed for a while.
class StopsLater {
 public:
  explicit StopsLater(double seconds) {
    pthread_getcpuclockid(pthread_self(), &clock_);
    asks_ = std::jthread([this, until = seconds_on(clock_) + seconds](std::stop_token gone) {
      while (seconds_on(clock_) < until && !gone.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      asked_ = seconds_on(clock_);
      source_.request_stop();
    });
  }

  std::stop_token token() const { return source_.get_token(); }
  /// What the thread has computed for since it was asked.
  double seconds_since() const { return seconds_on(clock_) - asked_; }

 private:
  clockid_t clock_ = 0;
  std::stop_source source_;
  std::atomic<double> asked_ = 0;
  std::jthread asks_;  // last, so that it ends before what it uses
};

}  // namespace rondo::testing
