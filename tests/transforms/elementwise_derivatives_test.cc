// Derivatives of the elementwise ops: against finite differences, against numbers that JAX 0.10.2
// gives in f64, and at the points where a rule has to choose.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "rondo/gradients.h"
#include "rondo/rondo.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;
using Complex = std::complex<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A function of n tensors and points for each, where it is smooth.
template <class T>
struct Row {
  std::string name;
  TensorsFunction f;
  std::vector<std::vector<T>> operands;

  std::vector<Literal> at() const {
    std::vector<Literal> all;
    for (const std::vector<T>& operand : operands) all.push_back(Literal::from(operand));
    return all;
  }
};

template <class T, class F>
Row<T> unary(std::string name, F f, std::vector<T> x) {
  return {std::move(name), of_tensors<1>(f), {std::move(x)}};
}
template <class T, class F>
Row<T> binary(std::string name, F f, std::vector<T> x, std::vector<T> y) {
  return {std::move(name), of_tensors<2>(f), {std::move(x), std::move(y)}};
}
template <class T, class F>
Row<T> ternary(std::string name, F f, std::vector<T> x, std::vector<T> y, std::vector<T> z) {
  return {std::move(name), of_tensors<3>(f), {std::move(x), std::move(y), std::move(z)}};
}

#define RONDO_UNARY(f) [](const Tensor& x) { return f(x); }
#define RONDO_BINARY(f) [](const Tensor& x, const Tensor& y) { return f(x, y); }

std::vector<Row<double>> real_rows() {
  using V = std::vector<double>;
  const V any{-2.3, -0.4, 0.1, 1.7}, positive{0.2, 0.9, 1.1, 4}, inside{-0.95, -0.3, 0.2, 0.8};
  const V other{0.7, -1.6, 2.2, -0.3};
  const auto add = [](const Tensor& x, const Tensor& y) { return x + y; };
  const auto subtract = [](const Tensor& x, const Tensor& y) { return x - y; };
  const auto multiply = [](const Tensor& x, const Tensor& y) { return x * y; };
  const auto divide = [](const Tensor& x, const Tensor& y) { return x / y; };
  const auto negate = [](const Tensor& x) { return -x; };
  return {
      binary("add", add, any, other),
      binary("subtract", subtract, any, other),
      binary("multiply", multiply, any, other),
      binary("divide", divide, any, other),
      binary("rem", RONDO_BINARY(rem), V{7.3, -7.3, 7.3, 0.2}, V{2.1, 2.1, -2.1, 0.7}),
      binary("maximum", RONDO_BINARY(maximum), any, other),
      binary("minimum", RONDO_BINARY(minimum), any, other),
      ternary(
          "clamp", [](auto lo, auto x, auto hi) { return clamp(lo, x, hi); },
          V{-1, -1, -1, 3, 3, 3}, V{-2, 0.5, 2, -0.5, 1.5, 4}, V{1, 1, 1, 1, 1, 1}),
      unary("negate", negate, any),
      unary("abs", RONDO_UNARY(abs), any),
      unary("square", RONDO_UNARY(square), any),
      unary("reciprocal", RONDO_UNARY(reciprocal), any),
      unary("exp", RONDO_UNARY(exp), any),
      unary("expm1", RONDO_UNARY(expm1), any),
      unary("log", RONDO_UNARY(log), positive),
      unary("log1p", RONDO_UNARY(log1p), positive),
      unary("sqrt", RONDO_UNARY(sqrt), positive),
      unary("rsqrt", RONDO_UNARY(rsqrt), positive),
      unary("cbrt", RONDO_UNARY(cbrt), any),
      unary("logistic", RONDO_UNARY(logistic), any),
      binary("pow", RONDO_BINARY(pow), positive, other),
      unary(
          "pow to a whole number", [](auto x) { return pow(x, 3) + pow(x, -2); }, any),
      unary("erf", RONDO_UNARY(erf), any),
      unary("erfc", RONDO_UNARY(erfc), any),
      unary("erf_inv", RONDO_UNARY(erf_inv), V{-0.9, -0.3, 0.2, 0.8}),
      unary("sin", RONDO_UNARY(sin), any),
      unary("cos", RONDO_UNARY(cos), any),
      unary("tan", RONDO_UNARY(tan), V{-0.9, -0.3, 0.2, 1.1}),
      unary("tanh", RONDO_UNARY(tanh), any),
      unary("sinh", RONDO_UNARY(sinh), any),
      unary("cosh", RONDO_UNARY(cosh), any),
      unary("asin", RONDO_UNARY(asin), inside),
      unary("acos", RONDO_UNARY(acos), inside),
      unary("atan", RONDO_UNARY(atan), any),
      unary("asinh", RONDO_UNARY(asinh), any),
      unary("acosh", RONDO_UNARY(acosh), V{1.2, 1.7, 3, 20}),
      unary("atanh", RONDO_UNARY(atanh), inside),
      binary("atan2", RONDO_BINARY(atan2), any, other),
      binary("hypot", RONDO_BINARY(hypot), any, other),
      binary(
          "where", [](auto x, auto y) { return where(x < y, sin(x), x * y); }, any, other),
      unary(
          "what is rounded", [](auto x) { return x * (floor(x) + ceil(x) + round(x) + sign(x)); },
          any),
      binary(
          "complex parts",
          [](auto x, auto y) {
            const Tensor z = exp(complex(x, y) * complex(y, x));
            return real(z) * imag(z) + abs(z) + real(conj(z) * convert(x, DType::kC128));
          },
          any, other),
      binary(
          "convert",
          [](auto x, auto y) {
            return real(convert(x, DType::kC128) * convert(y * y, DType::kC128)) +
                   x * convert(convert(y, DType::kS32), DType::kF64);
          },
          any, other),
      unary(
          "several ways",
          [](auto x) {
            const Tensor y = tanh(x);
            return y * sin(y) + x * y - y / (1 + x * x);
          },
          any),
  };
}

