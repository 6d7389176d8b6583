// Programs of a size at which anything recursive or quadratic fails: all under the usual 8 MiB
// stack.
#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_scalar;
using testing::expect_values;

void print_and_drop(Function f) {
  f.verify();
  EXPECT_GT(f.str().size(), 0u);
  EXPECT_GT(to_hlo_text(f).size(), 0u);
  EXPECT_GT(to_stablehlo_text(f).size(), 0u);
  EXPECT_GT(to_dot(f).size(), 0u);
}

TEST(Scale, ChainOfAMillionAdds) {
  auto chain = [](Tensor x) {
    for (int i = 0; i < 1'000'000; i++) x = x + 1;
    return x;
  };
  print_and_drop(trace(chain, s32()));
  for (bool optimize : {false, true}) {
    expect_values<int>(
        compile(trace(chain, s32()), {.optimize = optimize}).run({Literal::scalar(5)})[0], {},
        {1'000'005});
  }
  expect_scalar(chain(Tensor(5)), 1'000'005);  // lazy
}

Tensor nested(int depth, Tensor x) {
  if (depth == 0) return x + 1;
  return fori_loop(
      0, depth % 7 == 0 ? 2 : 1, [&](Tensor, Tensor y) { return nested(depth - 1, y); }, x);
}

TEST(Scale, FourHundredNestedLoops) {
  // 2^k of them run, so all but a few make a single trip.
  auto f = [](Tensor x) {
    std::function<Tensor(int, Tensor)> nest = [&](int depth, Tensor y) -> Tensor {
      if (depth == 0) return y + 1;
      return while_loop([&](Tensor z) { return z < y + 1; },
                        [&](Tensor z) { return nest(depth - 1, z); }, y);
    };
    return nest(400, x);
  };
  print_and_drop(trace(f, s32()));
  for (bool optimize : {false, true}) {
    expect_values<int>(
        compile(trace(f, s32()), {.optimize = optimize}).run({Literal::scalar(5)})[0], {}, {6});
  }
}

TEST(Scale, FourHundredNestedForLoops) {
  const Function f = trace(
      [](Tensor x) {
        return nested(14, fori_loop(
                              0, 1, [](Tensor, Tensor y) { return nested(386 % 7 + 21, y); }, x));
      },
      s32());
  const auto count = [](int depth) {
    int trips = 1;
    for (int d = 1; d <= depth; d++) trips *= d % 7 == 0 ? 2 : 1;
    return trips;
  };
  expect_values<int>(compile(f).run({Literal::scalar(0)})[0], {},
                     {count(14) + count(386 % 7 + 21)});
}

TEST(Scale, TwoHundredAndFiftySixCarries) {
  auto f = [](std::vector<Tensor> ring) {
    return fori_loop(
        0, 1000,
        [](Tensor, std::vector<Tensor> ring) {
          std::rotate(ring.begin(), ring.begin() + 1, ring.end());
          return ring;
        },
        ring);
  };
  const Function traced = trace(f, std::vector<TensorType>(256, s32()));
  print_and_drop(traced);
  std::vector<Literal> arguments;
  for (int i = 0; i < 256; i++) arguments.push_back(Literal::scalar(i));
  const std::vector<Literal> end = compile(traced).run(arguments);
  for (int i = 0; i < 256; i++)
    expect_values<int>(end[static_cast<std::size_t>(i)], {}, {(i + 1000) % 256});
}

TEST(Scale, LoopBodyOfAHundredThousandOps) {
  auto f = [](Tensor x) {
    return fori_loop(
        0, 3,
        [](Tensor, Tensor x) {
          for (int i = 0; i < 100'000; i++) x = x * 3 + 1;
          return x;
        },
        x);
  };
  const Function traced = trace(f, s32());
  print_and_drop(traced);
  std::uint32_t x = 7;
  for (int i = 0; i < 300'000; i++) x = x * 3 + 1;
  for (bool optimize : {false, true}) {
    expect_values<int>(compile(traced, {.optimize = optimize}).run({Literal::scalar(7)})[0], {},
                       {static_cast<int>(x)});
  }
}

TEST(Scale, ScanOverAMillionRows) {
  auto [carry, ys] =
      scan([](Tensor c, Tensor x) { return std::pair(c + x, c); }, 0, arange(1'000'000) % 7);
  const Literal rows = ys.eval();
  int sum = 0;
  for (int i = 0; i < 1'000'000; i++) {
    ASSERT_EQ(rows.data<int>()[static_cast<std::size_t>(i)], sum);
    sum += i % 7;
  }
  expect_scalar(carry, sum);
}

}  // namespace
}  // namespace rondo
