// Constants in HLO and StableHLO text. XLA's reader returned the bits of each when these texts were
// chosen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;
using ::testing::HasSubstr;

template <class T>
constexpr T kMax = std::numeric_limits<T>::max();
template <class T>
constexpr T kMin = std::numeric_limits<T>::min();
template <class T>
constexpr T kDenormal = std::numeric_limits<T>::denorm_min();
const float kInf = INFINITY, kNan = NAN;
using Complex = std::complex<float>;

/// The text in the parentheses of `constant(...)`.
std::string hlo(const Literal& value) {
  const std::string text = to_hlo_text(Function::make("f", {}, {Tensor(value)}));
  const std::size_t begin = text.find(" constant(") + 10;
  return text.substr(begin, text.find(")\n", begin) - begin);
}
/// The text between `dense<` and `> :`.
std::string mlir(const Literal& value) {
  const std::string text = to_stablehlo_text(Function::make("f", {}, {Tensor(value)}));
  const std::size_t begin = text.find("dense<") + 6;
  return text.substr(begin, text.find("> : ", begin) - begin);
}

template <class T>
Literal list(std::initializer_list<T> values) {
  return Literal::from(values, {static_cast<std::int64_t>(values.size())});
}

TEST(Constants, FloatsHaveTheFewestDigitsThatReadBack) {
  const Literal values = list<float>({0, -0.0f, 0.1f, 1e20f, -1.5e-7f, kDenormal<float>,
                                      kMax<float>, kInf, -kInf, kNan, -kNan, 16777216});
  EXPECT_EQ(
      hlo(values),
      "{0, -0.0, 0.1, 1e+20, -1.5e-07, 1e-45, 3.4028235e+38, inf, -inf, nan, -nan, 16777216}");
  EXPECT_EQ(mlir(values),
            "[0.0, -0.0, 0.1, 1.0e+20, -1.5e-07, 1.0e-45, 3.4028235e+38, 0x7f800000, 0xff800000, "
            "0x7fc00000, 0xffc00000, 16777216.0]");
}

TEST(Constants, Doubles) {
  const Literal values =
      list<double>({0.1, -0.0, kDenormal<double>, kMax<double>, 1e22, 123456789012345680.0});
  EXPECT_EQ(hlo(values), "{0.1, -0.0, 5e-324, 1.7976931348623157e+308, 1e+22, 123456789012345680}");
  EXPECT_EQ(mlir(values),
            "[0.1, -0.0, 5.0e-324, 1.7976931348623157e+308, 1.0e+22, 123456789012345680.0]");
}

TEST(Constants, HalfPrecision) {
  const Literal f16s = list<float16>(
      {float16(0.1f), float16(65504.0f), float16::from_bits(1), float16(-kInf), float16(kNan)});
  // 65500 is the shortest text that reads back as 65504.
  EXPECT_EQ(hlo(f16s), "{0.1, 65500, 6e-08, -inf, nan}");
  EXPECT_EQ(mlir(f16s), "[0.1, 65500.0, 6.0e-08, 0xfc00, 0x7e00]");
  const Literal bf16s = list<bfloat16>(
      {bfloat16(0.1f), bfloat16(-0.0f), bfloat16::from_bits(0x7f7f), bfloat16(kInf)});
  EXPECT_EQ(hlo(bf16s), "{0.1, -0.0, 3.39e+38, inf}");
  EXPECT_EQ(mlir(bf16s), "[0.1, -0.0, 3.39e+38, 0x7f80]");
}

TEST(Constants, IntegersAtTheirEnds) {
  EXPECT_EQ(hlo(list<std::int8_t>({kMin<std::int8_t>, -1, kMax<std::int8_t>})), "{-128, -1, 127}");
  EXPECT_EQ(hlo(list<std::uint8_t>({0, kMax<std::uint8_t>})), "{0, 255}");
  EXPECT_EQ(hlo(list<std::int64_t>({kMin<std::int64_t>, kMax<std::int64_t>})),
            "{-9223372036854775808, 9223372036854775807}");
  EXPECT_EQ(hlo(list<std::uint64_t>({0, kMax<std::uint64_t>})), "{0, 18446744073709551615}");
  EXPECT_EQ(mlir(list<std::uint64_t>({0, kMax<std::uint64_t>})), "[0, 18446744073709551615]");
  EXPECT_EQ(mlir(list<std::int32_t>({kMin<std::int32_t>, 7})), "[-2147483648, 7]");
}

TEST(Constants, Preds) {
  EXPECT_EQ(hlo(Literal::scalar(true)), "true");
  EXPECT_EQ(hlo(Literal::from(std::vector<bool>{true, false, true, true}, {2, 2})),
            "{{true, false}, {true, true}}");
  EXPECT_EQ(mlir(Literal::scalar(false)), "false");
  EXPECT_EQ(mlir(Literal::from(std::vector<bool>{true, false, true, true}, {2, 2})),
            "[[true, false], [true, true]]");
}

