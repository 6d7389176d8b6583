// Factorisations in real XLA: its own ops for cholesky and triangular_solve, loops for the others.
#include <vector>

#include "xla/check.h"

namespace rondo::testing {
namespace {

class XlaLinearAlgebra : public XlaTest {};

Literal drawn(const Shape& shape, std::uint64_t seed) {
  return random::normal(random::key(seed), {DType::kF64, shape}).eval();
}
/// Systems magnify rounding errors by their condition.
template <class F, class... Literals>
void check_near(F&& f, const Literals&... arguments) {
  expect_same_as_xla(trace(f, arguments...), {arguments...}, {.rtol = 1e-10, .atol = 1e-12});
}
/// Programs of loops and ops that other tests have in HLO text.
template <class F, class... Literals>
void check_loops(F&& f, const Literals&... arguments) {
  expect_same_as_xla(trace(f, arguments...), {arguments...}, {.rtol = 1e-10, .atol = 1e-12},
                     XlaTexts::kStablehlo);
}

/// Symmetric, with eigenvalues that differ and are positive.
Tensor symmetric(const Tensor& x) {
  return matmul(x, transpose(x)) + diag(constant({1.0, 2.0, 4.0, 8.0}));
}

TEST_F(XlaLinearAlgebra, CholeskyIsItsOp) {
  check_near([](Tensor x) { return cholesky(symmetric(x)); }, drawn({4, 4}, 1));
  check_near(
      [](Tensor x) { return cholesky(x); },
      constant({4.0, 0.0, 2.0, 5.0, 1.0, 0.0, 2.0, 1.0}, {2, 2, 2}).eval());  // one is indefinite
  check_near(grad([](Tensor x) { return sum(sin(cholesky(symmetric(x)))); }), drawn({4, 4}, 2));
}

TEST_F(XlaLinearAlgebra, TriangularSolveIsItsOp) {
  check_near(
      [](Tensor a, Tensor b) {
        const Tensor x = a + 3 * eye(4, DType::kF64);
        std::vector<Tensor> solutions;
        for (int choice = 0; choice < 16; choice++) {
          solutions.push_back(triangular_solve(x, b,
                                               {.left_side = (choice & 1) != 0,
                                                .lower = (choice & 2) != 0,
                                                .unit_diagonal = (choice & 4) != 0,
                                                .transpose_a = (choice & 8) != 0}));
        }
        return solutions;
      },
      drawn({2, 4, 4}, 3), drawn({2, 4, 4}, 4));
}

TEST_F(XlaLinearAlgebra, OtherFactorsAreLoops) {
  check_loops(
      [](Tensor x) {
        const Lu f = lu(x);
        return std::tuple(f.lu, f.pivots, f.permutation, det(x), inv(x));
      },
      drawn({2, 4, 4}, 5));
  check_loops(
      [](Tensor x) {
        const Qr f = qr(x);
        return std::pair(f.q, f.r);
      },
      drawn({5, 3}, 6));
  check_loops(
      [](Tensor x) {
        const Eigh f = eigh(symmetric(x));
        const Svd g = svd(x);
        return std::tuple(f.values, abs(f.vectors), g.s, abs(g.u), abs(g.vt));
      },
      drawn({4, 4}, 7));
  check_loops(
      [](Tensor x) {
        const Tensor z = complex(x, sin(transpose(x)));
        const Eigh f = eigh(z + conj(transpose(z)));
        const Svd g = svd(z);
        return std::tuple(f.values, abs(f.vectors), g.s, abs(g.u), abs(g.vt));
      },
      drawn({4, 4}, 10));
  check_loops([](Tensor x) { return std::pair(expm(x), pinv(x)); }, drawn({3, 3}, 8));
  check_loops(grad([](Tensor x) { return sum(sin(solve(symmetric(x), x))); }), drawn({4, 4}, 9));
}

}  // namespace
}  // namespace rondo::testing
