// Values behind a barrier that no rewrite crosses.
#include <utility>

#include "ops/vectors.h"
#include "passes/optimize.h"
#include "support/derivative_check.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;

TEST(OptimizationBarrier, KeepsValuesAndTrees) {
  const auto [a, rest] = optimization_barrier(std::pair(vec<float>({1, 2}), std::pair(3, 2.5)));
  expect_vec<float>(a, {1, 2});
  expect_scalar(rest.first, 3);
  expect_scalar(rest.second, 2.5);
  expect_error([] { (void)optimization_barrier(Tensor()); },
               {"optimization_barrier: an operand is an empty Tensor"});
}

std::int64_t sines(const Function& function) {
  const auto ops = passes::optimize(function).stats().ops;
  const auto found = ops.find("sin");
  return found == ops.end() ? 0 : found->second;
}

TEST(OptimizationBarrier, IsNotCrossed) {
  const auto twice = [](bool apart) {
    return trace([=](const Tensor& x) { return sin(x) * sin(apart ? optimization_barrier(x) : x); },
                 f32());
  };
  EXPECT_EQ(sines(twice(false)), 1);
  EXPECT_EQ(sines(twice(true)), 2);
}

TEST(OptimizationBarrier, LetsDerivativesAndLanesPass) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    const auto [u, v] = optimization_barrier(std::pair(sin(x), y));
    return u * v * v;
  };
  EXPECT_EQ(derivative_error(of_tensors<2>(f),
                             {Literal::from<double>({0.3, -1}), Literal::from<double>({2, 0.5})}),
            "");
  const Tensor y = vmap([&](const Tensor& x) { return f(x, 3.0f); })(vec<float>({0, 0.5f}));
  expect_vec<float>(y, {0, 9 * sin(Tensor(0.5f)).eval().item<float>()});
}

TEST(OptimizationBarrier, Text) {
  const Function f = trace(
      [](const Tensor& x, const Tensor& y) { return optimization_barrier(std::pair(x + 1, y)); },
      f32({2}), s32());
  const std::string hlo = to_hlo_text(f), stablehlo = to_stablehlo_text(f);
  EXPECT_NE(hlo.find("(f32[2], s32[]) opt-barrier("), std::string::npos) << hlo;
  EXPECT_NE(stablehlo.find("stablehlo.optimization_barrier"), std::string::npos) << stablehlo;
}

}  // namespace
}  // namespace rondo
