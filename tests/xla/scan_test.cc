// scan, while_scan, map and associative_scan in real XLA.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "xla/check.h"

namespace rondo::testing {
namespace {

class XlaScan : public XlaTest {};
class XlaWhileScan : public XlaTest {};
class XlaMap : public XlaTest {};
class XlaAssociativeScan : public XlaTest {};

struct Reading {
  Tensor level, valid;
};

Literal wave_of_singles(const Shape& shape) {
  return (sin(convert(Tensor(counting({DType::kF32, shape})), DType::kF32)) * 0.5).eval();
}

TEST_F(XlaScan, RunsForwardAndBackwardWithAnyUnrolling) {
  for (const bool reverse : {false, true}) {
    for (const std::int64_t unroll : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3},
                                      std::int64_t{7}, std::int64_t{9}, kUnrollAll}) {
      SCOPED_TRACE("unroll " + std::to_string(unroll));
      ScanOptions options;
      options.reverse = reverse;
      options.unroll = unroll;
      check(
          [&](Tensor x, Tensor xs) {
            return scan([](Tensor c, Tensor v) { return std::pair(c * 0.5 + v, c - v); }, x, xs,
                        options);
          },
          Literal::scalar(1.5f), wave_of_singles({7}));
    }
  }
}

TEST_F(XlaScan, RunsAlongAnyAxis) {
  for (const std::int64_t axis : {0, 1, 2, -1}) {
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE("axis " + std::to_string(axis));
      ScanOptions options;
      options.axis = axis;
      options.reverse = reverse;
      check(
          [&](Tensor xs) {
            const Tensor init = sum(xs, {axis}) * 0;
            return scan(
                [](Tensor c, Tensor v) { return std::pair(c + v, std::tuple(c * v, v + 1)); }, init,
                xs, options);
          },
          counting(s32({2, 3, 4})));
    }
  }
}

TEST_F(XlaScan, TakesTreesOfXsAndGivesTreesOfYs) {
  check(
      [](Tensor level, Tensor valid, Tensor x) {
        return scan(
            [](std::vector<Tensor> c, Reading r) {
              const Tensor next = where(r.valid, c[0] + r.level, c[0]);
              return std::pair(std::vector<Tensor>{next, c[1] + 1}, Reading{next * 2, c[1] < 3});
            },
            std::vector<Tensor>{x, Tensor(0)}, Reading{level, valid});
      },
      wave_of_singles({5}), counting(pred({5})), Literal::scalar(0.25f));
}

TEST_F(XlaScan, CarriesEveryDtype) {
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(dtype_name(dtype));
    check(
        [](Tensor x, Tensor xs) {
          return scan(
              [](Tensor c, Tensor v) {
                const Tensor next = v.dtype() == DType::kPred ? c ^ v : c + v;
                return std::pair(next, v);
              },
              x, xs);
        },
        counting({dtype, {2}}), counting({dtype, {4, 2}}));
  }
}

TEST_F(XlaScan, WorksWithoutXsAndWithoutYs) {
  ScanOptions options;
  options.length = 6;
  check(
      [&](Tensor x) {
        auto [carry, ys] =
            scan([](Tensor c) { return std::pair(c * 3 + 1, c); }, x, std::tuple<>(), options);
        auto [only, none] = scan([](Tensor c) { return std::pair(c + c, std::tuple<>()); }, x,
                                 std::tuple<>(), options);
        return std::tuple(carry, ys, only);
      },
      row<std::int32_t>({1, -2}));
}

TEST_F(XlaScan, WorksWithoutACarry) {
  check(
      [&](Tensor xs) {
        return scan([](std::tuple<>, Tensor x) { return std::pair(std::tuple<>(), x * x); },
                    std::tuple<>(), xs)
            .second;
      },
      counting(s32({5})));
}

TEST_F(XlaScan, OfNothingReturnsItsInitAndEmptyYs) {
  check(
      [&](Tensor x, Tensor xs) {
        return scan([](Tensor c, Tensor v) { return std::pair(c + sum(v), v * 2 + c); }, x, xs);
      },
      Literal::scalar(2.5f), Literal::zeros(f32({0, 3})));
  ScanOptions options;
  options.length = 0;
  check(
      [&](Tensor x) {
        return scan([](Tensor c) { return std::pair(c + 1, c); }, x, std::tuple<>(), options);
      },
      Literal::scalar(7));
}

TEST_F(XlaScan, OfArraysWithoutElementsStillCounts) {
  check(
      [&](Tensor x, Tensor xs) {
        return scan([](Tensor c, Tensor v) { return std::pair(c + 1, v); }, x, xs);
      },
      Literal::scalar(0), Literal::zeros(f64({4, 0})));
}

