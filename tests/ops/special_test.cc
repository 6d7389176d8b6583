// The special functions compared with the table of scripts/special_table.py, at their edges with
// what SciPy and JAX give, and their derivatives.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "support/expect.h"
#include "transforms/elementwise_rows.h"

namespace rondo::testing {
namespace {

using Arguments = std::vector<Tensor>;
using FunctionOf = std::function<Tensor(const Arguments&)>;

/// With the largest errors of the sample (docs/ops.md has those of more points), in units of the
/// last place: of f32, of f64.
struct Entry {
  FunctionOf f;
  double single, wide;
};

const std::map<std::string, Entry>& entries() {
  using A = const Arguments&;
  static const std::map<std::string, Entry> all = {
      {"lgamma", {[](A x) { return lgamma(x[0]); }, 1, 2}},
      {"digamma", {[](A x) { return digamma(x[0]); }, 1, 2}},
      {"trigamma", {[](A x) { return polygamma(1, x[0]); }, 1, 2}},
      {"polygamma 4", {[](A x) { return polygamma(4, x[0]); }, 1, 2}},
      {"zeta", {[](A x) { return zeta(x[0], x[1]); }, 1, 2}},
      {"bessel_i0e", {[](A x) { return bessel_i0e(x[0]); }, 1, 2}},
      {"bessel_i1e", {[](A x) { return bessel_i1e(x[0]); }, 1, 2}},
      {"xlogy", {[](A x) { return xlogy(x[0], x[1]); }, 1, 2}},
      {"entr", {[](A x) { return entr(x[0]); }, 1, 2}},
      {"ndtr", {[](A x) { return ndtr(x[0]); }, 1, 2}},
      {"ndtri", {[](A x) { return ndtri(x[0]); }, 1, 2}},
      {"sinc", {[](A x) { return sinc(x[0]); }, 2, 2}},
      {"betaln", {[](A x) { return betaln(x[0], x[1]); }, 1, 2}},
      {"gammainc", {[](A x) { return gammainc(x[0], x[1]); }, 1, 2}},
      {"gammaincc", {[](A x) { return gammaincc(x[0], x[1]); }, 1, 2}},
      {"betainc", {[](A x) { return betainc(x[0], x[1], x[2]); }, 1, 4}},
  };
  return all;
}

struct Rows {
  std::vector<std::vector<double>> operands;
  std::vector<double> values, least;
};

std::map<std::string, Rows> special_rows() {
  const char* other = std::getenv("RONDO_SPECIAL_TABLE");
  std::ifstream file(other ? other : RONDO_SOURCE_DIR "/tests/ops/special_table.csv");
  std::map<std::string, Rows> functions;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    std::getline(fields, name, ',');
    std::vector<double> numbers;
    for (std::string field; std::getline(fields, field, ',');)
      numbers.push_back(std::strtod(field.c_str(), nullptr));
    Rows& rows = functions[name];
    rows.least.push_back(numbers.back());
    rows.values.push_back(numbers[numbers.size() - 2]);
    numbers.resize(numbers.size() - 2);
    rows.operands.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); i++) rows.operands[i].push_back(numbers[i]);
  }
  return functions;
}

/// The largest error in units of the last place of T, of the value or of `least` if that is larger.
template <class T>
double worst_error(const std::string& name, const Entry& entry, const Rows& rows) {
  Arguments operands;
  for (const std::vector<double>& column : rows.operands)
    operands.push_back(constant(std::vector<T>(column.begin(), column.end())));
  const Literal got = jit(entry.f)(operands).eval();
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < rows.values.size(); i++) {
    const double value = rows.values[i], size = std::max(std::abs(value), rows.least[i]);
    if (size > static_cast<double>(std::numeric_limits<T>::max()) ||
        size < static_cast<double>(std::numeric_limits<T>::min()))
      continue;
    const double unit = std::ldexp(1.0, std::ilogb(size) + 1 - std::numeric_limits<T>::digits);
    const double error = std::abs(static_cast<double>(got.data<T>()[i]) - value) / unit;
    if (error <= worst) continue;  // NaN is found below
    worst = error;
    at = i;
  }
  for (const T value : got.data<T>()) EXPECT_FALSE(std::isnan(value)) << name;
  if (std::getenv("RONDO_SHOW_ACCURACY")) {
    std::printf("%s f%zu %.2f at", name.c_str(), 8 * sizeof(T), worst);
    for (const auto& column : rows.operands) std::printf(" %.17g", column[at]);
    std::printf(" = %.17g\n", rows.values[at]);
  }
  return worst;
}

