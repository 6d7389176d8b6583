// Fits: problems with certified solutions, and their derivatives.
#include <cmath>

#include "rondo/rondo.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

// Misra1a of the NIST collection of nonlinear regressions: the certified solution has 11 digits.
struct Misra {
  Tensor b1, b2;
};
const std::vector<double>& misra_x() {
  static const std::vector<double> kX = {77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                         378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
  return kX;
}
Tensor misra_y() {
  return constant({10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01,
                   66.40, 75.47, 81.78});
}
Tensor misra_residuals(const Misra& p, const Tensor& y) {
  return p.b1 * (1 - exp(-p.b2 * constant(misra_x(), {14}))) - y;
}

TEST(LeastSquares, OfMisrasData) {
  for (const auto& [b1, b2] : {std::pair(500.0, 1e-4), std::pair(250.0, 5e-4)}) {
    for (const LeastSquares method :
         {LeastSquares::kLevenbergMarquardt, LeastSquares::kGaussNewton}) {
      if (method == LeastSquares::kGaussNewton && b1 == 500.0) continue;  // full steps diverge
      const auto fit = least_squares([](Misra p) { return misra_residuals(p, misra_y()); },
                                     Misra{b1, b2}, {.method = method});
      expect_close<double>(fit.x.b1, {}, {2.3894212918e2}, 1e-8);
      expect_close<double>(fit.x.b2, {}, {5.5015643181e-4}, 1e-8);
      expect_close<double>(fit.value, {}, {1.2455138894e-1 / 2}, 1e-9);
      expect_scalar(fit.converged, true);
      EXPECT_LE(fit.iterations.item<std::int32_t>(), 30);
    }
  }
}

// Rosenbrock's function as residuals, which vanish.
TEST(LeastSquares, WithoutResiduals) {
  const auto f = [](Tensor x, Tensor y) { return std::pair(10 * (y - x * x), 1 - x); };
  const auto fit = least_squares(f, std::pair(-1.2, 1.0));
  expect_close<double>(fit.x.first, {}, {1}, 1e-10);
  expect_close<double>(fit.x.second, {}, {1}, 1e-10);
  expect_scalar(fit.converged, true);
  const auto full = least_squares(f, std::pair(-1.2, 1.0), {.method = LeastSquares::kGaussNewton});
  expect_scalar(full.converged, true);
  EXPECT_LE(full.iterations.item<std::int32_t>(), 4);
}

// More unknowns than residuals, for which the Jacobian has no full rank.
TEST(LeastSquares, OfTooFewResiduals) {
  const auto fit = least_squares([](Tensor x) { return sum(x) - 3; }, zeros(f64({3})));
  expect_close<double>(sum(fit.x), {}, {3}, 1e-9);
  expect_scalar(fit.converged, true);
}

TEST(LeastSquares, InSinglePrecision) {
  const Tensor t = linspace(0.0f, 1.0f, 20), y = 2.0f * exp(-1.5f * t);
  const auto fit =
      least_squares([&](Tensor a, Tensor b) { return a * exp(b * t) - y; }, std::pair(1.0f, 0.0f));
  expect_close<float>(fit.x.first, {}, {2}, 1e-4);
  expect_close<float>(fit.x.second, {}, {-1.5}, 1e-4);
  expect_scalar(fit.converged, true);
}

TEST(LeastSquares, HasTheDerivativesOfTheFit) {
  const auto fitted = [](Tensor y) {
    const auto fit =
        least_squares([&](Misra p) { return misra_residuals(p, y); }, Misra{250.0, 5e-4},
                      {.gradient_tolerance = 1e-16, .step_tolerance = 1e-15});
    return stack({fit.x.b1 / 100, fit.x.b2 * 1e4}, 0);
  };
  EXPECT_EQ(derivative_error(of_tensors<1>(fitted), {misra_y().eval()}, {.order = 1, .rtol = 1e-5}),
            "");
  // A line: the fit is linear in y.
  const Tensor t = linspace(0.0, 1.0, 8, DType::kF64);
  const auto slope = [&](Tensor y) {
    return least_squares([&](Tensor a, Tensor b) { return a * t + b - y; }, std::pair(0.0, 0.0))
        .x.first;
  };
  const Tensor centered = t - mean(t);
  const Tensor want = centered / sum(square(centered));
  EXPECT_LE(max(abs(grad(slope)(exp(t)) - want)).item<double>(), 1e-12);
}

TEST(LeastSquares, OfLanes) {
  const Tensor shifts = constant({0.0, 1.0, -2.0});
  const auto fit_of = [](Tensor shift) {
    const auto fit = least_squares([&](Misra p) { return misra_residuals(p, misra_y() + shift); },
                                   Misra{250.0, 5e-4});
    return std::tuple(fit.x.b1, fit.iterations);
  };
  const auto [all, counts] = vmap(fit_of)(shifts);
  for (int i = 0; i < 3; i++) {
    const auto [one, count] = fit_of(shifts[i]);
    expect_close<double>(all[i], {}, {one.item<double>()}, 1e-12);
    EXPECT_EQ(counts[i].item<std::int32_t>(), count.item<std::int32_t>());
  }
}

TEST(LeastSquares, SaysWhatIsWrong) {
  const auto f = [](Tensor x) { return x[0] - 1; };
  expect_error([&] { least_squares(f, zeros(f64({2})), {.method = LeastSquares::kGaussNewton}); },
               {"1 residuals for 2 unknowns", "kLevenbergMarquardt"});
  expect_error([&] { least_squares([](Tensor x) { return convert(x, DType::kF32); }, 1.0); },
               {"least_squares: result is f32[], x0 has f64"});
  expect_error([&] { least_squares(f, zeros(f64({2})), {.step_tolerance = -1}); },
               {".step_tolerance is -1"});
}

}  // namespace
}  // namespace rondo::testing