TEST_F(XlaScan, ForwardsXsAndCarriesAndInvariants) {
  check(
      [&](Tensor x, Tensor xs) {
        return scan(
            [&](std::tuple<Tensor, Tensor, Tensor> c, Tensor v) {
              auto [a, fixed, unused] = c;
              return std::pair(std::tuple(a + v * fixed, fixed, unused + 1),
                               std::tuple(v, a, fixed, x));
            },
            std::tuple(x, x + 1, x * 0), xs);
      },
      Literal::scalar(2), counting(s32({5})));
}

TEST_F(XlaScan, CapturesAndNests) {
  check(
      [&](Tensor weights, Tensor xs) {
        const Tensor scale = sum(weights) * 0.125;
        return scan(
            [&](Tensor c, Tensor x) {
              const auto inner = scan(
                  [&](Tensor d, Tensor w) {
                    const Tensor next = d * 0.5 + w * x * scale;
                    return std::pair(next, next - c);
                  },
                  c, weights);
              return std::pair(inner.first * 0.25, inner.second);
            },
            Tensor(0.5f), xs);
      },
      wave_of_singles({3}), wave_of_singles({4}));
}

TEST_F(XlaScan, InAWhileInAScan) {
  check(
      [&](Tensor table, Tensor limits) {
        return scan(
            [&](Tensor total, Tensor limit) {
              const auto end = while_loop(
                  [&](Tensor i, Tensor) { return i < limit; },
                  [&](Tensor i, Tensor t) {
                    const auto [deep, rows] = scan(
                        [&](Tensor c, Tensor v) { return std::pair(c * 3 + v + i, c ^ limit); }, t,
                        table);
                    return std::tuple(i + 1, deep + sum(rows));
                  },
                  std::tuple(Tensor(0), total));
              return std::pair(std::get<1>(end), std::get<1>(end) % 1000);
            },
            Tensor(1), limits);
      },
      counting(s32({4})), row<std::int32_t>({2, 0, 3}));
}

TEST_F(XlaWhileScan, StopsEarlyAtTheLimitAndNotAtAll) {
  for (const int limit : {0, 3, 6, 9}) {
    SCOPED_TRACE(limit);
    WhileScanOptions options;
    options.max_trip_count = 6;
    check(
        [&](Tensor x) {
          auto r = while_scan([&](Tensor i, Tensor) { return i < limit; },
                              [](Tensor i, Tensor v) {
                                return std::pair(std::tuple(i + 1, v * 2), std::tuple(v, i < 2));
                              },
                              std::tuple(Tensor(0), x), options);
          return std::tuple(r.carry, r.ys, r.count);
        },
        row<float>({1, 0.5f}));
  }
}

TEST_F(XlaWhileScan, OfNoTripsHasEmptyYs) {
  check(
      [&](Tensor x) {
        auto r = while_scan([](Tensor v) { return v < 100; },
                            [](Tensor v) { return std::pair(v + 1, v); }, x, {.max_trip_count = 0});
        return std::tuple(r.carry, r.ys, r.count);
      },
      Literal::scalar(3));
}

TEST_F(XlaMap, WithAndWithoutBatches) {
  for (const std::int64_t batch : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE(batch);
    MapOptions options;
    options.batch_size = batch;
    check(
        [&](Tensor xs, Tensor w) {
          return map([&](Tensor x, Tensor y) { return std::tuple(dot(x, w) + y, y < 2); },
                     std::tuple(xs, arange(5, DType::kF32)), options);
        },
        wave_of_singles({5, 3}), wave_of_singles({3}));
  }
}

TEST_F(XlaAssociativeScan, OfEveryLengthAlongEveryAxis) {
  for (std::int64_t n = 0; n <= 9; n++) {
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE(n);
      AssociativeScanOptions options;
      options.reverse = reverse;
      options.axis = n % 2;
      check(
          [&](Tensor a, Tensor b) {
            // The composition of affine functions is associative and does not commute.
            return associative_scan(
                [](std::tuple<Tensor, Tensor> f, std::tuple<Tensor, Tensor> g) {
                  return std::tuple(std::get<0>(f) * std::get<0>(g),
                                    std::get<0>(g) * std::get<1>(f) + std::get<1>(g));
                },
                std::tuple(a, b), options);
          },
          counting(s32(n % 2 == 0 ? std::initializer_list<std::int64_t>{n, 2}
                                  : std::initializer_list<std::int64_t>{2, n})),
          counting(s32(n % 2 == 0 ? std::initializer_list<std::int64_t>{n, 2}
                                  : std::initializer_list<std::int64_t>{2, n})));
    }
  }
}

}  // namespace
}  // namespace rondo::testing
