// The error of functions in units of the last place, compared with the C library in long double:
// those that tests/lower/math_test.cc does not measure, because they are no templates there. The
// bounds are those of docs/ops.md.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "support/expect.h"

namespace rondo::testing {
namespace {

/// In units of the last place of T near `exact`.
template <class T>
long double ulp_near(long double exact) {
  int exponent = std::numeric_limits<T>::min_exponent;
  if (exact != 0 && std::isfinite(exact)) std::frexp(exact, &exponent);
  exponent = std::clamp(exponent, std::numeric_limits<T>::min_exponent,
                        std::numeric_limits<T>::max_exponent);
  return std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
}
template <class T>
double distance_in_ulp(T got, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : HUGE_VAL;
  const long double most = std::numeric_limits<T>::max();
  const auto finite = [&](long double x) { return std::isinf(x) ? std::copysign(most, x) : x; };
  const long double wanted = std::isinf(rounded) ? finite(exact) : exact;
  return static_cast<double>(std::fabs(finite(got) - wanted) / ulp_near<T>(wanted));
}

/// Bit patterns over the whole range, numbers of the sizes that programs have, and special ones.
template <class T>
std::vector<T> arguments_of(int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> all;
  for (T special : {T(0), T(1), T(2), T(0.5), T(3), std::numeric_limits<T>::infinity(),
                    std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(),
                    std::numeric_limits<T>::max(), std::numeric_limits<T>::quiet_NaN()}) {
    all.push_back(special);
    all.push_back(-special);
  }
  for (int i = 0; i < count; i++) {
    if constexpr (sizeof(T) == 8)
      all.push_back(std::bit_cast<double>(random()));
    else
      all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    const T fraction = static_cast<T>(static_cast<double>(random()) * 0x1p-63 - 1);
    all.push_back(fraction);
    all.push_back(fraction * 8);
    all.push_back(fraction * 30);
  }
  return all;
}

template <class T>
Literal column(const std::vector<T>& values) {
  return Literal::from(values, {static_cast<std::int64_t>(values.size())});
}

/// The largest error; its position is reported if it exceeds `bound`.
struct Worst {
  double distance = 0;
  std::string place = {};
  template <class Place>
  void add(double found, const Place& say) {
    if (found <= distance) return;
    distance = found;
    place = say();
  }
};

using Unary = std::function<long double(long double)>;
template <class T>
void expect_unary(const std::string& name, double bound, const std::function<Tensor(Tensor)>& f,
                  const Unary& exact) {
  const std::vector<T> xs = arguments_of<T>(20000, 20261125);
  const Literal got = jit(f)(constant(xs)).eval();
  Worst worst;
  for (std::size_t i = 0; i < xs.size(); i++) {
    const T value = got.data<T>()[i];
    worst.add(distance_in_ulp(value, exact(xs[i])),
              [&] { return std::to_string(xs[i]) + " gives " + std::to_string(value); });
  }
  EXPECT_LE(worst.distance, bound) << name << " of f" << 8 * sizeof(T) << ": " << worst.place;
  if (std::getenv("RONDO_SHOW_ACCURACY"))
    std::printf("%s f%zu %.3f at %s\n", name.c_str(), sizeof(T) * 8, worst.distance,
                worst.place.c_str());
}

using Binary = std::function<long double(long double, long double)>;
template <class T>
void expect_binary(const std::string& name, double bound,
                   const std::function<Tensor(Tensor, Tensor)>& f, const Binary& exact) {
  const std::vector<T> some = arguments_of<T>(60, 3), others = arguments_of<T>(60, 4);
  std::vector<T> xs, ys;
  for (T x : some) {
    for (T y : others) xs.push_back(x), ys.push_back(y);
  }
  // Close to each other, where differences and quotients lose most.
  for (T x : arguments_of<T>(3000, 5)) {
    xs.push_back(x), ys.push_back(std::nextafter(x, T(1)));
    xs.push_back(x), ys.push_back(x * T(1.37));
  }
  const Literal got = jit(f)(constant(xs), constant(ys)).eval();
  Worst worst;
  for (std::size_t i = 0; i < xs.size(); i++) {
    const T value = got.data<T>()[i];
    worst.add(distance_in_ulp(value, exact(xs[i], ys[i])), [&] {
      return std::to_string(xs[i]) + ", " + std::to_string(ys[i]) + " give " +
             std::to_string(value);
    });
  }
  EXPECT_LE(worst.distance, bound) << name << " of f" << 8 * sizeof(T) << ": " << worst.place;
  if (std::getenv("RONDO_SHOW_ACCURACY"))
    std::printf("%s f%zu %.3f at %s\n", name.c_str(), sizeof(T) * 8, worst.distance,
                worst.place.c_str());
}

TEST(Accuracy, OfTheErrorFunctions) {
  const auto erfc_exact = [](long double x) { return std::erfc(x); };
  const auto erf_exact = [](long double x) { return std::erf(x); };
  expect_unary<float>(
      "erfc", 2, [](Tensor x) { return erfc(x); }, erfc_exact);
  expect_unary<double>(
      "erfc", 2, [](Tensor x) { return erfc(x); }, erfc_exact);
  expect_unary<float>(
      "erf", 2, [](Tensor x) { return erf(x); }, erf_exact);
  expect_unary<double>(
      "erf", 2, [](Tensor x) { return erf(x); }, erf_exact);
}

TEST(Accuracy, OfFunctionsOfTwoNumbers) {
  const auto power = [](Tensor x, Tensor y) { return pow(x, y); };
  const auto power_exact = [](long double x, long double y) { return std::pow(x, y); };
  expect_binary<float>("pow", 1, power, power_exact);
  expect_binary<double>("pow", 1, power, power_exact);
  const auto angle = [](Tensor y, Tensor x) { return atan2(y, x); };
  const auto angle_exact = [](long double y, long double x) { return std::atan2(y, x); };
  expect_binary<float>("atan2", 2, angle, angle_exact);
  expect_binary<double>("atan2", 2, angle, angle_exact);
  const auto length = [](Tensor x, Tensor y) { return hypot(x, y); };
  const auto length_exact = [](long double x, long double y) { return std::hypot(x, y); };
  expect_binary<float>("hypot", 1, length, length_exact);
  expect_binary<double>("hypot", 1, length, length_exact);
}

using Exact = std::complex<long double>;

/// Complex functions: the distance in the plane, in units of the last place of the larger part of
/// the exact value.
template <class T>
void expect_complex(const std::string& name, double bound, const std::function<Tensor(Tensor)>& f,
                    const std::function<Exact(Exact)>& exact) {
  std::vector<std::complex<T>> zs;
  std::mt19937_64 random(11);
  const auto uniform = [&] { return static_cast<T>(static_cast<double>(random()) * 0x1p-63 - 1); };
  for (int i = 0; i < 4000; i++) {
    const T scale = std::ldexp(T(1), static_cast<int>(random() % 24) - 20);
    zs.emplace_back(uniform() * 4, uniform() * 4);
    zs.emplace_back(uniform() * scale, uniform() * scale);
    zs.emplace_back(1 + uniform() * scale, uniform() * scale);
    zs.emplace_back(uniform() * scale, 1 + uniform() * scale);
    zs.emplace_back(uniform() * scale - 1, uniform() * scale);
    zs.emplace_back(uniform() * scale, std::numbers::pi_v<T> + uniform() * scale);
  }
  const Literal got = jit(f)(constant(zs)).eval();
  Worst worst;
  for (std::size_t i = 0; i < zs.size(); i++) {
    const std::complex<T> value = got.data<std::complex<T>>()[i];
    const Exact wanted = exact(Exact(zs[i].real(), zs[i].imag()));
    const long double size = std::max(std::fabs(wanted.real()), std::fabs(wanted.imag()));
    if (!(size < std::numeric_limits<T>::max() / 2)) continue;
    const Exact difference = Exact(value.real(), value.imag()) - wanted;
    worst.add(static_cast<double>(std::abs(difference) / ulp_near<T>(size)), [&] {
      return "(" + std::to_string(zs[i].real()) + ", " + std::to_string(zs[i].imag()) +
             ") gives (" + std::to_string(value.real()) + ", " + std::to_string(value.imag()) + ")";
    });
  }
  EXPECT_LE(worst.distance, bound) << name << " of c" << 16 * sizeof(T) << ": " << worst.place;
  if (std::getenv("RONDO_SHOW_ACCURACY"))
    std::printf("%s c%zu %.3f at %s\n", name.c_str(), sizeof(T) * 16, worst.distance,
                worst.place.c_str());
}

TEST(Accuracy, OfComplexFunctions) {
  const auto both = [](const std::string& name, double bound,
                       const std::function<Tensor(Tensor)>& f,
                       const std::function<Exact(Exact)>& exact) {
    expect_complex<float>(name, bound, f, exact);
    expect_complex<double>(name, bound, f, exact);
  };
  // NOLINTBEGIN(bugprone-macro-parentheses)
#define BOTH(f, bound) \
  both(                \
      #f, bound, [](Tensor z) { return rondo::f(z); }, [](const Exact& z) { return std::f(z); })
  BOTH(exp, 4);
  BOTH(log, 4);
  BOTH(sqrt, 4);
  BOTH(sin, 4);
  BOTH(cos, 4);
  BOTH(tan, 6);
  BOTH(sinh, 4);
  BOTH(cosh, 4);
  BOTH(tanh, 6);
  BOTH(asin, 5);
  BOTH(acos, 5);
  BOTH(atan, 5);
  BOTH(asinh, 5);
  BOTH(acosh, 5);
  BOTH(atanh, 5);
#undef BOTH
  // NOLINTEND(bugprone-macro-parentheses)
  const auto expm1_exact = [](const Exact& z) {
    const long double half = std::sin(z.imag() / 2);
    return Exact(std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half,
                 std::exp(z.real()) * std::sin(z.imag()));
  };
  // 1 + exp(-z) = exp(-z / 2) 2 cosh(z / 2), which has no cancellation at its zeros.
  const auto logistic_exact = [](const Exact& z) {
    const Exact half = z / 2.0L;
    return std::exp(half) / (2.0L * std::cosh(half));
  };
  both(
      "expm1", 4, [](Tensor z) { return expm1(z); }, expm1_exact);
  both(
      "logistic", 6, [](Tensor z) { return logistic(z); }, logistic_exact);
  both(
      "abs", 1, [](Tensor z) { return complex(abs(z), zeros(abs(z).type())); },
      [](const Exact& z) { return Exact(std::abs(z)); });
  both(
      "pow", 1, [](Tensor z) { return pow(z, z); }, [](const Exact& z) { return std::pow(z, z); });
}

}  // namespace
}  // namespace rondo::testing
