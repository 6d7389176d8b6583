// Derivatives of the elementwise ops as JAX 0.10.2 gives them in f64: at points where they are
// smooth, and where a convention decides.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "transforms/elementwise_rows.h"

namespace rondo {
namespace {

using namespace testing;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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

/// Constant exponents: JAX has a separate op for them.
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
  // JAX: NaN, as it multiplies 0 by an infinity. 0^0 is 1 however close to 0 a positive base is.
  expect_cases(std::vector<Case2>{{"pow", RONDO_BINARY(pow), 0, 0, {0, 0}, {}},
                                  {"pow", RONDO_BINARY(pow), 0, 1, {1, 0}, {}}});
  // JAX: 1.06; a square overflows.
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

}  // namespace
}  // namespace rondo
