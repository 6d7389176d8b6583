// Powers, exponentials, logarithms, the error function.
#include <cmath>
#include <numbers>

#include "lower/math_functions.h"
#include "ops/complex_formulas.h"
#include "ops/derivative_rules.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/complex_math.h"
#include "ops/kernels/elementwise_kernels.h"
#include "ops/slopes.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace math {

struct Exp : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::exp(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::exp(x);
  }
};
struct Expm1 : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::expm1(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return complex_expm1(x);
  }
};
struct Log : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::log(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::log(x);
  }
};
struct Log1p : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::log1p(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return complex_log1p(x);
  }
};
struct Sqrt {
  template <lower::Float N>
  N operator()(N x) const {
    return sqrt(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return complex_sqrt(x);
  }
};
struct Rsqrt {
  template <lower::Float N>
  N operator()(N x) const {
    return N::of(1) / sqrt(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return T(1) / std::sqrt(x);
  }
};
struct Cbrt {
  /// That of libm is in f64 up to 4 ulp off, which a step of Newton's method mends.
  template <lower::Float N>
  N operator()(N x) const {
    const N y = call(lower::LibraryFunction{std::cbrt, std::cbrt, "cbrtf", "cbrt"}, x);
    if constexpr (!N::kWide) {
      return y;
    } else {
      const N mended = y - (y - x / (y * y)) / N::of(3);
      const N largest = N::of(std::numeric_limits<double>::max());
      return select((abs(y) <= largest) & (y != N::of(0)), mended, y);
    }
  }
};
struct Logistic : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::logistic(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return complex_logistic(x);
  }
};
/// Integer powers by squaring. They wrap; negative exponents give what truncation leaves of 1 /
/// x^-y.
template <class T>
T integer_power(T x, T y) {
  using lower::Wrapping;
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return x == 1 ? T(1) : x == -1 ? (y & 1 ? T(-1) : T(1)) : T(0);
  }
  Wrapping<T> square = static_cast<Wrapping<T>>(x), power = 1;
  for (auto left = static_cast<std::make_unsigned_t<T>>(y); left != 0;
       left = static_cast<decltype(left)>(left >> 1)) {
    if (left & 1) power *= square;
    square *= square;
  }
  return static_cast<T>(power);
}
struct Power : UsesFma {
  template <lower::Float N>
  N operator()(N x, N y) const {
    return lower::math::power(x, y);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x, std::complex<T> y) const {
    return complex_power(x, y);
  }
  template <class T>
  requires std::is_integral_v<T> lower::Scalar<T>
  operator()(lower::Scalar<T> x, lower::Scalar<T> y) const {
    return lower::Scalar<T>(integer_power(x.v, y.v));
  }
};
struct Erf : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::erf(x);
  }
};
/// That of libm is up to 3 (f32) and 5 ulp (f64) off, so that twice the precision is rounded here.
inline double complementary_error(double x) {
  return static_cast<double>(std::erfc(static_cast<Wider<double>>(x)));
}
struct Erfc {
  template <lower::Float N>
  N operator()(N x) const {
    if constexpr (N::kWide) {
      return call(lower::LibraryFunction{std::erfc, complementary_error, "erfcf", "(double)erfcl"},
                  x);
    } else {
      constexpr lower::LibraryFunction kErfc{std::erfc, std::erfc, "erfcf", "erfc"};
      return N::from_double(call(kErfc, to_double(x)));
    }
  }
};

}  // namespace math

