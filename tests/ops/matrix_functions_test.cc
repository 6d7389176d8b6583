// Elimination, systems, determinants and functions of matrices: numpy's values, products by plain
// loops, differences.
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "ops/expanded.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

Literal normal_matrices(const Shape& shape, std::uint64_t seed) {
  return random::normal(random::key(seed), {DType::kF64, shape}).eval();
}
double matrix_element(const Literal& x, std::int64_t i) {
  return x.data<double>()[static_cast<std::size_t>(i)];
}
const Tensor& system() {
  static const Tensor a = constant({{4.0, -2.0, 1.0}, {3.0, 6.0, -4.0}, {2.0, 1.0, 8.0}});
  return a;
}

TEST(Lu, IsNumericallyJaxs) {
  const Lu f = lu(constant({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 10.0}}));
  expect_close<double>(f.lu, {3, 3},
                       {7, 8, 10, 0.14285714285714285, 0.8571428571428572, 1.5714285714285716,
                        0.5714285714285714, 0.5, -0.5},
                       1e-14);
  expect_values<std::int32_t>(f.pivots, {3}, {2, 2, 2});
  expect_values<std::int32_t>(f.permutation, {3}, {2, 0, 1});
}

/// P a = l u for each of two matrices.
void check_lu(const Literal& a, const Literal& factors, const Literal& permutation) {
  const std::int64_t m = a.shape()[1], n = a.shape()[2], k = std::min(m, n);
  for (std::int64_t matrix = 0; matrix < 2; matrix++) {
    const std::int64_t base = matrix * m * n;
    for (std::int64_t i = 0; i < m; i++) {
      const std::int64_t from =
          permutation.data<std::int32_t>()[static_cast<std::size_t>(matrix * m + i)];
      for (std::int64_t j = 0; j < n; j++) {
        double product = 0;
        for (std::int64_t c = 0; c < std::min({k, i + 1, j + 1}); c++) {
          const double l = c == i ? 1 : matrix_element(factors, base + i * n + c);
          EXPECT_LE(std::abs(l), 1);
          product += l * matrix_element(factors, base + c * n + j);
        }
        EXPECT_NEAR(product, matrix_element(a, base + from * n + j), 1e-12);
      }
    }
  }
}

TEST(Lu, FactorsMatricesOfAnyForm) {
  for (const auto& [m, n] : {std::pair(6, 6), std::pair(4, 7), std::pair(7, 4), std::pair(1, 1)}) {
    const Literal a = normal_matrices({2, m, n}, 31);
    const Lu f = lu(a);
    check_lu(a, f.lu.eval(), f.permutation.eval());
    const std::vector<Literal> loop = run_expanded(
        [](Tensor x) {
          const Lu g = lu(x);
          return std::tuple(g.lu, g.pivots, g.permutation);
        },
        a);
    check_lu(a, loop[0], loop[2]);
    expect_values<std::int32_t>(
        loop[1], f.pivots.shape(),
        {f.pivots.eval().data<std::int32_t>().begin(), f.pivots.eval().data<std::int32_t>().end()});
    check_grads([](Tensor x) { return lu(x).lu; }, std::tuple(Tensor(a)), {.order = 1});
  }
}

TEST(Lu, SolvesSystems) {
  const Tensor b = constant({12.0, -25.0, 32.0});
  expect_close<double>(solve(system(), b), {3}, {1, -2, 4}, 1e-14);
  expect_close<double>(lu_solve(lu(system()), b), {3}, {1, -2, 4}, 1e-14);
  expect_close<double>(inv(system()), {3, 3},
                       {0.19771863117870722, 0.06463878326996197, 0.007604562737642592,
                        -0.12167300380228137, 0.11406844106463877, 0.07224334600760458,
                        -0.034220532319391636, -0.030418250950570346, 0.1140684410646388},
                       1e-14);
  const Tensor spd = matmul(system(), transpose(system()));
  expect_close<double>(matmul(spd, cho_solve(cholesky(spd), b)), {3}, {12, -25, 32}, 1e-12);
  // Matrices of several right sides, and one matrix for several of these.
  const Tensor many = normal_matrices({2, 3, 4}, 33);
  expect_close<double>(matmul(system(), solve(system(), many)), {2, 3, 4},
                       {many.eval().data<double>().begin(), many.eval().data<double>().end()},
                       1e-12, 1e-13);
  // Rank 1: nothing solves it.
  const Literal singular = solve(constant({{1.0, 2.0}, {2.0, 4.0}}), constant({1.0, 1.0})).eval();
  EXPECT_FALSE(std::isfinite(matrix_element(singular, 0)));
}

