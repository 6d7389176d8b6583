// Factorisations of small matrices, which are code of the loops around them: compared with the
// kernels of the reference bit by bit, and with plain loops.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "executor/agreement.h"
#include "native/target.h"

namespace rondo {
namespace {

using testing::calls_kernels;
using testing::expect_agreement;
using testing::Lowered;

/// Without machine code, kernels are faster.
bool is_native() { return native_code::available_target() != nullptr; }

Literal random_values(const Shape& shape, DType dtype, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<double> values(static_cast<std::size_t>(shape.elements()));
  for (double& value : values) value = static_cast<double>(engine()) / 0x1p31 - 1;
  return convert(Tensor(Literal::from(values, shape)), dtype).eval();
}
/// Matrices with n on the diagonal, of which the lower triangles are read.
Literal definite(const Shape& leading, std::int64_t n, DType dtype, unsigned seed) {
  std::vector<std::int64_t> dims = leading.vector();
  dims.insert(dims.end(), {n, n});
  const Tensor x = random_values(dims, dtype, seed);
  return (x + convert(static_cast<double>(n) * eye(n, DType::kF64), dtype)).eval();
}

/// Compares both and says whether kernels were called.
bool calls_after_agreement(const Literal& x, Tensor (*value)(Tensor)) {
  const Function f = trace(value, x);
  SCOPED_TRACE(f.str());
  (void)expect_agreement(f, {x});
  return calls_kernels(f);
}

TEST(SmallMatrices, HaveTheBitsOfTheKernels) {
  for (const std::int64_t n : {1, 2, 3, 5, 8, 9}) {
    const bool calls = !is_native() || n > 8;
    const Literal x = definite({}, n, n == 3 ? DType::kF32 : DType::kF64, 1);
    EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return cholesky(x); }), calls);
    EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return cho_solve(x, x[0]); }), calls);
    EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return lu(x).lu; }), calls);
    EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return solve(x, x[0]); }), calls);
    EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return qr(x).q; }), calls);
    EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return qr(x).r; }), calls);
  }
  const Literal x = definite({2, 3}, 4, DType::kF32, 2);
  EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return cholesky(x); }), !is_native());
  EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return inv(x); }), !is_native());
  EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return det(x); }), !is_native());
  EXPECT_EQ(calls_after_agreement(x, [](Tensor x) { return slogdet(x).logdet; }), !is_native());
}

TEST(SmallMatrices, AreSolvedForEachChoiceOfOptions) {
  for (int choice = 0; choice < 16; choice++) {
    const TriangularSolveOptions options{.left_side = (choice & 1) != 0,
                                         .lower = (choice & 2) != 0,
                                         .unit_diagonal = (choice & 4) != 0,
                                         .transpose_a = (choice & 8) != 0};
    const Literal a = definite({}, 4, DType::kF64, 1);
    const Literal b = random_values(options.left_side ? Shape{4, 2} : Shape{2, 4}, DType::kF64, 2);
    const Function f =
        trace([&](Tensor a, Tensor b) { return triangular_solve(a, b, options); }, a, b);
    SCOPED_TRACE(f.str());
    (void)expect_agreement(f, {a, b});
    EXPECT_EQ(calls_kernels(f), !is_native());
  }
}