TEST(Constants, Complex) {
  const Literal values = list<Complex>({{1, -0.0f}, {0.1f, kInf}});
  EXPECT_EQ(hlo(values), "{(1, -0.0), (0.1, inf)}");
  EXPECT_EQ(mlir(values), "[(1.0, -0.0), (0.1, 0x7f800000)]");
  EXPECT_EQ(hlo(Literal::scalar(std::complex<double>(0.1, 2))), "(0.1, 2)");
}

TEST(Constants, ComplexNansArePutTogetherFromParts) {
  const std::string text =
      to_hlo_text(Function::make("f", {}, {Tensor(list<Complex>({{kNan, 1}, {2, 3}}))}));
  EXPECT_THAT(
      text,
      HasSubstr("  constant.1 = f32[2] constant({nan, 2})\n  constant.2 = f32[2] constant({1, 3})\n"
                "  ROOT complex.3 = c64[2] complex(constant.1, constant.2)\n"));
  EXPECT_EQ(mlir(list<Complex>({{kNan, 1}, {2, 3}})), "[(0x7fc00000, 1.0), (2.0, 3.0)]");
}

TEST(Constants, ScalarsAndBracesMatchTheRank) {
  EXPECT_EQ(hlo(Literal::scalar(1.5f)), "1.5");
  EXPECT_EQ(hlo(Literal::from<float>({1.5f}, {1})), "{1.5}");
  EXPECT_EQ(hlo(Literal::from<float>({1.5f}, {1, 1, 1})), "{{{1.5}}}");
  EXPECT_EQ(hlo(Literal::from<int>({1, 2, 3, 4, 5, 6}, {2, 3})), "{{1, 2, 3}, {4, 5, 6}}");
}

TEST(Constants, EmptyArrays) {
  EXPECT_EQ(hlo(Literal::from<float>({}, {0})), "{}");
  EXPECT_EQ(hlo(Literal::from<float>({}, {0, 2})), "{}");
  EXPECT_EQ(hlo(Literal::from<float>({}, {2, 0})), "{{}, {}}");
  for (const Shape& shape : {Shape{0}, Shape{0, 2}, Shape{2, 0}})
    EXPECT_EQ(mlir(Literal::from<float>({}, shape)), "");
}

TEST(Constants, EqualElements) {
  // XLA has no short form: a scalar is broadcast. MLIR's is the element alone.
  const Literal zeros = Literal::from(std::vector<float>(1000, -0.0f), {10, 100});
  const std::string text = to_hlo_text(Function::make("f", {}, {Tensor(zeros)}));
  EXPECT_THAT(text, HasSubstr("  constant.1 = f32[] constant(-0.0)\n  ROOT broadcast.2 = "
                              "f32[10,100] broadcast(constant.1), dimensions={}\n"));
  EXPECT_EQ(mlir(zeros), "-0.0");
  EXPECT_EQ(hlo(Literal::from(std::vector<int>(5, 7), {5})), "{7, 7, 7, 7, 7}");
  EXPECT_EQ(mlir(Literal::from(std::vector<int>(5, 7), {5})), "7");
  EXPECT_EQ(mlir(list<float>({0, -0.0f})), "[0.0, -0.0]");
}

TEST(Constants, LargeOnesAreWhole) {
  std::vector<std::int32_t> values(5000);
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = static_cast<std::int32_t>(i * 7919 % 5000);
  const std::string text = hlo(Literal::from(values, {50, 100}));
  EXPECT_EQ(count_of(text, ","), 4999u);
  EXPECT_THAT(text, Not(HasSubstr("...")));
  std::vector<std::int32_t> read;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) continue;
    std::size_t used = 0;
    read.push_back(std::stoi(text.substr(i, 8), &used));
    i += used;
  }
  EXPECT_EQ(read, values);
}

TEST(Constants, LargeOnesOfStablehloAreTheirBytes) {
  std::vector<std::uint16_t> values(200);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<std::uint16_t>(i * 331);
  const std::string text = mlir(Literal::from(values, {200}));
  ASSERT_EQ(text.size(), 4 + 800u);
  EXPECT_TRUE(text.starts_with("\"0x") && text.ends_with("\""));
  for (std::size_t i = 0; i < values.size(); i++) {
    const auto byte = [&](std::size_t at) { return std::stoul(text.substr(at, 2), nullptr, 16); };
    EXPECT_EQ(byte(3 + 4 * i) | byte(5 + 4 * i) << 8, values[i]);
  }
}

}  // namespace
}  // namespace rondo
