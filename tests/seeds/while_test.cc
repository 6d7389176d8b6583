// Loops with a known end: each test is one row of values that a loop must give.
#include <algorithm>
#include <numeric>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::expect_close;
using testing::expect_error;
using testing::expect_values;
using testing::whiles_in;

using Values = std::vector<Literal>;

TEST(SeedWhile, CountsDownAndUp) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<int>(v.at(0), {}, {0});
        expect_values<int>(v.at(1), {}, {13});
      },
      [](Tensor i, Tensor x) {
        return while_loop([](Tensor i, Tensor) { return i > 0; },
                          [](Tensor i, Tensor x) { return std::tuple(i - 1, x + 1); },
                          std::tuple(i, x));
      },
      10, 3);
}

TEST(SeedWhile, PlainCxxLoopUnrollsInTheTrace) {
  auto f = [](Tensor x) {
    for (int i = 0; i < 50; i++) x = x + 1;
    return x;
  };
  each_way(
      Eager::kYes, [](const Values& v) { expect_values<int>(v.at(0), {}, {51}); }, f, 1);
  EXPECT_EQ(whiles_in(to_hlo_text(trace(f, s32()))), 0);
}

TEST(SeedWhile, LimitsOfOneElement) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<int>(v.at(0), {1}, {11});
        expect_values<int>(v.at(1), {1}, {10});
      },
      [](Tensor x, Tensor limit) {
        return while_loop([](Tensor x, Tensor limit) { return limit[0] >= x[0]; },
                          [](Tensor x, Tensor limit) { return std::tuple(x + 1, limit); },
                          std::tuple(x, limit));
      },
      Literal::from<int>({0}, {1}), Literal::from<int>({10}, {1}));
}

TEST(SeedFori, From2To52) {
  auto f = [](Tensor x) {
    return fori_loop(
        2, 52, [](Tensor, Tensor x) { return x + 1; }, x);
  };
  each_way(
      Eager::kYes, [](const Values& v) { expect_values<int>(v.at(0), {}, {51}); }, f, 1);
  EXPECT_EQ(whiles_in(to_hlo_text(trace(f, s32()))), 1);
}

TEST(SeedFori, BoundsFromTensorsOfOneElement) {
  auto f = [](Tensor lower, Tensor upper, Tensor x) {
    return fori_loop(
        reshape(lower, {}), reshape(upper, {}), [](Tensor, Tensor x) { return x + 1; }, x);
  };
  const Literal two = Literal::from<int>({2}, {1}), fifty_two = Literal::from<int>({52}, {1});
  each_way(
      Eager::kYes, [](const Values& v) { expect_values<int>(v.at(0), {}, {51}); }, f, two,
      fifty_two, 1);
  // Upside down: no trip.
  each_way(
      Eager::kYes, [](const Values& v) { expect_values<int>(v.at(0), {}, {1}); }, f, fifty_two, two,
      1);
}

TEST(SeedWhile, ConditionThatReduces) {
  std::vector<float> start(12);
  std::iota(start.begin(), start.end(), -3.5f);
  std::vector<float> want = start;
  for (int trip = 0; trip < 10; trip++) {
    for (float& x : want) x = std::sin(x);
  }
  each_way(
      Eager::kYes,
      [&](const Values& v) {
        expect_values<float>(v.at(0), {1}, {10});
        expect_close<float>(v.at(1), {3, 4}, want, 1e-5);
      },
      [](Tensor iter, Tensor x) {
        return while_loop([](Tensor iter, Tensor) { return sum(iter) < 10; },
                          [](Tensor iter, Tensor x) { return std::tuple(iter + 1, sin(x)); },
                          std::tuple(iter, x));
      },
      Literal::zeros(f32({1})), Literal::from(start, {3, 4}));
}

TEST(SeedWhile, CxxIntBesideAFloatArray) {
  std::vector<float> start(12), want(12);
  for (std::size_t i = 0; i < 12; i++) {
    start[i] = 0.25f * static_cast<float>(i);
    want[i] = start[i] + 1;
  }
  each_way(
      Eager::kYes,
      [&](const Values& v) {
        expect_values<int>(v.at(0), {}, {2});
        expect_values<float>(v.at(1), {3, 4}, want);
      },
      [](Tensor x) {
        return while_loop(
            [](Tensor i, Tensor x) { return 2 * i < x.dim(0); },
            [](Tensor i, Tensor x) { return std::tuple(i + 1, x + convert(i, DType::kF32)); },
            std::tuple(0, x));
      },
      Literal::from(start, {3, 4}));
}

TEST(SeedWhile, DoubledFourTimesThenSquared) {
  auto f = [](Tensor x) {
    const Tensor doubled = std::get<1>(
        while_loop([](Tensor i, Tensor) { return i < 4; },
                   [](Tensor i, Tensor x) { return std::tuple(i + 1, x * 2); }, std::tuple(0, x)));
    return std::pair(doubled, doubled * doubled);
  };
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<int>(v.at(0), {}, {32});
        expect_values<int>(v.at(1), {}, {1024});
      },
      f, 2);
  EXPECT_EQ(whiles_in(to_hlo_text(trace(f, s32()))), 1);
}