TEST(SmallMatrices, AreNanOrSingularAsTheKernelsSay) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = INFINITY;
  const std::vector<double> matrices{4,    2,   2,   5,     // definite
                                     4,    2,   2,   1,     // singular
                                     4,    6,   6,   1,     // indefinite
                                     -1,   0,   0,   1,     // from the first row on
                                     nan,  1,   1,   2,     // a NaN in each place
                                     1,    nan, 1,   2,     //
                                     1,    1,   nan, 2,     //
                                     2,    1,   1,   nan,   //
                                     inf,  1,   1,   2,     //
                                     1,    1,   inf, 2,     //
                                     1,    2,   -1,  3,     // a tie of pivots: the first row stays
                                     0,    0,   0,   0,     //
                                     0,    inf, 0,   -0.0,  // nothing below the pivot
                                     -0.0, 1,   nan, 1,     // a NaN is no pivot
                                     0,    1,   0,   2};    //
  const Literal x = Literal::from(matrices, {15, 2, 2});
  const auto values = [](Tensor x) {
    return std::tuple(cholesky(x), lu(x), solve(x, x), det(x), inv(x), slogdet(x), qr(x));
  };
  (void)expect_agreement(trace(values, x), {x});
  const Function one_by_one = trace([&](Tensor x) { return map(values, x); }, x);
  const std::vector<Literal> got = expect_agreement(one_by_one, {x});
  EXPECT_EQ(calls_kernels(one_by_one), !is_native());
  const auto l = got[0].data<double>();
  EXPECT_EQ(l[0], 2);
  EXPECT_EQ(l[3], 2);
  for (std::size_t i = 4; i < 16; i++) EXPECT_TRUE(std::isnan(l[i])) << i;
  for (std::size_t matrix = 11; matrix < 15; matrix++) {
    for (std::size_t row = 0; row < 2; row++)
      EXPECT_EQ(got[2].data<std::int32_t>()[2 * matrix + row], static_cast<std::int32_t>(row));
  }
}

// Tall, wide and with columns that have nothing below the diagonal. By the definition: q has
// orthonormal columns, r is upper triangular with LAPACK's signs, and q r is the matrix.
TEST(SmallMatrices, AreProductsOfAnOrthogonalAndATriangularOne) {
  using Sizes = std::array<std::int64_t, 2>;
  for (const auto& [m, n] : {Sizes{6, 3}, Sizes{3, 6}, Sizes{1, 4}}) {
    Literal x = random_values({5, m, n}, DType::kF64, 4);
    x = where(iota({DType::kS32, {5, m, n}}, 0) == 4, 0, Tensor(x)).eval();
    const Function f = trace([](Tensor x) { return map([](Tensor a) { return qr(a); }, x); }, x);
    SCOPED_TRACE(f.str());
    const std::vector<Literal> got = expect_agreement(f, {x});
    EXPECT_EQ(calls_kernels(f), !is_native());
    const std::int64_t k = std::min(m, n);
    for (std::int64_t matrix = 0; matrix < 5; matrix++) {
      const double* a = x.data<double>().data() + matrix * m * n;
      const double* q = got[0].data<double>().data() + matrix * m * k;
      const double* r = got[1].data<double>().data() + matrix * k * n;
      for (std::int64_t i = 0; i < m; i++) {
        for (std::int64_t j = 0; j < n; j++) {
          double product = 0;
          for (std::int64_t c = 0; c < k; c++) product += q[i * k + c] * r[c * n + j];
          EXPECT_NEAR(product, a[i * n + j], 1e-14);
        }
      }
      for (std::int64_t i = 0; i < k; i++) {
        for (std::int64_t j = 0; j < k; j++) {
          double product = 0;
          for (std::int64_t c = 0; c < m; c++) product += q[c * k + i] * q[c * k + j];
          EXPECT_NEAR(product, i == j ? 1 : 0, 1e-14);
          EXPECT_TRUE(j >= i || r[i * n + j] == 0);
        }
      }
      // A reflection makes the first element that of the other sign.
      EXPECT_TRUE(m == 1 || matrix == 4 || std::signbit(r[0]) != std::signbit(a[0]));
    }
  }
}

