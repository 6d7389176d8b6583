// Examples of the reference: functions of each element, special functions.
#include <cmath>
#include <complex>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  example("abs, sign", [] {
    Tensor x = constant({-2.5f, 0.0f, 3.0f});
    std::cout << abs(x) << " " << sign(x) << "\n";
    std::cout << abs(Tensor(std::complex<double>(3, -4))) << "\n";  // the modulus
  });
  example("square, reciprocal", [] {
    Tensor x = constant({2.0f, -4.0f, 0.0f});
    std::cout << square(x) << " " << reciprocal(x) << "\n";
  });
  example("floor, ceil, round, round_half_away", [] {
    Tensor x = constant({-1.5f, 0.5f, 2.5f, 2.6f});
    std::cout << floor(x) << " " << ceil(x) << "\n";
    std::cout << round(x) << " " << round_half_away(x) << "\n";  // halves to even; away from 0
  });
  example("exp, expm1, log, log1p", [] {
    Tensor x = constant({0.0f, 1.0f});
    std::cout << exp(x) << " " << log(exp(x)) << "\n";
    Tensor small = full(f32(), 1e-10);
    std::cout << exp(small) - 1 << " " << expm1(small)
              << "\n";  // the difference has lost all digits
    std::cout << log(1 + small) << " " << log1p(small) << "\n";
  });
  example("sqrt, rsqrt, cbrt", [] {
    Tensor x = constant({4.0f, 64.0f});
    std::cout << sqrt(x) << " " << rsqrt(x) << " " << cbrt(-x) << "\n";
    std::cout << sqrt(Tensor(std::complex<double>(-4, 0))) << "\n";
  });
  example("pow", [] {
    std::cout << pow(constant({2.0f, 9.0f}), 0.5) << " " << pow(2.0f, constant({3.0f, -1.0f}))
              << "\n";
    std::cout << pow(constant({3, 2, 1}), constant({4, -1, -1})) << "\n";  // of integers
  });
  example("logistic", [] {
    Tensor x = constant({-100.0f, 0.0f, 2.0f});
    std::cout << logistic(x) << "\n";
    std::cout << grad([](Tensor t) { return logistic(t); })(0.0f) << "\n";
  });
  example("sin, cos, tan", [] {
    Tensor angle = constant({0.0, M_PI / 6, M_PI / 4});
    std::cout << sin(angle) << "\n" << cos(angle) << "\n" << tan(angle) << "\n";
  });
  example("asin, acos, atan, atan2", [] {
    std::cout << asin(constant(0.5)) << " " << acos(constant(0.5)) << " " << atan(constant(1.0))
              << "\n";
    Tensor x = constant({1.0, -1.0, -1.0}), y = constant({1.0, 1.0, -1.0});
    std::cout << atan2(y, x) * (180 / M_PI) << "\n";  // degrees
  });
  example("sinh, cosh, tanh, asinh, acosh, atanh", [] {
    Tensor x = constant({0.0, 1.0});
    std::cout << sinh(x) << " " << cosh(x) << " " << tanh(x) << "\n";
    std::cout << asinh(sinh(x)) << " " << acosh(cosh(x)) << " " << atanh(tanh(x)) << "\n";
  });
  example("hypot", [] {
    Tensor a = constant({3.0f, 3e30f}), b = constant({4.0f, 4e30f});
    std::cout << hypot(a, b) << " " << sqrt(a * a + b * b) << "\n";  // the squares overflow
  });
  example("erf, erfc, erf_inv", [] {
    Tensor x = constant({0.5, 5.0});
    std::cout << erf(x) << " " << 1 - erf(x) << " " << erfc(x) << "\n";
    std::cout << erf_inv(erf(0.5)) << "\n";
  });
  example("is_finite, is_inf, is_nan", [] {
    Tensor x = constant({0.5f, NAN, -INFINITY});
    std::cout << is_finite(x) << " " << is_inf(x) << " " << is_nan(x) << "\n";
    std::cout << where(is_finite(x), x, 0) << "\n";
  });
  example("real, imag, conj, complex", [] {
    Tensor z = complex(constant({1.0, 3.0}), constant({2.0, -4.0}));
    std::cout << z << " " << real(z) << " " << imag(z) << "\n";
    std::cout << conj(z) << " " << real(z * conj(z)) << "\n";
  });
  example("maximum, minimum, clamp", [] {
    Tensor x = constant({-3.0f, 0.5f, 7.0f});
    std::cout << maximum(x, 0) << " " << minimum(x, 1) << " " << clamp(0, x, 1) << "\n";
    // At a tie each operand has half of the derivative.
    std::cout << grad([](Tensor t) { return maximum(t, 0); })(0.0f) << "\n";
  });
  example("where", [] {
    Tensor x = constant({-1.0f, 0.0f, 4.0f});
    std::cout << where(x > 0, x, 0.1 * x) << "\n";
    // For a derivative, guard the argument too: sqrt has an infinite one at 0.
    auto root = [](Tensor x) { return sum(where(x > 0, sqrt(where(x > 0, x, 1)), 0)); };
    std::cout << grad(root)(x) << "\n";
  });
  example("rem, mod, floor_divide", [] {
    Tensor a = constant({7, -7}), b = constant({3, 3});
    std::cout << rem(a, b) << "\n";                               // the sign of a, like C
    std::cout << mod(a, b) << " " << floor_divide(a, b) << "\n";  // like Python's % and //
    std::cout << mod(constant({-0.25, 370.0}), 360) << "\n";
  });
  example("eq, ne", [] {
    Tensor x = constant({1, 2, 3});
    std::cout << eq(x, 2) << " " << ne(x, 2) << "\n";
    std::cout << eq(1, 2) << "\n";  // 1 == 2 would be a C++ bool
  });
  example("shift_left, shift_right_logical, shift_right_arithmetic", [] {
    Tensor x = constant({-16, 16});
    std::cout << shift_left(x, 1) << "\n";
    std::cout << shift_right_arithmetic(x, 2) << " " << shift_right_logical(x, 28) << "\n";
  });
  example("popcount, count_leading_zeros", [] {
    Tensor x = constant({0, 1, 255, -1});
    std::cout << popcount(x) << " " << count_leading_zeros(x) << "\n";
    std::cout << 31 - count_leading_zeros(constant({1, 8, 9})) << "\n";  // log2, rounded down
  });
  example("logical_and, logical_or, logical_xor, logical_not", [] {
    Tensor a = constant({0, 2, 2}), b = constant({1.5f, 0.0f, 1.5f});
    std::cout << logical_and(a, b) << " " << logical_or(a, b) << "\n";
    std::cout << logical_xor(a, b) << " " << logical_not(a) << "\n";
  });
  example("convert", [] {
    Tensor x = constant({-1.7, 2.5, 300.0});
    std::cout << convert(x, DType::kS32) << " " << convert(x, DType::kS8) << "\n";  // saturates
    std::cout << convert(constant({300, -1}), DType::kU8) << "\n";  // keeps low bits
    std::cout << convert(convert(constant({0.1f}), DType::kBF16), DType::kF32) << "\n";
  });
  example("bitcast_convert", [] {
    std::cout << bitcast_convert(1.0f, DType::kU32) << "\n";               // 0x3f800000
    std::cout << bitcast_convert(Tensor(0x01020304), DType::kU8) << "\n";  // low byte first
  });
  example("reduce_precision", [] {
    Tensor x = constant({1.1f, 70000.0f, 1e-6f});
    std::cout << reduce_precision(x, 8, 7) << "\n";   // as bf16, in f32
    std::cout << reduce_precision(x, 5, 10) << "\n";  // as f16: beyond 65504, below 6.1e-5
  });

  example("lgamma, digamma, polygamma", [] {
    Tensor x = constant({0.5, 5.0});
    std::cout << exp(lgamma(x)) << "\n";  // sqrt(pi), 4!
    std::cout << digamma(x) << " " << grad([](Tensor t) { return lgamma(t); })(5.0) << "\n";
    std::cout << polygamma(1, 1.0) << "\n";  // pi^2 / 6
  });
  example("zeta, betaln", [] {
    std::cout << zeta(2.0, 1.0) << " " << M_PI * M_PI / 6 << "\n";
    std::cout << exp(betaln(2.0, 3.0)) << "\n";  // 1! 2! / 4!
  });
  example("gammainc, gammaincc, betainc", [] {
    std::cout << gammainc(1.0, 2.0) << " " << 1 - std::exp(-2.0) << "\n";
    std::cout << gammaincc(1.0, 50.0) << "\n";     // e^-50, where 1 - gammainc is 0
    std::cout << betainc(2.0, 2.0, 0.25) << "\n";  // 3 x^2 - 2 x^3
  });
  example("bessel_i0e, bessel_i1e", [] {
    Tensor x = constant({0.0, 1.0, 1000.0});  // I0(1000) would overflow
    std::cout << bessel_i0e(x) << " " << bessel_i1e(x) << "\n";
  });
  example("xlogy, entr", [] {
    Tensor p = constant({0.0, 0.5, 0.5}), q = constant({0.0, 0.25, 0.75});
    std::cout << sum(entr(p)) << " " << std::log(2.0) << "\n";
    std::cout << -sum(xlogy(p, q)) << "\n";  // the cross entropy; 0 log 0 counts as 0
  });
  example("ndtr, ndtri", [] {
    std::cout << ndtr(constant({-1.96, 0.0, 1.96})) << "\n";
    std::cout << ndtri(0.975) << "\n";
  });
  example("sinc, next_after", [] {
    std::cout << sinc(constant({0.0, 0.5, 1.5})) << "\n";
    std::cout << next_after(1.0f, 2.0f) - 1 << "\n";  // 2^-23
  });
}
