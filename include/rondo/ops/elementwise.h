// Elementwise ops.
//
// Several operands are broadcast by NumPy's rules, a C++ scalar takes the dtype of the tensor
// operands, and tensors must agree in dtype. All functions throw TraceError on dtypes that differ
// or that the op does not support, on shapes that do not broadcast, and on a scalar that the dtype
// cannot represent. f16 and bf16 are computed in f32 and rounded once. Denormal numbers are kept.
// The operators are in rondo/tensor.h.
#pragma once

#include "rondo/export.h"
#include "rondo/tensor.h"

namespace rondo {

// Arithmetic on one operand.

/// |x|. For a complex number its modulus, in the dtype of its parts; for the lowest signed integer
/// that integer. The derivative is 1 at 0.
RONDO_API Tensor abs(const Operand& x);
/// -1, 0 or 1 with the sign of x; NaN and -0 are unchanged. x / |x| for a complex number, 0 for 0.
RONDO_API Tensor sign(const Operand& x);
/// x * x.
RONDO_API Tensor square(const Operand& x);
/// 1 / x, for floats and complex numbers.
RONDO_API Tensor reciprocal(const Operand& x);

// Rounding of floats to whole numbers.

/// The greatest whole number that is at most x, in the dtype of x; infinities, NaN and -0 are
/// unchanged. Throws TraceError unless x is a float. The derivative is 0, at jumps too.
RONDO_API Tensor floor(const Operand& x);
/// The least whole number that is at least x: -0 for x in (-1, 0). Dtypes and derivative as for
/// floor.
RONDO_API Tensor ceil(const Operand& x);
/// The nearest whole number, halves to even. Dtypes and derivative as for floor.
RONDO_API Tensor round(const Operand& x);
/// The nearest whole number, halves away from zero, as C's round.
RONDO_API Tensor round_half_away(const Operand& x);

// Powers, exponentials and logarithms, of floats and complex numbers. Complex ones have their
// branch cut along the negative real axis, as in C.

/// e^x; infinite where it overflows, from about 88.7 in f32 and 709.8 in f64. Throws TraceError for
/// integers and pred. The derivative is exp(x).
RONDO_API Tensor exp(const Operand& x);
/// exp(x) - 1, accurate for small x too.
RONDO_API Tensor expm1(const Operand& x);
/// The natural logarithm: NaN for negative numbers, -inf for 0. Floats and complex numbers. The
/// derivative is 1 / x.
RONDO_API Tensor log(const Operand& x);
/// log(1 + x), accurate for small x too.
RONDO_API Tensor log1p(const Operand& x);
/// The square root; NaN for negative numbers, -0 for -0. Of complex numbers the one with a real
/// part that is not negative. Throws TraceError for integers and pred. The derivative 1 / (2
/// sqrt(x)) is infinite at 0.
RONDO_API Tensor sqrt(const Operand& x);
/// 1 / sqrt(x).
RONDO_API Tensor rsqrt(const Operand& x);
/// The real cube root; of a complex number the principal one.
RONDO_API Tensor cbrt(const Operand& x);
/// 1 / (1 + exp(-x)).
RONDO_API Tensor logistic(const Operand& x);
/// x^y. Integers by repeated squaring, wrapping; a negative exponent gives 0 except for the bases 1
/// and -1. Floats like C's pow: x^0 and 1^y are 1 even if the other operand is NaN.
RONDO_API Tensor pow(const Operand& x, const Operand& y);

// Circular and hyperbolic functions and their inverses, of floats and complex numbers. Angles are
// in radians. The inverses have the branch cuts of C's functions.

/// The sine; NaN for infinities. Floats and complex numbers. The derivative is cos(x).
RONDO_API Tensor sin(const Operand& x);
/// The cosine; NaN for infinities. Floats and complex numbers. The derivative is -sin(x).
RONDO_API Tensor cos(const Operand& x);
/// The tangent; NaN for infinities. Floats and complex numbers. The derivative is 1 + tan(x)^2.
RONDO_API Tensor tan(const Operand& x);
/// The hyperbolic sine, (e^x - e^-x) / 2, accurate for small x too. Floats and complex numbers. The
/// derivative is cosh(x).
RONDO_API Tensor sinh(const Operand& x);
/// The hyperbolic cosine, (e^x + e^-x) / 2. Floats and complex numbers. The derivative is sinh(x).
RONDO_API Tensor cosh(const Operand& x);
/// The hyperbolic tangent, sinh(x) / cosh(x): -1 and 1 at the infinities. Floats and complex
/// numbers. The derivative is 1 - tanh(x)^2.
RONDO_API Tensor tanh(const Operand& x);
/// The inverse of sin, in [-pi/2, pi/2]; NaN for real numbers outside of [-1, 1]. Floats and
/// complex numbers. The derivative 1 / sqrt(1 - x^2) is infinite at -1 and 1.
RONDO_API Tensor asin(const Operand& x);
/// The inverse of cos, in [0, pi]; NaN for real numbers outside of [-1, 1]. Floats and complex
/// numbers. The derivative -1 / sqrt(1 - x^2) is -infinity at -1 and 1.
RONDO_API Tensor acos(const Operand& x);
/// The inverse of tan, in [-pi/2, pi/2]. Floats and complex numbers. The derivative is 1 / (1 +
/// x^2). For the angle of a point take atan2.
RONDO_API Tensor atan(const Operand& x);
/// The inverse of sinh. Floats and complex numbers. The derivative is 1 / sqrt(1 + x^2).
RONDO_API Tensor asinh(const Operand& x);
/// The inverse of cosh, from 0; NaN for real numbers below 1. Floats and complex numbers. The
/// derivative 1 / sqrt(x^2 - 1) is infinite at 1.
RONDO_API Tensor acosh(const Operand& x);
/// The inverse of tanh: infinite at -1 and 1, NaN for real numbers beyond. Floats and complex
/// numbers. The derivative is 1 / (1 - x^2).
RONDO_API Tensor atanh(const Operand& x);
/// The angle of the point (x, y), in [-pi, pi]; floats only.
RONDO_API Tensor atan2(const Operand& y, const Operand& x);
/// sqrt(x^2 + y^2) without intermediate overflow; floats only. Infinite if one operand is, even if
/// the other is NaN.
RONDO_API Tensor hypot(const Operand& x, const Operand& y);

// The error function 2/sqrt(pi) * integral of exp(-t^2) from 0 to x, and 1 - erf(x), accurate for
// large x too; floats only.

/// The error function: from -1 to 1, odd. Throws TraceError unless x is a float. The derivative is
/// 2 / sqrt(pi) exp(-x^2).
RONDO_API Tensor erf(const Operand& x);
/// 1 - erf(x), computed without that difference, so that it is accurate where it is small. Throws
/// TraceError unless x is a float. The derivative is -2 / sqrt(pi) exp(-x^2).
RONDO_API Tensor erfc(const Operand& x);
/// The inverse of erf on (-1, 1); floats only. Infinite at -1 and 1, NaN outside. Uses the
/// polynomials of M. Giles, "Approximating the erfinv function", 2010, like XLA: relative error
/// about 1e-6 in f32, 1e-15 in f64.
RONDO_API Tensor erf_inv(const Operand& x);

// Classification of numbers; the results are pred.

/// Whether x is neither infinite nor NaN; for a complex number both its parts.
RONDO_API Tensor is_finite(const Operand& x);
/// Whether x is infinite, of either sign; for a complex number any of its parts.
RONDO_API Tensor is_inf(const Operand& x);
/// Whether x is NaN; for a complex number any of its parts.
RONDO_API Tensor is_nan(const Operand& x);

// Complex numbers.

/// The real part; of a real number the number itself.
RONDO_API Tensor real(const Operand& x);
/// The imaginary part; 0 for a real number.
RONDO_API Tensor imag(const Operand& x);
/// The complex conjugate; of a real number the number itself.
RONDO_API Tensor conj(const Operand& x);
/// A complex number from two f32 or f64.
RONDO_API Tensor complex(const Operand& re, const Operand& im);

// Selection among ordered numbers: pred, integers, floats.

/// The greater of a and b; NaN if either is; +0 counts as greater than -0. pred, integers and
/// floats: throws TraceError for complex numbers. The derivative goes to the greater operand, half
/// to each where both are equal.
RONDO_API Tensor maximum(const Operand& a, const Operand& b);
/// The lesser of a and b; NaN if either is; -0 counts as less than +0. pred, integers and floats:
/// throws TraceError for complex numbers. The derivative goes to the lesser operand, half to each
/// where both are equal.
RONDO_API Tensor minimum(const Operand& a, const Operand& b);
/// min(max(lo, x), hi): hi if lo > hi, NaN if any of the three is; integers and floats. The
/// derivative by x is 1 between the bounds, and 0 outside and at them.
RONDO_API Tensor clamp(const Operand& lo, const Operand& x, const Operand& hi);
/// a where `predicate` is true, b elsewhere. The predicate must be pred; it is broadcast too.
RONDO_API Tensor where(const Operand& predicate, const Operand& a, const Operand& b);

/// The remainder of truncating division, with the sign of a: integer a % 0 is a, floating NaN. The
/// same as a % b.
RONDO_API Tensor rem(const Operand& a, const Operand& b);
/// a - b * floor_divide(a, b): has the divisor's sign, like Python's %. Integer mod(a, 0) is a.
RONDO_API Tensor mod(const Operand& a, const Operand& b);
/// The greatest whole number that is at most a / b, like Python's //. Integer division by zero is
/// as in operator/.
RONDO_API Tensor floor_divide(const Operand& a, const Operand& b);

// Comparisons by name; the same as == and !=.

/// pred: a == b, element by element. Any dtype; NaN equals nothing. For C++ scalars on both sides,
/// where == would compare numbers.
RONDO_API Tensor eq(const Operand& a, const Operand& b);
/// pred: a != b, element by element: the negation of eq.
RONDO_API Tensor ne(const Operand& a, const Operand& b);

// Bits of integers. Shifts by a negative amount count as shifts by more than the width.

/// The bits shifted to the left; 0 for shifts by the width or more. The same as x << amount.
RONDO_API Tensor shift_left(const Operand& x, const Operand& amount);
/// The bits shifted to the right, with zeros from the left, whatever the sign; 0 for shifts by the
/// width or more.
RONDO_API Tensor shift_right_logical(const Operand& x, const Operand& amount);
/// The bits shifted to the right, with copies of the highest bit from the left, for unsigned dtypes
/// too; only those for shifts by the width or more.
RONDO_API Tensor shift_right_arithmetic(const Operand& x, const Operand& amount);
/// The number of ones in two's complement.
RONDO_API Tensor popcount(const Operand& x);
/// The number of zeros above the highest one; the width for 0.
RONDO_API Tensor count_leading_zeros(const Operand& x);

// Logic on any dtype: what is not 0 is true (NaN too). The operands may differ in dtype; the result
// is pred.

/// pred: whether both a and b are true. Both are evaluated, unlike the operands of C++'s &&.
RONDO_API Tensor logical_and(const Operand& a, const Operand& b);
/// pred: whether a or b is true, or both. Both are evaluated, unlike the operands of C++'s ||.
RONDO_API Tensor logical_or(const Operand& a, const Operand& b);
/// pred: whether exactly one of a and b is true.
RONDO_API Tensor logical_xor(const Operand& a, const Operand& b);
/// pred: whether x is 0, or false. False for NaN.
RONDO_API Tensor logical_not(const Operand& x);

// Other dtypes.

/// The same numbers in another dtype; x itself if it has that dtype. Floats to integers truncate,
/// saturate, and turn NaN into 0; integers to narrower ones keep the low bits; floats round to
/// nearest, halves to even. To pred: whether x is not 0. Complex to real drops the imaginary part.
RONDO_API Tensor convert(const Operand& x, DType dtype);
/// Reinterprets the bits as another dtype. One of fewer bits adds a last axis, the least
/// significant part first: u4[2] of u8[]. One of more removes the last axis, whose size must be
/// the ratio of the widths. Not for pred and complex dtypes.
RONDO_API Tensor bitcast_convert(const Operand& x, DType dtype);
/// Each float rounded to a format with so many bits of exponent (at least 1) and mantissa (stored
/// bits, at least 0), in the same dtype: to nearest, halves to even; to infinity above the format's
/// greatest number. With fewer bits of exponent than the dtype has, numbers below the format's
/// least normal one are 0. NaN stays as it is. (8, 7) is bf16, (5, 10) is f16 without subnormal
/// numbers. Tangents and cotangents are rounded likewise.
RONDO_API Tensor reduce_precision(const Operand& x, int exponent_bits, int mantissa_bits);

}  // namespace rondo
