#!/usr/bin/env python3
"""Writes src/lower/special_coefficients.h: the polynomials of the special functions.

    python3 -m pip install mpmath
    scripts/special_coefficients.py > src/lower/special_coefficients.h

Each is the interpolant at Chebyshev's nodes with 60 digits, cut off where the rest is below the
error that its comment gives, as powers of its variable.
"""
import mpmath as m

m.mp.dps = 60
mpf = m.mpf


def chebyshev(f, low, high, count):
    nodes = [m.cos(m.pi * (k + mpf(1) / 2) / count) for k in range(count)]
    values = [f((low + high) / 2 + (high - low) / 2 * x) for x in nodes]

    def coefficient(j):
        terms = (y * m.cos(m.pi * j * (k + mpf(1) / 2) / count) for k, y in enumerate(values))
        return (2 if j else 1) * sum(terms) / count

    return [coefficient(j) for j in range(count)]


def powers(series):
    """The coefficients of 1, s, s^2, ... of a sum of Chebyshev polynomials in s."""
    polynomials = [[mpf(1)], [mpf(0), mpf(1)]]
    while len(polynomials) < len(series):
        following = [mpf(0)] + [2 * c for c in polynomials[-1]]
        for i, c in enumerate(polynomials[-2]):
            following[i] -= c
        polynomials.append(following)
    result = [mpf(0)] * len(series)
    for c, polynomial in zip(series, polynomials):
        for i, p in enumerate(polynomial):
            result[i] += c * p
    return result


def write(name, comment, f, low, high, terms, scale, centre=0):
    """`scale` is what the variable, less the centre, is multiplied by to run from -1 to 1."""
    series = chebyshev(f, mpf(low), mpf(high), terms + 24)
    error = sum(abs(c) for c in series[terms:])
    scaled = [c * mpf(scale) ** i for i, c in enumerate(powers(series[:terms]))]
    numbers = [repr(float(sum(m.binomial(j, i) * (-mpf(centre)) ** (j - i) * c
                              for j, c in enumerate(scaled) if j >= i)))
               for i in range(terms)]
    print(f"\n/// {comment} Error: {m.nstr(error, 2)}.")
    print(f"inline constexpr std::array {name}{{{', '.join(numbers)}}};")


def lgamma_near_two(z):
    return m.loggamma(2 + z) / z if z else 1 - m.euler


def sinc_rest(z):
    x = m.pi * m.sqrt(z)
    return (m.sin(x) / x - 1) / z


ROOT = m.findroot(m.digamma, 1.46)


def digamma_by_root(u):
    return m.digamma(u + mpf(3) / 2) / (u + mpf(3) / 2 - ROOT)


def cotangent_rest(z):
    x = m.pi * m.sqrt(z)
    return (4 - (1 - x * m.cot(x)) / z) / (1 - 4 * z)


def bessel_far(order):
    return lambda w: m.besseli(order, 1 / w) * m.exp(-1 / w) / m.sqrt(w)


def ndtri(p):
    """By Halley's method."""
    t = m.sqrt(-2 * m.log(p))
    x = -(t - m.log(t) / t - mpf("0.92") / t) if p < mpf("0.1") else (p - mpf(1) / 2) * 2.5
    while True:
        step = (m.erfc(-x / m.sqrt(2)) / 2 - p) * m.exp(x * x / 2) * m.sqrt(2 * m.pi)
        step /= 1 + x * step / 2
        x -= step
        if abs(step) < mpf(10) ** -45 * abs(x):
            return x


def ndtri_tail(log_t):
    t = m.exp(log_t)
    return (t - log_t / t + ndtri(m.exp(-t * t / 2))) * t


