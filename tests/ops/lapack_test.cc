// Large matrices, which LAPACK factors where OpenBLAS brings it: reconstructed by plain loops, and
// compared with our own kernels, which factor narrower parts of the same matrices.
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;
using Complex = std::complex<double>;

constexpr std::int64_t kSize = 70, kNarrow = 40;  // LAPACK's, and our own kernels'
constexpr std::int64_t kFewSides = 12;            // for which our own kernel solves

struct Matrix {
  std::int64_t rows, columns;
  std::vector<Complex> data;
  explicit Matrix(const Tensor& x) : rows(x.dim(0)), columns(x.dim(1)) {
    const Literal wide = convert(x, DType::kC128).eval();
    data.assign(wide.data<Complex>().begin(), wide.data<Complex>().end());
  }
  Matrix(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), data(static_cast<std::size_t>(m * n)) {}
  Complex& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  Complex operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
};

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; i++) {
    for (std::int64_t k = 0; k < a.columns; k++) {
      for (std::int64_t j = 0; j < b.columns; j++) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}
Matrix adjoint_of(const Matrix& a) {
  Matrix b(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; i++) {
    for (std::int64_t j = 0; j < a.columns; j++) b(j, i) = std::conj(a(i, j));
  }
  return b;
}
/// In the upper left part that both have.
void expect_near_elements(const Matrix& a, const Matrix& b, double error) {
  double worst = 0;
  for (std::int64_t i = 0; i < std::min(a.rows, b.rows); i++) {
    for (std::int64_t j = 0; j < std::min(a.columns, b.columns); j++)
      worst = std::max(worst, std::abs(a(i, j) - b(i, j)));
  }
  EXPECT_LE(worst, error);
}
void expect_orthonormal(const Matrix& q, double error) {
  Matrix one(q.columns, q.columns);
  for (std::int64_t i = 0; i < q.columns; i++) one(i, i) = 1;
  expect_near_elements(product(adjoint_of(q), q), one, error);
}

Tensor random_matrix(DType dtype, std::int64_t m, std::int64_t n) {
  const auto part = [&](std::uint64_t seed) {
    return Tensor(random::normal(random::key(seed), f64({m, n})).eval());
  };
  return convert(is_complex(dtype) ? complex(part(1), part(2)) : part(1), dtype);
}
Tensor first_columns(const Tensor& x, std::int64_t n) { return slice(x, {0, 0}, {x.dim(0), n}); }

struct Precision {
  DType dtype;
  double error;
};
constexpr Precision kAll[] = {
    {DType::kF32, 2e-4}, {DType::kF64, 4e-13}, {DType::kC64, 2e-4}, {DType::kC128, 4e-13}};

TEST(Lapack, Cholesky) {
  for (const auto& [dtype, error] : kAll) {
    SCOPED_TRACE(std::string(dtype_name(dtype)));
    const Tensor a = random_matrix(dtype, kSize, kSize);
    const Tensor turned = is_complex(dtype) ? conj(transpose(a)) : transpose(a);
    const Tensor x = matmul(a, turned) * 0.1;
    // What is above the diagonal is not read.
    const Tensor l = cholesky(where(tril(ones(f32({kSize, kSize}))) == 1, x, kNan));
    const Matrix factor(l);
    expect_near_elements(product(factor, adjoint_of(factor)), Matrix(x), error);
    expect_near_elements(factor, Matrix(cholesky(slice(x, {0, 0}, {kNarrow, kNarrow}))), error);
    for (std::int64_t i = 0; i < kSize; i++) {
      for (std::int64_t j = i + 1; j < kSize; j++) ASSERT_EQ(factor(i, j), 0.0);
    }
  }
}

TEST(Lapack, CholeskyOfIndefiniteMatricesIsNan) {
  const Tensor one = diag(ones(f64({kSize})));
  for (const double element : {-1.0, 0.0, 1.0 * kNan}) {
    const Tensor at_end = diag(concatenate({ones(f64({kSize - 1})), full(f64({1}), element)}, 0));
    // In a batch, for itself alone.
    const Literal l = cholesky(stack({one, at_end, 4 * one}, 0)).eval();
    const auto values = l.data<double>();
    for (std::size_t i = 0; i < kSize * kSize; i++) {
      ASSERT_EQ(values[i] * 2, values[2 * kSize * kSize + i]);
      ASSERT_TRUE(std::isnan(values[kSize * kSize + i]));
    }
  }
  // An infinite pivot is as in small matrices.
  const Tensor first = diag(concatenate({full(f64({1}), kInf), ones(f64({kSize - 1}))}, 0));
  const Literal l = cholesky(first).eval();
  EXPECT_EQ(l.data<double>()[0], kInf);
  EXPECT_EQ(l.data<double>()[kSize * kSize - 1], 1);
}

TEST(Lapack, Lu) {
  for (const auto& [dtype, error] : kAll) {
    for (const auto& [m, n] :
         {std::pair(kSize, kSize), std::pair(kSize + 10, kSize), std::pair(kSize, kSize + 10)}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " of " + std::to_string(m) + " rows");
      const Tensor a = random_matrix(dtype, m, n);
      const Lu f = lu(a), narrow = lu(first_columns(a, kNarrow));
      const std::int64_t k = std::min(m, n);
      const Matrix packed(f.lu);
      Matrix l(m, k), u(k, n);
      for (std::int64_t i = 0; i < m; i++) {
        for (std::int64_t j = 0; j < k; j++) l(i, j) = i > j ? packed(i, j) : i == j ? 1.0 : 0.0;
      }
      for (std::int64_t i = 0; i < k; i++) {
        for (std::int64_t j = i; j < n; j++) u(i, j) = packed(i, j);
      }
      expect_near_elements(product(l, u), Matrix(take(a, f.permutation, 0)), error);
      const Literal pivots = f.pivots.eval(), own = narrow.pivots.eval();
      for (std::size_t i = 0; i < kNarrow; i++)
        ASSERT_EQ(pivots.data<std::int32_t>()[i], own.data<std::int32_t>()[i]);
      // Columns and rows up to the narrow ones.
      Matrix same(kNarrow, kNarrow);
      for (std::int64_t i = 0; i < kNarrow; i++) {
        for (std::int64_t j = 0; j < kNarrow; j++) same(i, j) = packed(i, j);
      }
      expect_near_elements(same, Matrix(narrow.lu), error * 100);
    }
  }
}