TEST(SpecialFunctions, AreThoseOfTheTable) {
  std::map<std::string, Rows> functions = special_rows();
  for (const auto& [name, entry] : entries()) {
    ASSERT_TRUE(functions.contains(name)) << name;
    EXPECT_LE(worst_error<float>(name, entry, functions[name]), entry.single) << name << " of f32";
    EXPECT_LE(worst_error<double>(name, entry, functions[name]), entry.wide) << name << " of f64";
  }
}

/// Where the reflection's logarithm cancels with that of gamma; values of mpmath.
TEST(SpecialFunctions, LgammaCloseToPoles) {
  const std::vector<double> x{-8.000014794264013,  -9.000006787192273,  -10.000000080385991,
                              -12.000000000690816, -12.999999999380295, -14.000000000003507,
                              -15.00000000000069,  -17.000000000000004};
  const double values[] = {0.5166364473960235898, -0.9013695520565821896, 1.232013152664361661,
                           1.105932686744766593,  -1.350386578046381804,  1.185173444695834096,
                           0.1039351239712659755, -0.234008783259524201};
  const Literal got = lgamma(constant(x)).eval();
  for (std::size_t i = 0; i < x.size(); i++)
    EXPECT_NEAR(got.data<double>()[i], values[i], 4 * std::numeric_limits<double>::epsilon())
        << x[i];
}

/// Near a large a, which the table's rows hardly hit; values of mpmath.
TEST(SpecialFunctions, GammaincNearALargeShape) {
  const std::vector<double> a{30, 1000, 1e5, 1e8}, x{64, 1000.5, 100300, 99990000};
  const double lower[] = {0.9999992225595952128, 0.51051071092317903159, 0.82863631125120764767,
                          0.15865525352814383041};
  const double upper[] = {7.7744040478720009936e-7, 0.48948928907682096841, 0.17136368874879235233,
                          0.84134474647185616959};
  const Literal p = gammainc(constant(a), constant(x)).eval();
  const Literal q = gammaincc(constant(a), constant(x)).eval();
  for (std::size_t i = 0; i < a.size(); i++) {
    EXPECT_NEAR(p.data<double>()[i], lower[i], 0x1p-50 * lower[i]) << a[i];
    EXPECT_NEAR(q.data<double>()[i], upper[i], 0x1p-50 * upper[i]) << a[i];
  }
}

/// Far from the sizes of the table: where one minus the other side would cancel, for large
/// exponents and near the mean of large parameters; values of mpmath.
TEST(SpecialFunctions, BetaincAtHardPlaces) {
  const std::vector<std::array<double, 4>> rows{{100, 1e-08, 0.9990234375, 1.8485086775470903e-8},
                                                {0.75, 1e-20, 0.9375, 3.265293845208929835e-20},
                                                {5, 1e-06, 0.9999, 7.127382320139492164e-6},
                                                {2, 0.01, 0.9999999, 0.1403505822712626229},
                                                {0.25, 0.0625, 0.99, 0.3870648511410373926},
                                                {10000.0, 10000.0, 0.5015, 0.6643117941753291426},
                                                {100000.0, 200000.0, 0.3333, 0.4847242002495962256},
                                                {3, 1000000.0, 2e-06, 0.3233246665001948679},
                                                {1000000.0, 3, 0.999998, 0.6766753335142889966},
                                                {1e-10, 3, 0.5, 0.9999999999931852819},
                                                {0.001, 0.001, 0.5, 0.5},
                                                {500, 3.5, 0.75, 1.826559554947535938e-58},
                                                {200, 2.5, 0.0625, 2.925116908844245888e-238},
                                                {2, 3, 1e-150, 6.000000000000000076e-300}};
  for (const auto& [a, b, x, value] : rows) {
    const double got = betainc(Tensor(a), b, x).eval().item<double>();
    EXPECT_NEAR(got, value, 4 * (std::nextafter(value, 2) - value)) << a << " " << b << " " << x;
  }
}

