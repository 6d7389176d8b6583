// Loops over arrays that take seconds end soon after their deadline.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include "rondo/rondo.h"

namespace rondo {
namespace {

using std::chrono::milliseconds;

/// What this thread has computed for: other programs on the machine do not count.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of a program that would run for more than a second, on zeros. It may need 64 MB.
void expect_ended_in_time(const std::string& name, const Function& program) {
  std::vector<Literal> arguments;
  for (const TensorType& type : program.params()) arguments.push_back(Literal::zeros(type));
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    SCOPED_TRACE(name + (executor == Executor::kBytecode ? ", bytecode" : ", compiled"));
    const Executable compiled =
        compile(program, {.executor = executor, .memory_limit = std::int64_t{1} << 26});
    const double start = thread_seconds();
    EXPECT_THROW(compiled.run(arguments, {.deadline = milliseconds(20)}), DeadlineExceeded);
    EXPECT_LT(thread_seconds() - start, 0.25);
  }
}

Tensor long_chain(Tensor x) {
  for (int i = 0; i < 300; i++) x = sin(x) + 0.5f;
  return x;
}

TEST(Deadlines, OfOneLongLoopOverAnArray) {
  expect_ended_in_time("elements", trace(long_chain, f32({1 << 22})));
  expect_ended_in_time("rows", trace(long_chain, f32({1 << 11, 1 << 11})));
  expect_ended_in_time("transposed",
                       trace([](Tensor x) { return transpose(long_chain(x)); }, f32({3, 1 << 20})));
}

TEST(Deadlines, OfOneLongReduction) {
  const auto product = [](Tensor x) { return prod(long_chain(x)); };  // in order
  expect_ended_in_time("in order", trace(product, f32({1 << 22})));
  const auto tall = [](Tensor x) { return sum(long_chain(x), {0}); };
  expect_ended_in_time("two columns", trace(tall, f32({1 << 21, 2})));
  const auto narrow = [](Tensor x) { return sum(long_chain(x), {1}); };
  expect_ended_in_time("rows of two", trace(narrow, f32({1 << 21, 2})));
}

TEST(Deadlines, OfLanesThatStopOneByOne) {
  const auto halved = vmap([](Tensor x) {
    return while_loop([](Tensor s) { return s < 1e9f; }, [](Tensor s) { return sin(s) * s; }, x);
  });
  expect_ended_in_time("lanes", trace(halved, f32({1 << 16})));
}

}  // namespace
}  // namespace rondo
