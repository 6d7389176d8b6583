// eigh, svd and pinv of complex matrices, by the identities that define them, in the kernels and as
// loops; derivatives of what does not depend on the phases of vectors, beside differences.
#include <complex>
#include <limits>
#include <tuple>
#include <vector>

#include "ops/expanded.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

Tensor complex_draws(const Shape& shape, std::uint64_t seed) {
  return complex(Tensor(random::normal(random::key(seed), {DType::kF64, shape}).eval()),
                 Tensor(random::normal(random::key(seed + 1), {DType::kF64, shape}).eval()));
}
Tensor hermitian_transpose(const Tensor& x) {
  return conj(x.rank() == 2 ? transpose(x) : transpose(x, {0, 2, 1}));
}
void expect_same_elements(const Tensor& x, const Tensor& y) {
  EXPECT_LT(max(abs(x - y)).item<double>(), 1e-12);
}
/// x diag(s) y for real s.
Tensor scaled_product(const Tensor& x, const Tensor& s, const Tensor& y) {
  return matmul(x * convert(expand_dims(s, -2), x.dtype()), y);
}
void expect_ascending(const Tensor& values, double sign) {
  const std::int64_t n = values.dim(1);
  const Tensor steps =
      slice(values, {0, 1}, {values.dim(0), n}) - slice(values, {0, 0}, {values.dim(0), n - 1});
  EXPECT_TRUE(all(sign * steps >= 0).item<bool>());
}
void expect_identity(const Tensor& x) {
  expect_same_elements(x, convert(eye(x.dim(x.rank() - 1)), x.dtype()));
}
/// What columns of norm 1 at right angles have as the identity.
Tensor products_of_columns(const Tensor& q) { return matmul(hermitian_transpose(q), q); }

/// What is determined also where vectors are not: of values that occur several times, and of 0.
std::tuple<Tensor, Tensor, Tensor> parts_of_eigh(Tensor x) {
  const Eigh e = eigh(x);
  return {e.values, scaled_product(e.vectors, e.values, hermitian_transpose(e.vectors)),
          products_of_columns(e.vectors)};
}
void check_complex_eigh(const Tensor& x, const Tensor& values, const Tensor& product,
                        const Tensor& columns) {
  expect_same_elements(product, x);
  expect_identity(columns);
  expect_ascending(values, 1);
}

TEST(ComplexVectors, OfHermitianMatrices) {
  const std::complex<double> i(0, 1);
  // The diagonal's imaginary parts and what is above it are not read.
  const Tensor small =
      constant(std::vector<std::complex<double>>{2.0 + 5.0 * i, {0, kNan}, 1.0 + i, 3.0});
  expect_close<double>(eigh(reshape(small, {2, 2})).values, {2}, {1, 4}, 1e-14);
  const Tensor half = complex_draws({2, 9, 9}, 71), u = complex_draws({2, 9, 2}, 73);
  // Also with values that occur seven times.
  for (const Tensor& x : {half + hermitian_transpose(half), matmul(u, hermitian_transpose(u))}) {
    const auto [values, product, columns] = parts_of_eigh(x);
    EXPECT_EQ(values.type(), f64({2, 9}));
    check_complex_eigh(x, values, product, columns);
    const std::vector<Literal> loop = run_expanded(parts_of_eigh, x.eval());
    check_complex_eigh(x, Tensor(loop[0]), Tensor(loop[1]), Tensor(loop[2]));
    const auto [first, second, third] = vmap(parts_of_eigh)(x);
    check_complex_eigh(x, first, second, third);
  }
  const Eigh single = eigh(convert(half, DType::kC64));
  EXPECT_EQ(single.values.dtype(), DType::kF32);
  EXPECT_EQ(single.vectors.dtype(), DType::kC64);
  const Tensor bad = eigh(complex(full(f64({3, 3}), 1), full(f64({3, 3}), double{kNan}))).vectors;
  EXPECT_TRUE(all(is_nan(real(bad)) & is_nan(imag(bad))).item<bool>());
  EXPECT_EQ(eigh(zeros(c128({2, 0, 0}))).values.type(), f64({2, 0}));
}