TEST(Lu, SolutionsHaveDerivatives) {
  const Tensor a = normal_matrices({2, 3, 3}, 34) + 3 * eye(3, DType::kF64);
  check_grads([](Tensor x, Tensor y) { return solve(x, y); },
              std::tuple(a, Tensor(normal_matrices({2, 3, 2}, 35))), {.order = 2});
  check_grads([](Tensor x, Tensor y) { return lu_solve(lu(x), y); },
              std::tuple(a, Tensor(normal_matrices({2, 3, 2}, 36))), {.order = 2});
  check_grads([](Tensor x) { return inv(x); }, std::tuple(a), {.order = 2});
  const auto by_lane = vmap([](Tensor x, Tensor y) { return solve(x, y); });
  const Tensor b = normal_matrices({2, 3}, 37);
  const Literal lanes = by_lane(a, b).eval();
  for (std::int64_t i = 0; i < 2; i++) {
    const Literal lane = solve(a[i], b[i]).eval();
    for (std::int64_t j = 0; j < 3; j++)
      EXPECT_NEAR(matrix_element(lanes, 3 * i + j), matrix_element(lane, j), 1e-13);
  }
}

TEST(Determinant, IsNumpys) {
  expect_close<double>(det(system()), {}, {263}, 1e-14);
  const Slogdet s = slogdet(-system());
  expect_close<double>(s.sign, {}, {-1});
  expect_close<double>(s.logdet, {}, {5.572154032177764}, 1e-14);
  // Hilbert's matrix.
  const Tensor row = convert(iota(s32({4, 4}), 0) + iota(s32({4, 4}), 1) + 1, DType::kF64);
  expect_close<double>(det(1 / row), {}, {1.0 / 6048000}, 1e-11);
  expect_close<double>(det(diag(constant({2.0, 3.0}))), {}, {6});
  expect_close<double>(det(zeros(f64({2, 4, 4}))), {2}, {0, 0});
  expect_close<double>(slogdet(zeros(f64({4, 4}))).logdet, {}, {-INFINITY});
  expect_close<double>(det(zeros(f64({0, 0}))), {}, {1});
}

TEST(Determinant, HasDerivatives) {
  for (const std::int64_t n : {3, 4}) {
    const Tensor a = normal_matrices({2, n, n}, 41) + 2 * eye(n, DType::kF64);
    check_grads([](Tensor x) { return det(x); }, std::tuple(a), {.order = 2});
    check_grads([](Tensor x) { return slogdet(x).logdet; }, std::tuple(a), {.order = 2});
  }
  // Of a singular matrix: the cofactors.
  expect_close<double>(grad([](Tensor x) { return det(x); })(constant({{1.0, 2.0}, {2.0, 4.0}})),
                       {2, 2}, {4, -2, -2, 1});
}

/// By expansion along the first row.
double laplace(const std::vector<double>& a, std::size_t n) {
  if (n == 0) return 1;
  double sum = 0;
  for (std::size_t column = 0; column < n; column++) {
    std::vector<double> minor;
    for (std::size_t i = 1; i < n; i++) {
      for (std::size_t j = 0; j < n; j++) {
        if (j != column) minor.push_back(a[i * n + j]);
      }
    }
    sum += (column % 2 == 0 ? 1 : -1) * a[column] * laplace(minor, n - 1);
  }
  return sum;
}

