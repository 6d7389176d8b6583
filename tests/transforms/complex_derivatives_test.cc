// Derivatives of functions of complex numbers: compared with finite differences, with numbers from
// JAX 0.10.2 in c128, and on branch cuts.
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "transforms/elementwise_rows.h"

namespace rondo {
namespace {

using namespace testing;

using Complex = std::complex<double>;

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

TEST(ComplexDerivatives, AreThoseOfDifferences) {
  for (const Row<Complex>& row : complex_rows())
    EXPECT_EQ(derivative_error(row.f, row.at()), "") << row.name;
}

void expect_complex(const Tensor& got, Complex want) {
  const Complex have = got.eval().item<Complex>();
  EXPECT_LE(std::abs(have - want), 1e-12 * std::abs(want)) << have << " is not " << want;
}

/// For real functions of a complex number: df/dx - i df/dy. The numbers are JAX's.
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

/// On the cuts the derivative belongs to the side from which the value is taken. JAX has the other
/// sign for asin(2), acos(2) and acosh(-2).
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

}  // namespace
}  // namespace rondo
