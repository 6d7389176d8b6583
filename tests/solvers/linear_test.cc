// Linear systems that are given as functions.
#include <cmath>

#include "rondo/rondo.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

/// The second difference of a vector with zeros beside it, negated: the Poisson matrix.
Tensor poisson(const Tensor& x) {
  const Tensor wide = pad(x, 0, {1}, {1});
  const std::int64_t n = x.dim(0);
  return 2 * x - slice(wide, {0}, {n}) - slice(wide, {2}, {n + 2});
}

Tensor random_matrix(std::int64_t n, std::uint64_t seed) {
  return random::normal(random::key(seed), {DType::kF64, {n, n}});
}

/// x of a x = b by `solver`, for a scaled and shifted so that it suits the solver.
Tensor solved_by_gmres(const Tensor& a, const Tensor& b) {
  return gmres([&](Tensor x) { return dot(a, x) + 5 * x; }, b).x;
}
Tensor solved_by_gradients(const Tensor& a, const Tensor& b) {
  return conjugate_gradient([&](Tensor x) { return dot(transpose(a), dot(a, x)) + x; }, b).x;
}

// u'' = -1 with zeros at the ends: a parabola. In exact arithmetic the 40 unknowns take at most 40
// steps; its symmetry halves that.
TEST(ConjugateGradient, OfPoissonsEquation) {
  const std::int64_t n = 40;
  const auto found = conjugate_gradient(poisson, ones({DType::kF64, {n}}));
  std::vector<double> want;
  for (std::int64_t i = 1; i <= n; i++)
    want.push_back(0.5 * static_cast<double>(i) * static_cast<double>(n + 1 - i));
  expect_close<double>(found.x, {n}, want, 1e-12);
  expect_scalar(found.converged, true);
  expect_scalar(found.iterations, 20);
  EXPECT_LE(found.residual.item<double>(), 1e-9);
}

TEST(ConjugateGradient, StopsAtItsLimits) {
  const Tensor b = ones(f64({40}));
  const auto cut = conjugate_gradient(poisson, b, {.max_iterations = 5});
  expect_scalar(cut.iterations, 5);
  expect_scalar(cut.converged, false);
  const auto zero = conjugate_gradient(poisson, zeros(f64({40})));
  expect_scalar(zero.iterations, 0);
  expect_scalar(zero.converged, true);
}

TEST(ConjugateGradient, OfATree) {
  struct Field {
    Tensor left, right;
  };
  const auto matvec = [](Field x) {
    return Field{4 * x.left + sum(x.right), 3 * x.right + x.left};
  };
  const auto found = conjugate_gradient(matvec, Field{6.0, constant({4.0, 7.0})});
  // 4 l + r0 + r1 = 6, 3 r0 + l = 4, 3 r1 + l = 7.
  expect_close<double>(found.x.left, {}, {0.7}, 1e-14);
  expect_close<double>(found.x.right, {2}, {1.1, 2.1}, 1e-14);
}

TEST(ConjugateGradient, HasTheDerivativesOfTheSolution) {
  const Literal a = random_matrix(4, 1).eval(), b = constant({1.0, -2.0, 0.5, 3.0}).eval();
  EXPECT_EQ(derivative_error(of_tensors<2>(solved_by_gradients), {a, b}), "");
  const Tensor whole = matmul(transpose(Tensor(a)), a) + eye(4, DType::kF64);
  const Tensor want = solve(whole, b);
  const auto got = solved_by_gradients(a, b).eval();
  for (std::size_t i = 0; i < 4; i++)
    EXPECT_NEAR(got.data<double>()[i], want.eval().data<double>()[i], 1e-12);
}

TEST(Gmres, SolvesWhatSolveSolves) {
  const Tensor a = random_matrix(30, 2), b = random::normal(random::key(3), f64({30}));
  const Tensor shifted = a + 8 * eye(30, DType::kF64);
  const auto want = solve(shifted, b).eval();
  for (const std::int64_t restart : {5, 30, 100}) {
    const auto found = gmres([&](Tensor x) { return dot(shifted, x); }, b, {.restart = restart});
    expect_scalar(found.converged, true);
    EXPECT_LE(found.residual.item<double>(), 1e-11);
    const auto got = found.x.eval();
    for (std::size_t i = 0; i < 30; i++)
      EXPECT_NEAR(got.data<double>()[i], want.data<double>()[i], 1e-10);
  }
}

