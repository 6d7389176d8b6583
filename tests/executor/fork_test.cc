// A process that forks: what one of the two compiles and releases does not affect the other.
#include <gtest/gtest.h>

#include "support/sanitized.h"

#if defined(__linux__) && !defined(RONDO_TEST_SANITIZED)

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "rondo/rondo.h"

namespace rondo {
namespace {

/// A one-way signal between two processes.
class Signal {
 public:
  Signal() {
    if (pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
  }
  ~Signal() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  bool give() const { return write(ends_[1], "x", 1) == 1; }
  bool await() const {
    char byte = 0;
    return read(ends_[0], &byte, 1) == 1;
  }

 private:
  std::array<int, 2> ends_{};
};

Executable times(float factor) {
  return compile(trace([&](Tensor x) { return x * factor; }, f32()),
                 {.executor = Executor::kCompiled});
}

bool multiplies(const Executable& program, float factor) {
  return program.run({Literal::scalar(1.f)})[0].item<float>() == factor;
}

TEST(Fork, BothProcessesHaveTheirOwnCode) {
  Executable shared = times(2);
  Signal to_child, to_parent;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // so that it ends whatever the parent does
    const Executable own = times(3);
    bool fine = multiplies(own, 3) && to_parent.give() && to_child.await();
    // The parent has compiled a program since then.
    fine = fine && multiplies(own, 3) && multiplies(shared, 2);
    shared = {};
    const Executable in_its_place = times(5);
    fine = fine && multiplies(in_its_place, 5) && to_parent.give();
    _exit(fine ? 0 : 1);
  }
  EXPECT_TRUE(to_parent.await());
  const Executable later = times(7);
  EXPECT_TRUE(multiplies(later, 7) && multiplies(shared, 2));
  EXPECT_TRUE(to_child.give());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  // The child has released its own handle and compiled another program.
  EXPECT_TRUE(multiplies(shared, 2) && multiplies(later, 7));
}

}  // namespace
}  // namespace rondo

#endif
