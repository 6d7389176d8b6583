// Loops that are interchanged with their lanes and have more than one element per lane: rows in
// registers, histories that are written by the loop, branches that all lanes take.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include "executor/agreement.h"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using testing::expect_agreement;
using ::testing::IsEmpty;
using testing::Lowered;
using ::testing::Not;
using testing::runs_by_lane;

Literal rising(const Shape& shape, float first, float last) {
  return testing::ramp(shape, (last - first) / static_cast<float>(shape.elements()), first);
}

/// For every length around blocks and vectors, alone and batched.
void expect_by_lane(const std::function<Tensor(Tensor)>& f, const Shape& row, float first,
                    float last, bool by_lane = true) {
  for (const std::int64_t lanes : {8, 9, 15, 16, 17, 33, 63, 64, 65, 67, 130}) {
    SCOPED_TRACE(::testing::Message() << lanes << " lanes");
    std::vector<std::int64_t> dims{lanes};
    dims.insert(dims.end(), row.begin(), row.end());
    const Literal x = rising(Shape(dims), first, last);
    const Function function = trace(vmap(f), x);
    EXPECT_EQ(runs_by_lane(function), by_lane) << Lowered(function);
    (void)expect_agreement(function, {x});
  }
}

TEST(LaneRows, AreKeptInRegisters) {
  const auto lorenz = [](Tensor s) {
    const Tensor x = s[0], y = s[1], z = s[2];
    return stack({10.0f * (y - x), x * (28.0f - z) - y, x * y - 2.5f * z}, 0);
  };
  const auto f = [&](Tensor s) {
    return fori_loop(
        0, 20, [&](Tensor, Tensor s) { return s + 0.01f * lorenz(s + 0.005f * lorenz(s)); }, s);
  };
  expect_by_lane(f, {3}, -1, 1);
  const Literal x = rising({70, 3}, -1, 1);
  const auto got = expect_agreement(trace(vmap(f), x), {x});
  for (std::size_t lane = 0; lane < 70; lane++) {
    float s[3], k[3], m[3];
    const auto slope = [](const float* at, float* to) {
      to[0] = 10.0f * (at[1] - at[0]);
      const float up = 28.0f - at[2], turned = at[0] * up, product = at[0] * at[1],
                  sinks = 2.5f * at[2];
      to[1] = turned - at[1];
      to[2] = product - sinks;
    };
    for (std::size_t i = 0; i < 3; i++) s[i] = x.data<float>()[3 * lane + i];
    for (int t = 0; t < 20; t++) {
      slope(s, k);
      for (std::size_t i = 0; i < 3; i++) m[i] = s[i] + 0.005f * k[i];
      slope(m, k);
      for (std::size_t i = 0; i < 3; i++) s[i] = s[i] + 0.01f * k[i];
    }
    for (std::size_t i = 0; i < 3; i++) {
      // The compiler may contract products and sums of this loop.
      EXPECT_NEAR(got[0].data<float>()[3 * lane + i], s[i], 1e-4f * (1 + std::abs(s[i])));
    }
  }
}

TEST(LaneRows, StopOneByOneByWhatTheyAddUpTo) {
  const auto f = [](Tensor s) {
    const auto [last, n] = while_loop(
        [](Tensor s, Tensor n) { return (sum(s * s) < 40.0f) & (n < 30); },
        [](Tensor s, Tensor n) { return std::pair(s * 1.25f + reverse(s, {0}) * 0.25f, n + 1); },
        std::pair(s, Tensor(0)));
    return last * convert(n, DType::kF32);
  };
  expect_by_lane(f, {4}, -3, 9);  // some lanes make no trip
  // Infinities and NaNs are lanes like others.
  Literal x = rising({20, 4}, -1, 1);
  x.mutable_data<float>()[7] = std::numeric_limits<float>::infinity();
  x.mutable_data<float>()[40] = std::numeric_limits<float>::quiet_NaN();
  (void)expect_agreement(trace(vmap(f), x), {x});
}

