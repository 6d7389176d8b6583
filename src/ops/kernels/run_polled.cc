#include "ops/kernels/run_polled.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/detached_thread.h"

namespace rondo::ops {

namespace {

/// Threads at work. As the process exits, it waits for them: libraries release what they use. A
/// process that was forked off has none of them.
class AtWork {
 public:
  ~AtWork() {
    if (getpid() != process_) return;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ == 0; });
  }
  void add(int change) {
    const std::lock_guard lock(mutex_);
    count_ += change;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
  const pid_t process_ = getpid();
};

AtWork& at_work() {
  static AtWork threads;
  return threads;
}

struct Ending {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

}  // namespace

void run_polled(std::function<void()> work, ir::Host& host) {
  const auto ending = std::make_shared<Ending>();
  AtWork& threads = at_work();
  threads.add(1);
  try {
    start_detached([work, ending, &threads]() mutable {
      work();
      work = nullptr;  // releases what it owns
      {
        const std::lock_guard lock(ending->mutex);
        ending->done = true;
        ending->changed.notify_one();
      }
      threads.add(-1);
    });
  } catch (const std::system_error&) {  // no thread is left: without polls, then
    threads.add(-1);
    work();
    return host.poll();
  }
  std::unique_lock lock(ending->mutex);
  while (
      !ending->changed.wait_for(lock, std::chrono::milliseconds(1), [&] { return ending->done; })) {
    lock.unlock();
    host.poll();
    lock.lock();
  }
  host.poll();
}

}  // namespace rondo::ops
