// Functions of one complex element for which C's differ from XLA's, or do not exist. XLA's zeros
// have no sign on the branch cuts of sqrt, asin, acos, acosh (the imaginary part) and asinh (the
// real part): there -0 counts as +0.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

namespace rondo::ops::math {

/// Twice the precision of float; for double the widest type of the machine.
template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
T unsigned_zero(T x) {
  return x == 0 ? T(0) : x;
}

/// NaN if a part is NaN, even if the other is infinite.
template <class T>
T complex_abs(std::complex<T> z) {
  if (std::isnan(z.real()) || std::isnan(z.imag())) return std::numeric_limits<T>::quiet_NaN();
  return std::hypot(z.real(), z.imag());
}

template <class T>
std::complex<T> complex_sign(std::complex<T> z) {
  const T modulus = complex_abs(z);
  return modulus == 0 ? z : std::complex<T>(z.real() / modulus, z.imag() / modulus);
}

template <class T>
std::complex<T> complex_sqrt(std::complex<T> z) {
  return std::sqrt(std::complex<T>(z.real(), unsigned_zero(z.imag())));
}

template <class T>
std::complex<T> complex_expm1(std::complex<T> z) {
  const T x = z.real(), y = z.imag();
  if (y == 0) return {std::expm1(x), y};
  const T half = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, std::exp(x) * std::sin(y)};
}

template <class T>
std::complex<T> complex_log1p(std::complex<T> z) {
  const T angle = std::atan2(z.imag(), 1 + z.real());
  // |1 + z|^2 - 1 cancels where |1 + z| is near 1; twice the precision compensates for it.
  const Wider<T> x = z.real(), y = z.imag();
  if (!(std::abs(x) < 1e6 && std::abs(y) < 1e6))
    return {std::log(complex_abs(std::complex<T>(1 + z.real(), z.imag()))), angle};
  const Wider<T> above_one = x * (2 + x) + y * y;
  // Near -1 that sum cancels, and 1 + x is exact.
  if (above_one < Wider<T>(-0.5))
    return {std::log(complex_abs(std::complex<T>(1 + z.real(), z.imag()))), angle};
  return {static_cast<T>(std::log1p(above_one) / 2), angle};
}

template <class T>
std::complex<T> complex_logistic(std::complex<T> z) {
  const std::complex<T> w = z.real() < 0 ? z : -z;
  const std::complex<T> e = std::exp(w);
  std::complex<T> sum = T(1) + e;
  if (std::abs(sum.real()) + std::abs(sum.imag()) < T(0.5)) {
    // Near a pole the sum cancels: 1 + exp(x) cos y = (1 + cos y) + (exp(x) - 1) cos y.
    const T half = std::cos(w.imag() / 2);
    sum.real(2 * half * half + std::expm1(w.real()) * std::cos(w.imag()));
  }
  return (z.real() < 0 ? e : std::complex<T>(1)) / sum;
}

/// exp(w log z). 1 for w = 0 and for z = 1; 0^w is 0 for positive w and NaN for those that are not
/// real.
template <class T>
std::complex<T> complex_power(std::complex<T> z, std::complex<T> w) {
  if (w == std::complex<T>(0) || z == std::complex<T>(1)) return 1;
  if (z == std::complex<T>(0)) {
    if (w.imag() == 0 && w.real() > 0) return 0;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    return {nan, nan};
  }
  using Wide = std::complex<Wider<T>>;
  const Wide power = std::pow(Wide(z.real(), z.imag()), Wide(w.real(), w.imag()));
  return {static_cast<T>(power.real()), static_cast<T>(power.imag())};
}

}  // namespace rondo::ops::math
