// Scans: each test is one row of values that a scan must give.
#include <numeric>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::expect_values;
using testing::whiles_in;

using Values = std::vector<Literal>;

auto running_sum(const ScanOptions& options = {}) {
  return [options](Tensor init, Tensor xs) {
    return scan(
        [](Tensor carry, Tensor x) {
          const Tensor next = carry + x;
          return std::pair(next, next);
        },
        init, xs, options);
  };
}

TEST(SeedScan, CumulativeSumOfRows) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<float>(v.at(0), {2}, {9, 12});
        expect_values<float>(v.at(1), {3, 2}, {1, 2, 4, 6, 9, 12});
      },
      running_sum(), Literal::zeros(f32({2})), Literal::from<float>({1, 2, 3, 4, 5, 6}, {3, 2}));
  EXPECT_EQ(whiles_in(to_hlo_text(trace(running_sum(), f32({2}), f32({3, 2})))), 1);
}

TEST(SeedScan, RunningMean) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<float>(v.at(0), {}, {15});
        expect_values<float>(v.at(1), {}, {5});
        expect_values<float>(v.at(2), {5}, {1, 1.5f, 2, 2.5f, 3});
      },
      [](Tensor xs) {
        return scan(
            [](Tensor sum, Tensor count, Tensor x) {
              const Tensor s = sum + x, n = count + 1;
              return std::pair(std::tuple(s, n), s / n);
            },
            std::tuple(0.0f, 0.0f), xs);
      },
      Literal::from<float>({1, 2, 3, 4, 5}, {5}));
}

TEST(SeedScan, ReverseIsTheFlippedSumOfTheFlipped) {
  for (const int n : {0, 1, 2, 7}) {
    SCOPED_TRACE(n);
    std::vector<int> xs(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < xs.size(); i++) xs[i] = static_cast<int>(i * i) - 4;
    std::vector<int> want(xs.size());
    std::partial_sum(xs.rbegin(), xs.rend(), want.rbegin());
    const Literal rows = Literal::from(xs, {n});
    const auto check = [&](const Values& v) {
      expect_values<int>(v.at(0), {}, {std::accumulate(xs.begin(), xs.end(), 0)});
      expect_values<int>(v.at(1), {n}, want);
    };
    each_way(Eager::kYes, check, running_sum({.reverse = true}), 0, rows);
    each_way(
        Eager::kYes, check,
        [](Tensor xs) {
          auto [carry, ys] = running_sum()(0, reverse(xs, {0}));
          return std::pair(carry, reverse(ys, {0}));
        },
        rows);
  }
}

TEST(SeedScan, WithoutXs) {
  each_way(
      Eager::kYes, [](const Values& v) { expect_values<int>(v.at(0), {}, {20}); },
      [](Tensor start) {
        return scan([](Tensor c) { return std::pair(c + 1, std::tuple<>()); }, start,
                    std::tuple<>(), {.length = 20})
            .first;
      },
      0);
}

TEST(SeedScan, LengthZero) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<float>(v.at(0), {2}, {7, 8});
        expect_values<float>(v.at(1), {0, 2}, {});
      },
      running_sum(), Literal::from<float>({7, 8}, {2}), Literal::zeros(f32({0, 2})));
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<int>(v.at(0), {}, {3});
        expect_values<int>(v.at(1), {0}, {});
      },
      [](Tensor start) {
        return scan([](Tensor c) { return std::pair(c + 1, c); }, start, std::tuple<>(),
                    {.length = 0});
      },
      3);
}

TEST(SeedScan, CarryUntouchedAndYThatIsX) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<float>(v.at(0), {}, {2.5f});
        expect_values<int>(v.at(1), {3, 2}, {3, 1, 4, 1, 5, 9});
      },
      [](Tensor carry, Tensor xs) {
        return scan([](Tensor c, Tensor x) { return std::pair(c, x); }, carry, xs);
      },
      2.5f, Literal::from<int>({3, 1, 4, 1, 5, 9}, {3, 2}));
}

TEST(SeedScan, YIsTheCarryAsItCame) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        expect_values<int>(v.at(0), {}, {6});
        expect_values<int>(v.at(1), {3}, {0, 1, 3});
      },
      [](Tensor xs) { return scan([](Tensor c, Tensor x) { return std::pair(c + x, c); }, 0, xs); },
      Literal::from<int>({1, 2, 3}, {3}));
}

TEST(SeedScan, EmptyY) {
  auto f = [](Tensor xs) {
    auto [carry, ys] =
        scan([](Tensor c, Tensor x) { return std::pair(c * 10 + x, std::tuple<>()); }, 0, xs);
    static_assert(std::is_same_v<decltype(ys), std::tuple<>>);
    return carry;
  };
  each_way(
      Eager::kYes, [](const Values& v) { expect_values<int>(v.at(0), {}, {1234}); }, f,
      Literal::from<int>({1, 2, 3, 4}, {4}));
}

}  // namespace
}  // namespace rondo
