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

/// How many times as long `many` takes as `few`: the fastest calls of each, which alternate, since
/// the effects of other load on caches and clock rates outlast a call. Repeated until it is below
/// `wanted`: correct growth reaches that, and wrong growth never does.
template <class Few, class Many>
double growth(const Few& few, const Many& many, double wanted, int calls = 10) {
  double least_of_few = std::numeric_limits<double>::max(), least_of_many = least_of_few;
  for (int i = 0; i < calls && (i == 0 || least_of_many >= wanted * least_of_few); i++) {
    least_of_few = std::min(least_of_few, least_seconds(few));
    least_of_many = std::min(least_of_many, least_seconds(many, 1));
  }
  return least_of_many / least_of_few;
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
