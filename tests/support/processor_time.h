// How tests measure time: by a thread's processor time, as a multiple of a piece of work that is
// measured along with it. Other load on the machine counts in neither.
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

/// The processor time of this thread, in seconds.
inline double thread_seconds() { return seconds_on(CLOCK_THREAD_CPUTIME_ID); }

/// The fastest of some calls of `work`: caches and pages are cold in the first.
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

/// How many times as long `many` takes as `few`. Each round measures both, one after the other and
/// for similar times, so that load on caches and memory slows both; the least ratio counts. Rounds
/// are repeated until it is below `wanted`, for some seconds: correct growth reaches that as soon
/// as the machine is calm, and wrong growth never does.
template <class Few, class Many>
double growth(const Few& few, const Many& many, double wanted) {
  constexpr double kMostSeconds = 5;
  double least = std::numeric_limits<double>::max();
  const double start = thread_seconds();
  while (least >= wanted && thread_seconds() - start < kMostSeconds) {
    const double of_many = least_seconds(many, 1);
    int calls = 0;
    double of_few = 0;
    for (; calls < 3 || (of_few < of_many / 4 && calls < 1000); calls++)
      of_few += least_seconds(few, 1);
    least = std::min(least, of_many * calls / of_few);
  }
  return least;
}

/// The time of a million steps of a 64-bit generator, each through memory: about a millisecond,
/// with any compiler settings.
inline double work_seconds() {
  return least_seconds([] {
    volatile std::uint64_t state = 1;
    for (int i = 0; i < 1'000'000; i++) state = state * 6364136223846793005u + 1442695040888963407u;
  });
}

/// Requests a stop of its creating thread's work, after that thread has computed for some time.
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
  /// The processor time of the thread since the request.
  double seconds_since() const { return seconds_on(clock_) - asked_; }

 private:
  clockid_t clock_ = 0;
  std::stop_source source_;
  std::atomic<double> asked_ = 0;
  std::jthread asks_;  // last, so that it ends before what it uses
};

}  // namespace rondo::testing
