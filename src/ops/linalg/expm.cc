// The exponential of a matrix: Padé approximants with scaling and squaring (Higham, The scaling and
// squaring method for the matrix exponential revisited, 2005).
#include <cmath>
#include <vector>

#include "ops/linalg/linalg.h"
#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

/// Squarings at most, as in JAX.
constexpr int kSquarings = 16;

/// The degree of numerator and denominator, and the 1-norm up to which their error is below the
/// rounding: Higham's table 2.3 for f64, his bounds for f32.
struct Pade {
  int degree;
  double norm;
};
Pade pade_for(DType dtype) {
  const bool single = dtype == DType::kF32 || dtype == DType::kC64;
  return single ? Pade{7, 3.925724783138660} : Pade{13, 5.371920351148152};
}

/// The coefficients of the numerator, (2 m - i)! m! / ((2 m)! i! (m - i)!), relative to the last.
std::vector<double> pade_coefficients(int m) {
  std::vector<double> b(static_cast<std::size_t>(m + 1));
  b[static_cast<std::size_t>(m)] = 1;
  for (int i = m; i > 0; i--) {
    // b[i - 1] / b[i]
    b[static_cast<std::size_t>(i - 1)] = b[static_cast<std::size_t>(i)] *
                                         static_cast<double>(i * (2 * m - i + 1)) /
                                         static_cast<double>(m - i + 1);
  }
  return b;
}

/// (q(-x))^-1 q(x), from the even powers of x.
Tensor pade(const Tensor& x, int degree, SourceLocation at) {
  const std::vector<double> b = pade_coefficients(degree);
  const Tensor one = identities_like(x), square = matmul(x, x);
  Tensor even_power = one, even = b[0] * one, odd = b[1] * one;
  for (std::size_t i = 2; i < b.size(); i += 2) {
    even_power = i == 2 ? square : matmul(even_power, square);
    even = even + b[i] * even_power;
    odd = odd + b[i + 1] * even_power;
  }
  odd = matmul(x, odd);
  return differentiable_solution(even - odd, even + odd, at);
}

}  // namespace

}  // namespace rondo::ops

namespace rondo {

Tensor expm(const Operand& a) {
  const ops::Helper helper("expm", a.at());
  Tensor given = helper.inexact(a);
  const Tensor x = ops::in_wide_dtype(given);
  if (x.rank() < 2 || x.dim(x.rank() - 2) != x.dim(x.rank() - 1)) {
    helper.fail(
        fmt::format("the operand is {}; its last two axes must be square\n  Give square matrices.",
                    given.type().str()));
  }
  if (x.type().elements() == 0) return given;
  const auto [degree, limit] = ops::pade_for(x.dtype());
  const Tensor norm = stop_gradient(max(sum(abs(x), {-2}), {-1}));
  const Tensor wanted = ceil(maximum(log(norm / limit) / std::log(2.0), 0));
  // NaN and norms that are too large: no squarings, and NaN.
  const Tensor fits = wanted <= ops::kSquarings;
  const Tensor squarings = where(fits, wanted, 0);
  std::vector<double> halves;  // exact powers of two
  for (int i = 0; i <= ops::kSquarings; i++) halves.push_back(std::ldexp(1.0, -i));
  const Tensor scale =
      where(fits, take(convert(constant(halves), norm.dtype()), convert(squarings, DType::kS32), 0),
            std::numeric_limits<double>::quiet_NaN());
  const auto on_matrices = [](const Tensor& t) { return expand_dims(expand_dims(t, -1), -1); };
  const Tensor scaled = x * ops::in_dtype(on_matrices(scale), x.dtype());
  const auto most = convert(max(squarings), DType::kS32);
  const auto [count, power] =
      while_loop([&](Tensor i, Tensor) { return i < most; },
                 [&](Tensor i, Tensor last) {
                   const Tensor counts = on_matrices(convert(i, squarings.dtype()) < squarings);
                   const Tensor chosen = broadcast_to(counts, last.shape().vector());
                   return std::tuple(i + 1, where(chosen, matmul(last, last), last));
                 },
                 std::tuple(Tensor(0), ops::pade(scaled, degree, helper.at())),
                 {.max_trip_count = ops::kSquarings, .name = "expm"});
  return ops::in_dtype(power, given.dtype());
}

}  // namespace rondo
