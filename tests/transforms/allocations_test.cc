// What calls and traces allocate.
#include <array>
#include <cstdint>
#include <thread>

#include "errors/message.h"
#include "ir/node.h"
#include "rondo/rondo.h"
#include "support/allocations.h"

#if !defined(RONDO_TEST_SANITIZED)

namespace rondo::testing {
namespace {

const JitOptions kNative{.compile = {.executor = Executor::kCompiled}};

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

Function chain(std::int64_t ops) {
  return trace(
      [ops](Tensor x) {
        for (std::int64_t i = 0; i < ops; i++) x = x + x;
        return x;
      },
      f32({128}));
}

TEST(Allocations, ATracedOpTakesOneBlock) {
  release_cached_memory();
  const std::int64_t few = allocations_of([&] { static_cast<void>(chain(10).body()); });
  release_cached_memory();
  const std::int64_t many = allocations_of([&] { static_cast<void>(chain(10'010).body()); });
  EXPECT_LE(many - few, 10'000 + 100);  // and vectors that grow
  // The next one finds them again.
  EXPECT_LE(allocations_of([&] { static_cast<void>(chain(10'010).body()); }), few + 100);
}

TEST(Allocations, ALargeTraceTakesTheBlocksOfTheOneBeforeIt) {
  constexpr std::int64_t kOps = 100'000;  // more than a thread keeps
  release_cached_memory();
  static_cast<void>(chain(kOps).body());
  const std::int64_t again = allocations_of([&] { static_cast<void>(chain(kOps).body()); });
  EXPECT_LE(again, 100);
  // Those that are kept go back when they are asked for.
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
