// qr, eigh, svd and the functions that use them: products by plain loops, numpy's values,
// differences.
#include <cmath>
#include <limits>
#include <vector>

#include "ops/expanded.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

Literal some_matrices(const Shape& shape, std::uint64_t seed) {
  return random::normal(random::key(seed), {DType::kF64, shape}).eval();
}

/// Matrices [..., m, n] as rows, one after another.
struct HostMatrices {
  std::int64_t count = 1, rows, columns;
  std::vector<double> data;
  explicit HostMatrices(const Literal& x)
      : rows(x.shape()[x.type().rank() - 2]),
        columns(x.shape()[x.type().rank() - 1]),
        data(x.data<double>().begin(), x.data<double>().end()) {
    for (std::int64_t axis = 0; axis + 2 < x.type().rank(); axis++) count *= x.shape()[axis];
  }
  double at(std::int64_t matrix, std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>((matrix * rows + i) * columns + j)];
  }
};

/// a diag(s) b = want, where s may be missing.
void expect_product(const HostMatrices& a, const std::vector<double>& s, const HostMatrices& b,
                    const HostMatrices& want) {
  for (std::int64_t matrix = 0; matrix < want.count; matrix++) {
    for (std::int64_t i = 0; i < want.rows; i++) {
      for (std::int64_t j = 0; j < want.columns; j++) {
        double sum = 0;
        for (std::int64_t k = 0; k < a.columns; k++) {
          const double factor = s.empty() ? 1 : s[static_cast<std::size_t>(matrix * a.columns + k)];
          sum += a.at(matrix, i, k) * factor * b.at(matrix, k, j);
        }
        ASSERT_NEAR(sum, want.at(matrix, i, j), 1e-12) << matrix << " " << i << " " << j;
      }
    }
  }
}
void expect_orthonormal_columns(const HostMatrices& q) {
  for (std::int64_t matrix = 0; matrix < q.count; matrix++) {
    for (std::int64_t i = 0; i < q.columns; i++) {
      for (std::int64_t j = 0; j < q.columns; j++) {
        double sum = 0;
        for (std::int64_t k = 0; k < q.rows; k++) sum += q.at(matrix, k, i) * q.at(matrix, k, j);
        ASSERT_NEAR(sum, i == j ? 1 : 0, 1e-12);
      }
    }
  }
}
Literal turned(const Literal& x) {
  return (x.type().rank() == 2 ? transpose(x) : transpose(x, std::vector<std::int64_t>{0, 2, 1}))
      .eval();
}
std::vector<double> matrix_numbers(const Literal& x) {
  return {x.data<double>().begin(), x.data<double>().end()};
}

void check_qr(const Literal& a, const Literal& q, const Literal& r) {
  expect_product(HostMatrices(q), {}, HostMatrices(r), HostMatrices(a));
  expect_orthonormal_columns(HostMatrices(q));
  const HostMatrices upper(r);
  for (std::int64_t i = 0; i < upper.rows; i++) {
    for (std::int64_t j = 0; j < std::min(i, upper.columns); j++) EXPECT_EQ(upper.at(0, i, j), 0);
  }
}

TEST(Qr, IsNumpys) {
  const Qr f = qr(constant({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}, {7.0, 9.0}}));
  expect_close<double>(f.r, {2, 2}, {-9.16515138991168, -11.674657127625593, 0, 0.8380817098475277},
                       1e-13);
  expect_close<double>(
      f.q, {4, 2},
      {-0.10910894511799629, 0.8664912593338828, -0.3273268353539886, 0.21307162114767594,
       -0.5455447255899811, -0.44034801703853, -0.7637626158259735, 0.09943342320224886},
      1e-12);
}