std::vector<Row<Complex>> complex_rows() {
  using V = std::vector<Complex>;
  const V any{{0.7, -0.4}, {-0.7, 0.6}, {-1.3, -0.8}, {1.6, 1.1}};
  const V other{{-0.3, 0.9}, {1.2, 0.4}, {0.8, -1.4}, {-0.6, -0.2}};
  const auto add = [](const Tensor& x, const Tensor& y) { return x + y; };
  const auto subtract = [](const Tensor& x, const Tensor& y) { return x - y; };
  const auto multiply = [](const Tensor& x, const Tensor& y) { return x * y; };
  const auto divide = [](const Tensor& x, const Tensor& y) { return x / y; };
  return {
      binary("add", add, any, other),
      binary("subtract", subtract, any, other),
      binary("multiply", multiply, any, other),
      binary("divide", divide, any, other),
      binary("pow", RONDO_BINARY(pow), any, other),
      unary("abs", RONDO_UNARY(abs), any),
      unary("real", RONDO_UNARY(real), any),
      unary("imag", RONDO_UNARY(imag), any),
      unary("conj", RONDO_UNARY(conj), any),
      unary(
          "square of the modulus", [](auto z) { return z * conj(z); }, any),
      unary("exp", RONDO_UNARY(exp), any),
      unary("expm1", RONDO_UNARY(expm1), any),
      unary("log", RONDO_UNARY(log), any),
      unary("log1p", RONDO_UNARY(log1p), any),
      unary("sqrt", RONDO_UNARY(sqrt), any),
      unary("rsqrt", RONDO_UNARY(rsqrt), any),
      unary("logistic", RONDO_UNARY(logistic), any),
      unary("sin", RONDO_UNARY(sin), any),
      unary("cos", RONDO_UNARY(cos), any),
      unary("tan", RONDO_UNARY(tan), any),
      unary("tanh", RONDO_UNARY(tanh), any),
      unary("sinh", RONDO_UNARY(sinh), any),
      unary("cosh", RONDO_UNARY(cosh), any),
      unary("asin", RONDO_UNARY(asin), any),
      unary("acos", RONDO_UNARY(acos), any),
      unary("atan", RONDO_UNARY(atan), any),
      unary("asinh", RONDO_UNARY(asinh), any),
      unary("acosh", RONDO_UNARY(acosh), any),
      unary("atanh", RONDO_UNARY(atanh), any),
      binary(
          "where", [](auto x, auto y) { return where(real(x) < 0, x * y, sin(x)); }, any, other),
  };
}

TEST(ElementwiseDerivatives, OfRealNumbersAreThoseOfDifferences) {
  for (const Row<double>& row : real_rows())
    EXPECT_EQ(derivative_error(row.f, row.at()), "") << row.name;
}

TEST(ElementwiseDerivatives, OfComplexNumbersAreThoseOfDifferences) {
  for (const Row<Complex>& row : complex_rows())
    EXPECT_EQ(derivative_error(row.f, row.at()), "") << row.name;
}

TEST(ElementwiseDerivatives, OfThirdOrderAreThoseOfDifferences) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    return pow(x, y) * tanh(x * y) + atan2(y, x) * logistic(hypot(x, y)) + erf(x / y);
  };
  EXPECT_EQ(
      derivative_error(of_tensors<2>(f),
                       {Literal::from<double>({0.8, 2.1}), Literal::from<double>({1.3, -0.7})},
                       {.order = 3, .rtol = 1e-5}),
      "");
}

