// Runs with limits use another form of a program. If it contracts, or adds sums of products in
// another order than the program's, both forms do so alike: the results have the same bits.
#include "executor/same_bits.h"

#include <functional>

namespace rondo::testing {
namespace {

/// From -1 to 1.
template <class T = float>
Literal numbers(const std::vector<std::int64_t>& dims, unsigned seed) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    values.push_back(static_cast<T>(seed >> 8) / T(8388608) - T(1));
  }
  return Literal::from(values, dims);
}

TEST(SameBits, OfAProductOutsideABranchWithALoop) {
  const auto lane = [](Tensor x, Tensor y, Tensor n) {
    const Tensor product = x * y;
    return cond(
        n > 2,
        [&] {
          return fori_loop(
              0, n, [&](Tensor, Tensor s) { return product - s / 3.0f; }, x);
        },
        [&] { return y; });
  };
  const std::vector<Literal> arguments = {numbers({33}, 1), numbers({33}, 2), [] {
                                            std::vector<int> n;
                                            for (int i = 0; i < 33; i++) n.push_back(i * 5 % 9);
                                            return Literal::from(n, {33});
                                          }()};
  const Function f = trace([&](Tensor x, Tensor y, Tensor n) { return vmap(lane)(x, y, n); },
                           f32({33}), f32({33}), s32({33}));
  expect_same_bits(f, arguments);
  const Function derivatives = trace(
      [&](Tensor x, Tensor y, Tensor n) {
        return grad<0, 1>([&](Tensor x, Tensor y) { return sum(square(vmap(lane)(x, y, n))); })(x,
                                                                                                y);
      },
      f32({33}), f32({33}), s32({33}));
  expect_same_bits(derivatives, arguments);
}

TEST(SameBits, OfConstantsInARowAcrossABranchWithALoop) {
  const auto lane = [](Tensor x, Tensor n) {
    const Tensor scaled = x * 0.6309f;
    return cond(
        n > 2,
        [&] {
          return fori_loop(
              0, n, [&](Tensor, Tensor s) { return s - 0.25f * scaled * 1.7f; }, x);
        },
        [&] { return scaled / 3.1f; });
  };
  std::vector<int> n;
  for (int i = 0; i < 33; i++) n.push_back(i * 5 % 9);
  const Function f =
      trace([&](Tensor x, Tensor n) { return vmap(lane)(x, n); }, f32({33}), s32({33}));
  expect_same_bits(f, {numbers({33}, 3), Literal::from(n, {33})});
}

/// A state that is the same for all lanes, and that no result needs, prevents interchange in a run
/// with limits.
TEST(SameBits, OfProductsInALoopThatHasLanesInOneFormOnly) {
  const Function f = trace(
      [](Tensor x, Tensor w, Tensor u) {
        return fori_loop(
                   0, 7,
                   [&](Tensor, Tensor x, Tensor u) {
                     const Tensor next = (x + u[1]) * 0.5 + reshape(matmul(x, w), {40, 1});
                     return std::pair(next / (1.0 + abs(next)), u * 0.5 + flip(u) / 3.0);
                   },
                   std::pair(x, u))
            .first;
      },
      f64({40, 8}), f64({8}), f64({4}));
  expect_same_bits(f,
                   {numbers<double>({40, 8}, 5), numbers<double>({8}, 6), numbers<double>({4}, 7)});
}

/// Products of which each prefix uses one.
TEST(SameBits, OfRunningTotalsInALoopThatHasLanesInOneFormOnly) {
  const Function f = trace(
      [](Tensor x, Tensor w, Tensor u) {
        return fori_loop(
                   0, 7,
                   [&](Tensor, Tensor x, Tensor u) {
                     const Tensor next = cumsum(x * w, 1) / (2.0 + abs(u[1]));
                     return std::pair(next, u * 0.5 + flip(u) / 3.0);
                   },
                   std::pair(x, u))
            .first;
      },
      f64({40, 5}), f64({40, 5}), f64({4}));
  expect_same_bits(
      f, {numbers<double>({40, 5}, 5), numbers<double>({40, 5}, 6), numbers<double>({4}, 7)});
}

