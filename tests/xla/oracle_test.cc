// The oracle itself: it must reject what is wrong and go on after XLA has crashed.
#include <string>
#include <thread>
#include <vector>

#include "xla/check.h"

namespace rondo::testing {
namespace {

using Form = XlaOracle::Form;

class XlaOracleTest : public XlaTest {
 protected:
  /// XLA rejects the program, at this stage, with this in the message.
  static void expect_refused(Form form, const std::string& text, const std::string& stage,
                             const std::string& part) {
    try {
      XlaOracle::shared().accept(form, text);
    } catch (const XlaError& error) {
      EXPECT_NE(std::string(error.what()).find("(" + stage + ")"), std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      return;
    }
    ADD_FAILURE() << "XLA accepts " << text;
  }
};

constexpr char kDoubled[] = "ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }";

TEST_F(XlaOracleTest, RunsBothForms) {
  const std::vector<Literal> arguments{row<float>({1, 2.5f})};
  const std::vector<Literal> want{row<float>({2, 5})};
  EXPECT_EQ(difference(XlaOracle::shared().run(Form::kHlo, kDoubled, arguments), want, kExactly),
            "");
  const std::string stablehlo =
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  %y = stablehlo.add %x, %x : tensor<2xf32>\n  return %y : tensor<2xf32>\n}";
  EXPECT_EQ(
      difference(XlaOracle::shared().run(Form::kStablehlo, stablehlo, arguments), want, kExactly),
      "");
}

TEST_F(XlaOracleTest, RefusesFaultyPrograms) {
  expect_refused(Form::kHlo, "ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] frobnicate(x) }",
                 "parse", "frobnicate");
  expect_refused(Form::kHlo, "ENTRY e { x = f32[2] parameter(0) ROOT y = f32[3] add(x, x) }",
                 "verify", "same shape");
  // Only XLA's own verifier minds this: the conversion to StableHLO would repeat the axis.
  expect_refused(Form::kHlo,
                 "ENTRY e { x = f32[1] parameter(0) ROOT y = f32[3] broadcast(x), dimensions={0} }",
                 "verify", "hlo_verifier");
  expect_refused(Form::kStablehlo,
                 "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %y : tensor<f32> }",
                 "parse", "undeclared SSA value");
}

TEST_F(XlaOracleTest, OutlivesACrashOfXla) {
  expect_refused(
      Form::kHlo,
      "ENTRY e { x = f32[] parameter(0) y = f32[] parameter(2) ROOT z = f32[] add(x, y) }", "parse",
      "XLA died");
  EXPECT_NO_THROW(XlaOracle::shared().accept(Form::kHlo, kDoubled));
}

TEST_F(XlaOracleTest, RefusesArgumentsThatDoNotFit) {
  XlaOracle& xla = XlaOracle::shared();
  EXPECT_THROW((void)xla.run(Form::kHlo, kDoubled, {}), XlaError);
  EXPECT_THROW((void)xla.run(Form::kHlo, kDoubled, std::vector<Literal>{row<float>({1, 2, 3})}),
               XlaError);
  EXPECT_THROW((void)xla.run(Form::kHlo, kDoubled, std::vector<Literal>{row<std::int32_t>({1, 2})}),
               XlaError);
}

TEST_F(XlaOracleTest, AnswersThreadsInTurn) {
  std::vector<std::thread> threads;
  std::vector<std::string> found(4);
  for (std::size_t i = 0; i < found.size(); i++) {
    threads.emplace_back([&, i] {
      const float x = static_cast<float>(i);
      const std::vector<Literal> arguments{row<float>({x, x + 1})};
      found[i] = difference(XlaOracle::shared().run(Form::kHlo, kDoubled, arguments),
                            {row<float>({2 * x, 2 * x + 2})}, kExactly);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : found) EXPECT_EQ(one, "");
}

TEST_F(XlaOracleTest, CarriesEveryDtypeThereAndBack) {
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(dtype_name(dtype));
    const Literal value = counting({dtype, {2, 3}});
    const Function identity = trace([](Tensor x) { return x; }, value);
    EXPECT_EQ(difference(XlaOracle::shared().run(Form::kHlo, to_hlo_text(identity),
                                                 std::vector<Literal>{value}),
                         {value}, kExactly),
              "");
  }
}

// All other tests here depend on this comparison.
TEST(CompareTest, SeesEveryDifference) {
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const auto same = [](const Literal& got, const Literal& want, const Tolerance& tolerance = {}) {
    return difference(got, want, tolerance).empty();
  };
  EXPECT_TRUE(same(row<float>({1, inf, nan, 0}), row<float>({1.000001f, inf, nan, -0.0f})));
  EXPECT_TRUE(same(row<float>({1e-40f}), row<float>({0})));
  EXPECT_FALSE(same(row<float>({1}), row<float>({1.00001f})));
  EXPECT_FALSE(same(row<float>({inf}), row<float>({-inf})));
  EXPECT_FALSE(same(row<float>({nan}), row<float>({1})));
  EXPECT_FALSE(same(row<float>({1}), row<double>({1})));
  EXPECT_FALSE(same(row<float>({1}), row<float>({1, 1})));
  EXPECT_FALSE(same(row<std::int32_t>({1}), row<std::int32_t>({2}), {.rtol = 10.0}));
  EXPECT_FALSE(same(row<float>({0}), row<float>({-0.0f}), kExactly));
  EXPECT_TRUE(same(row<float>({nan}), row<float>({-nan}), kExactly));
  using C = std::complex<float>;
  EXPECT_TRUE(same(row<C>({{1e-9f, 1}}), row<C>({{0, 1}})));
  EXPECT_FALSE(same(row<C>({{1e-3f, 1}}), row<C>({{0, 1}})));
  EXPECT_FALSE(same(row<C>({{inf, nan}}), row<C>({{inf, 0}})));
  EXPECT_TRUE(same(row<C>({{inf, nan}}), row<C>({{inf, 0}}), {.loose_complex = true}));
  EXPECT_NE(difference(row<std::int8_t>({1, 5}), row<std::int8_t>({1, 7}))
                .find("element [1] is 5, expected 7"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo::testing