/// A rule that mixes up dtypes, or that overflows in one of 16 bits, shows here.
TEST(ElementwiseDerivatives, OfNarrowFloatsAreThoseOfWideOnes) {
  for (const Row<double>& row : real_rows()) {
    if (row.name.starts_with("co")) continue;  // they name dtypes
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      SCOPED_TRACE(row.name + " " + std::string(dtype_name(dtype)));
      std::vector<Tensor> narrow, wide, ones_narrow, ones_wide;
      for (const Literal& operand : row.at()) {
        narrow.push_back(convert(operand, dtype));
        wide.push_back(convert(narrow.back(), DType::kF64));
        ones_narrow.push_back(ones(narrow.back().type()));
        ones_wide.push_back(ones(wide.back().type()));
      }
      const Tensor got = jvp(row.f, std::tuple{narrow}, std::tuple{ones_narrow}).second[0];
      const Tensor want = jvp(row.f, std::tuple{wide}, std::tuple{ones_wide}).second[0];
      EXPECT_EQ(got.dtype(), dtype);
      const Literal have = convert(got, DType::kF64).eval(), expected = want.eval();
      for (std::size_t i = 0; i < have.data<double>().size(); i++) {
        const double x = have.data<double>()[i], y = expected.data<double>()[i];
        EXPECT_LE(std::abs(x - y), (dtype == DType::kF32 ? 1e-4 : 0.1) * (1 + std::abs(y)));
      }
    }
  }
}

using Scalar1 = Tensor (*)(const Tensor&);
using Scalar2 = Tensor (*)(const Tensor&, const Tensor&);

void expect_number(double got, double want, double rtol = 1e-12) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(got)) << got;
  else if (std::isinf(want) || want == 0)
    EXPECT_EQ(got, want);
  else
    EXPECT_LE(std::abs(got - want), rtol * std::abs(want)) << got << " is not " << want;
}
double number(const Tensor& x) { return x.eval().item<double>(); }

/// First and second derivatives at a point.
struct Case1 {
  const char* name;
  Scalar1 f;
  double x, first, second;
};

void expect_cases(const std::vector<Case1>& cases) {
  for (const Case1& c : cases) {
    SCOPED_TRACE(std::string(c.name) + " at " + std::to_string(c.x));
    const auto tangent = [&](const Tensor& x) {
      return jvp(c.f, std::tuple{x}, std::tuple{ones(x.type())}).second;
    };
    expect_number(number(grad(c.f)(c.x)), c.first);
    expect_number(number(tangent(Tensor(c.x))), c.first);
    expect_number(number(grad(grad(c.f))(c.x)), c.second);
    expect_number(number(jvp(tangent, std::tuple{Tensor(c.x)}, std::tuple{Tensor(1.0)}).second),
                  c.second);
  }
}

TEST(ElementwiseDerivatives, OfOneOperandAreThoseOfJax) {
  expect_cases({
      {"exp", RONDO_UNARY(exp), 0.7, 2.01375270747048, 2.01375270747048},
      {"expm1", RONDO_UNARY(expm1), -0.3, 0.740818220681718, 0.740818220681718},
      {"log", RONDO_UNARY(log), 2.5, 0.4, -0.16},
      {"log1p", RONDO_UNARY(log1p), 0.4, 0.714285714285714, -0.510204081632653},
      {"sqrt", RONDO_UNARY(sqrt), 1.7, 0.383482494423685, -0.112788968948143},
      {"rsqrt", RONDO_UNARY(rsqrt), 1.7, -0.225577937896285, 0.199039356967311},
      {"cbrt", RONDO_UNARY(cbrt), -2.2, 0.197059310128998, 0.0597149424633327},
      {"logistic", RONDO_UNARY(logistic), 1.3, 0.16829836246906, -0.0962111191648684},
      {"erf", RONDO_UNARY(erf), 0.6, 0.787243431714287, -0.944692118057145},
      {"erfc", RONDO_UNARY(erfc), 1.9, -0.0305247404354478, 0.115994013654702},
      {"erf_inv", RONDO_UNARY(erf_inv), -0.35, 0.982325877344741, -0.619233542085815},
      {"sin", RONDO_UNARY(sin), 1.1, 0.453596121425577, -0.891207360061435},
      {"cos", RONDO_UNARY(cos), 1.1, -0.891207360061435, -0.453596121425577},
      {"tan", RONDO_UNARY(tan), 0.9, 2.58799873325965, 6.52257574145403},
      {"tanh", RONDO_UNARY(tanh), -0.8, 0.559055167732244, 0.74246637596494},
      {"sinh", RONDO_UNARY(sinh), -1.2, 1.81065556732437, -1.50946135541217},
      {"cosh", RONDO_UNARY(cosh), -1.2, -1.50946135541217, 1.81065556732437},
      {"asin", RONDO_UNARY(asin), 0.45, 1.11978502191171, 0.631853617379647},
      {"acos", RONDO_UNARY(acos), 0.45, -1.11978502191171, -0.631853617379647},
      {"atan", RONDO_UNARY(atan), 2.1, 0.184842883548983, -0.143500944714553},
      {"asinh", RONDO_UNARY(asinh), -1.4, 0.581238193719096, 0.274909956488762},
      {"acosh", RONDO_UNARY(acosh), 1.8, 0.668153104781061, -0.536908744913352},
      {"atanh", RONDO_UNARY(atanh), 0.55, 1.4336917562724, 2.26101925720379},
      {"reciprocal", RONDO_UNARY(reciprocal), -1.6, -0.390625, -0.48828125},
      {"square", RONDO_UNARY(square), 1.25, 2.5, 2},
  });
}

