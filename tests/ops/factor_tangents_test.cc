// Derivatives of cholesky and lu by blocks: against the formulas for whole matrices, and
// differences.
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "ir/node.h"
#include "ops/linalg/blocks.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

const std::int64_t kSizes[] = {1, 15, 16, 17, 33, 64, 90, 131};

Tensor numbers_of(DType dtype, const Shape& shape, std::uint64_t seed) {
  const auto part = [&](std::uint64_t key) {
    return Tensor(random::normal(random::key(key), {DType::kF64, shape}).eval());
  };
  return convert(is_complex(dtype) ? complex(part(seed), part(seed + 100)) : part(seed), dtype);
}
Tensor conjugate_transpose(const Tensor& x) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < x.rank(); i++) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const Tensor y = transpose(x, order);
  return is_complex(x.dtype()) ? conj(y) : y;
}
/// With a positive diagonal that dominates.
Tensor definite(const Tensor& half) {
  const std::int64_t n = half.dim(-1);
  return (half + conjugate_transpose(half)) * 0.1 +
         2 * static_cast<double>(n) * eye(n, half.dtype());
}

void expect_equal(const Tensor& got, const Tensor& want, double error) {
  ASSERT_EQ(got.type(), want.type());
  const Tensor most = max(abs(got - want)), scale = max(abs(want)) + 1;
  EXPECT_LE((convert(most / scale, DType::kF64).eval().data<double>()[0]), error);
}

Tensor halved(const Tensor& x) { return tril(x, -1) + 0.5 * (tril(x) - tril(x, -1)); }

/// Murray's formula, for the whole matrix.
Tensor whole_cholesky_tangent(const Tensor& l, const Tensor& dx) {
  const Tensor change = 0.5 * (dx + conjugate_transpose(dx));
  const Tensor left = triangular_solve(l, change);
  return matmul(l, halved(conjugate_transpose(triangular_solve(l, conjugate_transpose(left)))));
}

struct Rounding {
  DType dtype;
  double error;
};
constexpr Rounding kRoundings[] = {
    {DType::kF32, 1e-4}, {DType::kF64, 1e-13}, {DType::kC64, 1e-4}, {DType::kC128, 1e-13}};

Tensor sum_of_parts(const Tensor& x) { return is_complex(x.dtype()) ? sum(real(x)) : sum(x); }

/// The pullback of f is the transpose of its tangent; of a complex one that is linear in the parts.
template <class F>
void expect_transposed(F f, const Tensor& x, const Tensor& dx, double error) {
  const auto [y, dy] = jvp(f, std::tuple(x), std::tuple(dx));
  const Tensor ct = numbers_of(y.dtype(), y.shape(), 7);
  const auto pullback = vjp(f, x).second;
  const Tensor of_x = std::get<0>(pullback(ct));
  expect_equal(sum_of_parts(of_x * dx), sum_of_parts(ct * dy), error * 100);
}

TEST(FactorTangents, CholeskyIsThatOfTheWholeMatrix) {
  for (const auto& [dtype, error] : kRoundings) {
    for (const std::int64_t n : kSizes) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " of " + std::to_string(n) + " rows");
      const Shape shape = n == 33 ? Shape{2, 3, n, n} : Shape{n, n};
      const Tensor x = definite(numbers_of(dtype, shape, 1)), dx = numbers_of(dtype, shape, 2);
      const auto f = [](Tensor a) { return cholesky(a); };
      const auto [l, dl] = jvp(f, std::tuple(x), std::tuple(dx));
      expect_equal(dl, whole_cholesky_tangent(l, dx), error);
      expect_transposed(f, x, dx, error);
    }
  }
}

/// With l and u of square matrices: x = l^-1 P da u^-1 is dl below the diagonal, seen from l, and
/// du above it, seen from u.
Tensor whole_lu_tangent(const Lu& f, const Tensor& da) {
  const std::int64_t n = da.dim(-1);
  const Tensor l = tril(f.lu, -1) + eye(n, da.dtype()), u = triu(f.lu);
  const Tensor left = triangular_solve(l, take(da, f.permutation, 0));
  const Tensor x = triangular_solve(u, left, {.left_side = false, .lower = false});
  return matmul(l, tril(x, -1)) + matmul(triu(x), u);
}

TEST(FactorTangents, LuIsThatOfTheWholeMatrix) {
  for (const auto& [dtype, error] : kRoundings) {
    for (const std::int64_t n : kSizes) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " of " + std::to_string(n) + " rows");
      const Tensor noise = numbers_of(dtype, {n, n}, 3), dx = numbers_of(dtype, {n, n}, 4);
      // Its rows in another order.
      const Tensor x = reverse(noise * 0.1 + 2 * static_cast<double>(n) * eye(n, dtype), {0});
      const auto f = [](Tensor a) { return lu(a).lu; };
      const auto [y, dy] = jvp(f, std::tuple(x), std::tuple(dx));
      expect_equal(dy, whole_lu_tangent(lu(x), dx), error);
      expect_transposed(f, x, dx, error);
    }
  }
}