TEST(Lapack, LuOfSingularAndBadMatrices) {
  // A row of zeros is a pivot of 0, and NaN stays where elimination brings it.
  const Tensor one = diag(ones(f64({kSize})));
  const Lu zero = lu(zeros(f64({kSize, kSize})));
  const Literal pivots = zero.pivots.eval(), factors = zero.lu.eval();
  for (std::size_t i = 0; i < kSize; i++) {
    EXPECT_EQ(pivots.data<std::int32_t>()[i], static_cast<std::int32_t>(i));
    EXPECT_EQ(factors.data<double>()[i * kSize], 0);
  }
  const Literal bad = lu(where(one == 1, kNan, 0.0)).lu.eval();
  EXPECT_TRUE(std::isnan(bad.data<double>()[0]));
  // It overflows at each elimination; pivots stay within the matrix.
  const Tensor growing = where(one == 1, 1.0, tril(full(f64({kSize, kSize}), -1.0)));
  const Tensor large = where(iota(s32({kSize, kSize}), 1) == kSize - 1, 1.0, growing) * 1e300;
  const Lu f = lu(large);
  const Literal order = f.permutation.eval();
  std::vector<bool> seen(kSize);
  for (const std::int32_t row : order.data<std::int32_t>())
    seen.at(static_cast<std::size_t>(row)) = true;
  for (const bool row : seen) EXPECT_TRUE(row);
}

/// The largest magnitude of x - y.
double distance(const Tensor& x, const Tensor& y) {
  return convert(max(abs(x - y)), DType::kF64).eval().data<double>()[0];
}
Tensor adjoint_tensor(const Tensor& x) {
  return is_complex(x.dtype()) ? conj(transpose(x)) : transpose(x);
}