TEST(LaneRows, AreMultipliedByMatrices) {
  // A filter for each lane: a separate matrix, and one that all share.
  const auto f = [](Tensor z) {
    const Tensor a = matrix({{1.0f, 0.1f}, {0.0f, 1.0f}}), h = matrix({{1.0f, 0.0f}});
    const auto carry = scan(
        [&](std::pair<Tensor, Tensor> c, Tensor m) {
          const auto& [x, p] = c;
          const Tensor ahead = dot(a, x), spread = dot(dot(a, p), transpose(a)) + 0.01f * eye(2);
          const Tensor gain =
              dot(spread, transpose(h)) / (dot(dot(h, spread), transpose(h)) + 0.5f);
          const Tensor next = ahead + dot(gain, reshape(m, {1}) - dot(h, ahead));
          const Tensor left = dot(eye(2) - dot(gain, h), spread);
          return std::pair(std::pair(next, left), std::tuple<>());
        },
        std::pair(zeros(f32({2})), eye(2)), z);
    return carry.first.first;
  };
  expect_by_lane(f, {12}, -1, 1);
  // Differs by lane from the second trip on.
  const auto own = [](Tensor x) {
    return fori_loop(
        0, 7,
        [](Tensor, Tensor p) {
          return dot(p, transpose(p)) * 0.25f + 0.5f * eye(2) - p / (1 + abs(p[0][1]));
        },
        x);
  };
  expect_by_lane(own, {2, 2}, -1, 1);
}

TEST(LaneRows, AreReducedWhereTheyHaveManyElements) {
  // The row of each lane goes towards its mean, its greatest element and its product.
  for (const std::int64_t columns : {7, 12, 33, 64}) {
    SCOPED_TRACE(::testing::Message() << columns << " columns");
    const auto f = [](Tensor row) {
      const auto step = [](Tensor, Tensor row) {
        return row * 0.5f + mean(row) * 0.25f - max(row) * 0.125f + prod(row) * 0.01f;
      };
      return fori_loop(0, 5, step, row);
    };
    expect_by_lane(f, {columns}, -1, 1);
  }
  const auto least_and_sums = [](Tensor m) {
    const auto step = [](Tensor, Tensor m) {
      return m - expand_dims(min(m, {1}), 1) * 0.5f + sum(m, {0}) * 0.125f;
    };
    return fori_loop(0, 5, step, m);
  };
  expect_by_lane(least_and_sums, {3, 11}, -1, 1);
  expect_by_lane(least_and_sums, {12, 3}, -1, 1);
  // More than a tree of partial sums takes.
  const auto long_rows = [](Tensor row) {
    return fori_loop(
        0, 5, [](Tensor, Tensor row) { return row - sum(row) * 0.01f; }, row);
  };
  expect_by_lane(long_rows, {65}, -1, 1, false);
}

TEST(LaneRows, AreMultipliedInLanesHoweverManyThereAre) {
  // As a product of a small and a long matrix this uses the library.
  const auto f = [](Tensor x) {
    const Tensor turn = matrix({{0.8f, -0.6f}, {0.6f, 0.8f}});
    return fori_loop(
        0, 4, [&](Tensor, Tensor x) { return dot(turn, x); }, x);
  };
  const Literal x = rising({5000, 2}, -1, 1);
  const Function function = trace(vmap(f), x);
  EXPECT_TRUE(runs_by_lane(function));
  const Literal got = compile(function).run({x})[0];
  for (std::size_t lane = 0; lane < 5000; lane += 7) {
    double a = x.data<float>()[2 * lane], b = x.data<float>()[2 * lane + 1];
    for (int t = 0; t < 4; t++) {
      const double turned = 0.8 * a - 0.6 * b;
      b = 0.6 * a + 0.8 * b;
      a = turned;
    }
    EXPECT_NEAR(got.data<float>()[2 * lane], a, 1e-5);
    EXPECT_NEAR(got.data<float>()[2 * lane + 1], b, 1e-5);
  }
  (void)expect_agreement(function, {x});
}

TEST(LaneRows, AreWrittenAndReadAtPlacesOfTheRun) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 11,
        [](Tensor i, Tensor row) {
          const Tensor at = i % 4;
          const Tensor value = row[at] * 0.5f + row[(i + 1) % 4];
          return update(row, at, value) + pad(row * 0.25f, 0, {1}, {-1});
        },
        x);
  };
  expect_by_lane(f, {4}, -3, 3);
  const auto complex_rows = [](Tensor x) {
    const Tensor z = complex(x, reverse(x, {0}));
    const Tensor last = fori_loop(
        0, 5, [](Tensor i, Tensor z) { return update(z + reverse(z, {0}), i % 2, z[1] - z[0]); },
        z);
    return real(last) + imag(last);
  };
  expect_by_lane(complex_rows, {2}, -0.9f, 0.9f);
}