/// What l u = P a says about the tangents of l and u, of any form.
TEST(FactorTangents, LuOfAnyFormHasTheTangentOfItsProduct) {
  struct Form {
    std::int64_t m, n;
  };
  for (const Form& form :
       {Form{40, 90}, Form{90, 40}, Form{1, 50}, Form{50, 1}, Form{70, 33}, Form{12, 15}}) {
    const std::int64_t m = form.m, n = form.n;
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    const std::int64_t k = std::min(m, n);
    const Tensor x = numbers_of(DType::kF64, {2, m, n}, 5),
                 dx = numbers_of(DType::kF64, {2, m, n}, 6);
    const Tensor order = lu(x).permutation;
    const auto product = [&](Tensor a) {
      const Tensor packed = lu(a).lu;
      const Tensor lower = tril(slice(packed, {0, 0, 0}, {2, m, k}), -1);
      return matmul(lower, triu(slice(packed, {0, 0, 0}, {2, k, n}))) +
             pad(triu(slice(packed, {0, 0, 0}, {2, k, n})), 0, {0, 0, 0}, {0, m - k, 0});
    };
    const auto [y, dy] = jvp(product, std::tuple(x), std::tuple(dx));
    for (std::int64_t i = 0; i < 2; i++) {
      expect_equal(y[i], take(x[i], order[i], 0), 1e-12);
      expect_equal(dy[i], take(dx[i], order[i], 0), 1e-11);
    }
    expect_transposed([](Tensor a) { return lu(a).lu; }, x, dx, 1e-11);
  }
}

TEST(FactorTangents, HaveDerivativesOfTheirOwn) {
  const std::int64_t n = 2 * ops::kWholeRows + 5;
  const Tensor at = numbers_of(DType::kF64, {n, n}, 8) * 0.1;
  const auto factor = [](Tensor x) { return cholesky(definite(x)); };
  check_grads(factor, std::tuple(at), {.order = 2});
  check_grads([&](Tensor x) { return lu(x + 3 * eye(n, DType::kF64)).lu; }, std::tuple(at),
              {.order = 2});
  // The change of a gradient, by both modes.
  const Tensor weights = numbers_of(DType::kF64, {n, n}, 9),
               dx = numbers_of(DType::kF64, {n, n}, 10);
  const auto slope = grad([&](Tensor x) { return sum(weights * sin(factor(x))); });
  const Tensor forward = jvp(slope, std::tuple(at), std::tuple(dx)).second;
  const Tensor reverse = grad([&](Tensor x) { return sum(slope(x) * dx); })(at);
  expect_equal(reverse, forward, 1e-12);
}

TEST(FactorTangents, OfIndefiniteMatricesAreNan) {
  const std::int64_t n = 80;
  const Tensor x = eye(n, DType::kF64), at_end = where(iota(s32({n, n}), 0) == n - 1, -x, x);
  const Tensor slope = grad([](Tensor a) { return sum(cholesky(a)); })(at_end);
  const Literal all = slope.eval();
  for (const double element : all.data<double>()) ASSERT_TRUE(std::isnan(element));
}

/// Products of two numbers in all products and solves of matrices.
double products_in(const Function& f) {
  double count = 0;
  for (const ir::Node* node : f.body()) {
    const bool solves = node->op->name == "triangular_solve";
    if (!solves && node->op->name != "dot_general") continue;
    const Shape &of_a = node->operand_type(0).shape, &of_b = node->operand_type(1).shape;
    const double terms = static_cast<double>(of_a[0] * of_a[1]);
    const double all = static_cast<double>(of_b[0] * of_b[1]);
    if (solves) {
      count += terms * all / static_cast<double>(of_a[0]) / 2;
    } else {
      // sqrt of (m k) (k n) (m n)
      const double result = static_cast<double>(node->type().elements());
      count += std::sqrt(terms * all * result);
    }
  }
  return count;
}

/// A factorisation has n^3 / 6 products, elimination n^3 / 3; whole matrices take twelve and nine
/// times as many for the gradient.
TEST(FactorTangents, TakeFewTimesTheProductsOfTheValue) {
  const std::int64_t n = 512;
  const double cube = static_cast<double>(n * n * n);
  const auto gradient = [&](auto f) {
    return trace(grad([&](Tensor x) { return sum(f(x) * f(x)); }), f64({n, n}));
  };
  const Function of_cholesky = gradient([](Tensor x) { return cholesky(x); });
  const Function of_lu = gradient([](Tensor x) { return lu(x).lu; });
  EXPECT_LT(products_in(of_cholesky), 3.0 * cube / 6);
  EXPECT_LT(products_in(of_lu), 3.0 * cube / 3);
  // Their number grows with the number of blocks.
  const auto ops_of = [&](std::int64_t rows) {
    return trace(grad([](Tensor x) { return sum(cholesky(x)); }), f64({rows, rows})).body().size();
  };
  EXPECT_LT(ops_of(1024), 2.2 * static_cast<double>(ops_of(512)));
}

}  // namespace
}  // namespace rondo
