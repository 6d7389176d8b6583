// An inverted comparison, which is one instruction for lanes, together with ops into which it may
// be fused: NaNs do not compare, so `!(a > b)` is not `a <= b`.
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

using Comparison = std::function<Tensor(Tensor, Tensor)>;

std::vector<Comparison> comparisons() {
  return {[](Tensor a, Tensor b) { return a == b; }, [](Tensor a, Tensor b) { return a != b; },
          [](Tensor a, Tensor b) { return a < b; },  [](Tensor a, Tensor b) { return a <= b; },
          [](Tensor a, Tensor b) { return a > b; },  [](Tensor a, Tensor b) { return a >= b; }};
}

/// Equal, smaller and larger pairs; for floats also zeros of both signs and NaN on either side.
std::pair<Literal, Literal> pairs(DType dtype, std::int64_t lanes) {
  static constexpr double kSides[][2] = {{1, 1},   {1, 2},     {2, 1},   {0.0, -0.0}, {NAN, 1},
                                         {1, NAN}, {NAN, NAN}, {100, 3}, {3, 100}};
  std::vector<double> a, b;
  for (std::int64_t i = 0; i < lanes; i++) {
    const auto& side = kSides[static_cast<std::size_t>(i) % std::size(kSides)];
    for (auto [sides, value] : {std::pair(&a, side[0]), std::pair(&b, side[1])})
      sides->push_back(is_floating(dtype) || !std::isnan(value) ? value : 7);
  }
  const auto converted = [&](const std::vector<double>& values) {
    return convert(Tensor(Literal::from(values, {lanes})), dtype).eval();
  };
  return {converted(a), converted(b)};
}

TEST(InvertedComparisons, HoldWhereTheComparisonDoesNot) {
  for (DType dtype :
       {DType::kF32, DType::kF64, DType::kF16, DType::kS32, DType::kU32, DType::kU64, DType::kS8}) {
    for (std::int64_t lanes : {1, 4, 9, 16, 33, 67}) {
      const auto [a, b] = pairs(dtype, lanes);
      std::vector<bool> taken;
      for (std::int64_t i = 0; i < lanes; i++) taken.push_back(i % 3 != 0);
      const Literal mask = Literal::from(taken, {lanes});
      for (const Comparison& compare : comparisons()) {
        const auto inverted = [&](Tensor a, Tensor b, Tensor mask) {
          const Tensor kept = !compare(a, b);
          return std::tuple(!compare(a, b), mask & !compare(b, a), !(mask & compare(a, b)),
                            where(!compare(a, b), a, b), kept | compare(b, a), kept & mask);
        };
        const Function function =
            trace(inverted, TensorType{dtype, {lanes}}, TensorType{dtype, {lanes}}, pred({lanes}));
        expect_agreement(function, {a, b, mask});
      }
    }
  }
}

}  // namespace
}  // namespace rondo::testing
