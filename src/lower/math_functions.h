// Exponentials, logarithms, circular and hyperbolic functions as arithmetic on a number N
// (lower/number.h): they inline, and run in any number of lanes with the same bits. Errors are at
// most 2 ulp over the whole range, NaN, infinities, signed zeros and subnormal numbers included
// (tests/lower/math_test.cc measures them).
//
// Sources. Reduction by multiples of ln 2 and pi / 2 in parts that a product holds exactly: W. J.
// Cody and W. Waite, Software Manual for the Elementary Functions, 1980. log by s = f / (2 + f): P.
// T. P. Tang, Table-driven implementation of the logarithm function, 1990. expm1 and sinh: N.
// Beebe, The Mathematical-Function Computation Handbook, 2017. The coefficients are minimax,
// computed by Remez's exchange with 60 digits for the intervals that are named.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include "lower/number.h"

// What is inlined into a loop over plain numbers can be vectorized; the larger functions are not
// inlined by clang unless they must be. (g++ has [[gnu::flatten]] for it.)
#ifdef __clang__
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif

namespace rondo::lower::math {

/// f, a function of a number in f64, of x in its own precision.
template <Float N, class F>
N in_double(const N& x, F f) {
  if constexpr (N::kWide)
    return f(x);
  else
    return N::from_double(f(to_double(x)));
}

/// The integer that has the bit of the sign alone.
template <class N>
inline constexpr std::int64_t kSignBit = N::kWide ? INT64_MIN : INT32_MIN;

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule with fused multiplications.
template <class N, std::size_t n>
N polynomial(const N& x, const std::array<double, n>& c) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    N sum = N::of(c[n - 1]);
    ((sum = fma(sum, x, N::of(c[n - 2 - i]))), ...);
    return sum;
  }
  (std::make_index_sequence<n - 1>());
}

/// 1.5 times the weight of the bit above all mantissa bits: adding it rounds to an
/// integer, which the lowest bits of the sum then hold in two's complement.
template <class N>
N rounding_shift() {
  return N::of(N::kWide ? 0x1.8p52 : 0x1.8p23);
}

/// 2 to the power of the integer that `shifted` = integer + rounding_shift() holds; for normal
/// results.
template <class N>
N power_of_two(const N& shifted) {
  return N::from_bits(
      shift_left(bits(shifted) + N::Integer::of(N::kBias), N::Integer::of(N::kMantissa)));
}

/// The integer n nearest to x / ln 2, plus rounding_shift().
template <class N>
N shifted_exponent(const N& x) {
  return fma(x, N::of(std::numbers::log2e), rounding_shift<N>());
}
/// r = x - n ln 2 with |r| <= ln 2 / 2; `low` becomes what rounding took from it. A number apart
/// from the other parts: g++ does not vectorize loops with a struct of which only some members are
/// read.
template <class N>
N exp_remainder(const N& x, const N& n, N& low) {
  const N high = fma(-n, N::of(N::kWide ? 0x1.62e42feep-1 : 0.693145751953125), x);
  const N product = n * N::of(N::kWide ? 0x1.a39ef35793c76p-33 : 1.4286068203094173e-06);
  const N r = high - product;
  low = (high - r) - product;
  return r;
}

/// q(r) of exp(r) = 1 + r + r^2 q(r) for |r| <= ln 2 / 2. Error: 1.1e-16, 6.4e-8.
template <class N, bool wide = N::kWide>
N exp_quotient(const N& r) {
  N q = N::of(0);
  if constexpr (wide) {
    q = polynomial(
        r, std::array{0.5000000000000001, 0.16666666666666674, 0.04166666666662312,
                      0.008333333333321946, 0.0013888888917713445, 0.00019841269887386644,
                      2.4801520522292385e-05, 2.7557241439575146e-06, 2.7620455154353923e-07,
                      2.511038699582744e-08});
  } else {
    q = polynomial(r, std::array{0.5, 0.16666576, 0.04166637, 0.008363355, 0.0013941427});
  }
  return q;
}

/// The nearer limit where x is beyond one; NaN stays.
template <class N>
N clamped(const N& x, double low, double high) {
  return max(min(x, N::of(high)), N::of(low));
}

