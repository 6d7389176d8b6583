// Derivatives of the elementwise ops on real numbers compared with finite differences, and ops that
// pass none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/families.h"
#include "ops/slopes.h"
#include "support/elementwise_records.h"
#include "support/expect.h"
#include "transforms/elementwise_rows.h"

namespace rondo {
namespace {

using namespace testing;

std::vector<Row<double>> named_rows() {
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
      binary("xlogy", RONDO_BINARY(xlogy), other, positive),
      unary("entr", RONDO_UNARY(entr), positive),
      unary("lgamma", RONDO_UNARY(lgamma), any),
      unary("digamma", RONDO_UNARY(digamma), any),
      unary(
          "polygamma", [](auto x) { return polygamma(2, x); }, any),
      unary("bessel_i0e", RONDO_UNARY(bessel_i0e), any),
      unary("bessel_i1e", RONDO_UNARY(bessel_i1e), any),
      unary("ndtr", RONDO_UNARY(ndtr), any),
      unary("ndtri", RONDO_UNARY(ndtri), V{0.01, 0.3, 0.6, 0.95}),
      unary("sinc", RONDO_UNARY(sinc), any),
      binary("betaln", RONDO_BINARY(betaln), positive, V{1.5, 9, 20, 0.4}),
      binary("zeta", RONDO_BINARY(zeta), V{2.5, 1.5, 6, 3}, positive),
      binary("gammainc", RONDO_BINARY(gammainc), V{0.4, 2.5, 3, 1}, positive),
      binary("gammaincc", RONDO_BINARY(gammaincc), V{0.4, 2.5, 3, 1}, positive),
      binary(
          "slope of gammainc",
          [](auto a, auto x) {
            return jvp([&](const Tensor& shape) { return gammainc(shape, x); }, std::tuple{a},
                       std::tuple{ones(a.type())})
                .second;
          },
          V{0.4, 2.5, 3, 1}, positive),
      unary(
          "betainc", [](auto x) { return betainc(2.5, 0.75, x); }, V{0.1, 0.4, 0.6, 0.9}),
      binary("slope of pow", RONDO_BINARY(ops::power_base_slope), positive, other),
      binary("other slope of pow", RONDO_BINARY(ops::power_exponent_slope), positive, other),
      binary("slope of atan2", RONDO_BINARY(ops::atan2_slope), any, other),
      binary("slope of hypot", RONDO_BINARY(ops::hypot_slope), any, other),
      binary(
          "where", [](auto x, auto y) { return where(x < y, sin(x), x * y); }, any, other),
      unary(
          "what is rounded",
          [](auto x) { return x * (floor(x) + ceil(x) + round(x) + round_half_away(x) + sign(x)); },
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
          "reduce_precision", [](auto x) { return sin(reduce_precision(x, 11, 52) * x); }, any),
      unary(
          "several ways",
          [](auto x) {
            const Tensor y = tanh(x);
            return y * sin(y) + x * y - y / (1 + x * x);
          },
          any),
  };
}

std::map<std::string, std::int64_t> ops_in(const std::vector<Row<double>>& rows) {
  std::map<std::string, std::int64_t> seen;
  for (const Row<double>& row : rows) seen.merge(trace(row.f, row.at()).stats().ops);
  return seen;
}

/// The rows above, and one between 0 and 1 for each op that is in none of them. An op that is not
/// smooth there needs an explicit one above.
std::vector<Row<double>> real_rows() {
  std::vector<Row<double>> rows = named_rows();
  const std::map<std::string, std::int64_t> seen = ops_in(rows);
  for (const int arity : {1, 2}) {
    for (const ir::OpDef* op : elementwise_ops_but(seen, arity)) {
      if (op->derivative.zero) continue;
      rows.push_back({std::string(op->name),
                      [op](const std::vector<Tensor>& x) { return std::vector{apply_op(*op, x)}; },
                      {{0.15, 0.4, 0.85}}});
      if (arity == 2) rows.back().operands.push_back({0.7, 0.3, 0.9});
    }
  }
  return rows;
}

/// Programs that are differentiated contain none of these.
bool made_by_compiling(const ir::OpDef* op) {
  const auto contracted = ops::contracted_records();
  return std::find(contracted.begin(), contracted.end(), op) != contracted.end();
}

TEST(ElementwiseDerivatives, OfEveryOpAreTestedHere) {
  const std::map<std::string, std::int64_t> seen = ops_in(real_rows());
  for (const ir::OpDef* op : transforms::all_ops()) {
    if (!op->structure.elementwise || op->derivative.zero || made_by_compiling(op)) continue;
    EXPECT_TRUE(seen.contains(std::string(op->name))) << op->name << " has no row";
  }
}

TEST(ElementwiseDerivatives, OfRealNumbersAreThoseOfDifferences) {
  for (const Row<double>& row : real_rows())
    EXPECT_EQ(derivative_error(row.f, row.at()), "") << row.name;
}

/// All other tests here depend on this.
TEST(DerivativeCheck, FindsWrongRules) {
  const auto with_derivative = [](auto slope) {
    return of_tensors<1>(custom_jvp([](const Tensor& x) { return sin(x); },
                                    [slope](auto primals, auto tangents) {
                                      const Tensor x = std::get<0>(primals);
                                      return std::pair(sin(x), slope(x) * std::get<0>(tangents));
                                    }));
  };
  const std::vector<Literal> at{Literal::from<double>({0.7, -1.2})};
  EXPECT_EQ(derivative_error(with_derivative(RONDO_UNARY(cos)), at), "");
  const auto wrong = with_derivative([](const Tensor& x) { return cos(x) * 1.00001; });
  EXPECT_NE(derivative_error(wrong, at).find("the tangent of f: "), std::string::npos);
  // The value is right, but it has no derivative.
  const auto constant = with_derivative([](const Tensor& x) { return stop_gradient(cos(x)); });
  EXPECT_EQ(derivative_error(constant, at, {.order = 1}), "");
  EXPECT_NE(derivative_error(constant, at).find("the tangent of the tangent of f: "),
            std::string::npos);
  const auto one_way = of_tensors<1>(custom_vjp(
      [](const Tensor& x) { return x * 1; }, [](const Tensor& x) { return std::pair(x * 1, x); },
      [](const Tensor&, const Tensor& ct) { return std::tuple(2 * ct); }));
  EXPECT_THROW(derivative_error(one_way, at), TraceError);  // no tangent to compare it with
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

/// Detects a rule that mixes up dtypes, or that overflows in a 16-bit one.
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
  EXPECT_LE(seen.size(), 3u);  // once for each occurrence of f itself in the program
  for (const double value : seen) EXPECT_EQ(value, s);
  ::testing::internal::CaptureStdout();
  expect_number(number(grad([](const Tensor& y) { return print(y, "y = {}") * y; })(2.0)), 4);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "y = 2\n");
}

}  // namespace
}  // namespace rondo
