// The allocations of calls and traces, and the mutexes that calls take: this program counts them.
#include "support/allocations.h"

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "errors/message.h"
#include "ir/node.h"
#include "rondo/rondo.h"

#if !defined(RONDO_TEST_SANITIZED)

namespace {
thread_local std::int64_t locks = 0;
}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  locks++;
  return lock(mutex);
}

namespace rondo::testing {
namespace {

const JitOptions kNative{.compile = {.executor = Executor::kCompiled}, .check_captures = false};

TEST(Allocations, ACallOfANativeFunctionMakesNone) {
  const auto f = native<std::array<float, 8>(const std::array<float, 8>&, float)>(
      [](Tensor x, Tensor a) {
        return fori_loop(
            0, 10, [&](Tensor, Tensor y) { return sin(y) * a + 1; }, x);
      },
      kNative);
  std::array<float, 8> x{1, 2, 3};
  x = f(x, 0.5f);
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 100; i++) x = f(x, 0.5f);
            }),
            0);
}

TEST(Allocations, AJittedCallAsTheLastMakesNone) {
  const auto f = jit([](Tensor a, Tensor b) { return std::pair(a + b, a * b); }, kNative);
  const Tensor b(2.f);
  for (int i = 0; i < 3; i++) EXPECT_EQ(f(1.f, b).first.item<float>(), 3.f);
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 100; i++) static_cast<void>(f(1.f, b).second);
            }),
            0);
}

TEST(Allocations, AResultOfAJittedCallIsAValueAndItsElements) {
  const auto f = jit([](Tensor a, Tensor b) { return std::pair(a + b, a * b); }, kNative);
  for (int i = 0; i < 2; i++) EXPECT_EQ(f(1.f, 2.f).first.item<float>(), 3.f);
  release_cached_memory();
  EXPECT_LE(allocations_of([&] { static_cast<void>(f(1.f, 2.f).second); }), 4);
}

/// A state of thirteen leaves.
struct Leaves {
  std::array<Tensor, 10> numbers;
  Tensor position, velocity, force;
};
Leaves step_of_leaves(Leaves s) {
  for (Tensor& number : s.numbers) number = number * 0.5f + 1;
  return {s.numbers, s.position + s.velocity, s.velocity + s.force, -s.position};
}
Leaves leaves_of_ones() {
  Leaves s;
  for (Tensor& number : s.numbers) number = Tensor(1.0f);
  s.position = s.velocity = s.force = ones(f32({4}));
  return s;
}

TEST(Allocations, ACallThatReplacesAStateOfManyLeavesMakesNone) {
  const auto step = jit(step_of_leaves, kNative);
  Leaves s = leaves_of_ones();
  for (int i = 0; i < 4; i++) s = step(s);
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 100; i++) s = step(s);
            }),
            0);
  EXPECT_NEAR(s.numbers[9].item<float>(), 2, 1e-6);
}

TEST(Allocations, AStateOfManyLeavesThatIsKeptIsOneBlock) {
  const auto step = jit(step_of_leaves, kNative);
  std::vector<Leaves> states;
  states.reserve(200);
  states.push_back(leaves_of_ones());
  const auto calls = [&] {
    for (int i = 0; i < 50; i++) states.push_back(step(states.back()));
  };
  calls();
  release_cached_memory();
  EXPECT_LE(allocations_of(calls), 50 + 5);
}

Function chain(std::int64_t ops) {
  return trace(
      [ops](Tensor x) {
        for (std::int64_t i = 0; i < ops; i++) x = x + x;
        return x;
      },
      f32({128}));
}

TEST(Allocations, CallsOnSixteenThreadsTakeNoLock) {
  const auto step = [](Tensor x, Tensor a) {
    return fori_loop(
        0, 10, [&](Tensor, Tensor y) { return y * a + 1; }, x);
  };
  const auto jitted = jit(step, kNative);
  const auto on_host = native<float(float, float)>(step, kNative);
  std::array<std::int64_t, 16> first{}, taken{}, wrong{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < taken.size(); t++) {
    threads.emplace_back([&, t] {
      const auto x = static_cast<float>(t);
      float wanted = x;
      for (int i = 0; i < 10; i++) wanted = wanted * 0.5f + 1;  // exact
      const auto call = [&] {
        wrong[t] += jitted(x, 0.5f).item<float>() != wanted;
        wrong[t] += on_host(x, 0.5f) != wanted;
      };
      call();
      first[t] = locks;
      for (int i = 0; i < 1000; i++) call();
      taken[t] = locks - first[t];
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < taken.size(); t++) {
    EXPECT_GT(first[t], 0) << t;  // they are counted: the program is found under one
    EXPECT_EQ(taken[t], 0) << t;
    EXPECT_EQ(wrong[t], 0) << t;
  }
}

TEST(Allocations, RunsOnSixteenThreadsGiveTheirMemoryBack) {
  const auto f = [](Tensor x) {
    const Tensor y = sort(sin(arange(5000, DType::kF32) * x));
    return while_loop([](Tensor z) { return z < 1e5f; }, [](Tensor z) { return z * 1.5f; },
                      abs(sum(y * reverse(y, {0}))) + 1, {.checkpoint = Checkpoint::tape()});
  };
  const Function slope = trace(grad(f), f32());
  const Literal x = Literal::scalar(1.0f);
  release_cached_memory();
  const std::int64_t before = live_aligned_blocks;
  std::int64_t at_most = 0;
  {
    const Executable program = compile(slope, {.executor = Executor::kCompiled});
    const Literal first = program.run({x})[0];
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; t++) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; i++) EXPECT_TRUE(program.run({x})[0].identical(first));
      });
    }
    for (std::thread& thread : threads) thread.join();
    at_most = live_aligned_blocks - before;
  }
  EXPECT_GT(at_most, 0);  // they are counted
  release_cached_memory();
  EXPECT_EQ(live_aligned_blocks, before);
}

TEST(Allocations, ATracedOpTakesOneBlock) {
  release_cached_memory();
  const std::int64_t few = allocations_of([&] { static_cast<void>(chain(10).body()); });
  release_cached_memory();
  const std::int64_t many = allocations_of([&] { static_cast<void>(chain(10'010).body()); });
  EXPECT_LE(many - few, 10'000 + 100);  // and vectors that grow
  // The next trace reuses them.
  EXPECT_LE(allocations_of([&] { static_cast<void>(chain(10'010).body()); }), few + 100);
}

TEST(Allocations, ALargeTraceTakesTheBlocksOfTheOneBeforeIt) {
  constexpr std::int64_t kOps = 100'000;  // more than a thread keeps
  release_cached_memory();
  static_cast<void>(chain(kOps).body());
  const std::int64_t again = allocations_of([&] { static_cast<void>(chain(kOps).body()); });
  EXPECT_LE(again, 100);
  // Kept blocks are released on request.
  const std::int64_t before = frees;
  release_cached_memory();
  EXPECT_GE(frees - before, kOps);
}

TEST(Allocations, BlocksOfAnotherThreadsTraceAreTakenToo) {
  constexpr std::int64_t kOps = 100'000;
  release_cached_memory();
  Function made;
  std::thread([&] { made = chain(kOps); }).join();
  made = Function();  // released here
  EXPECT_LE(allocations_of([&] { static_cast<void>(chain(kOps).body()); }), 100);
}

TEST(Allocations, NodesAreTwoCacheLines) { EXPECT_LE(sizeof(ir::Node), 128); }

}  // namespace
}  // namespace rondo::testing

#endif
