#include "base/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/container/fixed_array.h"
#include "base/detached_thread.h"

namespace rondo {

namespace {

/// The number of threads that run at once. The system call takes microseconds.
int cores() {
  static const int count = static_cast<int>(std::thread::hardware_concurrency());
  return count;
}

/// Waits until `holds`, but not for long: in a sequence of jobs, what threads wait for is often
/// there sooner than a parked thread wakes up.
template <class F>
void wait_a_moment(F&& holds) {
  // Threshold: How long a thread looks for work before it parks: waking it takes longer than a
  // short loop. Not measured; SeveralLoops in bench/rondo_bench.cc runs it.
  constexpr auto kMoment = std::chrono::microseconds(50);
  if (cores() < 2) return;
  constexpr int kLooks = 64;
  const auto end = std::chrono::steady_clock::now() + kMoment;
  do {
    for (int i = 0; i < kLooks; i++) {
      if (holds()) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
}

class Job;
/// The job of which this thread runs a piece, and the piece.
thread_local const Job* job_here = nullptr;
thread_local std::int64_t piece_here = 0;

class Job {
 public:
  /// `shares`: ranges of consecutive pieces, one for each thread to start with.
  Job(std::int64_t pieces, int shares, absl::FunctionRef<void(std::int64_t)> work_on)
      : f_(work_on), shares_(static_cast<std::size_t>(shares)) {
    for (std::int64_t i = 0; i < shares; i++) {
      Share& share = shares_[static_cast<std::size_t>(i)];
      share.next.store(pieces * i / shares, std::memory_order_relaxed);
      share.end = pieces * (i + 1) / shares;
    }
  }

  /// Works until no piece is left. Starts with a share that depends on the thread's number, so that
  /// what a thread wrote in one job is in its cache in the next one.
  void work(std::size_t thread) {
    const Job* const before = std::exchange(job_here, this);
    const std::int64_t piece_before = piece_here;
    for (std::size_t i = 0; i < shares_.size(); i++)
      work_on(shares_[(thread + i) % shares_.size()]);
    job_here = before;
    piece_here = piece_before;
  }

  /// Whether a piece before that one has failed.
  bool failed_before(std::int64_t piece) const {
    return first_failed_.load(std::memory_order_relaxed) < piece;
  }

  std::mutex mutex;
  std::condition_variable done;
  std::atomic<int> helpers{0};  // threads that work on it; changed under the mutex
  std::exception_ptr failure;

 private:
  struct Share {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };

  void work_on(Share& share) {
    for (;;) {
      const std::int64_t piece = share.next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= share.end || failed_before(piece)) return;
      piece_here = piece;
      try {
        f_(piece);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (failed_before(piece)) continue;
        failure = std::current_exception();
        first_failed_.store(piece, std::memory_order_relaxed);
      }
    }
  }

  absl::FunctionRef<void(std::int64_t)> f_;
  absl::FixedArray<Share, 8> shares_;
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> first_failed_{kNone};  // changed under the mutex
};

/// Threads that wait for jobs. Never destroyed: they run as long as the process.
class Workers {
 public:
  static Workers& instance() {
    static Workers* const workers = new Workers;
    return *workers;
  }

  /// Requests `count` helpers for a job.
  void offer(Job& job, int count) {
    const std::lock_guard lock(state_->mutex);
    // More threads than cores would only wait for one another.
    const int most = std::min(count, std::max(1, cores() - 1));
    while (state_->started < most && state_->start()) {
    }
    state_->offers.insert(state_->offers.end(), static_cast<std::size_t>(count), &job);
    state_->tell();
    state_->changed.notify_all();
  }

  /// Stops helpers from taking the job up.
  void withdraw(Job& job) {
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->offers, &job);
    state_->tell();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Job*> offers;
    std::atomic<bool> offered{false};  // whether there are some
    int started = 0;

    void tell() { offered.store(!offers.empty(), std::memory_order_relaxed); }

    /// False if the system starts no more threads: the existing ones do the work.
    bool start() {
      try {
        start_detached([this, number = started + 1] { serve(static_cast<std::size_t>(number)); });
      } catch (const std::system_error&) {
        return false;
      }
      started++;
      return true;
    }

    [[noreturn]] void serve(std::size_t number) {
      for (;;) {
        Job* job = nullptr;
        wait_a_moment([&] { return offered.load(std::memory_order_relaxed); });
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return !offers.empty(); });
          job = offers.front();
          offers.pop_front();
          tell();
          const std::lock_guard in_hand(job->mutex);
          job->helpers++;
        }
        job->work(number);
        const std::lock_guard lock(job->mutex);
        if (--job->helpers == 0) job->done.notify_all();
      }
    }
  };

  Workers() : state_(new State) {
    // A forked child has one thread. The state it inherits is abandoned: another thread may have
    // held the lock.
    pthread_atfork(nullptr, nullptr, [] { instance().state_ = new State; });
  }

  State* state_;
};

}  // namespace

void parallel_for(std::int64_t pieces, int threads, absl::FunctionRef<void(std::int64_t)> f,
                  bool in_order) {
  const int helpers = job_here ? 0 : static_cast<int>(std::min<std::int64_t>(threads, pieces)) - 1;
  Job job(pieces, in_order ? 1 : std::max(helpers, 0) + 1, f);
  if (helpers > 0) Workers::instance().offer(job, helpers);
  job.work(0);
  if (helpers > 0) {
    Workers::instance().withdraw(job);
    wait_a_moment([&] { return job.helpers.load(std::memory_order_relaxed) == 0; });
    std::unique_lock lock(job.mutex);
    job.done.wait(lock, [&] { return job.helpers == 0; });
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

bool earlier_piece_failed() { return job_here && job_here->failed_before(piece_here); }

bool OrderedSection::wait(std::int64_t piece) {
  std::int64_t next = next_.load(std::memory_order_acquire);
  wait_a_moment([&] {
    next = next_.load(std::memory_order_acquire);
    return next == piece || next == kEnded;
  });
  while (next != piece && next != kEnded) {
    next_.wait(next, std::memory_order_acquire);
    next = next_.load(std::memory_order_acquire);
  }
  return next == piece;
}

void OrderedSection::pass(std::int64_t piece) {
  // Not if another piece has ended the section.
  next_.compare_exchange_strong(piece, piece + 1, std::memory_order_acq_rel);
  next_.notify_all();
}

void OrderedSection::end() {
  next_.store(kEnded, std::memory_order_release);
  next_.notify_all();
}

}  // namespace rondo