TEST(SeedWhile, NestedTriangle) {
  auto triangle = [](Tensor n) {
    return std::get<1>(while_loop(
        [&](Tensor i, Tensor) { return i < n; },
        [](Tensor i, Tensor acc) {
          const auto inner = while_loop(
              [&](Tensor j, Tensor) { return j <= i; },
              [](Tensor j, Tensor acc) { return std::tuple(j + 1, acc + 1); }, std::tuple(0, acc));
          return std::tuple(i + 1, std::get<1>(inner));
        },
        std::tuple(0, 0)));
  };
  const std::vector<std::pair<int, int>> rows = {{0, 0}, {1, 1}, {2, 3}, {3, 6}, {4, 10}};
  for (const auto& [n, count] : rows) {
    SCOPED_TRACE(n);
    const int want = count;
    each_way(
        Eager::kYes, [&](const Values& v) { expect_values<int>(v.at(0), {}, {want}); }, triangle,
        n);
  }
  EXPECT_EQ(whiles_in(to_hlo_text(trace(triangle, s32()))), 2);
}

struct Search {
  Tensor x, count, limit;
};

TEST(SeedWhile, CountsTripsBesideAnUntouchedLimit) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<int>(v.at(0), {}, {10});
        expect_values<int>(v.at(1), {}, {8});
        expect_values<int>(v.at(2), {}, {10});
      },
      [](Search start) {
        return while_loop([](Search s) { return s.x < s.limit; },
                          [](Search s) {
                            return Search{s.x + 1, s.count + 1, s.limit};
                          },
                          start);
      },
      Search{2, 0, 10});
}

struct Ring {
  Tensor trip;
  std::vector<Tensor> carries;
};

TEST(SeedWhile, Rotates256Carries) {
  auto f = [](Tensor trips, std::vector<Tensor> carries) {
    return while_loop([&](Ring r) { return r.trip < trips; },
                      [](Ring r) {
                        std::rotate(r.carries.begin(), r.carries.begin() + 1, r.carries.end());
                        return Ring{r.trip + 1, r.carries};
                      },
                      Ring{0, carries});
  };
  std::vector<Tensor> start;
  for (int i = 0; i < 256; i++) start.push_back(1000 + i);
  for (const int trips : {0, 1, 100, 256, 700}) {
    SCOPED_TRACE(trips);
    each_way(
        trips <= 1 ? Eager::kYes : Eager::kNo,
        [&](const Values& v) {
          ASSERT_EQ(v.size(), 257u);
          for (int i = 0; i < 256; i++) {
            EXPECT_EQ(v[static_cast<std::size_t>(i) + 1].item<int>(), 1000 + (i + trips) % 256);
          }
        },
        f, trips, start);
  }
}

TEST(SeedWhile, ZeroTripsReturnInit) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<int>(v.at(0), {}, {5});
        expect_values<float>(v.at(1), {2}, {1.5f, -0.0f});
      },
      [](Tensor i, Tensor x) {
        return while_loop([](Tensor i, Tensor) { return i < 0; },
                          [](Tensor i, Tensor x) { return std::tuple(i + 1, x * 2); },
                          std::tuple(i, x));
      },
      5, Literal::from<float>({1.5f, -0.0f}, {2}));
}

TEST(SeedFori, UpperNotAboveLowerReturnsInit) {
  const std::vector<std::pair<int, int>> bounds = {{3, 3}, {3, 2}, {0, -7}};
  for (const auto& [lower, upper] : bounds) {
    SCOPED_TRACE(upper);
    const int from = lower, to = upper;
    each_way(
        Eager::kYes,
        [](const Values& v) {
          expect_values<float>(v.at(0), {2}, {1, 2});
        },
        [=](Tensor x) {
          return fori_loop(
              from, to, [](Tensor, Tensor x) { return x * 2; }, x);
        },
        Literal::from<float>({1, 2}, {2}));
  }
}

TEST(SeedWhile, NarrowCarriesBesideLiterals) {
  auto f = [](Tensor x) {
    return while_loop([](Tensor x) { return x < 300; }, [](Tensor x) { return x + 7; }, x);
  };
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<std::int16_t>(v.at(0), {}, {static_cast<std::int16_t>(302)});
      },
      f, static_cast<std::int16_t>(1));
  EXPECT_EQ(trace(f, s16()).results(), std::vector<TensorType>{s16()});
  expect_error(
      [] {
        trace(
            [](Tensor x, Tensor wide) {
              return while_loop([](Tensor x) { return x < 300; },
                                [&](Tensor x) { return x + wide; }, x);
            },
            s16(), s32());
      },
      {"add", "s16[]", "s32[]", "convert", "while_test.cc:"});
}

}  // namespace
}  // namespace rondo