TEST(LaneRows, HistoriesAreWrittenTripByTrip) {
  const auto logistic = [](Tensor r) {
    return scan(
               [&](Tensor x) {
                 const Tensor next = r * x * (1 - x);
                 return std::pair(next, next);
               },
               r * 0.0f + 0.5f, std::tuple<>{}, {.length = 40})
        .second;
  };
  const auto backwards = [](Tensor r) {
    return scan(
               [&](Tensor x, Tensor y) {
                 return std::pair(x * 0.5f + y, stack({x, y + r}, 0));
               },
               r, arange(20, DType::kF32), {.reverse = true})
        .second;
  };
  expect_by_lane(logistic, {}, 2.5f, 4.0f);
  expect_by_lane(backwards, {}, -1, 1);
  // Without vmap, the lanes are the last axis.
  for (const std::int64_t lanes : {16, 40, 67}) {
    const Literal r = rising({lanes}, 2.5f, 4.0f);
    EXPECT_TRUE(runs_by_lane(trace(logistic, r)));
    const auto got = expect_agreement(trace(logistic, r), {r});
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); lane++) {
      float x = 0.5f;
      for (std::size_t t = 0; t < 40; t++) {
        const float scaled = r.data<float>()[lane] * x, left = 1 - x;
        x = scaled * left;
        EXPECT_EQ(got[0].data<float>()[t * static_cast<std::size_t>(lanes) + lane], x);
      }
    }
  }
}

TEST(LaneRows, HistoriesAreReadWhereTheirLaneWroteThem) {
  // An equation with a delay of three steps.
  const auto f = [](Tensor x) {
    return fori_loop(
        3, 40,
        [&](Tensor i, Tensor past) {
          return update(past, i, past[i - 1] * 0.9f + x / (1 + abs(past[i - 3])));
        },
        full(f32({40}), 0.25f) + x);
  };
  expect_by_lane(f, {}, -1, 1);
}

// If lanes read and write much of their own arrays, the layout makes accesses of adjacent lanes
// contiguous.
TEST(LaneRows, AreUpdatedSideBySide) {
  constexpr std::int64_t n = 12;
  const auto filter = [](Tensor row) {
    return fori_loop(
        0, n - 1,
        [](Tensor i, Tensor y) {
          const Tensor mixed = update(y, i + 1, y[i + 1] + 0.5 * y[i]);
          return update(mixed, i, mixed[i] * mixed[i + 1]);
        },
        row);
  };
  for (const std::int64_t lanes : {8, 9, 17, 64, 67}) {
    std::vector<double> x(static_cast<std::size_t>(lanes * n));
    for (std::size_t i = 0; i < x.size(); i++) x[i] = std::cos(static_cast<double>(i));
    const Function f = trace(vmap(filter), f64({lanes, n}));
    const auto got = expect_agreement(f, {Literal::from(x, {lanes, n})});
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); lane++) {
      double* row = &x[lane * n];
      for (std::size_t i = 0; i + 1 < n; i++) {
        row[i + 1] += 0.5 * row[i];
        row[i] *= row[i + 1];
      }
    }
    for (std::size_t i = 0; i < x.size(); i++) EXPECT_NEAR(got[0].data<double>()[i], x[i], 1e-13);
    const Lowered lowered(f);
    EXPECT_THAT(lowered.lane_strides(), AllOf(Not(IsEmpty()), Each(sizeof(double)))) << lowered;
  }
}

TEST(LaneRows, HistoriesEndWithTheirLane) {
  // Rows that a lane does not reach stay unchanged.
  const auto f = [](Tensor limit) {
    const auto [x, n, path] =
        while_loop([&](Tensor x, Tensor n, Tensor) { return (x < limit) & (n < 30); },
                   [](Tensor x, Tensor n, Tensor path) {
                     return std::tuple(x * 1.1f + 0.5f, n + 1, update(path, n, x));
                   },
                   std::tuple(Tensor(1.0f), Tensor(0), full(f32({30}), -1.0f)));
    return path + convert(n, DType::kF32);
  };
  for (const std::int64_t lanes : {16, 67}) {
    const Literal limits = rising({lanes}, -2, 60);
    (void)expect_agreement(trace(vmap(f), limits), {limits});
  }
}