void factors_to_cholesky(const Tensor& x, double error) {
  const Tensor read = where(tril(ones(f32({x.dim(0), x.dim(0)}))) == 1, x, kNan);
  const Tensor l = cholesky(read);
  EXPECT_LE(distance(matmul(l, adjoint_tensor(l)), x), error);
  EXPECT_LE(distance(l, tril(l)), 0);
}

void factors_to_lu(const Tensor& x, double error) {
  const std::int64_t rows = x.dim(0), columns = x.dim(1), k = std::min(rows, columns);
  const Lu f = lu(x);
  const Tensor lower = tril(slice(f.lu, {0, 0}, {rows, k}), -1);
  const Tensor upper = triu(slice(f.lu, {0, 0}, {k, columns}));
  const Tensor known = pad(upper, 0, {0, 0}, {rows - k, 0});
  EXPECT_LE(distance(matmul(lower, upper) + known, take(x, f.permutation, 0)), error);
  // Each pivot is about the largest of its column.
  EXPECT_LE(distance(lower, zeros(lower.type())), 1.5);
}

Tensor positive_definite(const Tensor& x) {
  const Tensor one = convert(diag(ones(f64({x.dim(0)}))), x.dtype());
  return (x + adjoint_tensor(x)) * 0.1 + 20.0 * one;
}

/// Of sizes that are factored and solved in several blocks.
TEST(Lapack, WorksInBlocks) {
  for (const auto& [dtype, error] : kAll) {
    SCOPED_TRACE(std::string(dtype_name(dtype)));
    const std::int64_t n = 301;
    const Tensor noise = random_matrix(dtype, n, n);
    factors_to_cholesky(positive_definite(noise), error * 10);
    const Tensor one = convert(diag(ones(f64({n}))), dtype);
    const Tensor a = noise * 0.01 + 2.0 * one, b = random_matrix(dtype, n, 200);
    for (int choice = 0; choice < 4; choice++) {
      const bool lower = (choice & 1) != 0, turned = (choice & 2) != 0;
      const Tensor triangle = lower ? tril(a) : triu(a);
      const Tensor read = turned ? transpose(triangle) : triangle;
      const Tensor left = triangular_solve(a, b, {.lower = lower, .transpose_a = turned});
      EXPECT_LE(distance(matmul(read, left), b), error);
      const Tensor right = triangular_solve(
          a, transpose(b), {.left_side = false, .lower = lower, .transpose_a = turned});
      EXPECT_LE(distance(matmul(right, read), transpose(b)), error);
    }
    factors_to_lu(noise, error * 10);
    factors_to_lu(slice(noise, {0, 0}, {n, 70}), error * 10);
    factors_to_lu(slice(noise, {0, 0}, {70, n}), error * 10);
  }
}

/// Of a size whose products LAPACK computes in parts, between which the run is polled.
TEST(Lapack, ComputesLargeProductsInParts) {
  const Tensor noise = random_matrix(DType::kC64, 701, 701);
  factors_to_cholesky(positive_definite(noise), 2e-3);
  factors_to_lu(noise, 2e-3);
}

/// The part before the column that is not finite is as without it.
TEST(Lapack, LuGoesOnBehindNumbersThatAreNotFinite) {
  const std::int64_t n = 100;
  const Tensor a = random_matrix(DType::kF64, n, n);
  const Tensor column = iota(s32({n, n}), 1), row = iota(s32({n, n}), 0);
  for (const double element : {1.0 * kNan, 1.0 * kInf}) {
    const Lu good = lu(a), bad = lu(where((column == 50) & (row == 99), element, a));
    const Literal want = good.lu.eval(), got = bad.lu.eval();
    const Literal pivots = good.pivots.eval(), bad_pivots = bad.pivots.eval();
    for (std::size_t j = 0; j < 50; j++)
      ASSERT_EQ(bad_pivots.data<std::int32_t>()[j], pivots.data<std::int32_t>()[j]);
    for (std::size_t i = 0; i < 50; i++) {
      for (std::size_t j = 0; j < 50; j++)
        ASSERT_NEAR(got.data<double>()[i * 100 + j], want.data<double>()[i * 100 + j], 1e-12);
    }
    if (std::isnan(element)) {
      EXPECT_TRUE(std::isnan(got.data<double>()[100 * 100 - 1]));
    }
    std::vector<bool> seen(100);
    const Literal order = bad.permutation.eval();
    for (const std::int32_t at : order.data<std::int32_t>())
      seen.at(static_cast<std::size_t>(at)) = true;
    for (const bool is_there : seen) EXPECT_TRUE(is_there);
  }
}

