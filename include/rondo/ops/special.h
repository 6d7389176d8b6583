// Special functions: the gamma function and its relatives, Bessel functions, entropies, and the
// normal distribution. Names and conventions are SciPy's and JAX's.
//
// All take floats, element by element: several operands are broadcast, must agree in dtype, and
// throw TraceError otherwise, as those of rondo/ops/elementwise.h. All dtypes are computed in f64
// and rounded once, except for sinc, which is computed in the dtype itself, f16 and bf16 in f32 op
// by op, and next_after. docs/ops.md has the measured errors.
#pragma once

#include <cstdint>

#include "rondo/export.h"
#include "rondo/tensor.h"

namespace rondo {

// The gamma function.

/// log |gamma(x)|; infinite at the poles 0, -1, -2, ... and at both infinities. Its derivative is
/// digamma.
RONDO_API Tensor lgamma(const Operand& x);
/// The derivative of lgamma; NaN at the poles and at -infinity.
RONDO_API Tensor digamma(const Operand& x);
/// The derivative of digamma of order n: (-1)^(n+1) n! zeta(n + 1, x), for negative x by
/// reflection. For n = 0 digamma; for n > 0 infinite at the poles. Throws TraceError if n is
/// negative or above 170.
RONDO_API Tensor polygamma(std::int64_t n, const Operand& x);
/// Hurwitz's zeta function, the sum over k >= 0 of 1 / (q + k)^s, for s > 1. Infinite for s = 1 and
/// for q = 0, -1, -2, ...; NaN for s < 1, for negative q unless s is a whole number, and for q
/// below -8. Differentiable by both.
RONDO_API Tensor zeta(const Operand& s, const Operand& q);
/// log |beta(a, b)| = lgamma(a) + lgamma(b) - lgamma(a + b), also where these are large.
RONDO_API Tensor betaln(const Operand& a, const Operand& b);

/// The regularized lower incomplete gamma function P(a, x), the integral of t^(a-1) e^-t from 0 to
/// x divided by gamma(a): the distribution function of a gamma-distributed number of shape a. NaN
/// unless a and x are at least 0; 1 for a = 0 and x > 0. By its series or its continued fraction,
/// in a loop. The derivative by a is NaN from a = 1e5 on; a second derivative by a is that of its
/// loop.
RONDO_API Tensor gammainc(const Operand& a, const Operand& x);
/// The upper one, Q(a, x) = 1 - P(a, x), accurate where it is small too.
RONDO_API Tensor gammaincc(const Operand& a, const Operand& x);
/// The regularized incomplete beta function, the integral of t^(a-1) (1-t)^(b-1) from 0 to x
/// divided by beta(a, b). NaN unless a and b are at least 0, not both 0, and x is in [0, 1]. By a
/// continued fraction, in a loop. Differentiable by x; a derivative by a or b is a TraceError, as
/// in JAX.
RONDO_API Tensor betainc(const Operand& a, const Operand& b, const Operand& x);

// Modified Bessel functions of the first kind.

/// e^-|x| I0(x).
RONDO_API Tensor bessel_i0e(const Operand& x);
/// e^-|x| I1(x).
RONDO_API Tensor bessel_i1e(const Operand& x);

// Entropies.

/// x log(y), and 0 for x = 0 unless y is NaN.
RONDO_API Tensor xlogy(const Operand& x, const Operand& y);
/// -x log(x), 0 for 0, -infinity for negative x.
RONDO_API Tensor entr(const Operand& x);

// The normal distribution.

/// The distribution function of the normal distribution of mean 0 and variance 1.
RONDO_API Tensor ndtr(const Operand& x);
/// The inverse of ndtr: infinite for 0 and 1, NaN outside of [0, 1].
RONDO_API Tensor ndtri(const Operand& p);

// Others.

/// sin(pi x) / (pi x), 1 for 0; all derivatives are accurate near 0.
RONDO_API Tensor sinc(const Operand& x);
/// The next number from x towards y in their dtype; y if both are equal. Its derivative is 0.
RONDO_API Tensor next_after(const Operand& x, const Operand& y);

}  // namespace rondo