/// 2^doublings exp(x), for a few doublings.
template <class N>
N scaled_exp(const N& argument, double doublings) {
  // Beyond these arguments the result is infinite or 0.
  const N x = N::kWide ? clamped(argument, -746, 711) : clamped(argument, -105, 90);
  const N shifted = shifted_exponent(x), n = shifted - rounding_shift<N>();
  N low = N::of(0);
  const N r = exp_remainder(x, n, low);
  // The scale in two factors, so that results near the ends of the range neither overflow nor round
  // twice.
  const N half = fma(n, N::of(0.5), rounding_shift<N>());
  const N rest = (n - (half - rounding_shift<N>())) + N::of(doublings);
  // 1 + r rounds; what it lost is added to the rest.
  const N sum = r + N::of(1);
  const N lost = r - (sum - N::of(1));
  const N mantissa = sum + fma(r * r, exp_quotient(r), lost + low);
  return mantissa * power_of_two(half) * power_of_two(rest + rounding_shift<N>());
}

template <class N>
N exp(const N& x) {
  return scaled_exp(x, 0);
}

template <class N>
N expm1(const N& argument) {
  // Below -37 (-17) the result is -1 rounded; above, 2^n overflows together with the result.
  const N x = N::kWide ? clamped(argument, -40, 710) : clamped(argument, -20, 89);
  const N shifted = shifted_exponent(x), n = shifted - rounding_shift<N>();
  N low = N::of(0);
  const N r = exp_remainder(x, n, low);
  // In halves, since 2^1024 (2^128) is none: 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)).
  const N half_scale = power_of_two(shifted - N::of(1));
  const N near = r + fma(r * r, exp_quotient(r), low);
  const N sum = fma(half_scale, near, half_scale - N::of(0.5));
  return select(argument == N::of(0), argument, sum + sum);
}

