// Batched programs in real XLA: it accepts the text of vmap and gives the same results.
#include <tuple>
#include <utility>
#include <vector>

#include "xla/check.h"

namespace rondo::testing {
namespace {

class XlaBatching : public XlaTest {};

template <class F, class... Literals>
void check_close(F&& f, const Literals&... arguments) {
  expect_same_as_xla(trace(f, arguments...), {arguments...}, kDoubles, XlaTexts::kStablehlo);
}

Literal wave(const Shape& shape) {
  return sin(convert(Tensor(counting({DType::kF64, shape})), DType::kF64) + 0.5).eval();
}

TEST_F(XlaBatching, OfOpsOnEveryPairOfAxes) {
  const auto f = [](Tensor x, Tensor w) {
    return std::tuple(x * w + exp(w), cumsum(x, 0), sort(x, 1), matmul(x, transpose(w)),
                      sum(x, {1}), argmax(x, 0), reverse(x, {1}), pad(x, 1.5, {1, 0}, {0, 2}));
  };
  for (const std::int64_t in : {0, 1, 2}) {
    std::vector<std::int64_t> dims{2, 3};
    dims.insert(dims.begin() + in, 4);
    for (const std::int64_t out : {0, -1}) {
      check_close(vmap(f, {.in_axes = {in, std::nullopt}, .out_axes = out}), wave(Shape(dims)),
                  wave({2, 3}));
    }
  }
}

TEST_F(XlaBatching, OfPlacesOfEachLane) {
  const auto f = [](Tensor x, Tensor i, Tensor v) {
    return std::tuple(x[i], update(x, i, v), dynamic_slice(x, {i, Tensor(1)}, {2, 2}),
                      take(x, stack({i, i + 1}, 0)), searchsorted(sort(v), x[0]));
  };
  check_close(vmap(f), wave({3, 4, 3}), row<std::int32_t>({2, -1, 9}), wave({3, 3}));
  check_close(vmap(f, {.in_axes = {std::nullopt, 0, std::nullopt}}), wave({4, 3}),
              row<std::int32_t>({0, 3}), wave({3}));
  const auto counts = [](Tensor x) { return bincount(x, 5); };
  check_close(vmap(counts), Literal::from(std::vector<std::int32_t>{0, 4, 4, 7, 1, 0}, {2, 3}));
}

TEST_F(XlaBatching, OfLoopsThatStopLaneByLane) {
  const auto collatz = [](Tensor from) {
    return while_loop([](Tensor n, Tensor) { return n != 1; },
                      [](Tensor n, Tensor steps) {
                        return std::tuple(where(n % 2 == 0, n / 2, 3 * n + 1), steps + 1);
                      },
                      std::tuple(from, Tensor(0)));
  };
  check(vmap(collatz), row<std::int32_t>({1, 27, 6, 97}));
  check(vmap(vmap(collatz)), Literal::from(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, {2, 3}));
  // A lane that is done would compute infinity.
  const auto grows = [](Tensor x) {
    return while_loop([](Tensor v) { return v < 1e9; }, [](Tensor v) { return v * v + 1; }, x);
  };
  check(vmap(grows), row<double>({1e200, 2, 1e9, 0.5}));
  const auto until = [](Tensor n, Tensor x) {
    return fori_loop(
        0, n, [](Tensor i, Tensor v) { return sin(v) + convert(i, DType::kF64); }, x);
  };
  check_close(vmap(until), row<std::int32_t>({0, 5, 2}), row<double>({0.1, 0.2, 0.3}));
}

TEST_F(XlaBatching, OfScansAndOfLoopsInThem) {
  const auto filter = [](Tensor c, Tensor xs) {
    return scan(
        [](Tensor c, Tensor x) {
          const Tensor halved = while_loop([](Tensor v) { return abs(v) > 0.3; },
                                           [](Tensor v) { return v * 0.5; }, c + x);
          return std::pair(halved, halved * x);
        },
        c, xs);
  };
  check_close(vmap(filter), wave({3}), wave({3, 5}));
  check_close(vmap(filter, {.in_axes = {std::nullopt, 1}, .out_axes = {0, 1}}),
              Literal::scalar(0.25), wave({5, 3}));
  check_close(vmap([](Tensor xs) {
                return associative_scan([](Tensor a, Tensor b) { return a * b + b; }, xs);
              }),
              wave({3, 6}));
  check_close(
      [](Tensor xs) { return map([](Tensor x) { return sum(x * x); }, xs, {.batch_size = 2}); },
      wave({5, 3}));
}

TEST_F(XlaBatching, OfBranchesThatLanesTakeForThemselves) {
  const auto f = [](Tensor k, Tensor x) {
    const Tensor chosen =
        switch_case(k,
                    std::tuple([](Tensor v) { return sqrt(v); }, [](Tensor v) { return log(v); },
                               [](Tensor v) { return v * 2; }),
                    x);
    return cond(
        x > 0, [&](Tensor v) { return v + chosen; }, [](Tensor v) { return -v; }, x);
  };
  check_close(vmap(f), row<std::int32_t>({0, 1, 2, 7}), row<double>({0.5, 2, -1, -3}));
  check_close(vmap(f, {.in_axes = {std::nullopt, 0}}), Literal::scalar(2), row<double>({0.5, -2}));
}

TEST_F(XlaBatching, OfGradientsInAndAround) {
  const auto f = [](Tensor x, Tensor w, Tensor n) {
    const auto end = while_loop([&](Tensor i, Tensor) { return i < n; },
                                [&](Tensor i, Tensor v) { return std::tuple(i + 1, sin(v) * w); },
                                std::tuple(Tensor(0), x), {.max_trip_count = 4});
    return cond(
        x > 0, [](Tensor v) { return log(v * v + 1); }, [](Tensor v) { return v; },
        std::get<1>(end));
  };
  const Literal x = row<double>({0.4, -0.9, 1.3, 2}), n = row<std::int32_t>({0, 4, 1, 3});
  const Literal w = Literal::scalar(1.5);
  check_close(vmap(grad<0, 1>(f), {.in_axes = {0, std::nullopt, 0}}), x, w, n);
  check_close(grad<0, 1>([&](Tensor x, Tensor w, Tensor n) {
                return sum(vmap(f, {.in_axes = {0, std::nullopt, 0}})(x, w, n));
              }),
              x, w, n);
}

TEST_F(XlaBatching, OfCollectivesAndRandomNumbers) {
  const auto f = [](Tensor x) {
    return std::tuple(x / axis_sum(x, "i"), axis_max(x, "i"), axis_index("i"));
  };
  check_close(vmap(f, {.axis_name = "i"}), wave({4, 2}));
  check(vmap([](Tensor seed) {
          const Tensor key = random::key(seed);
          return std::tuple(random::bits(key, u32({3})), random::randint(key, s32({2}), 0, 10),
                            random::split(key, 3));
        }),
        row<std::int32_t>({1, 2, 7}));
}

TEST_F(XlaBatching, OfDrawsByRejectionAndOfFactors) {
  check_close(vmap([](Tensor seed, Tensor a) { return random::gamma(random::key(seed), a, {2}); }),
              row<std::int32_t>({1, 2, 7}), row<double>({0.4, 2.5, 30}));
  check_close(vmap(grad([](Tensor half) {
                const Tensor x = matmul(half, transpose(half)) + eye(3, DType::kF64);
                return sum(log(diag(cholesky(x))));
              })),
              wave({2, 3, 3}));
}

}  // namespace
}  // namespace rondo::testing