constexpr double kLarge = std::numeric_limits<double>::infinity();
const double kNone = std::nan("");

/// In f64 and f32, and in the narrow floats, which hold the arguments.
void expect_special_edges(const FunctionOf& f, const std::vector<std::vector<double>>& cases) {
  for (const std::vector<double>& numbers : cases) {
    std::string place;
    for (const double x : numbers) place += std::to_string(x) + " ";
    for (const DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16}) {
      Arguments x;
      for (std::size_t i = 0; i + 1 < numbers.size(); i++)
        x.push_back(convert(Tensor(numbers[i]), dtype));
      const Tensor y = f(x);
      EXPECT_EQ(y.dtype(), dtype);
      const double got = convert(y, DType::kF64).eval().item<double>(), want = numbers.back();
      const double eps = dtype == DType::kF64   ? 1e-15
                         : dtype == DType::kF32 ? 1e-6
                         : dtype == DType::kF16 ? 1e-3
                                                : 8e-3;
      if (std::isnan(want) || std::isinf(want)) {
        EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
            << place << dtype_name(dtype) << ": " << got;
      } else {
        EXPECT_NEAR(got, want, eps * std::abs(want)) << place << dtype_name(dtype);
        if (want == 0) {
          EXPECT_EQ(std::signbit(got), std::signbit(want)) << place << dtype_name(dtype);
        }
      }
    }
  }
}