/// x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for positive finite x.
template <class N>
struct LogParts {
  N e, f;
};
template <class N>
LogParts<N> log_parts_of_normal(const N& x) {
  const auto pattern = bits(x);
  // The pattern of sqrt(1/2): patterns above it belong to the next power of two.
  const auto offset = pattern - N::Integer::of(N::kWide ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
  const auto exponent = shift_right_arithmetic(offset, N::Integer::of(N::kMantissa));
  const N m = N::from_bits(pattern - shift_left(exponent, N::Integer::of(N::kMantissa)));
  const N e = N::from_bits(exponent + bits(rounding_shift<N>())) - rounding_shift<N>();
  return {e, m - N::of(1)};
}
template <class N>
LogParts<N> log_parts(const N& x) {
  const auto small = x < N::of(N::kWide ? 0x1p-1022 : 0x1p-126);
  const N scaled = x * N::of(N::kWide ? 0x1p54 : 0x1p25);
  const LogParts<N> parts = log_parts_of_normal(select(small, scaled, x));
  return {select(small, parts.e - N::of(N::kWide ? 54 : 25), parts.e), parts.f};
}

/// log(2^e (1 + f)) + correction.
template <class N>
N log_of_parts(const LogParts<N>& parts, const N& correction) {
  const N& e = parts.e;
  const N& f = parts.f;
  const N half_square = f * f * N::of(0.5);
  if constexpr (N::kWide) {
    // s = f / (2 + f), z = s^2: log(1 + f) = f - s (f - z L(z)). Error of L: 2.5e-18.
    const N s = f / (f + N::of(2));
    const N z = s * s;
    const N series = polynomial(
        z, std::array{0.6666666666666735, 0.399999999994111, 0.285714287432618, 0.22222198476058086,
                      0.18183569736446728, 0.15313903325141737, 0.1479750701324376});
    const N low =
        fma(s, fma(z, series, half_square), fma(e, N::of(1.9082149292705877e-10), correction));
    return fma(e, N::of(0.6931471803691238), f - (half_square - low));
  } else {
    // log(1 + f) = f - f^2 / 2 + f^3 P(f). Error of P f^2: 7.6e-9.
    const N p = polynomial(f, std::array{0.3333332, -0.2500069, 0.20002201, -0.166282, 0.14183894,
                                         -0.13098533, 0.12856987, -0.07908388});
    const N low = fma(f * f * f, p, fma(e, N::of(1.4286068203094173e-06), correction));
    return fma(e, N::of(0.693145751953125), f - (half_square - low));
  }
}

/// The logarithm's values outside the positive finite numbers.
template <class N>
N with_log_limits(const N& x, const N& inside) {
  const N infinity = N::of(HUGE_VAL);
  N result = select(x < infinity, inside, x);  // infinity and NaN are their own logarithms
  result = select(x == N::of(0), -infinity, result);
  return select(x < N::of(0), N::of(std::numeric_limits<double>::quiet_NaN()), result);
}

template <class N>
N log(const N& x) {
  return with_log_limits(x, log_of_parts(log_parts(x), N::of(0)));
}

template <class N>
N log1p(const N& x) {
  const N u = x + N::of(1);
  // What the sum lost, relative to u. A large x loses less than half an ulp of the result.
  const N lost = select(x < N::of(N::kWide ? 0x1p53 : 0x1p24), (x - (u - N::of(1))) / u, N::of(0));
  const N result = with_log_limits(u, log_of_parts(log_parts(u), lost));
  return select(abs(x) < N::of(N::kWide ? 0x1p-54 : 0x1p-25), x, result);
}

template <class N>
N logistic(const N& x) {
  const N e = exp(-abs(x));  // at most 1, so nothing overflows
  const N quotient = select(x < N::of(0), e, N::of(1)) / (e + N::of(1));
  // e / (1 + e) = e - e (e / (1 + e)), which keeps the bits of a small e.
  return select(x < N::of(0), fma(-e, quotient, e), quotient);
}

template <class N>
N tanh(const N& x) {
  // To 0.55, a + a^3 p(a^2), errors 5.8e-19 and 1.1e-9 of p a^2.
  const N a = abs(x);
  const N z = a * a;
  N p = N::of(0);
  if constexpr (N::kWide) {
    p = polynomial(
        z, std::array{-0.333333333333333, 0.1333333333332661, -0.053968253963744606,
                      0.021869488385142154, -0.008863232585852969, 0.0035920918360800554,
                      -0.0014555413699290402, 0.0005884375375028099, -0.00023336175615981883,
                      8.328513167184786e-05, -1.9473620191352892e-05});
  } else {
    p = polynomial(
        z, std::array{-0.333333178, 0.133325919, -0.0538527386, 0.0210727922, -0.00627497833});
  }
  const N near = fma(a * z, p, a);
  // Above, 1 - 2 / (e^y + 1) with y = 2a, which is 1 from a = 20 (10) on. e^y needs none of the
  // care that exp takes of its last bits and of the ends of its range: what ln 2 loses by rounding
  // is a thirtieth of an ulp of an f32 here. The lowest bits of `shifted` are the exponent of 2^n
  // in its biased form.
  const N limited = min(a, N::of(N::kWide ? 20 : 10));
  const N y = limited + limited;
  const N shift = N::of((N::kWide ? 0x1.8p52 : 0x1.8p23) + static_cast<double>(N::kBias));
  const N shifted = fma(y, N::of(std::numbers::log2e), shift);
  const N n = shifted - shift;
  N r = fma(n, N::of(N::kWide ? -0x1.62e42feep-1 : -std::numbers::ln2), y);
  if constexpr (N::kWide) r = fma(n, N::of(-0x1.a39ef35793c76p-33), r);
  const N mantissa = fma(r, fma(r, exp_quotient(r), N::of(1)), N::of(1));
  const N scale = N::from_bits(shift_left(bits(shifted), N::Integer::of(N::kMantissa)));
  const N far = fma(N::of(-2), N::of(1) / fma(mantissa, scale, N::of(1)), N::of(1));
  const N result = select(a > N::of(0.55), far, near);
  return N::from_bits(bits(result) ^ (bits(x) & N::Integer::of(kSignBit<N>)));
}

template <class N>
N sinh(const N& x) {
  // To 1, x + x^3 s(x^2), errors 9.5e-20 and 5.7e-11 of s; above, e^a / 2 - e^-a / 2.
  const N a = abs(x);
  const N z = a * a;
  N s = N::of(0);
  if constexpr (N::kWide) {
    s = polynomial(z, std::array{0.16666666666666669, 0.008333333333333137, 0.00019841269841438521,
                                 2.7557319155061975e-06, 2.5052123443683317e-08,
                                 1.6057236722948164e-10, 7.759424952164557e-13});
  } else {
    s = polynomial(z, std::array{0.16666667, 0.0083333505, 0.00019836056, 2.8175018e-06});
  }
  const N half = scaled_exp(a, -1);
  const N far = half - N::of(0.25) / half;
  return copy_sign(select(a > N::of(1), far, fma(a * z, s, a)), x);
}

template <class N>
N cosh(const N& x) {
  const N half = scaled_exp(abs(x), -1);
  return half + N::of(0.25) / half;
}

/// sin(r) and cos(r) for |r| <= pi / 4. Errors: 3.5e-18 and 5e-20, 3.7e-9 and 9.7e-11.
template <class N>
N sin_near_zero(const N& r) {
  const N z = r * r;
  if constexpr (N::kWide) {
    const N s = polynomial(
        z, std::array{-0.16666666666666632, 0.008333333333322316, -0.00019841269829725392,
                      2.7557313662111545e-06, -2.5050753271975805e-08, 1.5896505339923844e-10});
    return fma(z * r, s, r);
  } else {
    return fma(z * r, polynomial(z, std::array{-0.16666655, 0.008332173, -0.00019516656}), r);
  }
}
template <class N>
N cos_near_zero(const N& r) {
  const N z = r * r;
  N c = N::of(0);
  if constexpr (N::kWide) {
    c = polynomial(
        z, std::array{0.0416666666666666, -0.001388888888887399, 2.4801587289394998e-05,
                      -2.7557314326035097e-07, 2.087571955759426e-09, -1.1359448554761166e-11});
  } else {
    c = polynomial(z, std::array{0.041666646, -0.0013887362, 2.443773e-05});
  }
  // 1 - z / 2 loses what the next line gives back.
  const N w = fma(z, N::of(-0.5), N::of(1));
  return w + fma(z * z, c, fma(z, N::of(-0.5), N::of(1) - w));
}

/// x = n pi / 2 + r, |r| <= pi / 4, for |x| up to kReducible.
template <class N>
struct CircleParts {
  N shifted, r;
};
template <class N>
inline constexpr double kReducible = N::kWide ? 1e8 : 1e4;
template <class N>
CircleParts<N> circle_parts(const N& x) {
  const N shifted = fma(x, N::of(2 / std::numbers::pi), rounding_shift<N>());
  const N n = shifted - rounding_shift<N>();
  // The first product and difference are exact.
  N r = fma(-n, N::of(N::kWide ? 1.5707963267948966 : 1.5707963705062866), x);
  r = fma(-n, N::of(N::kWide ? 6.123233995736766e-17 : -4.371138828673793e-08), r);
  r = fma(-n, N::of(N::kWide ? -1.4973849048591833e-33 : -1.7151245100058819e-15), r);
  return {shifted, r};
}

/// Where the C library is asked.
template <class N>
auto is_irreducible(const N& x) {
  return !(abs(x) <= N::of(kReducible<N>));
}
inline constexpr LibraryFunction kLibrarySin{std::sin, std::sin, "sinf", "sin"},
    kLibraryCos{std::cos, std::cos, "cosf", "cos"}, kLibraryTan{std::tan, std::tan, "tanf", "tan"},
    kLibraryErf{std::erf, std::erf, "erff", "erf"};
inline constexpr LibraryFunction2 kLibraryPow{std::pow, std::pow, "powf", "pow"};

/// sin(x + quarter pi / 2).
template <class N, int quarter>
N circular(const N& x) {
  const CircleParts<N> parts = circle_parts(x);
  const auto quadrant = bits(parts.shifted) + N::Integer::of(quarter);
  const auto odd = (quadrant & N::Integer::of(1)) == N::Integer::of(1);
  const N value = select(odd, cos_near_zero(parts.r), sin_near_zero(parts.r));
  // Bit 1 of the quadrant is the sign.
  const auto sign = shift_left(quadrant & N::Integer::of(2), N::Integer::of(N::kWide ? 62 : 30));
  const N result = N::from_bits(bits(value) ^ sign);
  return where_rare(is_irreducible(x), x, result, quarter ? kLibraryCos : kLibrarySin);
}
template <class N>
N sin(const N& x) {
  return select(x == N::of(0), x, circular<N, 0>(x));
}
template <class N>
N cos(const N& x) {
  return circular<N, 1>(x);
}

template <class N>
N tan(const N& x) {
  if constexpr (N::kWide)
    return call(kLibraryTan, x);
  else
    return in_double(x, [](const auto& y) {
      using Y = std::remove_cvref_t<decltype(y)>;
      return select(y == Y::of(0), y, circular<Y, 0>(y) / cos(y));
    });
}

/// atan(t) for |t| <= 1/2, in double precision. Error: 5.5e-22.
template <class N>
N atan_near_zero(const N& t) {
  const N z = t * t;
  const N a =
      polynomial(z, std::array{-0.3333333333333333, 0.1999999999999997, -0.1428571428570983,
                               0.11111111110778348, -0.09090909076093716, 0.07692307262019124,
                               -0.06666658050511677, 0.05882229707567417, -0.052618707760606176,
                               0.047519663820684004, -0.04290864488937081, 0.03758518427872055,
                               -0.02954652220805383, 0.017763977178442376, -0.005794850613070016});
  return fma(z * t, a, t);
}
template <class N>
N atan_in_double(const N& x) {
  // atan(a) = pi / 4 + atan((a - 1) / (a + 1)) = pi / 2 - atan(1 / a).
  const N a = abs(x);
  const auto large = a > N::of(2);
  const auto middle = a > N::of(0.5);
  const N one = N::of(1);
  const N numerator = select(large, -one, select(middle, a - one, a));
  const N denominator = select(large, a, select(middle, a + one, one));
  const N start = select(large, N::of(std::numbers::pi / 2),
                         select(middle, N::of(std::numbers::pi / 4), N::of(0)));
  const N start_low = select(large, N::of(6.123233995736766e-17),
                             select(middle, N::of(3.061616997868383e-17), N::of(0)));
  return copy_sign(start + (atan_near_zero(numerator / denominator) + start_low), x);
}

template <class N>
N atan(const N& x) {
  return in_double(x, [](const auto& y) { return atan_in_double(y); });
}

/// asin(x) / x - 1 for |x| <= 1/2 by z = x^2, in double precision. Error: 1e-18.
template <class N>
N asin_series(const N& z) {
  return z *
         polynomial(z, std::array{0.16666666666666763, 0.07499999999970093, 0.04464285717529031,
                                  0.030381942675113308, 0.022372215909799854, 0.017351595441455422,
                                  0.013981019126308438, 0.01139728897846243, 0.010789340411590869,
                                  0.003672123489517243, 0.021790774242404016, -0.021116871797067,
                                  0.032702242660036934});
}
template <class N>
N asin_in_double(const N& x) {
  // From 1/2 on: pi / 2 - 2 asin(sqrt((1 - a) / 2)).
  const N a = abs(x);
  const auto large = a > N::of(0.5);
  const N z = select(large, (N::of(1) - a) * N::of(0.5), a * a);
  const N y = select(large, sqrt(z), a);
  const N small_result = fma(y, asin_series(z), y);
  // What the square root lost.
  const N lost = fma(-y, y, z) / select(y == N::of(0), N::of(1), y + y);
  const N rest = fma(y, asin_series(z), lost);
  const N large_result =
      N::of(std::numbers::pi / 2) - ((y + y) + ((rest + rest) - N::of(6.123233995736766e-17)));
  return copy_sign(select(large, large_result, small_result), x);
}
template <class N>
N acos_in_double(const N& x) {
  const N a = abs(x);
  const auto large = a > N::of(0.5);
  const N z = select(large, (N::of(1) - a) * N::of(0.5), a * a);
  const N y = select(large, sqrt(z), x);
  const N arc = fma(y, asin_series(z), y);
  const N near_one = arc + arc;
  const N near_minus_one = N::of(std::numbers::pi) - (near_one - N::of(1.2246467991473532e-16));
  const N inside = N::of(std::numbers::pi / 2) - (arc - N::of(6.123233995736766e-17));
  return select(large, select(x < N::of(0), near_minus_one, near_one), inside);
}

template <class N>
N asin(const N& x) {
  return in_double(x, [](const auto& y) { return asin_in_double(y); });
}
template <class N>
N acos(const N& x) {
  return in_double(x, [](const auto& y) { return acos_in_double(y); });
}

/// The error function; in single precision to 0.875, x + x e(x^2), error of e 1.2e-8; above,
/// 1 - exp(-g(x)), error of erf 2.1e-9.
template <class N>
N erf(const N& x) {
  if constexpr (N::kWide) {
    return call(kLibraryErf, x);
  } else {
    const N magnitude = abs(x);
    const N a = select(magnitude > N::of(4), N::of(4), magnitude);
    const N e = polynomial(a * a, std::array{0.12837915, -0.37612534, 0.1128223, -0.026781958,
                                             0.0050162286, -0.00061112945});
    const N g = polynomial(a, std::array{0.000104520885, 1.128061, 0.6365189, 0.104525946,
                                         -0.022519058, 0.0031178538, -0.00020367657});
    const N near = fma(a, e, a);
    return copy_sign(select(a < N::of(0.875), near, N::of(1) - exp(-g)), x);
  }
}

/// x^y for single-precision arguments, in double precision: exp(y log x). Whether a negative x has
/// an odd integer exponent is seen from y itself.
template <class N>
N power_of_singles(const N& x, const N& y) {
  static_assert(N::kWide);
  // log(1 + f) = s (2 + z L(z)) with s = f / (2 + f), z = s^2, relative error 4.8e-12: a hundredth
  // of an ulp of the result. The x of a single is no subnormal number here.
  const N a = abs(x);
  const LogParts<N> log_x = log_parts_of_normal(a);
  const N s = log_x.f / (log_x.f + N::of(2));
  const N z = s * s;
  const N series = polynomial(z, std::array{0.6666666564503966, 0.40000335293820055,
                                            0.28537301512526214, 0.23582293245812255});
  N logarithm = fma(log_x.e, N::of(std::numbers::ln2), s * fma(z, series, N::of(2)));
  logarithm = select(a == N::of(0), N::of(-HUGE_VAL), logarithm);
  logarithm = select(a < N::of(HUGE_VAL), logarithm, a);
  // Beyond these exponents the result is infinite or 0 in single precision.
  N exponent = y * logarithm;
  exponent = select(exponent < N::of(-110), N::of(-110), exponent);
  exponent = select(exponent > N::of(95), N::of(95), exponent);
  const N shifted = shifted_exponent(exponent);
  N low = N::of(0);
  const N r = exp_remainder(exponent, shifted - rounding_shift<N>(), low);
  const N quotient = exp_quotient<N, false>(r);
  const N mantissa = fma(r * r, quotient, r + N::of(1));
  const N magnitude = mantissa * power_of_two(shifted);
  const N whole = floor(y);
  const N half = y * N::of(0.5);
  const auto is_whole = whole == y;
  const auto is_odd = is_whole & !(floor(half) == half);
  const auto negative = bits(x) < N::Integer::of(0);
  N result = select(negative & is_odd, -magnitude, magnitude);
  // A negative number to a broken power is none, but for infinities.
  const auto none = (x < N::of(0)) & !is_whole & (abs(x) < N::of(HUGE_VAL));
  result = select(none, N::of(std::numeric_limits<double>::quiet_NaN()), result);
  // 1^y and x^0 are 1 for every y and x, NaN too; (-1)^inf is 1.
  const auto one =
      (x == N::of(1)) | (y == N::of(0)) | ((x == N::of(-1)) & (abs(y) == N::of(HUGE_VAL)));
  return select(one, N::of(1), result);
}
template <class N>
N power(const N& x, const N& y) {
  if constexpr (N::kWide)
    return call(kLibraryPow, x, y);
  else
    return N::from_double(power_of_singles(to_double(x), to_double(y)));
}

}  // namespace rondo::lower::math

#ifdef __clang__
#pragma clang attribute pop
#endif