namespace {

Tensor expm1_partial(const JvpCall& c) { return c.y() + 1; }
Tensor log1p_divisor(const JvpCall& c) { return c.x(0) + 1; }
Tensor sqrt_partial(const JvpCall& c) { return 0.5 / c.y(); }
Tensor rsqrt_partial(const JvpCall& c) { return -0.5 * (c.y() / c.x(0)); }
/// Two divisions: a square would be 0 at 0 and make the second derivative NaN.
Tensor cbrt_partial(const JvpCall& c) { return 1.0 / 3 / c.y() / c.y(); }
Tensor logistic_partial(const JvpCall& c) { return c.y() * (1 - c.y()); }

Tensor power_base_partial(const JvpCall& c) { return power_base_slope(c.x(0), c.x(1)); }
Tensor power_exponent_partial(const JvpCall& c) { return power_exponent_slope(c.x(0), c.y()); }

/// Integer powers by squaring, as math::integer_power, with a trip for each bit of the exponent.
std::vector<Tensor> integer_power_in_loops(const ir::Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const Tensor &x = operands[0], &y = operands[1];
  const auto step = [](const Tensor&, const Tensor& power, const Tensor& square,
                       const Tensor& left) {
    return std::tuple(where((left & 1) != 0, power * square, power), square * square,
                      shift_right_logical(left, 1));
  };
  const std::int64_t bits = 8 * byte_width(x.dtype());
  const Tensor power =
      std::get<0>(fori_loop(0, bits, step, std::tuple(ones(x.type()), x, y), {.name = "power"}));
  if (!is_signed_integer(x.dtype())) return {power};
  const Tensor of_minus_one = where((y & 1) != 0, x, 1);
  const Tensor inverse = where(x == 1, x, where(x == -1, of_minus_one, 0));
  return {where(y < 0, inverse, power)};
}

std::vector<Tensor> power_in_loops(const ir::Node& node, std::span<const Tensor> operands) {
  if (is_complex(node.type().dtype)) return expand_by<complex_power_of_parts>(node, operands);
  return integer_power_in_loops(node, operands);
}

/// 2 / sqrt(pi) exp(-x^2), or less that.
template <int sign>
Tensor erf_partial(const JvpCall& c) {
  return sign * 2 * std::numbers::inv_sqrtpi * exp(-(c.x(0) * c.x(0)));
}

struct PowerBaseSlope : UsesFma {
  template <lower::Float N>
  N operator()(N x, N y) const {
    const auto corner = (x == N::of(0)) & (y == N::of(0));
    return y * lower::math::power(x, select(corner, N::of(1), y - N::of(1)));
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x, std::complex<T> y) const {
    const bool corner = x == T(0) && y == T(0);
    return y * math::complex_power(x, corner ? std::complex<T>(1) : y - T(1));
  }
};
/// For 0^0 the exponent is not -1, because this or a further derivative would multiply
/// an infinity by 0.
Tensor power_base_slope_formula(std::span<const Tensor> x) {
  const Tensor corner = (x[0] == 0) & (x[1] == 0);
  return x[1] * pow(x[0], where(corner, 1, x[1] - 1));
}

struct PowerExponentSlope : UsesFma {
  template <lower::Float N>
  N operator()(N x, N power) const {
    return lower::math::log(select(x == N::of(0), N::of(1), x)) * power;
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x, std::complex<T> power) const {
    return std::log(x == T(0) ? std::complex<T>(1) : x) * power;
  }
};
Tensor power_exponent_slope_formula(std::span<const Tensor> x) {
  return log(where(x[0] == 0, 1, x[0])) * x[1];
}

}  // namespace

const OpDef kExp = elementwise<1, math::Exp, kInexact>(
    {.name = "exp",
     .expansion = {.in_loops = expand_by<complex_exp_of_parts>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return c.y(); }>},
     .text = {.hlo = "exponential", .stablehlo = "stablehlo.exponential", .c = "exp"}});
const OpDef kExpm1 = elementwise<1, math::Expm1, kInexact>(
    {.name = "expm1",
     .expansion = {.in_loops = expand_by<complex_expm1_of_parts>},
     .derivative = {.jvp = partials<expm1_partial>},
     .text = {.hlo = "exponential-minus-one",
              .stablehlo = "stablehlo.exponential_minus_one",
              .c = "expm1"}});
const OpDef kLog = elementwise<1, math::Log, kInexact>(
    {.name = "log",
     .expansion = {.in_loops = expand_by<complex_log_of_parts>},
     .derivative = {.jvp = quotient<[](const JvpCall& c) { return c.x(0); }>},
     .text = {.hlo = "log", .stablehlo = "stablehlo.log", .c = "log"}});
const OpDef kLog1p = elementwise<1, math::Log1p, kInexact>(
    {.name = "log1p",
     .expansion = {.in_loops = expand_by<complex_log1p_of_parts>},
     .derivative = {.jvp = quotient<log1p_divisor>},
     .text = {.hlo = "log-plus-one", .stablehlo = "stablehlo.log_plus_one", .c = "log1p"}});
const OpDef kSqrt = elementwise<1, math::Sqrt, kInexact>(
    {.name = "sqrt",
     .expansion = {.in_loops = expand_by<complex_sqrt_of_parts>},
     .derivative = {.jvp = partials<sqrt_partial>},
     .text = {.hlo = "sqrt", .stablehlo = "stablehlo.sqrt"}});
