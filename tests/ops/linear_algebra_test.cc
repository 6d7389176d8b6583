// Factorisations and what is computed by them: against products by plain loops, numpy's values, and
// differences.
#include "rondo/ops/linear_algebra.h"

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "ops/expanded.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

constexpr double kNanOf = std::numeric_limits<double>::quiet_NaN();

Literal random_matrices(const Shape& shape, std::uint64_t seed, DType dtype = DType::kF64) {
  return random::normal(random::key(seed), {dtype, shape}).eval();
}
Literal complex_matrices(const Shape& shape, std::uint64_t seed) {
  return complex(Tensor(random_matrices(shape, seed)), Tensor(random_matrices(shape, seed + 1)))
      .eval();
}
Tensor positive(const Tensor& half) {
  const std::int64_t n = half.dim(half.rank() - 1);
  const Tensor turned =
      half.rank() == 2 ? transpose(half) : transpose(half, std::vector<std::int64_t>{0, 2, 1});
  return matmul(half, turned) + eye(n, half.dtype());
}

/// A matrix on the host.
template <class T>
struct RowMajor {
  std::int64_t rows, columns;
  std::vector<T> data;

  RowMajor(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), data(static_cast<std::size_t>(m * n)) {}
  /// Matrix number i of an array.
  explicit RowMajor(const Literal& all, std::int64_t i = 0)
      : RowMajor(all.shape()[all.type().rank() - 2], all.shape()[all.type().rank() - 1]) {
    const T* from = all.data<T>().data() + i * rows * columns;
    std::copy(from, from + rows * columns, data.begin());
  }
  T& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  RowMajor adjoint() const {
    RowMajor turned(columns, rows);
    for (std::int64_t i = 0; i < rows; i++) {
      for (std::int64_t j = 0; j < columns; j++) {
        if constexpr (std::is_floating_point_v<T>)
          turned(j, i) = (*this)(i, j);
        else
          turned(j, i) = std::conj((*this)(i, j));
      }
    }
    return turned;
  }
};

template <class T>
RowMajor<T> operator*(const RowMajor<T>& a, const RowMajor<T>& b) {
  RowMajor<T> product(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; i++) {
    for (std::int64_t j = 0; j < b.columns; j++) {
      for (std::int64_t k = 0; k < a.columns; k++) product(i, j) += a(i, k) * b(k, j);
    }
  }
  return product;
}

template <class T>
void expect_near(const RowMajor<T>& got, const RowMajor<T>& want, double tolerance) {
  ASSERT_EQ(got.rows, want.rows);
  ASSERT_EQ(got.columns, want.columns);
  for (std::size_t i = 0; i < want.data.size(); i++)
    ASSERT_LE(std::abs(got.data[i] - want.data[i]), tolerance) << "element " << i;
}
template <class T>
RowMajor<T> identity(std::int64_t n) {
  RowMajor<T> one(n, n);
  for (std::int64_t i = 0; i < n; i++) one(i, i) = 1;
  return one;
}
template <class T>
void expect_lower(const RowMajor<T>& x) {
  for (std::int64_t i = 0; i < x.rows; i++) {
    for (std::int64_t j = i + 1; j < x.columns; j++) EXPECT_EQ(x(i, j), T{});
  }
}

TEST(CholeskyOp, FactorsEachMatrix) {
  const Literal x = positive(random_matrices({3, 20, 20}, 1)).eval();
  const Literal l = cholesky(x).eval();
  for (std::int64_t i = 0; i < 3; i++) {
    const RowMajor<double> factor(l, i);
    expect_lower(factor);
    expect_near(factor * factor.adjoint(), RowMajor<double>(x, i), 1e-12);
  }
  const Literal half = complex_matrices({5, 5}, 3);
  const Literal hermitian = (matmul(half, conj(transpose(half))) + eye(5, DType::kC128)).eval();
  const RowMajor<std::complex<double>> factor(cholesky(hermitian).eval());
  expect_lower(factor);
  expect_near(factor * factor.adjoint(), RowMajor<std::complex<double>>(hermitian), 1e-12);
}

TEST(CholeskyOp, IsNanForTheIndefiniteMatrixAlone) {
  const Literal l = cholesky(constant({4.0, 0.0, 2.0, 5.0, 1.0, 0.0, 2.0, 1.0}, {2, 2, 2})).eval();
  expect_values<double>(l, {2, 2, 2}, {2, 0, 1, 2, kNanOf, kNanOf, kNanOf, kNanOf});
}

TEST(CholeskyOp, HasDerivativesOfHermitianChanges) {
  check_grads([](Tensor half) { return cholesky(positive(half)); },
              std::tuple(Tensor(random_matrices({2, 3, 3}, 7))), {.order = 2});
  check_grads(
      [](Tensor re, Tensor im) {
        const Tensor half = complex(re, im);
        const Tensor l = cholesky(matmul(half, conj(transpose(half))) + eye(3, DType::kC128));
        return std::pair(real(l), imag(l));
      },
      std::tuple(Tensor(random_matrices({3, 3}, 8)), Tensor(random_matrices({3, 3}, 9))),
      {.order = 2});
}

TEST(CholeskyOp, IsOneOpInTexts) {
  const Function f = trace([](Tensor x) { return cholesky(x); }, f64({2, 3, 3}));
  EXPECT_NE(to_hlo_text(f).find("f64[2,3,3] cholesky("), std::string::npos) << to_hlo_text(f);
  EXPECT_NE(to_hlo_text(f).find("lower=true"), std::string::npos);
  EXPECT_NE(to_stablehlo_text(f).find("stablehlo.cholesky"), std::string::npos);
}

