// What the mathematics of an op is written in: templates over a number N, of which there are two. A
// Scalar (lower/scalar.h) is a value of this machine: with it a template is the reference's kernel.
// An Expression (lower/expression.h) records each step in a Builder: with it the template is the
// code of an element. Both take what a step means from its opcode (lower/arithmetic.h), so they
// give the same bits.
//
// Beside the operations below a number has N::of(constant), which takes the type of what it meets,
// and N::Mask, which comparisons give and select(mask, a, b) takes. Floats have also
//   N::Integer, bits(x), N::from_bits(i)   their bits as a signed integer
//   multiply_add(a, b, c), subtract_product(c, a, b)
//                                          a b + c, c - a b: fused where the program contracts
//   copy_sign(a, sign)
//   N::Double, to_double(x), N::from_double(y)
//   call(function, x…), where_rare(mask, x, usual, function)
//                                          a function of the C library; only where the mask holds
#pragma once

#include <concepts>
#include <cstdint>

#include "lower/program.h"

namespace rondo::lower {

template <class N>
concept Number = requires {
  typename N::Mask;
};
template <class N>
concept Float = Number<N> && N::kIsFloat;

/// Integers and preds.
template <class N>
concept Whole = Number<N> && !N::kIsFloat;

/// A function of the C library in both widths, each with its name in C.
struct LibraryFunction {
  float (*single)(float);
  double (*wide)(double);
  const char *single_name, *wide_name;
};
struct LibraryFunction2 {
  float (*single)(float, float);
  double (*wide)(double, double);
  const char *single_name, *wide_name;
};

/// Operations that are one opcode, for a number N with `apply` and `compare`.
template <class N>
struct NumberOperations {
  // Of preds, which add up by or and multiply by and, too.
  friend N operator+(N a, N b) { return N::template apply<Opcode::kAdd>(a, b); }
  friend N operator-(N a, N b) { return N::template apply<Opcode::kSubtract>(a, b); }
  friend N operator*(N a, N b) { return N::template apply<Opcode::kMultiply>(a, b); }
  friend N operator/(N a, N b) { return N::template apply<Opcode::kDivide>(a, b); }
  friend N remainder(N a, N b) { return N::template apply<Opcode::kRemainder>(a, b); }
  friend N min(N a, N b) { return N::template apply<Opcode::kMin>(a, b); }
  friend N max(N a, N b) { return N::template apply<Opcode::kMax>(a, b); }
  friend N operator-(N a) { return N::template apply<Opcode::kNegate>(a); }
  friend N abs(N a) { return N::template apply<Opcode::kAbs>(a); }
  // Of integers and preds.
  friend N operator&(N a, N b) { return N::template apply<Opcode::kAnd>(a, b); }
  friend N operator|(N a, N b) { return N::template apply<Opcode::kOr>(a, b); }
  friend N operator^(N a, N b) { return N::template apply<Opcode::kXor>(a, b); }
  friend N operator~(N a) { return N::template apply<Opcode::kNot>(a); }
  // Of integers.
  friend N shift_left(N a, N b) { return N::template apply<Opcode::kShiftLeft>(a, b); }
  friend N shift_right_logical(N a, N b) {
    return N::template apply<Opcode::kShiftRightLogical>(a, b);
  }
  friend N shift_right_arithmetic(N a, N b) {
    return N::template apply<Opcode::kShiftRightArithmetic>(a, b);
  }
  friend N popcount(N a) { return N::template apply<Opcode::kPopcount>(a); }
  friend N count_leading_zeros(N a) { return N::template apply<Opcode::kCountLeadingZeros>(a); }
  // Of floats.
  friend N fma(N a, N b, N c) { return N::template apply<Opcode::kFma>(a, b, c); }
  friend N fms(N a, N b, N c) { return N::template apply<Opcode::kFms>(a, b, c); }
  friend N fnma(N a, N b, N c) { return N::template apply<Opcode::kFnma>(a, b, c); }
  friend N sqrt(N a) { return N::template apply<Opcode::kSqrt>(a); }
  friend N floor(N a) { return N::template apply<Opcode::kFloor>(a); }
  friend N ceil(N a) { return N::template apply<Opcode::kCeil>(a); }
  friend N round_even(N a) { return N::template apply<Opcode::kRoundEven>(a); }
  friend N truncate(N a) { return N::template apply<Opcode::kTruncate>(a); }

  friend auto operator==(N a, N b) { return N::template compare<Opcode::kEqual>(a, b); }
  friend auto operator!=(N a, N b) { return N::template compare<Opcode::kNotEqual>(a, b); }
  friend auto operator<(N a, N b) { return N::template compare<Opcode::kLess>(a, b); }
  friend auto operator<=(N a, N b) { return N::template compare<Opcode::kLessEqual>(a, b); }
  friend auto operator>(N a, N b) { return N::template compare<Opcode::kGreater>(a, b); }
  friend auto operator>=(N a, N b) { return N::template compare<Opcode::kGreaterEqual>(a, b); }
};

/// A complex number by its parts.
template <Number N>
struct Complex {
  N re, im;

  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  /// As XLA and NumPy have it. C++ looks again where both parts are NaN, for infinities.
  friend Complex operator*(Complex a, Complex b) {
    return {subtract_product(a.re * b.re, a.im, b.im), multiply_add(a.re, b.im, a.im * b.re)};
  }
  friend Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend auto operator==(Complex a, Complex b) { return (a.re == b.re) & (a.im == b.im); }
  friend auto operator!=(Complex a, Complex b) { return (a.re != b.re) | (a.im != b.im); }
};

}  // namespace rondo::lower
