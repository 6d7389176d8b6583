// Large blocks are reused by later ops and runs: a page fault per page would cost more than the
// arithmetic on it.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/memory.h"
#include "rondo/rondo.h"
#include "support/sanitized.h"

#if !defined(RONDO_TEST_SANITIZED)

namespace rondo {
namespace {

constexpr std::int64_t kSize = 512, kPages = kSize * kSize * 4 / 4096;
constexpr int kSteps = 50;

std::int64_t page_faults_of(const std::function<void()>& work) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  work();
  getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

/// A step of heat conduction: the five points of a grid with a fixed rim.
Tensor stepped(Tensor t) {
  const auto part = [&](std::int64_t row, std::int64_t column) {
    return slice(t, {row, column}, {row + kSize - 2, column + kSize - 2});
  };
  const Tensor around = part(0, 1) + part(2, 1) + part(1, 0) + part(1, 2);
  return dynamic_update_slice(t, part(1, 1) * 0.2f + around * 0.2f, {1, 1});
}

TEST(PageFaults, OfAStencilDoNotGrowWithItsSteps) {
  const Function program = trace(
      [](Tensor t) {
        return fori_loop(
            0, kSteps, [](Tensor, Tensor s) { return stepped(s); }, t);
      },
      f32({kSize, kSize}));
  const std::vector<Literal> start{Literal::zeros(f32({kSize, kSize}))};
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    SCOPED_TRACE(static_cast<int>(executor));
    const Executable compiled = compile(program, {.executor = executor});
    const std::int64_t first = page_faults_of([&] { (void)compiled.run(start); });
    EXPECT_LT(first, 16 * kPages);
    EXPECT_LT(page_faults_of([&] { (void)compiled.run(start); }), 2 * kPages);
  }
}

TEST(PageFaults, OfStepsThatAreLookedAtOneByOneDoNotGrowWithTheirNumber) {
  const auto jitted = jit(stepped);
  for (const bool lazy : {true, false}) {
    SCOPED_TRACE(lazy);
    Tensor t = Literal::zeros(f32({kSize, kSize}));
    const auto run = [&] {
      for (int i = 0; i < kSteps; i++) {
        t = lazy ? stepped(t) : jitted(t);
        (void)t.eval();
      }
    };
    run();
    EXPECT_LT(page_faults_of(run), 8 * kPages);  // of 50 arrays
  }
}

}  // namespace
}  // namespace rondo

#endif