TEST(Determinant, HasDerivativesOfSingularMatrices) {
  // Products of triangles without rounding, with zeros on the diagonal of the upper one: of rank 4
  // with the zero anywhere, of rank 3, and one regular matrix among them.
  constexpr std::size_t kSize = 5;
  std::vector<double> all;
  for (const int zeros : {1, 2, 4, 8, 16, 5, 24, 0}) {
    std::vector<double> product(kSize * kSize);
    for (std::size_t i = 0; i < kSize; i++) {
      for (std::size_t k = 0; k <= i; k++) {
        const double lower = i == k ? 1 : 0.25 * static_cast<double>((3 * i + k) % 5) - 0.5;
        for (std::size_t j = k; j < kSize; j++) {
          const double upper = j > k              ? static_cast<double>((2 * k + 3 * j) % 7) - 3
                               : (zeros >> k & 1) ? 0
                                                  : static_cast<double>(k + 1);
          product[(4 - i) * kSize + j] += lower * upper;  // rows in reverse
        }
      }
    }
    all.insert(all.end(), product.begin(), product.end());
  }
  std::vector<double> cofactors;
  for (std::size_t at = 0; at < all.size(); at++) {
    // The determinant with a unit vector in place of the row is its derivative.
    const std::size_t first = at / (kSize * kSize) * kSize * kSize;
    std::vector<double> changed(all.begin() + static_cast<std::ptrdiff_t>(first),
                                all.begin() + static_cast<std::ptrdiff_t>(first + kSize * kSize));
    const std::size_t row = (at - first) / kSize * kSize;
    std::fill_n(changed.begin() + static_cast<std::ptrdiff_t>(row), kSize, 0);
    changed[at - first] = 1;
    cofactors.push_back(laplace(changed, kSize));
  }
  const Tensor a = constant(all, {8, kSize, kSize});
  const auto summed = [](Tensor x) { return sum(det(x)); };
  expect_close<double>(grad(summed)(a), {8, kSize, kSize}, cofactors, 1e-13, 1e-12);
  expect_close<double>(jit(vmap(grad([](Tensor x) { return det(x); })))(a), {8, kSize, kSize},
                       cofactors, 1e-13, 1e-12);
  const Tensor da = normal_matrices({8, kSize, kSize}, 42);
  const Tensor change = jvp(summed, std::tuple(a), std::tuple(da)).second;
  expect_close<double>(
      change, {}, {sum(da * constant(cofactors, {8, kSize, kSize})).item<double>()}, 1e-13, 1e-12);
}

TEST(MatrixFunctions, AreNumpys) {
  const Tensor a = constant({{1, 2}, {3, 4}}), b = constant({{0, 5}, {6, 7}});
  expect_values<std::int32_t>(kron(a, b), {4, 4},
                              {0, 5, 0, 10, 6, 7, 12, 14, 0, 15, 0, 20, 18, 21, 24, 28});
  expect_values<std::int32_t>(kron(constant({1, 2}), b), {2, 4}, {0, 5, 0, 10, 6, 7, 12, 14});
  expect_values<std::int32_t>(cross(constant({1, 2, 3}), constant({4, 5, 6})), {3}, {-3, 6, -3});
  expect_values<std::int32_t>(matrix_trace(stack({a, b}, 0)), {2}, {5, 7});
  expect_values<std::int32_t>(matrix_power(a, 5), {2, 2}, {1069, 1558, 2337, 3406});
  expect_values<std::int32_t>(matrix_power(a, 0), {2, 2}, {1, 0, 0, 1});
  expect_close<double>(matrix_power(constant({{2.0, 1.0}, {1.0, 1.0}}), -2), {2, 2}, {2, -3, -3, 5},
                       1e-13);
}

TEST(MatrixFunctions, SayWhatTheyTake) {
  expect_error([] { (void)solve(zeros(f64({2, 3})), zeros(f64({2}))); }, {"solve", "square"});
  expect_error([] { (void)solve(zeros(f64({2, 2})), zeros(f64({3}))); }, {"solve", "do not fit"});
  expect_error([] { (void)det(zeros(f64({2}))); }, {"det", "square"});
  expect_error([] { (void)cross(zeros(f64({2})), zeros(f64({2}))); }, {"cross", "3 elements"});
  expect_error([] { (void)lu(zeros(f64({2}))); }, {"lu", "2 axes"});
}

}  // namespace
}  // namespace rondo
