// Random numbers are inlined into the loops that use them.
#include <gtest/gtest.h>

#include <cmath>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

TEST(RandomNumbers, HaveTheReferencesBits) {
  for (const std::int64_t n : {1, 2, 7, 16, 33, 67, 500}) {
    SCOPED_TRACE(n);
    const Function drawn = trace(
        [&](Tensor key) {
          return std::tuple(random::bits(key, u32({n})), random::bits(key, u64({n})),
                            random::uniform(key, f32({n})), random::uniform(key, f64({n})),
                            random::randint(key, s32({n}), -5, 9), random::split(key, n));
        },
        u32({2}));
    EXPECT_FALSE(calls_kernels(drawn));
    expect_agreement(drawn, {random::key(20261122).eval()});
  }
}

TEST(RandomNumbers, AreMadeOfRotations) {
  const Lowered drawn(trace([](Tensor key) { return random::bits(key, u32({1000})); }, u32({2})));
  // Of two pairs of groups of four rounds, in a loop, and of a last group.
  EXPECT_GE(drawn.count(lower::Opcode::kRotateLeft), 12);
  EXPECT_EQ(drawn.count(lower::Opcode::kShiftLeft), 0);
}

TEST(RandomNumbers, NormalOnesAreCloseToTheReferences) {
  const Function drawn = trace(
      [](Tensor key) {
        return std::pair(random::normal(key, f32({1000})), random::normal(key, f64({1000})));
      },
      u32({2}));
  EXPECT_FALSE(calls_kernels(drawn));
  const std::vector<Literal> arguments{random::key(3).eval()};
  const auto want = compile(drawn, {.executor = Executor::kReference}).run(arguments);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const auto got = compile(drawn, {.executor = executor}).run(arguments);
    // The logarithm's last bits, and their effect on the polynomials.
    for (std::size_t i = 0; i < 1000; i++) {
      EXPECT_LE(ulps(got[0].data<float>()[i], want[0].data<float>()[i]), 8) << i;
      EXPECT_LE(ulps(got[1].data<double>()[i], want[1].data<double>()[i]), 8) << i;
    }
  }
}

/// A walk that ends at a wall: each lane draws until then, from separate keys.
Tensor steps_to_wall(Tensor key) {
  struct Walk {
    Tensor key, place, steps;
  };
  const Walk end =
      while_loop([](Walk w) { return (abs(w.place) < 3) & (w.steps < 200); },
                 [](Walk w) {
                   const Tensor keys = random::split(w.key, 2);
                   const Tensor bits = random::bits(keys[1], u32());
                   return Walk{keys[0], w.place + where((bits & 1u) == 0u, 1, -1), w.steps + 1};
                 },
                 Walk{key, 0, 0});
  return end.steps;
}

TEST(RandomNumbers, AreDrawnInEachLaneOfALoop) {
  const Function walks =
      trace([](Tensor key) { return vmap(steps_to_wall)(random::split(key, 40)); }, u32({2}));
  const auto got = expect_agreement(walks, {random::key(5).eval()});
  // Each lane is the walk of its key.
  const Literal keys = random::split(random::key(5), 40).eval();
  for (std::int64_t lane = 0; lane < 40; lane++) {
    const Literal alone = jit(steps_to_wall)(Tensor(keys)[lane]).eval();
    EXPECT_EQ(got[0].data<std::int32_t>()[static_cast<std::size_t>(lane)],
              alone.item<std::int32_t>());
  }
}

}  // namespace
}  // namespace rondo::testing
