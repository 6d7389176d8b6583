#include "base/detached_thread.h"

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace rondo {

void start_detached(std::function<void()> work) {
  // A thread inherits the signal mask of the one that starts it.
  struct NoSignals {
    NoSignals() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;
    sigset_t before;
  } const no_signals;
  std::thread(std::move(work)).detach();
}

}  // namespace rondo
