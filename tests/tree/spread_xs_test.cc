// The element of tuple-like xs, whole or spread, in scan and in map, compared with plain loops.
#include <array>
#include <tuple>
#include <utility>

#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;

const std::vector<float> kX{1, 2, 3, 4}, kY{10, 20, 30, 40};

struct XY {
  Tensor x, y;
};

class SpreadXs : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) eager_.emplace();
  }
  /// sums = c + x * y for each c, and the last c.
  static void expect_sums(const std::pair<Tensor, Tensor>& got) {
    float c = 0.5f;
    std::vector<float> ys;
    for (std::size_t i = 0; i < kX.size(); i++) {
      c += kX[i] * kY[i];
      ys.push_back(c);
    }
    expect_values(got.first, {}, std::vector<float>{c});
    expect_values(got.second, {4}, ys);
  }

  std::optional<EagerScope> eager_;
  Tensor x_ = constant(kX), y_ = constant(kY);
};

TEST_P(SpreadXs, OfAScan) {
  const auto spread = [](Tensor c, Tensor x, Tensor y) {
    const Tensor next = c + x * y;
    return std::pair(next, next);
  };
  expect_sums(scan(spread, 0.5f, std::tuple(x_, y_)));
  expect_sums(scan(spread, 0.5f, std::pair(x_, y_)));
  expect_sums(scan(spread, 0.5f, std::array{x_, y_}));
  expect_sums(scan(
      [](Tensor c, std::pair<Tensor, Tensor> xy) {
        const Tensor next = c + xy.first * xy.second;
        return std::pair(next, next);
      },
      0.5f, std::pair(x_, y_)));
  expect_sums(scan(
      [](Tensor c, auto x, auto y) {
        const Tensor next = c + x * y;
        return std::pair(next, next);
      },
      0.5f, std::tuple(x_, y_)));
  // A struct is taken whole.
  expect_sums(scan(
      [](Tensor c, XY at) {
        const Tensor next = c + at.x * at.y;
        return std::pair(next, next);
      },
      0.5f, XY{x_, y_}));
}

TEST_P(SpreadXs, WithACarryThatIsATuple) {
  const auto check = [&](auto f) {
    const auto [carry, ys] = scan(f, std::tuple(0.5f, 1.0f), std::tuple(x_, y_));
    float a = 0.5f, b = 1;
    std::vector<float> want;
    for (std::size_t i = 0; i < kX.size(); i++) {
      a += kX[i] * b;
      b = kY[i] - b;
      want.push_back(a - b);
    }
    expect_values(std::get<0>(carry), {}, std::vector<float>{a});
    expect_values(std::get<1>(carry), {}, std::vector<float>{b});
    expect_values(ys, {4}, want);
  };
  using Two = std::tuple<Tensor, Tensor>;
  const auto step = [](Tensor a, Tensor b, Tensor x, Tensor y) {
    const Tensor next_a = a + x * b, next_b = y - b;
    return std::pair(Two(next_a, next_b), next_a - next_b);
  };
  check(step);
  check([&](Two c, Tensor x, Tensor y) { return step(std::get<0>(c), std::get<1>(c), x, y); });
  check([&](Tensor a, Tensor b, Two xs) { return step(a, b, std::get<0>(xs), std::get<1>(xs)); });
  check([&](Two c, Two xs) {
    return step(std::get<0>(c), std::get<1>(c), std::get<0>(xs), std::get<1>(xs));
  });
}

TEST_P(SpreadXs, OfAMap) {
  const auto check = [&](auto f, auto xs) {
    expect_values(map(f, xs), {4}, std::vector<float>{-9, -18, -27, -36});
    expect_values(map(f, xs, {.batch_size = 3}), {4}, std::vector<float>{-9, -18, -27, -36});
  };
  check([](Tensor x, Tensor y) { return x - y; }, std::tuple(x_, y_));
  check([](Tensor x, Tensor y) { return x - y; }, std::array{x_, y_});
  check([](std::pair<Tensor, Tensor> xy) { return xy.first - xy.second; }, std::pair(x_, y_));
}

INSTANTIATE_TEST_SUITE_P(TracedAndEager, SpreadXs, ::testing::Bool());

TEST(SpreadXs, AreDifferentiated) {
  const auto f = [](Tensor x) {
    return scan([](Tensor c, Tensor a, Tensor b) { return std::pair(c * a + b, std::tuple<>()); },
                1.0f, std::tuple(x, x * 2))
        .first;
  };
  // c = ((x0 + 2 x0) x1 + 2 x1) x2 + 2 x2 of x = (1, 2, 3).
  expect_values(grad(f)(constant({1.0f, 2.0f, 3.0f})), {3}, std::vector<float>{18, 15, 12});
}

}  // namespace
}  // namespace rondo