TEST(ElementwiseDerivatives, AtEdgesAreThoseOfJax) {
  expect_cases({
      {"abs", RONDO_UNARY(abs), 0, 1, 0},
      {"abs", RONDO_UNARY(abs), -0.0, 1, 0},
      {"abs", RONDO_UNARY(abs), kNan, -1, 0},
      {"sign", RONDO_UNARY(sign), 0, 0, 0},
      {"floor", RONDO_UNARY(floor), 2, 0, 0},
      {"sqrt", RONDO_UNARY(sqrt), 0, kInf, -kInf},
      {"sqrt", RONDO_UNARY(sqrt), -1, kNan, kNan},
      {"sqrt", RONDO_UNARY(sqrt), kInf, 0, 0},
      {"rsqrt", RONDO_UNARY(rsqrt), 0, -kInf, kInf},
      {"rsqrt", RONDO_UNARY(rsqrt), kInf, 0, 0},
      {"cbrt", RONDO_UNARY(cbrt), 0, kInf, -kInf},
      {"log", RONDO_UNARY(log), 0, kInf, -kInf},
      {"log", RONDO_UNARY(log), -2, -0.5, -0.25},
      {"log1p", RONDO_UNARY(log1p), -1, kInf, -kInf},
      {"log1p", RONDO_UNARY(log1p), -2, -1, -1},
      {"expm1", RONDO_UNARY(expm1), 0, 1, 1},
      {"expm1", RONDO_UNARY(expm1), 1e-12, 1.000000000001, 1.000000000001},
      {"expm1", RONDO_UNARY(expm1), 800, kInf, kInf},
      {"logistic", RONDO_UNARY(logistic), -800, 0, 0},
      {"logistic", RONDO_UNARY(logistic), -40, 4.24835425529159e-18, 4.24835425529159e-18},
      {"logistic", RONDO_UNARY(logistic), 0, 0.25, 0},
      {"logistic", RONDO_UNARY(logistic), 40, 0, 0},
      {"logistic", RONDO_UNARY(logistic), 800, 0, 0},
      {"tanh", RONDO_UNARY(tanh), -400, 0, 0},
      {"tanh", RONDO_UNARY(tanh), 0, 1, 0},
      {"tanh", RONDO_UNARY(tanh), 20, 0, 0},
      {"asin", RONDO_UNARY(asin), -1, kInf, -kInf},
      {"asin", RONDO_UNARY(asin), 1, kInf, kInf},
      {"asin", RONDO_UNARY(asin), 2, kNan, kNan},
      {"acos", RONDO_UNARY(acos), -1, -kInf, kInf},
      {"acos", RONDO_UNARY(acos), 1, -kInf, -kInf},
      {"atanh", RONDO_UNARY(atanh), 2, -1.0 / 3, 4.0 / 9},
      {"acosh", RONDO_UNARY(acosh), 1, kInf, -kInf},
      {"acosh", RONDO_UNARY(acosh), 0.5, kNan, kNan},
      {"asinh", RONDO_UNARY(asinh), -1e200, 0, 0},
      {"atan", RONDO_UNARY(atan), 1e200, 0, 0},
      {"erf", RONDO_UNARY(erf), 0, 1.1283791670955126, 0},
      {"erf", RONDO_UNARY(erf), 10, 4.1976562313544165e-44, -8.395312462708832e-43},
      {"erf", RONDO_UNARY(erf), 30, 0, 0},
      {"erfc", RONDO_UNARY(erfc), 10, -4.1976562313544165e-44, 8.395312462708832e-43},
      {"erfc", RONDO_UNARY(erfc), -30, 0, 0},
      {"erf_inv", RONDO_UNARY(erf_inv), 0, 0.8862269254527579, 0},
      {"erf_inv", RONDO_UNARY(erf_inv), 1, kInf, kInf},
      {"erf_inv", RONDO_UNARY(erf_inv), -1, kInf, -kInf},
  });
}