TEST(SmallMatrices, ExchangeRowsLikeThePlainLoop) {
  // Of whole numbers, so that there are ties.
  constexpr std::int64_t kMatrices = 40, n = 4;
  std::vector<double> values;
  std::mt19937 engine(3);
  for (std::int64_t i = 0; i < kMatrices * n * n; i++)
    values.push_back(static_cast<double>(engine() % 5) - 2);
  const Literal x = Literal::from(values, {kMatrices, n, n});
  const Function f =
      trace([](Tensor x) { return map([](Tensor matrix) { return lu(matrix); }, x); }, x);
  const std::vector<Literal> got = expect_agreement(f, {x});
  for (std::int64_t matrix = 0; matrix < kMatrices; matrix++) {
    double* a = values.data() + matrix * n * n;
    std::vector<std::int32_t> order{0, 1, 2, 3};
    for (std::int64_t k = 0; k < n; k++) {
      std::int64_t best = k;
      for (std::int64_t i = k + 1; i < n; i++) {
        if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
      }
      for (std::int64_t j = 0; j < n; j++) std::swap(a[k * n + j], a[best * n + j]);
      std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(best)]);
      for (std::int64_t i = k + 1; i < n; i++) {
        if (a[k * n + k] != 0) a[i * n + k] /= a[k * n + k];
        for (std::int64_t j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
      }
      EXPECT_EQ(got[1].data<std::int32_t>()[static_cast<std::size_t>(matrix * n + k)], best);
    }
    for (std::int64_t i = 0; i < n; i++) {
      EXPECT_EQ(got[2].data<std::int32_t>()[static_cast<std::size_t>(matrix * n + i)],
                order[static_cast<std::size_t>(i)]);
    }
    for (std::int64_t i = 0; i < n * n; i++)
      EXPECT_EQ(got[0].data<double>()[static_cast<std::size_t>(matrix * n * n + i)], a[i]);
  }
}

/// x of each trip solves (base + x x^T) x = [1, 1, ...], for each row of `starts`.
Tensor last_of_scans(Tensor base, Tensor starts, bool by_cholesky) {
  const auto step = [&](Tensor, Tensor x) {
    const Tensor a = base + outer(x, x), b = ones(x.type());
    return by_cholesky ? cho_solve(cholesky(a), b) : solve(a, b);
  };
  return vmap([&](Tensor start) { return fori_loop(0, 3, step, start); })(starts);
}

TEST(SmallMatrices, AreVectorizedOverABatchOfScans) {
  for (const bool by_cholesky : {true, false}) {
    for (const std::int64_t n : {1, 6}) {
      const auto last = [&](Tensor base, Tensor starts) {
        return last_of_scans(base, starts, by_cholesky);
      };
      const Literal base = definite({}, n, DType::kF64, 5);
      const Literal starts = random_values({16, n}, DType::kF64, 6);
      const Function f = trace(last, base, starts);
      (void)expect_agreement(f, {base, starts});
      if (!is_native()) continue;
      EXPECT_FALSE(calls_kernels(f));
      EXPECT_EQ(Lowered(f).vectorized_loops(), std::vector<std::int64_t>{16}) << Lowered(f);
    }
  }
}

TEST(SmallMatrices, HaveDerivativesInScans) {
  // Cholesky's derivatives are those for symmetric changes.
  const Literal half = definite({}, 3, DType::kF64, 7);
  const Literal starts = random_values({8, 3}, DType::kF64, 8);
  for (const bool by_cholesky : {true, false}) {
    const auto last = [&](Tensor half, Tensor starts) {
      return sum(last_of_scans(half + transpose(half), starts, by_cholesky));
    };
    check_grads(last, std::tuple(Tensor(half), Tensor(starts)), {.order = 1});
    const Function f = trace(grad<0, 1>(last), half, starts);
    EXPECT_EQ(calls_kernels(f), !is_native()) << f.str();
    EXPECT_EQ(Lowered(f).is_vectorized(), is_native()) << Lowered(f);
  }
}

TEST(SmallMatrices, OthersCallKernels) {
  for (const TensorType& type : {f64({9, 9}), TensorType{DType::kC128, {4, 4}}, f64({0, 0})}) {
    const Function f = trace([](Tensor x) { return std::pair(cholesky(x), lu(x).lu); }, type);
    EXPECT_TRUE(calls_kernels(f));
  }
}

}  // namespace
}  // namespace rondo