/// Each choice of options, by the product with the triangle that is read.
template <class T>
void check_triangular(std::int64_t n, std::int64_t m, const Literal& a, const Literal& left,
                      const Literal& right, double tolerance) {
  for (int choice = 0; choice < 16; choice++) {
    const TriangularSolveOptions options{.left_side = (choice & 1) != 0,
                                         .lower = (choice & 2) != 0,
                                         .unit_diagonal = (choice & 4) != 0,
                                         .transpose_a = (choice & 8) != 0};
    SCOPED_TRACE(choice);
    const Literal& b = options.left_side ? left : right;
    const Literal x = triangular_solve(a, b, options).eval();
    const RowMajor<T> all(a);
    RowMajor<T> read(n, n);
    for (std::int64_t i = 0; i < n; i++) {
      for (std::int64_t j = 0; j < n; j++) {
        const bool is_read = options.lower ? j <= i : j >= i;
        const T element = i == j && options.unit_diagonal ? T(1) : is_read ? all(i, j) : T{};
        (options.transpose_a ? read(j, i) : read(i, j)) = element;
      }
    }
    const RowMajor<T> found(x), want(b);
    expect_near(options.left_side ? read * found : found * read, want, tolerance);
    (void)m;
  }
}

TEST(TriangularSolve, SolvesForEachChoiceOfOptions) {
  const std::int64_t n = 13, m = 5;
  const Literal a = (random_matrices({n, n}, 11) * 0.2 + 2 * eye(n, DType::kF64)).eval();
  check_triangular<double>(n, m, a, random_matrices({n, m}, 12), random_matrices({m, n}, 13),
                           1e-12);
  check_triangular<double>(n, 1, a, random_matrices({n, 1}, 12), random_matrices({1, n}, 13),
                           1e-12);
  const Literal z = (Tensor(complex_matrices({4, 4}, 14)) * 0.3 + 2 * eye(4, DType::kC128)).eval();
  check_triangular<std::complex<double>>(4, 3, z, complex_matrices({4, 3}, 15),
                                         complex_matrices({3, 4}, 16), 1e-12);
}

TEST(TriangularSolve, HasDerivatives) {
  for (int choice = 0; choice < 16; choice++) {
    const TriangularSolveOptions options{.left_side = (choice & 1) != 0,
                                         .lower = (choice & 2) != 0,
                                         .unit_diagonal = (choice & 4) != 0,
                                         .transpose_a = (choice & 8) != 0};
    check_grads([&](Tensor a, Tensor b) { return triangular_solve(a, b, options); },
                std::tuple(random_matrices({3, 3}, 21) * 0.2 + 2 * eye(3, DType::kF64),
                           Tensor(random_matrices({3, 3}, 22))),
                {.order = choice % 5 == 0 ? 2 : 1});
  }
}

TEST(TriangularSolve, IsBatched) {
  const Tensor a = tril(Tensor(random_matrices({3, 4, 4}, 23))) + 3 * eye(4, DType::kF64);
  const Tensor b = random_matrices({3, 4, 2}, 24), c = random_matrices({3, 2, 4}, 25);
  const auto left = [](Tensor x, Tensor y) { return triangular_solve(x, y); };
  const auto right = [](Tensor x, Tensor y) {
    return triangular_solve(x, y, {.left_side = false});
  };
  const auto expect_lanes = [](const Tensor& got, auto lane) {
    for (std::int64_t i = 0; i < 3; i++)
      expect_near(RowMajor<double>(got.eval(), i), RowMajor<double>(lane(i).eval()), 1e-13);
  };
  expect_lanes(vmap(left)(a, b), [&](std::int64_t i) { return left(a[i], b[i]); });
  // One matrix for all lanes.
  const Tensor one = a[0];
  expect_lanes(vmap([&](Tensor y) { return left(one, y); })(b),
               [&](std::int64_t i) { return left(one, b[i]); });
  expect_lanes(vmap([&](Tensor y) { return right(one, y); })(c),
               [&](std::int64_t i) { return right(one, c[i]); });
  expect_lanes(vmap([&](Tensor x) { return left(x, b[0]); })(a),
               [&](std::int64_t i) { return left(a[i], b[0]); });
  // Leading axes broadcast.
  expect_lanes(triangular_solve(one, b), [&](std::int64_t i) { return left(one, b[i]); });
}

TEST(TriangularSolve, SaysWhatItTakes) {
  const auto of = [](const Tensor& a, const Tensor& b) {
    return [=] { (void)triangular_solve(a, b); };
  };
  expect_error(of(zeros(f64({2, 3})), zeros(f64({2, 3}))), {"triangular_solve", "square"});
  expect_error(of(zeros(f64({2, 2})), zeros(f64({3, 2}))), {"do not fit"});
  expect_error(of(zeros(f64({2, 2})), zeros(f64({2}))), {"no matrices"});
  expect_error(of(zeros(s32({2, 2})), zeros(s32({2, 2}))), {"takes floats"});
  const Function f =
      trace([](Tensor a, Tensor b) { return triangular_solve(a, b); }, f32({3, 3}), f32({3, 2}));
  EXPECT_NE(to_hlo_text(f).find("triangular-solve("), std::string::npos);
  EXPECT_NE(to_hlo_text(f).find("transpose_a=NO_TRANSPOSE"), std::string::npos);
  EXPECT_NE(to_stablehlo_text(f).find("#stablehlo<transpose NO_TRANSPOSE>"), std::string::npos);
}

}  // namespace
}  // namespace rondo