const OpDef kRsqrt = elementwise<1, math::Rsqrt, kInexact>(
    {.name = "rsqrt",
     .expansion = {.in_loops = expand_by<complex_rsqrt_of_parts>},
     .derivative = {.jvp = partials<rsqrt_partial>},
     .text = {.hlo = "rsqrt", .stablehlo = "stablehlo.rsqrt"}});
const OpDef kCbrt = elementwise<1, math::Cbrt, kFloats>(
    {.name = "cbrt",
     .derivative = {.jvp = partials<cbrt_partial>},
     .text = {.hlo = "cbrt", .stablehlo = "stablehlo.cbrt", .c = "cbrt"}});
const OpDef kLogistic = elementwise<1, math::Logistic, kInexact>(
    {.name = "logistic",
     .expansion = {.in_loops = expand_by<complex_logistic_of_parts>},
     .derivative = {.jvp = partials<logistic_partial>},
     .text = {.hlo = "logistic", .stablehlo = "stablehlo.logistic"}});
const OpDef kPower = elementwise<2, math::Power, kNumbers>(
    {.name = "pow",
     .expansion = {.in_loops = power_in_loops},
     .derivative = {.jvp = partials<power_base_partial, power_exponent_partial>},
     .text = {.hlo = "power", .stablehlo = "stablehlo.power", .c = "pow"}});
const OpDef kErf = elementwise<1, math::Erf, kFloats>(
    {.name = "erf",
     .derivative = {.jvp = partials<erf_partial<1>>},
     .text = {.hlo = "erf", .stablehlo = "chlo.erf", .c = "erf"}});
const OpDef kErfc =
    elementwise<1, math::Erfc, kFloats>({.name = "erfc",
                                         .expansion = {.rule = expand_by<erfc_formula>},
                                         .derivative = {.jvp = partials<erf_partial<-1>>},
                                         .text = {.stablehlo = "chlo.erfc", .c = "erfc"}});

const OpDef kPowerBaseSlope = elementwise<2, PowerBaseSlope, kInexact>(
    {.name = "power_base_slope", .expansion = {.rule = expand_by<power_base_slope_formula>}});
const OpDef kPowerExponentSlope = elementwise<2, PowerExponentSlope, kInexact>(
    {.name = "power_exponent_slope",
     .expansion = {.rule = expand_by<power_exponent_slope_formula>}});

Tensor power_base_slope(const Tensor& x, const Tensor& y) {
  return binary_op(kPowerBaseSlope, x, y);
}
Tensor power_exponent_slope(const Tensor& x, const Tensor& power) {
  return binary_op(kPowerExponentSlope, x, power);
}

std::span<const OpDef* const> exponential_records() {
  static constexpr const OpDef* kAll[] = {&kExp,
                                          &kExpm1,
                                          &kLog,
                                          &kLog1p,
                                          &kSqrt,
                                          &kRsqrt,
                                          &kCbrt,
                                          &kLogistic,
                                          &kPower,
                                          &kErf,
                                          &kErfc,
                                          &kPowerBaseSlope,
                                          &kPowerExponentSlope};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor exp(const Operand& x) { return ops::unary_op(ops::kExp, x); }
Tensor expm1(const Operand& x) { return ops::unary_op(ops::kExpm1, x); }
Tensor log(const Operand& x) { return ops::unary_op(ops::kLog, x); }
Tensor log1p(const Operand& x) { return ops::unary_op(ops::kLog1p, x); }
Tensor sqrt(const Operand& x) { return ops::unary_op(ops::kSqrt, x); }
Tensor rsqrt(const Operand& x) { return ops::unary_op(ops::kRsqrt, x); }
Tensor cbrt(const Operand& x) {
  const Tensor z = ir::checked(x.any(), "cbrt", x.at());
  if (!is_complex(z.dtype())) return ops::unary_op(ops::kCbrt, {z, x.at()});
  const ir::LocationScope location(ir::place_in_force(x.at()));
  const Tensor size = cbrt(abs(z)), angle = atan2(imag(z), real(z)) / 3;
  return complex(size * cos(angle), size * sin(angle));
}
Tensor logistic(const Operand& x) { return ops::unary_op(ops::kLogistic, x); }
Tensor pow(const Operand& x, const Operand& y) { return ops::binary_op(ops::kPower, x, y); }
Tensor erf(const Operand& x) { return ops::unary_op(ops::kErf, x); }
Tensor erfc(const Operand& x) { return ops::unary_op(ops::kErfc, x); }

}  // namespace rondo