TEST(SpecialFunctions, AtTheirEdges) {
  const auto edges = [](const std::string& name, const std::vector<std::vector<double>>& cases) {
    SCOPED_TRACE(name);
    expect_special_edges(entries().at(name).f, cases);
  };
  edges("lgamma", {{0, kLarge},
                   {-0.0, kLarge},
                   {-1, kLarge},
                   {-3, kLarge},
                   {kLarge, kLarge},
                   {-kLarge, kLarge},
                   {kNone, kNone},
                   {1, 0},
                   {2, 0},
                   {0.5, 0.5723649429247001}});
  edges("digamma", {{0, kNone},
                    {-0.0, kNone},
                    {-1, kNone},
                    {-7, kNone},
                    {kLarge, kLarge},
                    {-kLarge, kNone},
                    {kNone, kNone},
                    {1, -0.5772156649015329},
                    {-0.5, 0.03648997397857652}});
  edges("trigamma", {{0, kLarge},
                     {-1, kLarge},
                     {kLarge, 0},
                     {kNone, kNone},
                     {-kLarge, kLarge},
                     {1, 1.6449340668482264},
                     {-0.5, 8.934802200544679}});
  edges("zeta", {{2, 0, kLarge},
                 {2, -1, kLarge},
                 {1, 2, kLarge},
                 {0.5, 2, kNone},
                 {2.5, -0.5, kNone},
                 {2, -0.5, 8.934802200544679},
                 {2, kLarge, 0},
                 {2, kNone, kNone},
                 {kNone, 2, kNone},
                 {2, -9.5, kNone},
                 {1, kNone, kNone}});
  edges("bessel_i0e",
        {{0, 1}, {kLarge, 0}, {-kLarge, 0}, {kNone, kNone}, {-3, 0.24300035416182536}});
  edges("bessel_i1e", {{0, 0},
                       {-0.0, -0.0},
                       {kLarge, 0},
                       {-kLarge, -0.0},
                       {kNone, kNone},
                       {-3, -0.19682671329730084}});
  edges("xlogy", {{0, 0, 0},
                  {0, -1, 0},
                  {0, kNone, kNone},
                  {0, kLarge, 0},
                  {1, 0, -kLarge},
                  {2, -1, kNone},
                  {kNone, 1, kNone}});
  edges("entr", {{0, 0}, {-1, -kLarge}, {kLarge, -kLarge}, {kNone, kNone}, {1, -0.0}});
  edges("ndtr", {{-kLarge, 0}, {kLarge, 1}, {kNone, kNone}, {-40, 0}, {0, 0.5}});
  edges("ndtri", {{0, -kLarge},
                  {1, kLarge},
                  {-0.125, kNone},
                  {1.125, kNone},
                  {kNone, kNone},
                  {0.5, 0},
                  {0.25, -0.6744897501960817}});
  edges(
      "sinc",
      {{0, 1}, {-0.0, 1}, {1, -0.0}, {kNone, kNone}, {kLarge, kNone}, {0.5, 2 / std::numbers::pi}});
  edges("betaln", {{0, 1, kLarge}, {1, 2, -0.6931471805599453}, {kNone, 1, kNone}, {1, 1, 0}});
  edges("gammainc", {{0, 0, kNone},
                     {0, 1, 1},
                     {1, 0, 0},
                     {0, kLarge, 1},
                     {kLarge, 1, kNone},
                     {1, kLarge, 1},
                     {-1, 1, kNone},
                     {1, -1, kNone},
                     {kNone, 1, kNone},
                     {1, kNone, kNone},
                     {2, 1.5, 0.44217459962892536}});
  edges("gammaincc", {{0, 0, kNone},
                      {0, 1, 0},
                      {1, 0, 1},
                      {0, kLarge, 0},
                      {kLarge, 1, kNone},
                      {1, kLarge, 0},
                      {-1, 1, kNone},
                      {1, -1, kNone},
                      {kNone, 1, kNone},
                      {1, kNone, kNone},
                      {2, 1.5, 0.5578254003710746}});
  edges("betainc", {{0, 1, 0.5, 1},
                    {1, 0, 0.5, 0},
                    {0, 0, 0.5, kNone},
                    {1, 1, 0, 0},
                    {1, 1, 1, 1},
                    {1, 1, -0.125, kNone},
                    {1, 1, 1.125, kNone},
                    {-1, 1, 0.5, kNone},
                    {kLarge, 1, 0.5, 0},
                    {1, kLarge, 0.5, 1},
                    {kNone, 1, 0.5, kNone},
                    {1, 1, kNone, kNone},
                    {2, 3, 0.5, 0.6875}});
}

template <class T>
void expect_next(const std::vector<T>& from, const std::vector<T>& to, const Literal& got) {
  for (std::size_t i = 0; i < from.size(); i++) {
    const T want = std::nextafter(from[i], to[i]), have = got.data<T>()[i];
    EXPECT_TRUE(std::isnan(want) ? std::isnan(have)
                                 : have == want && std::signbit(have) == std::signbit(want))
        << from[i] << " to " << to[i] << " gives " << have << ", expected " << want;
  }
}
template <class T>
void expect_next_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> from, to;
  const T inf = Limits::infinity();
  const std::vector<T> all{0,
                           T(-0.0),
                           1,
                           -1,
                           T(1.5),
                           Limits::denorm_min(),
                           -Limits::denorm_min(),
                           Limits::min(),
                           Limits::max(),
                           -Limits::max(),
                           inf,
                           -inf,
                           2,
                           Limits::quiet_NaN()};
  for (const T x : all) {
    for (const T y : all) from.push_back(x), to.push_back(y);
  }
  expect_next(from, to, next_after(constant(from), constant(to)).eval());
}

