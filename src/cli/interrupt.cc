#include "cli/interrupt.h"

#include <semaphore.h>

#include <csignal>

namespace rondo::cli {

namespace {

sem_t interrupt_semaphore;  // posted by the handler, and at the end
volatile std::sig_atomic_t was_interrupted = 0;
struct sigaction earlier_action;

extern "C" void on_interrupt(int) {
  was_interrupted = 1;
  sem_post(&interrupt_semaphore);
}

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
  was_interrupted = 0;
  sem_init(&interrupt_semaphore, 0, 0);
  waiting_ = std::thread([this] {
    while (sem_wait(&interrupt_semaphore) != 0) {
    }
    if (was_interrupted) source_.request_stop();
  });
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &earlier_action);
}

StopOnInterrupt::~StopOnInterrupt() {
  sigaction(SIGINT, &earlier_action, nullptr);
  sem_post(&interrupt_semaphore);
  waiting_.join();
  sem_destroy(&interrupt_semaphore);
}

}  // namespace rondo::cli