constexpr std::int64_t kTrips = 12, kRows = 8, kWidth = 64;

/// x_t w for all trips is one product; so is the gradient with respect to both matrices.
Tensor network(Tensor w, Tensor u, Tensor xs) {
  return sum(square(scan(
                        [&](Tensor h, Tensor x) {
                          const Tensor sum = matmul(x, w) + matmul(h, u);
                          const Tensor next = sum / (1.0f + abs(sum));
                          return std::pair(next, next);
                        },
                        zeros(f32({kRows, kWidth})), xs)
                        .second));
}
Function traced_network() {
  return trace([](Tensor w, Tensor u, Tensor xs) { return network(w, u, xs); },
               f32({kWidth, kWidth}), f32({kWidth, kWidth}), f32({kTrips, kRows, kWidth}));
}
Function network_gradient() {
  return trace(value_and_grad<0, 1>(network), f32({kWidth, kWidth}), f32({kWidth, kWidth}),
               f32({kTrips, kRows, kWidth}));
}
std::vector<Literal> network_arguments() {
  return {numbers({kWidth, kWidth}, 8), numbers({kWidth, kWidth}, 9),
          numbers({kTrips, kRows, kWidth}, 10)};
}

TEST(SameBits, OfProductsOfAllTrips) {
  expect_same_bits(traced_network(), network_arguments());
  expect_same_bits(network_gradient(), network_arguments());
}

/// A sum that starts with a product, with other terms that are no products, and in a nested loop.
TEST(SameBits, OfSumsOfAllTrips) {
  const auto gram = [](Tensor x) { return dot_general(x, x, DotDims{{}, {}, {0}, {0}}); };
  const auto summed = [&](Tensor first, Tensor xs, bool has_other) {
    return scan(
               [&](Tensor sum, Tensor x) {
                 const Tensor next = sum + gram(x);
                 return std::pair(has_other ? next + 0.01f : next, Tensor(0.0f));
               },
               first, xs)
        .first;
  };
  for (const bool has_other : {false, true}) {
    const Function f =
        trace([&](Tensor first, Tensor xs) { return summed(first * first, xs, has_other) * 0.1f; },
              f32({kWidth, kWidth}), f32({kTrips, kRows, kWidth}));
    expect_same_bits(f, {numbers({kWidth, kWidth}, 11), numbers({kTrips, kRows, kWidth}, 12)});
    const Function nested = trace(
        [&](Tensor first, Tensor xs) {
          return fori_loop(
              0, 3, [&](Tensor, Tensor s) { return summed(s * 0.1f, xs, has_other) * 0.3f; },
              first);
        },
        f32({kWidth, kWidth}), f32({kTrips, kRows, kWidth}));
    expect_same_bits(nested, {numbers({kWidth, kWidth}, 11), numbers({kTrips, kRows, kWidth}, 12)});
  }
}

/// Whatever fits into it: both forms use products of all trips, or none does.
TEST(SameBits, WithEachMemoryLimit) {
  const Function f = network_gradient();
  const MemoryPlan plan = compile(f).memory_plan();
  int ran = 0;
  for (int eighths = 4; eighths <= 16; eighths++) {
    const std::int64_t limit = plan.result_bytes + plan.arena_bytes * eighths / 8;
    try {
      const Executable limited = compile(f, {.memory_limit = limit});
      const std::vector<Literal> want = limited.run(network_arguments());
      const std::vector<Literal> got =
          limited.run(network_arguments(), FarLimits().options(FarLimits::kDeadline));
      for (std::size_t i = 0; i < want.size(); i++) {
        SCOPED_TRACE(::testing::Message() << "result " << i << " in " << limit << " bytes");
        ASSERT_NO_FATAL_FAILURE(expect_equal(got[i], want[i]));
      }
      ran++;
    } catch (const ExecutionError&) {  // it needs more
    }
  }
  EXPECT_GT(ran, 4);
}

}  // namespace
}  // namespace rondo::testing