def uniform_rows(shape, eta, error):
    """Coefficients of N. M. Temme's C(k), k from 0 on, as series in eta; of those cut off for
    |eta| <= `eta`, divided by the `shape` to the power of k, none is above the error."""
    count = 60
    # eta^2 / 2 = e - log(1 + e) for e = lambda - 1 = eta + ..., so that eta (1 + e) = e e'.
    e = [mpf(0), mpf(1)]
    for n in range(2, count + 2):
        e.append((e[n - 1] - sum(j * e[j] * e[n + 1 - j] for j in range(2, n))) / (n + 1))
    inverse = [mpf(1)]  # eta / e
    for n in range(1, count + 1):
        inverse.append(-sum(e[j + 1] * inverse[n - j] for j in range(1, n + 1)))
    row = inverse[1:]  # C(0) = 1 / e - 1 / eta
    rows = []
    while True:
        scale = mpf(shape) ** -len(rows)
        kept = [i for i, c in enumerate(row) if abs(c) * mpf(eta) ** i * scale > error]
        if not kept:
            return rows
        rows.append(row[:kept[-1] + 1])
        # C(k) = C(k - 1)' / eta + g / e, in which g is what makes the poles cancel.
        g = -row[1]
        row = [(n + 2) * row[n + 2] + g * inverse[n + 1] for n in range(len(row) - 2)]


print("""// Coefficients of the special functions (lower/special_functions.h), written by
// scripts/special_coefficients.py.
#pragma once

#include <array>

namespace rondo::lower::math {

// clang-format off""")
write("kLgammaNearTwo", "lgamma(2 + z) / z for z from -3/4 to 1/4.", lgamma_near_two, -0.75, 0.25, 21,
      2, -0.25)
write("kSincRest",
      "(sin(pi r) / (pi r) - 1) / r^2 in s = 8 r^2 - 1, for |r| <= 1/2.", sinc_rest, 0, 0.25, 9, 1)
write("kDigammaByRoot", "digamma(u + 3/2) / (u + 3/2 - root) for |u| <= 1/2.", digamma_by_root,
      -0.5, 0.5, 22, 2)
print("\n/// The positive root of digamma, in two parts.")
print(f"inline constexpr double kDigammaRoot = {float(ROOT)!r};")
print(f"inline constexpr double kDigammaRootRest = {float(ROOT - mpf(float(ROOT)))!r};")
write("kCotangent",
      "(pi cot(pi r) - 1 / r + 4 r) / (r - 4 r^3) in s = 8 r^2 - 1, for |r| <= 1/2.", cotangent_rest, 0, 0.25, 15, 1)
print("\n/// B(2k) / (2k)! for k from 1 on, of Bernoulli's numbers B.")
print("inline constexpr std::array kBernoulli{"
      + ", ".join(repr(float(m.bernoulli(2 * k) / m.factorial(2 * k))) for k in range(1, 13))
      + "};")
for order in (0, 1):
    write(f"kBessel{order}Far",
          f"sqrt(x) e^-x I{order}(x) for x >= 8, in s = 16 / x - 1.", bessel_far(order), 0, 0.125,
          24, 1)
centre = mpf("0.3647") ** 2
write("kNdtriCentre",
      "ndtri(1/2 + q) / q in s = q^2 / 0.066503045 - 1, for |q| <= 0.3647.",
      lambda w: ndtri(mpf(1) / 2 + m.sqrt(w)) / m.sqrt(w), 0, centre, 22, 1)
for name, low, high, terms in (("Middle", 2, 8, 18), ("Far", 8, 39, 16)):
    a, b = m.log(low), m.log(high)
    write(f"kNdtri{name}",
          f"(t - log(t) / t + ndtri(p)) t with t = sqrt(-2 log p) from {low} to {high}, in "
          f"s = (log(t) - {m.nstr((a + b) / 2, 17)}) / {m.nstr((b - a) / 2, 17)}.",
          ndtri_tail, a, b, terms, 1)
rows = uniform_rows(20, 0.472, mpf(10) ** -17)
width = max(len(row) for row in rows)
print("\n/// d(k, n) of the sum of d(k, n) eta^n / a^k in Temme's expansion of the incomplete gamma\n"
      "/// functions for a >= 20 and |x - a| <= 0.4 a; zeros follow.")
print(f"inline constexpr std::array<std::array<double, {width}>, {len(rows)}> kUniformGamma{{{{")
for row in rows:
    print("{" + ", ".join(repr(float(c)) for c in row) + "},")
print("}};")
print("""
// clang-format on

}  // namespace rondo::lower::math""")