TEST(LaneRows, GoTheSameWayThroughBranches) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 25,
        [&](Tensor i, Tensor y) {
          const Tensor target = cond(
              i < 12, [] { return Tensor(1.0f); }, [] { return Tensor(2.0f); });
          const Tensor moved = cond(
              eq(i % 5, 0), [&](Tensor y) { return y * 0.5f + abs(y); },
              [&](Tensor y) { return y + x * 0.01f; }, y);
          return switch_case(i % 4,
                             std::tuple([&](Tensor y) { return y + (target - y) * 0.1f; },
                                        [](Tensor y) { return y; },
                                        [](Tensor y) {
                                          return fori_loop(
                                              0, 3, [](Tensor, Tensor z) { return z * 0.75f; }, y);
                                        }),
                             moved);
        },
        x);
  };
  expect_by_lane(f, {}, -3, 3);
  expect_by_lane(f, {3}, -3, 3);
}

TEST(LaneRows, ReadTablesElsewhereInInnerLoops) {
  // The table has as many elements as there are lanes, and is indexed by the trip.
  const auto f = [](Tensor x, Tensor table) {
    return fori_loop(
        0, 3,
        [&](Tensor, Tensor y) {
          return fori_loop(
              0, 16, [&](Tensor j, Tensor z) { return z * 0.5f + table[j]; }, y);
        },
        x);
  };
  const Literal x = rising({16}, -1, 1), table = rising({16}, 3, 8);
  const auto got = expect_agreement(trace(f, x, table), {x, table});
  float y = x.data<float>()[5];
  for (int t = 0; t < 48; t++) {
    const float half = y * 0.5f;
    y = half + table.data<float>()[static_cast<std::size_t>(t % 16)];
  }
  EXPECT_EQ(got[0].data<float>()[5], y);
}

TEST(LaneRows, GoWrongWayNowhere) {
  // Ops that mix lanes are left to loops over arrays.
  const auto rolls = [](Tensor x) {
    return fori_loop(
        0, 4, [](Tensor, Tensor y) { return y + roll(y, 1, 0); }, x);
  };
  const auto means = [](Tensor x) {
    return fori_loop(
        0, 4, [](Tensor, Tensor y) { return y - broadcast_to(mean(y, {0}), y.shape()) * 0.5f; }, x);
  };
  const auto old_rows = [](Tensor x) {
    // Reads the old state after an update of the new one.
    return fori_loop(
        0, 4,
        [&](Tensor i, Tensor y) {
          const Tensor changed = update(y, i, y[i + 1] * 2.0f);
          return update(changed, i + 2, y[i] + changed[i]);
        },
        x);
  };
  const Literal x = rising({20, 3}, -1, 1), tall = rising({8, 40}, -1, 1);
  for (const Function& f : {trace(rolls, x), trace(means, x)}) {
    EXPECT_FALSE(runs_by_lane(f));
    (void)expect_agreement(f, {x});
  }
  (void)expect_agreement(trace(old_rows, tall), {tall});
}

TEST(LaneRows, ThatAreComputedBeforeTheLoopAreComputedOnce) {
  const TensorType type = f32({70, 3});
  const auto turn = [](Tensor s) {
    return stack({s[1] * 0.5f + 1.0f, s[2] + 1.25f, s[0] - s[1] + 1.0f}, 0);
  };
  const auto lane = [&](Tensor s) {
    return while_loop([](Tensor s) { return s[0] < 5.0f; }, turn, s);
  };
  const Function f = trace([&](Tensor x) { return vmap(lane)(x * 3.0f + 1.0f); }, type);
  EXPECT_TRUE(runs_by_lane(f));
  const Lowered lowered(f);
  EXPECT_EQ(lowered.count(lower::Opcode::kLanes), 2) << lowered;
  (void)expect_agreement(f, {rising({70, 3}, -1, 1)});
}

}  // namespace
}  // namespace rondo