// Without restarts the n-th step is exact; a cyclic shift makes no progress before it.
TEST(Gmres, OfACyclicShiftTakesAllSteps) {
  const auto shift = [](Tensor x) { return roll(x, 1, 0); };
  const auto found = gmres(shift, constant({1.0, 0.0, 0.0, 0.0, 0.0}));
  expect_scalar(found.iterations, 5);
  expect_close<double>(found.x, {5}, {0, 0, 0, 0, 1}, 1e-14, 1e-14);
  const auto cut =
      gmres(shift, constant({1.0, 0.0, 0.0, 0.0, 0.0}), {.max_iterations = 12, .restart = 4});
  expect_scalar(cut.iterations, 12);
  expect_scalar(cut.converged, false);
}

TEST(Gmres, InSinglePrecision) {
  const auto found = gmres(
      [](Tensor x) {
        return dot(matrix({{2.0f, 1.0f}, {-1.0f, 3.0f}}), x);
      },
      constant({4.0f, 5.0f}));
  expect_close<float>(found.x, {2}, {1, 2}, 1e-6);
  expect_scalar(found.converged, true);
}

TEST(Gmres, HasTheDerivativesOfTheSolution) {
  const Literal a = random_matrix(4, 4).eval(), b = constant({1.0, -2.0, 0.5, 3.0}).eval();
  EXPECT_EQ(derivative_error(of_tensors<2>(solved_by_gmres), {a, b}), "");
}

TEST(LinearSolvers, OfLanes) {
  const Tensor a = stack({random_matrix(5, 5), random_matrix(5, 6), 0.1 * random_matrix(5, 7)}, 0);
  const Tensor b = random::normal(random::key(8), f64({5}));
  for (const auto& solver : {solved_by_gmres, solved_by_gradients}) {
    const auto of_one = [&](Tensor a, Tensor b) { return solver(a, b); };
    const auto norm_of_one = [&](Tensor a, Tensor b) { return sum(square(solver(a, b))); };
    const auto total = [&](Tensor a, Tensor b) {
      return sum(vmap(norm_of_one, {0, std::nullopt})(a, b));
    };
    const Tensor all = vmap(of_one, {0, std::nullopt})(a, b);
    const auto [by_a, by_b] = grad<0, 1>(total)(a, b);
    Tensor sum_by_b = zeros(f64({5}));
    for (int i = 0; i < 3; i++) {
      const auto [one_by_a, one_by_b] = grad<0, 1>(norm_of_one)(a[i], b);
      EXPECT_LE(max(abs(all[i] - solver(a[i], b))).item<double>(), 1e-12);
      EXPECT_LE(max(abs(by_a[i] - one_by_a)).item<double>(), 1e-11);
      sum_by_b = sum_by_b + one_by_b;
    }
    EXPECT_LE(max(abs(by_b - sum_by_b)).item<double>(), 1e-11);
  }
}

TEST(LinearSolvers, OfManyRightSides) {
  const Tensor a = random_matrix(5, 9), b = random::normal(random::key(10), f64({3, 5}));
  const auto of_one = [&](Tensor b) { return solved_by_gmres(a, b); };
  const Tensor all = vmap(of_one)(b);
  for (int i = 0; i < 3; i++) EXPECT_LE(max(abs(all[i] - of_one(b[i]))).item<double>(), 1e-12);
}

TEST(LinearSolvers, SayWhatIsWrong) {
  expect_error([] { conjugate_gradient([](Tensor x) { return x; }, 1); }, {"b is s32[]"});
  expect_error([] { gmres([](Tensor x) { return sum(x); }, ones(f64({3}))); },
               {"gmres: matvec returns f64[] in place of b, which is f64[3]"});
  expect_error([] { gmres([](Tensor x) { return x; }, 1.0, {.restart = 0}); }, {".restart is 0"});
}

}  // namespace
}  // namespace rondo::testing