TEST(SpecialFunctions, NextAfterIsThatOfTheCLibrary) {
  expect_next_numbers<float>();
  expect_next_numbers<double>();
  // Of a narrow float the neighbours of 1.
  for (const auto& [dtype, above, below] :
       {std::tuple{DType::kF16, 0x1p-10, 0x1p-11}, std::tuple{DType::kBF16, 0x1p-7, 0x1p-8}}) {
    const Tensor one = ones({dtype, {}});
    const auto number = [](const Tensor& x) {
      return convert(x, DType::kF64).eval().item<double>();
    };
    EXPECT_EQ(number(next_after(one, 2 * one)), 1 + above);
    EXPECT_EQ(number(next_after(one, -one)), 1 - below);
  }
  EXPECT_EQ(number(grad([](Tensor x) { return next_after(x, 2); })(1.0)), 0);
}

/// Against JAX 0.10.2: first and second derivatives, at an inner point and at edges.
TEST(SpecialFunctions, HaveTheDerivativesOfJax) {
  const auto derivatives = [](const std::function<Tensor(Tensor)>& f, double x, double first,
                              double second) {
    const double one = number(grad(f)(x)), two = number(grad(grad(f))(x));
    const auto near = [](double a, double b) {
      return std::isnan(b)   ? std::isnan(a)
             : std::isinf(b) ? a == b
                             : std::abs(a - b) <= 1e-13 * (std::abs(b) + 1e-3);
    };
    EXPECT_TRUE(near(one, first)) << "at " << x << ": " << one << ", expected " << first;
    EXPECT_TRUE(near(two, second)) << "at " << x << ": " << two << ", expected " << second;
  };
  const auto i0e = [](Tensor x) { return bessel_i0e(x); };
  derivatives(i0e, 0, 0, 0.5);
  derivatives(i0e, -3, 0.04617364086452452, 0.026738377296615434);
  const auto i1e = [](Tensor x) { return bessel_i1e(x); };
  derivatives(i1e, 0, 0.5, 0);
  derivatives(i1e, -3, -0.01943526356790909, -0.0016096787034987972);
  derivatives([](Tensor x) { return lgamma(x); }, -2.5, 1.103156640645243, 9.539246644989124);
  derivatives([](Tensor x) { return lgamma(x); }, 0, kNone, kLarge);
  derivatives([](Tensor p) { return ndtri(p); }, 0.5, 2.5066282746310002, 0);
  derivatives([](Tensor p) { return ndtri(p); }, 0.01, 37.52043615729518, -3274.9932902685646);
  derivatives([](Tensor x) { return entr(x); }, 0.3, 0.20397280432593612, -3.3333333333333335);
  derivatives([](Tensor x) { return entr(x); }, 0, kLarge, -kLarge);
  derivatives([](Tensor x) { return sinc(x); }, 0, 0, -3.2898681336964524);
  derivatives([](Tensor x) { return sinc(x); }, 1, -1, 2);
  derivatives([](Tensor x) { return xlogy(x, 2); }, 0, 0.6931471805599453, 0);
  derivatives([](Tensor x) { return gammainc(2, x); }, 1.5, 0.33469524022264474,
              -0.11156508007421491);
  EXPECT_NEAR(number(grad([](Tensor a) { return gammainc(a, 1.5); })(2.0)), -0.3134886378250792,
              1e-14);
  EXPECT_NEAR(number(grad([](Tensor a) { return gammaincc(a, 1.5); })(2.0)), 0.3134886378250792,
              1e-14);
  const auto by_a = grad([](Tensor a) { return gammainc(a, 1.5); });
  EXPECT_NEAR(number(grad(by_a)(2.0)), 0.10058919839254356, 1e-14);
  EXPECT_THROW(grad([](Tensor a) { return betainc(a, 2, 0.5); })(2.0), TraceError);
  EXPECT_NEAR(number(grad([](Tensor s) { return zeta(s, 1.5); })(2.0)), -1.0245078426159018, 1e-14);
  EXPECT_THROW(polygamma(-1, Tensor(1.0)), TraceError);
}

}  // namespace
}  // namespace rondo::testing
