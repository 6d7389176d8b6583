// The templates of lower/math_functions.h on plain floats and doubles, compared with the C library
// in long double: the error is at most 2 ulp.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "lower/math_functions.h"
#include "lower/scalar.h"

namespace rondo::lower {
namespace {

using Single = Scalar<float>;
using Double = Scalar<double>;
using Exact = std::function<long double(long double)>;

/// The distance of `got` from `exact`, in units of the last place of T near it.
template <class T>
double distance_in_ulp(T got, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : HUGE_VAL;
  const T finite =
      std::isinf(rounded) ? std::copysign(std::numeric_limits<T>::max(), rounded) : rounded;
  const T value = std::isinf(got) ? std::copysign(std::numeric_limits<T>::max(), got) : got;
  int exponent;
  std::frexp(static_cast<long double>(finite), &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  const long double ulp = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  const long double wanted = std::isinf(rounded) ? static_cast<long double>(finite) : exact;
  return static_cast<double>(std::fabs(static_cast<long double>(value) - wanted) / ulp);
}

/// Bit patterns over the whole range, and values of the sizes that programs have.
template <class T, class F>
void for_many(F&& f) {
  std::mt19937_64 random(20261122);
  for (T special :
       {T(0), T(1), T(0.5), T(0.55), T(0.875), T(710), T(89), std::numeric_limits<T>::infinity(),
        std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(),
        std::numeric_limits<T>::max(), std::numeric_limits<T>::quiet_NaN()}) {
    f(special);
    f(-special);
  }
  for (int i = 0; i < 40000; i++) {
    if constexpr (sizeof(T) == 8)
      f(std::bit_cast<double>(random()));
    else
      f(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    const T fraction = static_cast<T>(static_cast<double>(random()) * 0x1p-63 - 1);
    f(fraction);
    f(fraction * 10);
    f(fraction * (sizeof(T) == 8 ? 750 : 110));
  }
}

template <class N, class F>
void expect_close(const std::string& name, F function, const Exact& exact) {
  using T = decltype(N::v);
  double worst = 0;
  T at = 0;
  for_many<T>([&](T x) {
    const double distance =
        distance_in_ulp<T>(function(N{x}).v, exact(static_cast<long double>(x)));
    if (!(distance <= worst)) worst = distance, at = x;
  });
  EXPECT_LE(worst, 2) << name << (N::kWide ? " of f64 " : " of f32 ") << at << ": "
                      << function(N{at}).v;
}

template <class F>
void expect_both(const std::string& name, F function, const Exact& exact) {
  expect_close<Single>(name, function, exact);
  expect_close<Double>(name, function, exact);
}

/// Functions that f32 also computes in double precision.
template <class F>
void expect_double(const std::string& name, F function, const Exact& exact) {
  expect_close<Double>(name, function, exact);
  expect_close<Single>(
      name, [&](Single x) { return Single{static_cast<float>(function(Double{x.v}).v)}; }, exact);
}

TEST(MathFunctions, ExponentialsAndLogarithms) {
  expect_both(
      "exp", [](auto x) { return math::exp(x); }, [](long double x) { return std::exp(x); });
  expect_both(
      "expm1", [](auto x) { return math::expm1(x); }, [](long double x) { return std::expm1(x); });
  expect_both(
      "log", [](auto x) { return math::log(x); }, [](long double x) { return std::log(x); });
  expect_both(
      "log1p", [](auto x) { return math::log1p(x); }, [](long double x) { return std::log1p(x); });
  expect_both(
      "logistic", [](auto x) { return math::logistic(x); },
      [](long double x) { return 1 / (1 + std::exp(-x)); });
}

TEST(MathFunctions, Hyperbolic) {
  expect_both(
      "tanh", [](auto x) { return math::tanh(x); }, [](long double x) { return std::tanh(x); });
  expect_both(
      "sinh", [](auto x) { return math::sinh(x); }, [](long double x) { return std::sinh(x); });
  expect_both(
      "cosh", [](auto x) { return math::cosh(x); }, [](long double x) { return std::cosh(x); });
}

// Over all sizes with separate formulas, of either sign.
TEST(MathFunctions, HyperbolicTangentOfManyFloats) {
  double worst = 0;
  float at = 0;
  const auto last = std::bit_cast<std::uint32_t>(10.5f);
  for (auto pattern = std::bit_cast<std::uint32_t>(1e-5f); pattern < last; pattern += 1031) {
    const auto x = std::bit_cast<float>(pattern);
    const float got = math::tanh(Single{x}).v;
    const double distance = distance_in_ulp(got, std::tanh(static_cast<double>(x)));
    if (distance > worst) worst = distance, at = x;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(math::tanh(Single{-x}).v),
              std::bit_cast<std::uint32_t>(-got))
        << x;
    ASSERT_LE(got, 1) << x;
  }
  EXPECT_LE(worst, 1.7) << at;
  EXPECT_EQ(math::tanh(Single{9.1f}).v, 1);
  EXPECT_EQ(math::tanh(Double{19.1}).v, 1);
}

TEST(MathFunctions, Circular) {
  expect_both(
      "sin", [](auto x) { return math::sin(x); }, [](long double x) { return std::sin(x); });
  expect_both(
      "cos", [](auto x) { return math::cos(x); }, [](long double x) { return std::cos(x); });
  expect_double(
      "atan", [](Double x) { return math::atan(x); }, [](long double x) { return std::atan(x); });
  expect_double(
      "asin", [](Double x) { return math::asin(x); }, [](long double x) { return std::asin(x); });
  expect_double(
      "acos", [](Double x) { return math::acos(x); }, [](long double x) { return std::acos(x); });
}

TEST(MathFunctions, ErrorFunction) {
  expect_close<Single>(
      "erf", [](Single x) { return math::erf(x); }, [](long double x) { return std::erf(x); });
}

TEST(MathFunctions, Powers) {
  std::vector<float> values = {0, 1, 2, 3, 0.5f, 1e-40f, 1e38f, HUGE_VALF, 7.25f};
  std::mt19937 random(7);
  for (int i = 0; i < 200; i++) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    values.push_back(static_cast<float>(random()) * 0x1p-29f);
    values.push_back(std::floor(static_cast<float>(random()) * 0x1p-28f));
  }
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; i++) values.push_back(-values[i]);
  values.push_back(std::nanf(""));
  double worst = 0;
  for (float x : values) {
    for (float y : values) {
      const auto got = static_cast<float>(math::power_of_singles(Double{x}, Double{y}).v);
      const double distance = distance_in_ulp(got, std::pow(static_cast<long double>(x), y));
      EXPECT_LE(distance, 1) << x << " to the power of " << y << " is " << got;
      worst = std::max(worst, distance);
    }
  }
  EXPECT_GT(worst, 0);
}

}  // namespace
}  // namespace rondo::lower