TEST(Qr, FactorsMatricesOfAnyForm) {
  for (const auto& [m, n] : {std::pair(5, 5), std::pair(3, 6), std::pair(7, 4), std::pair(1, 1)}) {
    const Literal a = some_matrices({2, m, n}, 51);
    const Qr f = qr(a);
    check_qr(a, f.q.eval(), f.r.eval());
    const std::vector<Literal> loop = run_expanded(
        [](Tensor x) {
          const Qr g = qr(x);
          return std::pair(g.q, g.r);
        },
        a);
    expect_close<double>(loop[0], f.q.shape(), matrix_numbers(f.q.eval()), 1e-11, 1e-13);
    expect_close<double>(loop[1], f.r.shape(), matrix_numbers(f.r.eval()), 1e-11, 1e-13);
    if (m == 1) continue;
    check_grads(
        [](Tensor x) {
          const Qr g = qr(x);
          return std::pair(g.q, g.r);
        },
        std::tuple(Tensor(a)), {.order = m == n ? 2 : 1});
  }
  const Literal zero = Literal::zeros(f64({3, 2}));
  check_qr(zero, qr(zero).q.eval(), qr(zero).r.eval());
}

TEST(Eigh, FindsValuesAndVectors) {
  const Tensor row = convert(iota(s32({4, 4}), 0) + iota(s32({4, 4}), 1) + 1, DType::kF64);
  expect_close<double>(
      eigh(1 / row).values, {4},
      {9.670230402260876e-05, 0.006738273605760613, 0.16914122022145006, 1.5002142800592426},
      1e-10);
  const Literal half = some_matrices({2, 12, 12}, 52);
  const Literal x = (Tensor(half) + Tensor(turned(half))).eval();
  const auto parts = [](Tensor a) {
    const Eigh e = eigh(tril(a));  // only the lower triangle is read
    return std::pair(e.values, e.vectors);
  };
  const auto [values, vectors] = parts(x);
  const std::vector<Literal> loop = run_expanded(parts, x);
  for (const auto& [w, v] :
       {std::pair(values.eval(), vectors.eval()), std::pair(loop[0], loop[1])}) {
    expect_product(HostMatrices(v), matrix_numbers(w), HostMatrices(turned(v)), HostMatrices(x));
    expect_orthonormal_columns(HostMatrices(v));
    for (std::size_t i = 0; i + 1 < 12; i++)
      EXPECT_LE(matrix_numbers(w)[i], matrix_numbers(w)[i + 1]);
  }
  const Literal bad = eigh(constant({{1.0, 0.0}, {kNan * 1.0, 1.0}})).values.eval();
  EXPECT_TRUE(std::isnan(bad.data<double>()[0]) && std::isnan(bad.data<double>()[1]));
}

TEST(Eigh, HasDerivatives) {
  check_grads(
      [](Tensor half) {
        const Eigh e = eigh(half + transpose(half) + diag(constant({1.0, 3.0, 7.0})));
        return std::pair(e.values, e.vectors);
      },
      std::tuple(Tensor(some_matrices({3, 3}, 53)) * 0.2), {.order = 2});
}

void check_svd(const Literal& a, const Literal& u, const Literal& s, const Literal& vt) {
  expect_product(HostMatrices(u), matrix_numbers(s), HostMatrices(vt), HostMatrices(a));
  expect_orthonormal_columns(HostMatrices(u));
  expect_orthonormal_columns(HostMatrices(turned(vt)));
  const std::int64_t k = s.shape()[s.type().rank() - 1];
  for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(k); i++)
    EXPECT_GE(matrix_numbers(s)[i], matrix_numbers(s)[i + 1]);
}

TEST(Svd, FactorsMatricesOfAnyForm) {
  const auto parts = [](Tensor x) {
    const Svd f = svd(x);
    return std::tuple(f.u, f.s, f.vt);
  };
  for (const auto& [m, n] : {std::pair(4, 4), std::pair(3, 5), std::pair(6, 3), std::pair(1, 1)}) {
    const Literal a = some_matrices({2, m, n}, 54);
    const auto [u, s, vt] = parts(a);
    check_svd(a, u.eval(), s.eval(), vt.eval());
    const std::vector<Literal> loop = run_expanded(parts, a);
    check_svd(a, loop[0], loop[1], loop[2]);
    check_grads(parts, std::tuple(Tensor(a)), {.order = 1});
  }
  // Rank 1, and 0: bases are complete all the same.
  for (const Tensor& a : {outer(constant({1.0, 2.0, 2.0}), constant({0.0, 3.0})),
                          zeros(f64({3, 2})), zeros(f64({2, 3}))}) {
    const auto [u, s, vt] = parts(a);
    check_svd(a.eval(), u.eval(), s.eval(), vt.eval());
    const std::vector<Literal> loop = run_expanded(parts, a.eval());
    check_svd(a.eval(), loop[0], loop[1], loop[2]);
  }
  // Small singular values too are accurate: of a matrix with columns of very different size.
  const Tensor graded = matmul(qr(some_matrices({4, 2}, 55)).q, diag(constant({1.0, 1e-30})));
  expect_close<double>(svd(graded).s, {2}, {1, 1e-30}, 1e-13);
}

