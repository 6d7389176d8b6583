// The formulas for ops that HLO lacks give the same results as the ops themselves.
#include "ops/expansions.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "ops/elementwise.h"
#include "ops/expanded.h"
#include "ops/slopes.h"
#include "ops/vectors.h"
#include "support/definition.h"
#include "support/elementwise_records.h"

namespace rondo {
namespace {

using namespace testing;

/// The ops that have both a kernel and a formula.
std::vector<const ir::OpDef*> ops_with_formulas(int arity) {
  std::vector<const ir::OpDef*> ops = elementwise_ops(arity);
  std::erase_if(ops, [](const ir::OpDef* op) { return !op->runs() || !op->expansion.rule; });
  return ops;
}

TEST(Expansions, AreComparedForTheseOps) {
  std::vector<std::string> names;
  for (const int arity : {1, 2}) {
    for (const ir::OpDef* op : ops_with_formulas(arity)) names.emplace_back(op->name);
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"sinh", "erfc", "atanh", "hypot", "atan2_slope"}));
}

/// Numbers of all sizes and both signs, the interval [-1, 1] well covered, and the edges.
template <class T>
std::vector<T> samples() {
  const T inf = std::numeric_limits<T>::infinity(), largest = std::numeric_limits<T>::max();
  std::vector<T> values{
      0,       T(-0.0),  1,       -1,       inf,    -inf,    std::numeric_limits<T>::quiet_NaN(),
      largest, -largest, T(88.9), T(-88.9), T(0.5), T(-0.5), T(0.499),
      5,       T(9.1),   T(1e-4), T(1.0001)};
  std::mt19937 engine(7);
  std::uniform_real_distribution<T> unit(-1, 1), exponent(-20, 20);
  for (int i = 0; i < 200; i++) {
    values.push_back(unit(engine));
    values.push_back(unit(engine) * 10);
    values.push_back(std::copysign(std::exp2(exponent(engine)), unit(engine)));
  }
  return values;
}

/// Equal within `units` units in the last place, or as denormal numbers; NaN and infinity in the
/// same positions, zeros of one sign.
template <class T>
void expect_same(const Literal& got, const Literal& want, const Literal& at, double units) {
  ASSERT_EQ(got.type(), want.type());
  if (want.dtype() == DType::kPred) {
    EXPECT_TRUE(got.identical(want));
    return;
  }
  for (std::size_t i = 0; i < got.data<T>().size(); i++) {
    const T x = got.data<T>()[i], y = want.data<T>()[i];
    if (std::isnan(y) || std::isinf(y)) {
      EXPECT_TRUE(std::isnan(y) ? std::isnan(x) : x == y)
          << "at " << at.data<T>()[i] << ": " << x << ", expected " << y;
      continue;
    }
    const T unit = std::numeric_limits<T>::epsilon();
    EXPECT_LE(std::abs(x - y), units * unit * std::abs(y) + std::numeric_limits<T>::min())
        << "at " << at.data<T>()[i] << ": " << x << ", expected " << y;
    if (y == 0 && x == 0) {
      EXPECT_EQ(std::signbit(x), std::signbit(y)) << "at " << at.data<T>()[i];
    }
  }
}

template <class T>
class RealExpansions : public ::testing::Test {};
using ExpandedFloats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RealExpansions, ExpandedFloats);

TYPED_TEST(RealExpansions, AreTheFunctions) {
  using T = TypeParam;
  const Literal x = Literal::from(samples<T>());
  for (const ir::OpDef* op : ops_with_formulas(1)) {
    SCOPED_TRACE(op->name);
    const auto f = [&](Tensor t) { return apply_op(*op, {t}); };
    expect_same<T>(run_expanded(f, x)[0], f(Tensor(x)).eval(), x, 16);
  }
}

TYPED_TEST(RealExpansions, OfTwoOperandsAreTheFunctions) {
  using T = TypeParam;
  const std::vector<T> a = samples<T>();
  std::vector<T> b = a;
  std::shuffle(b.begin() + 12, b.end(), std::mt19937(3));
  std::rotate(b.begin(), b.begin() + 5, b.begin() + 12);
  const Literal x = Literal::from(a), y = Literal::from(b);
  for (const ir::OpDef* op : ops_with_formulas(2)) {
    SCOPED_TRACE(op->name);
    const auto f = [&](Tensor p, Tensor q) { return apply_op(*op, {p, q}); };
    expect_same<T>(run_expanded(f, x, y)[0], f(x, y).eval(), x, 4);
    expect_same<T>(run_expanded(f, x, x)[0], f(x, x).eval(), x, 4);
  }
}

/// What the op itself cannot show: the values where derivatives are 0, 1/2 or 1.
TEST(Slopes, AtTheirCorners) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto both = [](auto slope, std::vector<double> a, std::vector<double> b) {
    const auto n = static_cast<std::int64_t>(a.size());
    return slope(constant(Literal::from(a, {n})), constant(Literal::from(b, {n})));
  };
  expect_values<double>(
      both(ops::maximum_slope, {2, 1, 1, 0, inf, nan, 1}, {1, 2, 1, -0.0, inf, 1, nan}), {7},
      {1, 0, 0.5, 0.5, 0.5, 0, 0});
  expect_values<double>(both(ops::remainder_quotient, {7.5, -7.5, 7.5, 0.5}, {2, 2, -2, 2}), {4},
                        {3, -3, -3, 0});
  expect_values<double>(both(ops::power_base_slope, {0, 0, 2, -2}, {0, 1, 3, 3}), {4},
                        {0, 1, 12, 12});
  expect_values<double>(both(ops::power_exponent_slope, {0, 1}, {0, 1}), {2}, {0, 0});
  expect_values<double>(both(ops::atan2_slope, {3, 0}, {4, 2}), {2}, {3.0 / 25, 0});
  expect_values<double>(both(ops::hypot_slope, {3, 0}, {5, 0}), {2}, {0.6, 0.5});
}

