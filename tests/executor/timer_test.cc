// The clock of runs with limits is a thread of the process: it may be missing, and a forked child
// has a separate one.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "rondo/rondo.h"

namespace rondo {
namespace {

Executable endless() {
  const Function loop = trace(
      [](Tensor x) {
        return while_loop([](Tensor s) { return s >= 0; }, [](Tensor s) { return s + 0 * s; }, x);
      },
      f32());
  return compile(loop, {.executor = Executor::kBytecode});
}

/// Whether a deadline ends a loop.
bool is_ended(const Executable& loop) {
  try {
    loop.run({Literal::scalar(1.0f)}, {.deadline = std::chrono::milliseconds(5)});
  } catch (const DeadlineExceeded&) {
    return true;
  }
  return false;
}

void set_stack_bytes(std::size_t bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  if (pthread_setattr_default_np(&attributes) != 0) std::_Exit(2);
}

TEST(SafepointTimerDeathTest, AChildHasAClockOfItsOwn) {
  const Executable loop = endless();
  EXPECT_TRUE(is_ended(loop));
  EXPECT_EXIT(
      {
        ::alarm(60);
        std::_Exit(is_ended(loop) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(SafepointTimerDeathTest, WithoutAThreadARunWithADeadlineIsRefusedAndTheNextOneIsNot) {
  const Executable loop = endless();
  EXPECT_EXIT(
      {
        ::alarm(60);
        set_stack_bytes(std::size_t{1} << 47);  // not available
        try {
          is_ended(loop);
        } catch (const ExecutionError& error) {
          const std::string message = error.what();
          if (message.find("starts no more threads\n  Raise") == std::string::npos) std::_Exit(3);
          set_stack_bytes(std::size_t{1} << 20);
          std::_Exit(is_ended(loop) ? 0 : 4);
        }
        std::_Exit(5);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rondo
