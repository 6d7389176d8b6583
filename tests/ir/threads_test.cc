// Threads that record, trace, evaluate and differentiate concurrently, on shared tensors.
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "counted_op.h"
#include "gtest/gtest.h"
#include "ir/lazy.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

void on_threads(int count, const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; t++) {
    threads.emplace_back([&, t] {
      ready++;
      while (ready < count) std::this_thread::yield();
      work(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

Literal three() { return Literal::from<float>({1, 2, 3}, {3}); }

TEST(LazyThreads, ConcurrentTracesEvaluationsAndDerivativesOfSharedTensors) {
  for (int round = 0; round < 3; round++) {
    const Tensor base = Tensor(three()) * 2.0f;
    std::vector<Tensor> shared;
    Tensor x = base;
    for (int i = 0; i < 20; i++) {
      x = x * 0.5f + base;
      shared.push_back(x);
    }
    const auto cube = jit([](Tensor y) { return sum(y * y * y); });
    on_threads(8, [&](int t) {
      for (int i = 0; i < 6; i++) {
        const Tensor& mine = shared[static_cast<std::size_t>((7 * t + 3 * i) % 20)];
        const Tensor next = shared[19];
        switch ((t + i) % 4) {
          case 0:  // evaluates, while others evaluate the same or what it depends on
            EXPECT_GT((mine + next)[0].item<float>(), 0);
            break;
          case 1: {  // traces a loop around it
            const Tensor n = Tensor(1) + t % 3;
            const Tensor out = fori_loop(
                0, n, [&](Tensor, Tensor y) { return y + mine; }, base);
            EXPECT_GT(out[1].item<float>(), 0);
            break;
          }
          case 2: {  // differentiates a loop on it
            const auto slope = grad([&](Tensor y) {
              return sum(fori_loop(
                  0, 3, [&](Tensor, Tensor z) { return z * y; }, next));
            })(mine);
            EXPECT_GT(slope[2].item<float>(), 0);
            break;
          }
          default: {
            const Function f = trace([&](Tensor y) { return y * mine + next; }, f32({3}));
            f.verify();
            EXPECT_EQ(compile(f).run({three()}).size(), 1u);
            EXPECT_GT(cube(mine).item<float>(), 0);
            EXPECT_FALSE(to_text(shared[10]).empty());
          }
        }
      }
    });
    // As computed by one thread.
    std::vector<float> expected{2, 4, 6};
    const std::vector<float> of_base = expected;
    for (int i = 0; i < 20; i++) {
      for (std::size_t k = 0; k < 3; k++) expected[k] = expected[k] * 0.5f + of_base[k];
    }
    EXPECT_EQ(shared[19].eval().data<float>()[2], expected[2]);
  }
}

TEST(LazyThreads, ConcurrentEvaluationOfOneGraphGivesEachThreadTheValue) {
  for (int round = 0; round < 20; round++) {
    Tensor x = three();
    for (int i = 0; i < 50; i++) x = x + 1.0f;
    const Tensor whole = x;
    on_threads(8, [&](int t) {
      const Tensor part = whole[t % 3];
      EXPECT_EQ(part.item<float>(), static_cast<float>(51 + t % 3));
    });
  }
}

/// What the kernel of a large evaluation waits for.
std::atomic<bool> small_is_done;
void slow_kernel(const ir::KernelRun& run) {
  while (!small_is_done) std::this_thread::yield();
  std::memcpy(run.results[0], run.operands[0], static_cast<std::size_t>(run.node.type().bytes()));
}

TEST(LazyThreads, ASmallEvaluationDoesNotWaitForALargeOne) {
  small_is_done = false;
  static const ir::OpDef slow{.name = "slow",
                              .arity = 1,
                              .types = {.infer = infer_counted},
                              .kernel = {.prepare = ir::prepare_function<slow_kernel>},
                              .derivative = {.zero = true}};
  const Tensor base = three();
  std::thread large([&] { EXPECT_EQ(ir::make(slow, {base}, {}, {})[0].item<float>(), 1); });
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ((base + 1.0f)[1].item<float>(), 3);
    trace([&](Tensor y) { return y + base; }, f32({3})).verify();
    EXPECT_EQ(grad([](Tensor y) { return sum(y * y); })(base)[0].item<float>(), 2);
  }
  small_is_done = true;
  large.join();
}

}  // namespace
}  // namespace rondo::testing