TEST(Svd, GivesLeastSquares) {
  const Tensor a = constant({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}, {7.0, 9.0}});
  expect_close<double>(lstsq(a, constant({1.0, 2.0, 3.0, 5.0})), {2},
                       {-0.03389830508474631, 0.5593220338983057}, 1e-12);
  expect_close<double>(
      lstsq(transpose(a), constant({1.0, 2.0})), {4},
      {0.7627118644067773, 0.22033898305084637, -0.32203389830508217, 0.16949152542372822}, 1e-12);
  expect_close<double>(
      pinv(a), {2, 4},
      {-1.30508474576271, -0.2881355932203382, 0.728813559322032, -0.06779661016949126,
       1.0338983050847441, 0.2542372881355926, -0.5254237288135577, 0.11864406779661009},
      1e-11);
  // Of rank 1: (1, 2)^T (1, 1) has the inverse (1, 1)^T (1, 2) / 10.
  expect_close<double>(pinv(constant({{1.0, 1.0}, {2.0, 2.0}})), {2, 2}, {0.1, 0.2, 0.1, 0.2},
                       1e-13);
  check_grads([](Tensor x) { return pinv(x); }, std::tuple(a), {.order = 2});
  check_grads([](Tensor x) { return pinv(x); }, std::tuple(transpose(a)), {.order = 1});
  check_grads(
      [](Tensor x, Tensor y) { return lstsq(x, y); },
      std::tuple(Tensor(some_matrices({2, 4, 2}, 56)), Tensor(some_matrices({2, 4, 3}, 57))),
      {.order = 1});
}

TEST(Expm, IsScipys) {
  const auto turn = [](double angle) { return constant({{0.0, angle}, {-angle, 0.0}}); };
  for (const double angle : {0.0, 0.1, 1.0, 100.0}) {
    expect_close<double>(expm(turn(angle)), {2, 2},
                         {std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle)},
                         1e-12, 1e-12);
  }
  // Each matrix by its own norm.
  expect_close<double>(
      expm(stack({diag(constant({1.0, -2.0})), diag(constant({30.0, 5.0}))}, 0)), {2, 2, 2},
      {std::exp(1.0), 0, 0, std::exp(-2.0), std::exp(30.0), 0, 0, std::exp(5.0)}, 1e-12, 1e-12);
  expect_close<float>(expm(constant({{1.0f, 2.0f}, {0.0f, 1.0f}})), {2, 2},
                      {2.7182817f, 5.4365635f, 0, 2.7182817f}, 1e-6, 1e-6);
  EXPECT_TRUE(std::isnan(expm(turn(1e9)).eval().data<double>()[0]));
  check_grads([](Tensor x) { return expm(x); },
              std::tuple(Tensor(some_matrices({2, 3, 3}, 58)) * 3), {.order = 1});
}

TEST(Decompositions, SayWhatTheyTake) {
  expect_error([] { (void)eigh(zeros(f64({2, 3}))); }, {"eigh", "square"});
  expect_error([] { (void)eigh(zeros(s32({2, 2}))); }, {"eigh"});
  expect_error([] { (void)svd(zeros(f64({2}))); }, {"svd", "2 axes"});
  expect_error([] { (void)expm(zeros(f64({2, 3}))); }, {"expm", "square"});
  expect_error([] { (void)lstsq(zeros(f64({2, 3})), zeros(f64({3}))); }, {"lstsq", "do not fit"});
}

}  // namespace
}  // namespace rondo