TEST(Lapack, Qr) {
  for (const auto& [dtype, error] : kAll) {
    for (const auto& [m, n] :
         {std::pair(kSize, kSize), std::pair(kSize + 10, kSize), std::pair(kSize, kSize + 10)}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " of " + std::to_string(m) + " rows");
      const Tensor a = random_matrix(dtype, m, n);
      const Qr f = qr(a), narrow = qr(first_columns(a, kNarrow));
      const Matrix q(f.q), r(f.r);
      expect_near_elements(product(q, r), Matrix(a), error);
      expect_orthonormal(q, error);
      for (std::int64_t i = 0; i < r.rows; i++) {
        for (std::int64_t j = 0; j < i; j++) ASSERT_EQ(r(i, j), 0.0);
      }
      expect_near_elements(q, Matrix(narrow.q), error);  // the signs too
      expect_near_elements(r, Matrix(narrow.r), error);
    }
  }
  EXPECT_TRUE(std::isnan(qr(full(f64({kSize, kSize}), kNan)).r.eval().data<double>()[0]));
}

TEST(Lapack, Eigh) {
  const Tensor bad = eigh(full(f32({kSize, kSize}), kNan)).vectors;
  EXPECT_TRUE(std::isnan(bad.eval().data<float>()[0]));
  for (const auto& [dtype, error] : kAll) {
    SCOPED_TRACE(std::string(dtype_name(dtype)));
    // Second differences, whose values are known.
    const Tensor row = iota(s32({kSize, kSize}), 0), column = iota(s32({kSize, kSize}), 1);
    const Tensor differences =
        convert(where(row == column, 2, where(abs(row - column) == 1, -1, 0)), DType::kF64);
    // With the phases of a diagonal matrix they are Hermitian.
    const Tensor phase = convert(row - column, DType::kF64) * 0.7;
    const Tensor turned = complex(differences * cos(phase), differences * sin(phase));
    const Tensor x = convert(is_complex(dtype) ? turned : differences, dtype);
    const Eigh e = eigh(where(row >= column, x, kNan));
    const Literal values = convert(e.values, DType::kF64).eval();
    for (std::int64_t k = 0; k < kSize; k++) {
      const double angle = std::numbers::pi * static_cast<double>(k + 1) / (kSize + 1);
      EXPECT_NEAR(values.data<double>()[static_cast<std::size_t>(k)], 2 - 2 * std::cos(angle),
                  error);
    }
    const Matrix v(e.vectors);
    Matrix scaled = v;
    for (std::int64_t i = 0; i < kSize; i++) {
      for (std::int64_t k = 0; k < kSize; k++)
        scaled(i, k) *= values.data<double>()[static_cast<std::size_t>(k)];
    }
    expect_near_elements(product(scaled, adjoint_of(v)), Matrix(x), error);
    expect_orthonormal(v, error);
  }
}