template <class T>
void expect_half_formulas(double rtol) {
  const Literal x = convert(vec(samples<float>()), dtype_of<T>).eval();
  for (const ir::OpDef* op : ops_with_formulas(1)) {
    SCOPED_TRACE(op->name);
    const auto f = [&](Tensor t) { return apply_op(*op, {t}); };
    const Literal got = convert(run_expanded(f, x)[0], DType::kF32).eval(),
                  want = convert(f(Tensor(x)), DType::kF32).eval();
    const auto values = want.data<float>();
    expect_close<float>(got, want.shape(), {values.begin(), values.end()}, rtol,
                        static_cast<double>(T::from_bits(2)));
  }
}

TEST(HalfExpansions, AreComputedInF32) {
  expect_half_formulas<float16>(0x1p-10);
  expect_half_formulas<bfloat16>(0x1p-7);
}

template <class T>
void expect_complex_formulas(const std::vector<std::complex<T>>& points, double units) {
  const Literal z = Literal::from(points);
  for (const ir::OpDef* op : ops_with_formulas(1)) {
    if (!takes(*op, z.dtype())) continue;
    SCOPED_TRACE(op->name);
    const auto f = [&](Tensor t) { return apply_op(*op, {t}); };
    const Literal got = run_expanded(f, z)[0], want = f(Tensor(z)).eval();
    if (want.dtype() == DType::kPred) {
      EXPECT_TRUE(got.identical(want));
      continue;
    }
    for (std::size_t i = 0; i < points.size(); i++) {
      const std::complex<T> x = got.data<std::complex<T>>()[i], y = want.data<std::complex<T>>()[i];
      const T near = static_cast<T>(units) * std::numeric_limits<T>::epsilon() * std::abs(y) +
                     std::numeric_limits<T>::min();
      EXPECT_LE(std::abs(x - y), near) << "at " << points[i] << ": " << x << ", expected " << y;
    }
  }
}

template <class T>
std::vector<std::complex<T>> complex_samples() {
  std::vector<std::complex<T>> points;
  for (T x : {T(0), T(0.5), T(-0.5), T(1.5), T(-2), T(30), T(-1e-8), T(1e6)}) {
    for (T y : {T(0), T(0.25), T(-1.75), T(3), T(-1e-9), T(25)}) points.emplace_back(x, y);
  }
  std::mt19937 engine(11);
  std::uniform_real_distribution<T> number(-3, 3);
  for (int i = 0; i < 300; i++) points.emplace_back(number(engine), number(engine));
  return points;
}

TEST(ComplexExpansions, AreTheFunctions) {
  auto without_overflow = [](auto points) {  // for sinh and cosh, whose limits are below
    std::erase_if(points, [](const auto& z) { return std::abs(z.real()) > 80; });
    return points;
  };
  expect_complex_formulas<float>(without_overflow(complex_samples<float>()), 20);
  expect_complex_formulas<double>(without_overflow(complex_samples<double>()), 20);
}

TEST(ComplexExpansions, OfInverseFunctionsFarOut) {
  std::set<std::string_view> left{"asin", "acos", "atan", "asinh", "acosh", "atanh"};
  for (const ir::OpDef* op : ops_with_formulas(1)) {
    if (left.erase(op->name) == 0) continue;
    SCOPED_TRACE(op->name);
    const auto f = [&](Tensor t) { return apply_op(*op, {t}); };
    const Literal z = Literal::from<std::complex<float>>(
        {{1e6f, 3}, {1e30f, 1e30f}, {-1e18f, 1}, {2, -1e25f}}, {4});
    const Literal got = run_expanded(f, z)[0], want = f(Tensor(z)).eval();
    for (std::size_t i = 0; i < 4; i++) {
      const std::complex<float> x = got.data<std::complex<float>>()[i],
                                y = want.data<std::complex<float>>()[i];
      EXPECT_LE(std::abs(x - y), 2e-6f * std::abs(y)) << x << ", expected " << y;
    }
  }
  EXPECT_TRUE(left.empty()) << *left.begin();
}

TEST(ComplexExpansions, KeepZeroBesideInfinity) {
  const Literal z = Literal::from<std::complex<float>>({{1000, 0}, {-1000, 0}, {1, 0}}, {3});
  expect_complex<float>(run_expanded([](Tensor t) { return sinh(t); }, z)[0],
                        {{kInf, 0}, {-kInf, 0}, {1.17520119f, 0}}, 1e-6);
  expect_complex<float>(run_expanded([](Tensor t) { return cosh(t); }, z)[0],
                        {{kInf, 0}, {kInf, 0}, {1.54308063f, 0}}, 1e-6);
}

TEST(Expansions, StandAtTheUsersLine) {
  const Tensor x = vec<float>({0.5f});
  const std::uint32_t line = __LINE__ + 1;
  const Tensor y = asinh(x);
  const Tensor node = definition_of(y);
  const Tensor expanded = node.node()->op->expansion.rule(*node.node(), node.node()->operands)[0];
  std::vector<Tensor> left{expanded};
  int nodes = 0;
  while (!left.empty()) {
    const Tensor tensor = definition_of(left.back());
    left.pop_back();
    if (tensor.same_as(x)) continue;
    nodes++;
    EXPECT_EQ(tensor.node()->location().str(), "expansions_test.cc:" + std::to_string(line))
        << tensor.node()->op->name;
    for (const Tensor& operand : tensor.node()->operands) left.push_back(operand);
  }
  EXPECT_GT(nodes, 5);
}

}  // namespace
}  // namespace rondo