/// Written exponents: JAX has an op of its own for them.
TEST(ElementwiseDerivatives, OfWrittenPowersAreFiniteAtZeroToAnyOrder) {
  const auto cases = [](double n) {
    const auto f = [n](const Tensor& x) { return pow(x, n); };
    return std::vector<double>{number(grad(f)(0.0)), number(grad(grad(f))(0.0)),
                               number(grad(grad(grad(f)))(0.0))};
  };
  EXPECT_EQ(cases(0), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(cases(1), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(cases(2), (std::vector<double>{0, 2, 0}));
  EXPECT_EQ(cases(3), (std::vector<double>{0, 0, 6}));
}

/// Gradient and Hessian.
struct Case2 {
  const char* name;
  Scalar2 f;
  double x, y;
  std::vector<double> first, second;  // second may be left out
};

void expect_cases(const std::vector<Case2>& cases) {
  for (const Case2& c : cases) {
    SCOPED_TRACE(std::string(c.name) + " at " + std::to_string(c.x) + ", " + std::to_string(c.y));
    const auto [by_x, by_y] = grad<0, 1>(c.f)(c.x, c.y);
    expect_number(number(by_x), c.first[0]);
    expect_number(number(by_y), c.first[1]);
    if (c.second.empty()) continue;
    const auto [xx, xy] = grad<0, 1>(grad<0>(c.f))(c.x, c.y);
    const auto [yx, yy] = grad<0, 1>(grad<1>(c.f))(c.x, c.y);
    expect_number(number(xx), c.second[0]);
    expect_number(number(xy), c.second[1]);
    expect_number(number(yx), c.second[2]);
    expect_number(number(yy), c.second[3]);
  }
}

Tensor quotient_of(const Tensor& x, const Tensor& y) { return x / y; }

TEST(ElementwiseDerivatives, OfTwoOperandsAreThoseOfJax) {
  expect_cases(std::vector<Case2>{
      {"pow",
       RONDO_BINARY(pow),
       1.7,
       2.3,
       {4.58470539390564, 1.79813745572429},
       {3.5059511835749, 4.42612437606677, 4.42612437606677, 0.954142533300359}},
      {"atan2",
       RONDO_BINARY(atan2),
       1.2,
       -0.7,
       {-0.362694300518135, -0.621761658031088},
       {0.451018819297162, 0.255040403769229, 0.255040403769229, -0.451018819297162}},
      {"hypot",
       RONDO_BINARY(hypot),
       1.2,
       -0.7,
       {0.863778900898433, -0.503871025524086},
       {0.182751149153814, 0.313287684263681, 0.313287684263681, 0.537064601594881}},
      {"divide",
       quotient_of,
       1.2,
       -0.7,
       {-1.42857142857143, -2.44897959183674},
       {0, -2.04081632653061, -2.04081632653061, -6.99708454810496}},
      {"rem", RONDO_BINARY(rem), 5.5, -2, {1, 2}, {0, 0, 0, 0}},
      {"rem", RONDO_BINARY(rem), 4, 2, {1, -2}, {0, 0, 0, 0}},
      {"rem", RONDO_BINARY(rem), 1, 0, {1, -kInf}, {}},
      {"maximum", RONDO_BINARY(maximum), 1, 1, {0.5, 0.5}, {0, 0, 0, 0}},
      {"maximum", RONDO_BINARY(maximum), 0, -0.0, {0.5, 0.5}, {0, 0, 0, 0}},
      {"maximum", RONDO_BINARY(maximum), 1, 2, {0, 1}, {0, 0, 0, 0}},
      {"maximum", RONDO_BINARY(maximum), kNan, 1, {0, 0}, {0, 0, 0, 0}},
      {"minimum", RONDO_BINARY(minimum), 1, 1, {0.5, 0.5}, {0, 0, 0, 0}},
      {"minimum", RONDO_BINARY(minimum), 1, 2, {1, 0}, {0, 0, 0, 0}},
      {"divide", quotient_of, 1, 0, {kInf, -kInf}, {}},
      {"divide", quotient_of, 0, 0, {kInf, kNan}, {}},
      {"divide", quotient_of, 0, 2, {0.5, 0}, {0, -0.25, -0.25, 0}},
      {"divide", quotient_of, 1, kInf, {0, 0}, {0, 0, 0, 0}},
      {"atan2", RONDO_BINARY(atan2), 0, 0, {kNan, kNan}, {}},
      {"atan2", RONDO_BINARY(atan2), 0, 1, {1, 0}, {0, -1, -1, 0}},
      {"atan2", RONDO_BINARY(atan2), 0, -1, {-1, 0}, {0, -1, -1, 0}},
      {"atan2", RONDO_BINARY(atan2), 1, 0, {0, -1}, {0, 1, 1, 0}},
      {"hypot", RONDO_BINARY(hypot), 0, 0, {0.5, 0.5}, {0, 0, 0, 0}},
      {"hypot", RONDO_BINARY(hypot), 0, -2, {0, -1}, {0.5, 0, 0, 0}},
      {"hypot", RONDO_BINARY(hypot), -3, 4, {-0.6, 0.8}, {0.128, 0.096, 0.096, 0.072}},
      {"hypot", RONDO_BINARY(hypot), kInf, 1, {kNan, kNan}, {}},
      {"pow", RONDO_BINARY(pow), 0, 2, {0, 0}, {2, 0, 0, 0}},
      {"pow", RONDO_BINARY(pow), 0, 3, {0, 0}, {0, 0, 0, 0}},
      {"pow", RONDO_BINARY(pow), 0, 0.5, {kInf, 0}, {}},
      {"pow", RONDO_BINARY(pow), 0, -1, {-kInf, kNan}, {}},
      {"pow", RONDO_BINARY(pow), -2, 3, {12, kNan}, {}},
      {"pow", RONDO_BINARY(pow), -2, 0, {0, kNan}, {}},
      {"pow", RONDO_BINARY(pow), 2, 0, {0, 0.693147180559945}, {0, 0.5, 0.5, 0.480453013918201}},
      {"pow", RONDO_BINARY(pow), -2, 0.5, {kNan, kNan}, {}},
  });
}

TEST(ElementwiseDerivatives, AreRightWhereThoseOfJaxAreNot) {
  // JAX: NaN, as it multiplies 0 by an infinity. 0^0 is 1 however near to 0 a positive base is.
  expect_cases(std::vector<Case2>{{"pow", RONDO_BINARY(pow), 0, 0, {0, 0}, {}},
                                  {"pow", RONDO_BINARY(pow), 0, 1, {1, 0}, {}}});
  // JAX: 0 and 1.06; the squares overflow.
  EXPECT_NEAR(number(grad(RONDO_UNARY(acosh))(1e200)) * 1e200, 1, 1e-12);
  const auto [by_x, by_y] = grad<0, 1>(RONDO_BINARY(hypot))(1e200, 1e200);
  expect_number(number(by_x), std::sqrt(0.5));
  expect_number(number(by_y), std::sqrt(0.5));
}

TEST(ElementwiseDerivatives, OfClampGoToWhatTheResultIs) {
  const auto gradient = [](double lo, double x, double hi) {
    const auto f = [](auto a, auto b, auto c) { return clamp(a, b, c); };
    const auto [by_lo, by_x, by_hi] = grad<0, 1, 2>(f)(lo, x, hi);
    return std::vector<double>{number(by_lo), number(by_x), number(by_hi)};
  };
  using V = std::vector<double>;
  // JAX's numbers.
  EXPECT_EQ(gradient(0, 0.5, 1), (V{0, 1, 0}));
  EXPECT_EQ(gradient(0, -1, 1), (V{1, 0, 0}));
  EXPECT_EQ(gradient(0, 2, 1), (V{0, 0, 1}));
  EXPECT_EQ(gradient(0, 0, 1), (V{0, 0, 0}));
  EXPECT_EQ(gradient(0, 1, 1), (V{0, 0, 0}));
  EXPECT_EQ(gradient(1, 1, 1), (V{0, 0, 0}));
  EXPECT_EQ(gradient(1, 0.5, 0), (V{0, 0, 1}));
  EXPECT_EQ(gradient(1, 2, 0), (V{0, 0, 1}));
  EXPECT_EQ(gradient(1, -1, 0), (V{0, 0, 1}));  // JAX: 0 for all
}

void expect_complex(const Tensor& got, Complex want) {
  const Complex have = got.eval().item<Complex>();
  EXPECT_LE(std::abs(have - want), 1e-12 * std::abs(want)) << have << " is not " << want;
}

/// Of real functions of a complex number: df/dx - i df/dy. The numbers are JAX's.
TEST(ComplexDerivatives, OfRealFunctionsAreThoseOfJax) {
  const auto at = [](Scalar1 f, Complex z) { return grad(f)(z); };
  expect_complex(at(RONDO_UNARY(abs), {3, -4}), {0.6, 0.8});
  expect_complex(at(RONDO_UNARY(abs), 0), 0);
  expect_complex(at(RONDO_UNARY(real), {3, -4}), 1);
  expect_complex(at(RONDO_UNARY(imag), {3, -4}), {0, -1});
  expect_complex(at([](const Tensor& z) { return real(z * conj(z)); }, {3, -4}), {6, 8});
  expect_complex(at([](const Tensor& z) { return imag(exp(z)); }, {3, -4}),
                 {15.200784463068, 13.1287830814622});
  expect_complex(at([](const Tensor& z) { return abs(log(z)); }, {3, -4}),
                 {0.0241002525831134, 0.198542634780115});
  const auto f = [](const Tensor& x, const Tensor& y) {
    return real(Tensor(Complex(2, -3)) * complex(x, y));
  };
  const auto [by_x, by_y] = grad<0, 1>(f)(1.0, 2.0);
  expect_number(number(by_x), 2);
  expect_number(number(by_y), 3);
}

struct ComplexCase {
  const char* name;
  Scalar1 f;
  Complex first, second;
};

TEST(ComplexDerivatives, OfHolomorphicFunctionsAreThoseOfJax) {
  const std::vector<ComplexCase> cases{
      {"exp",
       RONDO_UNARY(exp),
       {1.85478907041876, -0.78419224116271},
       {1.85478907041876, -0.78419224116271}},
      {"expm1",
       RONDO_UNARY(expm1),
       {1.85478907041876, -0.78419224116271},
       {1.85478907041876, -0.78419224116271}},
      {"log",
       RONDO_UNARY(log),
       {1.07692307692308, 0.615384615384615},
       {-0.781065088757396, -1.32544378698225}},
      {"log1p",
       RONDO_UNARY(log1p),
       {0.557377049180328, 0.131147540983607},
       {-0.293469497446923, -0.146197258801397}},
      {"sqrt",
       RONDO_UNARY(sqrt),
       {0.538199593879348, 0.142926672182368},
       {-0.245822343725074, -0.242560390830305}},
      {"rsqrt",
       RONDO_UNARY(rsqrt),
       {-0.491644687450149, -0.48512078166061},
       {0.3463914658866, 1.23748251263651}},
      {"logistic",
       RONDO_UNARY(logistic),
       {0.227628555504049, 0.0311874832761523},
       {-0.0849268185568267, 0.029861006530905}},
      {"sin",
       RONDO_UNARY(sin),
       {0.826849757489754, 0.264613913356192},
       {-0.696445943122335, 0.314160707299216}},
      {"cos",
       RONDO_UNARY(cos),
       {-0.696445943122335, 0.314160707299216},
       {-0.826849757489754, -0.264613913356192}},
      {"tan",
       RONDO_UNARY(tan),
       {1.08026319601414, -0.77031976326727},
       {0.504735249603113, -2.2800812361087}},
      {"tanh",
       RONDO_UNARY(tanh),
       {0.616251078783109, 0.336930982740432},
       {-0.993977226782135, -0.140150546992793}},
      {"sinh",
       RONDO_UNARY(sinh),
       {1.15608721196805, -0.295406407672711},
       {0.698701858450709, -0.488785833489999}},
      {"cosh",
       RONDO_UNARY(cosh),
       {0.698701858450709, -0.488785833489999},
       {1.15608721196805, -0.295406407672711}},
      {"asin",
       RONDO_UNARY(asin),
       {1.00595357577224, -0.365039822510896},
       {0.00725553207476332, -0.988018513475208}},
      {"acos",
       RONDO_UNARY(acos),
       {-1.00595357577224, 0.365039822510896},
       {-0.00725553207476332, 0.988018513475208}},
      {"atan",
       RONDO_UNARY(atan),
       {0.638655462184874, 0.26890756302521},
       {-0.744580185015183, -0.212414377515712}},
      {"asinh",
       RONDO_UNARY(asinh),
       {0.81597009469101, 0.164777829956525},
       {-0.463632343607217, -0.036534252265568}},
      {"acosh",
       RONDO_UNARY(acosh),
       {0.365039822510896, 1.00595357577224},
       {0.988018513475208, 0.00725553207476324}},
      {"atanh",
       RONDO_UNARY(atanh),
       {0.878688524590164, -0.734426229508196},
       {-0.706734748723461, -1.9930986294007}},
      {"reciprocal",
       RONDO_UNARY(reciprocal),
       {-0.781065088757396, -1.32544378698225},
       {0.0509786071916245, 3.81611288120164}},
  };
  for (const ComplexCase& c : cases) {
    SCOPED_TRACE(c.name);
    expect_complex(grad(c.f)(Complex(0.7, -0.4)), c.first);
    expect_complex(grad(grad(c.f))(Complex(0.7, -0.4)), c.second);
  }
  const auto [by_base, by_exponent] =
      grad<0, 1>(RONDO_BINARY(pow))(Complex(0.7, -0.4), Complex(1.2, 0.3));
  expect_complex(by_base, {1.38039263016452, 0.105850955017144});
  expect_complex(by_exponent, {-0.447523840794321, -0.238659319313451});
}

/// On the cuts the derivative belongs to the side that the value is taken from. JAX has the
/// other sign for asin(2), acos(2) and acosh(-2).
TEST(ComplexDerivatives, OnBranchCutsGoAlongTheCut) {
  struct Cut {
    const char* name;
    Scalar1 f;
    Complex z, along;
  };
  const std::vector<Cut> cuts{
      {"asin", RONDO_UNARY(asin), 2, 1},
      {"asin", RONDO_UNARY(asin), -2, 1},
      {"acos", RONDO_UNARY(acos), 2, 1},
      {"acos", RONDO_UNARY(acos), -2, 1},
      {"acosh", RONDO_UNARY(acosh), 0.5, 1},
      {"acosh", RONDO_UNARY(acosh), -2, 1},
      {"acosh", RONDO_UNARY(acosh), 2, 1},
      {"asinh", RONDO_UNARY(asinh), {0, 2}, {0, 1}},
      {"asinh", RONDO_UNARY(asinh), {0, -2}, {0, 1}},
      {"sqrt", RONDO_UNARY(sqrt), -2, 1},
      {"log", RONDO_UNARY(log), -2, 1},
      {"pow", [](const Tensor& z) { return pow(z, 0.3); }, -2, 1},
  };
  const double step = 1e-6;
  for (const Cut& cut : cuts) {
    const auto value = [&](Complex z) { return cut.f(Tensor(z)).eval().item<Complex>(); };
    const Complex want = (value(cut.z + step * cut.along) - value(cut.z - step * cut.along)) /
                         (2 * step * cut.along);
    const Complex got = grad(cut.f)(cut.z).eval().item<Complex>();
    EXPECT_LE(std::abs(got - want), 1e-8)
        << cut.name << " at " << cut.z << ": " << got << ", not " << want;
  }
}

TEST(ElementwiseDerivatives, AWhereGuardsWhatItDoesNotChoose) {
  const auto f = [](const Tensor& x) {
    const Tensor positive = x > 0;
    return where(positive, sqrt(where(positive, x, 1)) + log(where(positive, x, 1)), 0);
  };
  expect_number(number(grad(f)(4.0)), 0.5);
  expect_number(number(grad(f)(0.0)), 0);
  expect_number(number(grad(f)(-1.0)), 0);
  expect_number(number(grad(grad(f))(0.0)), 0);
}

TEST(ElementwiseDerivatives, DoNotGoThroughIntegersAndPreds) {
  const auto f = [](const Tensor& x) {
    const Tensor whole = convert(x, DType::kS32);
    const Tensor bits = bitcast_convert(bitcast_convert(x, DType::kU64) | 1, DType::kF64);
    return x * convert(whole + (whole >> 1), DType::kF64) + bits * 0 +
           convert((x > 2) & is_finite(x), DType::kF64);
  };
  expect_number(number(grad(f)(3.5)), 4);
  const Tensor zero = jvp([](const Tensor& x) { return convert(x, DType::kS32); },
                          std::tuple{Tensor(3.5)}, std::tuple{Tensor(1.0)})
                          .second;
  EXPECT_EQ(zero.dtype(), DType::kS32);
  expect_scalar(zero, 0);
}

TEST(ElementwiseDerivatives, OfConversionsComeBackInTheDtypeTheyCameFrom) {
  const auto f = [](const Tensor& x) {
    return real(convert(square(convert(x, DType::kF64)), DType::kC64));
  };
  expect_scalar(grad(f)(1.5f), 3.0f);
  const auto g = [](const Tensor& z) { return convert(square(z), DType::kF16); };
  const Tensor of_complex =
      grad(g)(std::complex<float>(1, 2));  // real part of z^2: 2x, and -2y for the imaginary part
  EXPECT_EQ(of_complex.eval().item<std::complex<float>>(), std::complex<float>(2, 4));
}

TEST(ObserverDerivatives, TheValuesAreObservedAndTheTangentsPass) {
  const auto f = [](const Tensor& x) {
    return square(tap(sin(x), "sine")) * convert(progress(convert(x, DType::kS32), 5), DType::kF64);
  };
  const auto both = [&](const Tensor& x) {
    return std::tuple{value_and_grad(f)(x), jvp(f, std::tuple{x}, std::tuple{Tensor(2.0)}).second,
                      grad(grad(f))(x)};
  };
  const Function program = trace(both, f64());
  std::vector<double> seen;
  RunOptions options;
  options.on_tap = [&](std::string_view, const Literal& value) {
    seen.push_back(value.item<double>());
  };
  const double x = 3.25, s = std::sin(x), c = std::cos(x);
  const std::vector<Literal> results = compile(program).run({Literal::scalar(x)}, options);
  expect_number(results[0].item<double>(), 3 * s * s);
  expect_number(results[1].item<double>(), 3 * 2 * s * c);
  expect_number(results[2].item<double>(), 2 * 3 * 2 * s * c);
  expect_number(results[3].item<double>(), 3 * 2 * (c * c - s * s));
  ASSERT_FALSE(seen.empty());
  EXPECT_LE(seen.size(), 3u);  // once for each time that f itself is in the program
  for (const double value : seen) EXPECT_EQ(value, s);
  expect_number(number(grad([](const Tensor& y) { return print(y, "{}") * y; })(2.0)), 4);
}

#undef RONDO_UNARY
#undef RONDO_BINARY

}  // namespace
}  // namespace rondo