/// Of what does not depend on the phases of vectors.
TEST(ComplexVectors, HaveDerivativesOfHermitianMatrices) {
  check_grads(
      [](Tensor half) {
        const Tensor large = convert(diag(constant({1.0, 3.0, 7.0})), DType::kC128);
        const Eigh e = eigh(half + hermitian_transpose(half) + large);
        const Tensor weights = constant({0.5, 2.0, -1.0}) + sin(e.values);
        return std::pair(e.values,
                         scaled_product(e.vectors, weights, hermitian_transpose(e.vectors)));
      },
      std::tuple(complex_draws({3, 3}, 75) * 0.2), {.order = 2});
}

std::tuple<Tensor, Tensor, Tensor, Tensor> parts_of_svd(Tensor x) {
  const Svd f = svd(x);
  return {f.s, scaled_product(f.u, f.s, f.vt), products_of_columns(f.u),
          products_of_columns(hermitian_transpose(f.vt))};
}
void check_complex_svd(const Tensor& a, const Tensor& s, const Tensor& product, const Tensor& left,
                       const Tensor& right) {
  expect_same_elements(product, a);
  expect_identity(left);
  expect_identity(right);
  expect_ascending(s, -1);
}

TEST(ComplexVectors, OfSingularValues) {
  for (const auto& [m, n] : {std::pair(4, 4), std::pair(3, 5), std::pair(6, 3), std::pair(2, 2)}) {
    const Tensor a = complex_draws({2, m, n}, 77);
    const Tensor rank_one = matmul(slice(a, {0, 0, 0}, {2, m, 1}), slice(a, {0, 0, 0}, {2, 1, n}));
    // The last one with products of columns that are subnormal.
    const std::complex<double> tiny(3e-324, 3e-324);
    const Tensor sizes = concatenate({full(c128({n - 1}), 1), full(c128({1}), tiny)}, 0);
    for (const Tensor& x : {a, rank_one, zeros(a.type()), a * sizes}) {
      const auto [s, product, left, right] = parts_of_svd(x);
      EXPECT_EQ(s.dtype(), DType::kF64);
      check_complex_svd(x, s, product, left, right);
      const std::vector<Literal> loop = run_expanded(parts_of_svd, x.eval());
      check_complex_svd(x, Tensor(loop[0]), Tensor(loop[1]), Tensor(loop[2]), Tensor(loop[3]));
    }
    check_grads(
        [](Tensor x) {
          const Svd f = svd(x);
          return std::pair(f.s, scaled_product(f.u, cos(f.s) + 1, f.vt));
        },
        std::tuple(a), {.order = m == n ? 2 : 1});
  }
  const Svd bad =
      svd(complex(full(f32({2, 3}), std::numeric_limits<float>::quiet_NaN()), ones(f32({2, 3}))));
  EXPECT_TRUE(all(is_nan(bad.s)).item<bool>() && all(is_nan(imag(bad.vt))).item<bool>());
  EXPECT_EQ(svd(zeros(c64({0, 3}))).vt.type(), c64({0, 3}));
}

/// Penrose's four equations, which have one solution.
TEST(Svd, GivesPseudoinversesOfComplexMatrices) {
  for (const auto& [m, n] : {std::pair(3, 3), std::pair(4, 2), std::pair(2, 4)}) {
    const Tensor a = complex_draws({2, m, n}, 61);
    const Tensor rank_one = matmul(slice(a, {0, 0, 0}, {2, m, 1}), slice(a, {0, 0, 0}, {2, 1, n}));
    for (const Tensor& x : {a, rank_one}) {
      const Tensor p = pinv(x), xp = matmul(x, p), px = matmul(p, x);
      expect_same_elements(matmul(xp, x), x);
      expect_same_elements(matmul(px, p), p);
      expect_same_elements(hermitian_transpose(xp), xp);
      expect_same_elements(hermitian_transpose(px), px);
    }
    check_grads([](Tensor x) { return pinv(x); }, std::tuple(a), {.order = 1});
    const Tensor b = slice(a, {0, 0, 0}, {2, m, 1});
    expect_same_elements(lstsq(a, b), matmul(pinv(a), b));
  }
  EXPECT_EQ(pinv(ones(c64({2, 3}))).dtype(), DType::kC64);
  EXPECT_EQ(pinv(zeros(c128({0, 3}))).type(), c128({3, 0}));
}

}  // namespace
}  // namespace rondo