TEST(Lapack, Svd) {
  const Tensor bad = svd(full(f32({kSize, kSize}), kNan)).u;
  EXPECT_TRUE(std::isnan(bad.eval().data<float>()[0]));
  for (const auto& [dtype, error] : kAll) {
    for (const auto& [m, n] :
         {std::pair(kSize, kSize), std::pair(2 * kSize + 1, kSize), std::pair(kSize, kSize + 10)}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " of " + std::to_string(m) + " rows");
      const Tensor a = random_matrix(dtype, m, n);
      const Svd f = svd(a);
      const Matrix u(f.u), vt(f.vt);
      const Literal s = convert(f.s, DType::kF64).eval();
      Matrix scaled = u;
      for (std::int64_t i = 0; i < m; i++) {
        for (std::int64_t k = 0; k < u.columns; k++)
          scaled(i, k) *= s.data<double>()[static_cast<std::size_t>(k)];
      }
      expect_near_elements(product(scaled, vt), Matrix(a), error);
      expect_orthonormal(u, error);
      expect_orthonormal(adjoint_of(vt), error);
      for (std::size_t k = 1; k < s.data<double>().size(); k++)
        EXPECT_GE(s.data<double>()[k - 1], s.data<double>()[k]);
    }
  }
}

/// Each choice of options beside our own kernel, which solves for fewer columns or rows.
TEST(Lapack, TriangularSolve) {
  for (const auto& [dtype, error] : kAll) {
    const Tensor diagonal = diag(full(TensorType{dtype, {kSize}}, 3));
    const Tensor a = random_matrix(dtype, kSize, kSize) / kSize + diagonal;
    const Tensor b = random_matrix(dtype, kSize, kSize);
    for (int choice = 0; choice < 16; choice++) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + ' ' + std::to_string(choice));
      const TriangularSolveOptions options{.left_side = (choice & 1) != 0,
                                           .lower = (choice & 2) != 0,
                                           .unit_diagonal = (choice & 4) != 0,
                                           .transpose_a = (choice & 8) != 0};
      // What is not read may be anything.
      const Tensor below = tril(ones(f32({kSize, kSize})), options.unit_diagonal ? -1 : 0);
      const Tensor above = triu(ones(f32({kSize, kSize})), options.unit_diagonal ? 1 : 0);
      const Tensor read = where((options.lower ? below : above) == 1, a, kNan);
      const std::int64_t rows = options.left_side ? kSize : kFewSides;
      const std::int64_t columns = options.left_side ? kFewSides : kSize;
      expect_near_elements(
          Matrix(triangular_solve(read, b, options)),
          Matrix(triangular_solve(read, slice(b, {0, 0}, {rows, columns}), options)), error);
    }
  }
}

TEST(Lapack, TriangularSolveWithASingularMatrix) {
  const Tensor zero_at_end = diag(concatenate({ones(f64({kSize - 1})), zeros(f64({1}))}, 0));
  for (const std::int64_t columns : {kSize, kFewSides}) {
    const Literal x = triangular_solve(zero_at_end, full(f64({kSize, columns}), 2)).eval();
    const auto values = x.data<double>();
    for (std::int64_t i = 0; i < kSize * columns; i++)
      ASSERT_EQ(values[static_cast<std::size_t>(i)], i / columns < kSize - 1 ? 2 : double{kInf});
  }
}

TEST(Lapack, HasTheSameBitsOnAnyNumberOfThreads) {
  const Literal a = random::normal(random::key(5), f64({4, 96, 96})).eval();
  const auto all = [&](int threads) {
    return jit(
        [](Tensor x) {
          const Lu f = lu(x);
          const Qr g = qr(x);
          return std::tuple(f.lu, f.pivots, g.q, g.r, eigh(x).vectors, svd(x).u,
                            triangular_solve(x, x, {.unit_diagonal = true}));
        },
        {.run = {.threads = threads}})(Tensor(a));
  };
  const auto one = all(1), four = all(4);
  const auto same = [](const Tensor& x, const Tensor& y) {
    const Literal left = x.eval(), right = y.eval();
    EXPECT_TRUE(std::equal(left.bytes(), left.bytes() + left.type().bytes(), right.bytes()));
  };
  same(std::get<0>(one), std::get<0>(four));
  same(std::get<1>(one), std::get<1>(four));
  same(std::get<2>(one), std::get<2>(four));
  same(std::get<3>(one), std::get<3>(four));
  same(std::get<4>(one), std::get<4>(four));
  same(std::get<5>(one), std::get<5>(four));
  same(std::get<6>(one), std::get<6>(four));
}

}  // namespace
}  // namespace rondo
