#include "base/number_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {
namespace {

template <class T>
std::string written(T value, NumberStyle style = NumberStyle::kHlo) {
  std::string out = "~";  // existing text stays
  append_number(out, value, style);
  EXPECT_EQ(out[0], '~');
  return out.substr(1);
}

template <class T>
std::string mlir(T value) {
  return written(value, NumberStyle::kMlir);
}

double read(const std::string& digits) { return std::strtod(digits.c_str(), nullptr); }

/// `-1.5e-07`: digits, perhaps a point between digits, perhaps an exponent with its sign.
bool is_number(std::string_view text) {
  const auto digits = [&text] {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(end);
    return end > 0;
  };
  const auto skip = [&text](std::string_view any) {
    if (text.empty() || any.find(text[0]) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
  };
  skip("-");
  if (!digits()) return false;
  if (skip(".") && !digits()) return false;
  if (skip("e") && !(skip("+-") && digits())) return false;
  return text.empty();
}
/// XLA's HLO parser reads digits without a point or exponent as a 64-bit integer.
bool hlo_accepts(const std::string& text) {
  return is_number(text) && (text.find_first_of(".e") != std::string::npos || text.size() <= 19);
}
bool mlir_accepts(const std::string& text) {
  return is_number(text) && text.find('.') != std::string::npos;
}
int significant_digits(const std::string& digits) {
  std::string kept;
  for (const char c : digits.substr(0, digits.find('e'))) {
    if (c >= '0' && c <= '9' && !(kept.empty() && c == '0')) kept += c;
  }
  while (!kept.empty() && kept.back() == '0') kept.pop_back();
  return static_cast<int>(kept.size());
}

TEST(AppendNumber, Integers) {
  EXPECT_EQ(written(0), "0");
  EXPECT_EQ(written(-7), "-7");
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(written(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(written(std::int8_t{65}), "65");
  EXPECT_EQ(written('A'), "65");
  EXPECT_EQ(mlir(std::uint16_t{3}), "3");
  EXPECT_EQ(written(true), "true");
  EXPECT_EQ(mlir(false), "false");
}

TEST(AppendNumber, FloatsAsHlo) {
  EXPECT_EQ(written(0.0f), "0");
  EXPECT_EQ(written(-0.0f), "-0.0");
  EXPECT_EQ(written(1.0f), "1");
  EXPECT_EQ(written(-2.5f), "-2.5");
  EXPECT_EQ(written(0.1f), "0.1");
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(static_cast<double>(0.1f)), "0.10000000149011612");
  EXPECT_EQ(written(1e-7f), "1e-07");
  EXPECT_EQ(written(1e20f), "1e+20");
  EXPECT_EQ(written(16777216.0f), "16777216");
  EXPECT_EQ(written(std::numeric_limits<float>::max()), "3.4028235e+38");
  EXPECT_EQ(written(std::numeric_limits<float>::denorm_min()), "1e-45");
  EXPECT_EQ(written(5e-324), "5e-324");
  EXPECT_EQ(written(-1.7976931348623157e308), "-1.7976931348623157e+308");
  EXPECT_EQ(written(2.5L), "2.5");
}

TEST(AppendNumber, FloatsAsMlirHaveAPoint) {
  EXPECT_EQ(mlir(0.0f), "0.0");
  EXPECT_EQ(mlir(-0.0), "-0.0");
  EXPECT_EQ(mlir(1.0f), "1.0");
  EXPECT_EQ(mlir(1e-7f), "1.0e-07");
  EXPECT_EQ(mlir(1e20), "1.0e+20");
  EXPECT_EQ(mlir(2.5e-8), "2.5e-08");
  EXPECT_EQ(mlir(0.25), "0.25");
  EXPECT_EQ(mlir(float16(3.0f)), "3.0");
  EXPECT_EQ(mlir(bfloat16(1e30f)), "1.0e+30");
}

TEST(AppendNumber, LongIntegersAreNotWrittenAsSuch) {
  EXPECT_EQ(written(123456789012345680000.0), "1.2345678901234568e+20");
  EXPECT_EQ(written(-123456789012345680000.0), "-1.2345678901234568e+20");
  EXPECT_EQ(written(12345678901234567.0), "12345678901234568");
}

TEST(AppendNumber, InfinitiesAndNaNs) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(written(inf), "inf");
  EXPECT_EQ(written(-static_cast<double>(inf)), "-inf");
  EXPECT_EQ(written(std::bit_cast<float>(0x7fc00000u)), "nan");
  EXPECT_EQ(written(std::bit_cast<float>(0xffc00000u)), "-nan");
  EXPECT_EQ(written(std::bit_cast<double>(0x7ff8000000000000u)), "nan");
  EXPECT_EQ(written(float16::from_bits(0x7e00)), "nan");
  EXPECT_EQ(written(bfloat16::from_bits(0xffc0)), "-nan");
  EXPECT_EQ(written(float16::from_bits(0xfc00)), "-inf");
  // XLA reads the payload with its quiet bit.
  EXPECT_EQ(written(std::bit_cast<float>(0x7fc00001u)), "nan(0x400001)");
  EXPECT_EQ(written(std::bit_cast<float>(0xff800001u)), "-nan(0x1)");
  EXPECT_EQ(written(std::bit_cast<double>(0x7ff8000000000abcu)), "nan(0x8000000000abc)");
  EXPECT_EQ(written(float16::from_bits(0x7e01)), "nan(0x201)");
  EXPECT_EQ(written(bfloat16::from_bits(0x7f81)), "nan(0x1)");

  EXPECT_EQ(mlir(inf), "0x7f800000");
  EXPECT_EQ(mlir(-inf), "0xff800000");
  EXPECT_EQ(mlir(std::bit_cast<float>(0x7fc00000u)), "0x7fc00000");
  EXPECT_EQ(mlir(static_cast<double>(inf)), "0x7ff0000000000000");
  EXPECT_EQ(mlir(float16::from_bits(0x7c00)), "0x7c00");
  EXPECT_EQ(mlir(bfloat16::from_bits(0xff80)), "0xff80");
}

TEST(AppendNumber, Complex) {
  EXPECT_EQ(written(std::complex<float>(1, -2)), "(1, -2)");
  EXPECT_EQ(written(std::complex<double>(-0.0, std::numeric_limits<double>::infinity())),
            "(-0.0, inf)");
  EXPECT_EQ(mlir(std::complex<float>(1, 0.5f)), "(1.0, 0.5)");
}

template <class T, class Bits>
void expect_random_patterns_read_back(const char* longest_format) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 60000; ++i) {
    auto bits = static_cast<Bits>(random());
    if (i % 3 == 1)
      bits = std::bit_cast<Bits>(
          static_cast<T>(static_cast<std::int64_t>(random()) >> (random() % 64)));
    const T value = std::bit_cast<T>(bits);
    if (!std::isfinite(value)) continue;
    const std::string hlo = written(value);
    T back = 0;
    const auto result = std::from_chars(hlo.data(), hlo.data() + hlo.size(), back);
    ASSERT_EQ(result.ptr, hlo.data() + hlo.size()) << hlo;
    ASSERT_EQ(std::bit_cast<Bits>(back), bits) << hlo;
    char longest[40];
    std::snprintf(longest, sizeof longest, longest_format, static_cast<double>(value));
    ASSERT_LE(hlo.size(), std::string(longest).size()) << hlo;
    ASSERT_TRUE(hlo_accepts(hlo)) << hlo;
    const std::string pointed = mlir(value);
    ASSERT_TRUE(mlir_accepts(pointed)) << pointed;
    ASSERT_EQ(std::bit_cast<Bits>(std::is_same_v<T, float>
                                      ? static_cast<T>(std::strtof(pointed.c_str(), nullptr))
                                      : static_cast<T>(read(pointed))),
              bits)
        << pointed;
  }
}

TEST(AppendNumber, RandomFloatsReadBack) {
  expect_random_patterns_read_back<float, std::uint32_t>("%.9g");
}
TEST(AppendNumber, RandomDoublesReadBack) {
  expect_random_patterns_read_back<double, std::uint64_t>("%.17g");
}

template <class T>
class AppendSmallFloat : public ::testing::Test {};
using SmallFloats = ::testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(AppendSmallFloat, SmallFloats);

TYPED_TEST(AppendSmallFloat, EveryNumberIsShortestAndReadsBack) {
  for (unsigned bits = 0; bits < 0x8000; ++bits) {
    const auto value = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    const float wide = value;
    if (!std::isfinite(wide)) break;
    const std::string hlo = written(value);
    ASSERT_EQ(TypeParam(read(hlo)).bits, bits) << hlo;
    ASSERT_EQ(written(TypeParam::from_bits(static_cast<std::uint16_t>(bits | 0x8000))),
              bits == 0 ? "-0.0" : "-" + hlo);
    if (bits == 0) continue;
    const int digits = significant_digits(hlo);
    char nearest[40];
    std::snprintf(nearest, sizeof nearest, "%.*e", digits - 1, static_cast<double>(wide));
    if (TypeParam(read(nearest)).bits == bits) {
      ASSERT_LE(std::abs(read(hlo) - wide), std::abs(read(nearest) - wide) * (1 + 1e-9)) << hlo;
    }
    if (digits > 1) {
      // With one digit fewer, neither adjacent number reads back.
      std::snprintf(nearest, sizeof nearest, "%.*e", digits - 2, static_cast<double>(wide));
      const double unit = std::pow(
          10.0, std::atoi(std::string(nearest).substr(std::string(nearest).find('e') + 1).c_str()) -
                    (digits - 2));
      for (const int step : {-1, 0, 1})
        ASSERT_NE(TypeParam(read(nearest) + step * unit).bits, bits) << hlo << ' ' << nearest;
    }
    ASSERT_TRUE(hlo_accepts(hlo)) << hlo;
    ASSERT_TRUE(mlir_accepts(mlir(value))) << mlir(value);
    ASSERT_EQ(TypeParam(read(mlir(value))).bits, bits) << mlir(value);
  }
}

TYPED_TEST(AppendSmallFloat, TheFormIsThatOfToChars) {
  // For numbers whose shortest digits are those of the float of the same value.
  for (const float x :
       {1.0f, 1.5f, 100.0f, 1024.0f, 0.5f, 0.25f, 0.001f, 10.0f, 3.0f, 1e4f, 2e4f, 0.0625f}) {
    const std::string small = written(TypeParam(x));
    if (static_cast<float>(TypeParam(x)) == x &&
        significant_digits(written(x)) == significant_digits(small)) {
      EXPECT_EQ(small, written(x));
    }
  }
  EXPECT_EQ(written(TypeParam(1e-3f)), "0.001");
  EXPECT_EQ(written(TypeParam(1e-4f)), "1e-04");
}

TEST(AppendFloat16, KnownNumbers) {
  EXPECT_EQ(written(float16(0.1f)), "0.1");
  EXPECT_EQ(written(float16(65504.0f)), "65500");
  EXPECT_EQ(written(float16::from_bits(1)), "6e-08");
  EXPECT_EQ(written(float16(3.14159f)), "3.14");
  EXPECT_EQ(written(float16(2047.0f)), "2047");
  EXPECT_EQ(written(float16(1e4f)), "10000");
  EXPECT_EQ(written(bfloat16(3.14159f)), "3.14");
  EXPECT_EQ(written(bfloat16::from_bits(1)), "9e-41");
  EXPECT_EQ(written(bfloat16::from_bits(0x7f7f)), "3.39e+38");
}

/// Reads it as both types, and expects what the C library gives.
void expect_as_in_c(const std::string& text) {
  const char* const first = text.data();
  const char* const last = first + text.size();
  char* end = nullptr;
  float narrow = 0;
  EXPECT_EQ(read_number(first, last, narrow).ptr, last) << text;
  EXPECT_EQ(std::bit_cast<std::uint32_t>(narrow),
            std::bit_cast<std::uint32_t>(std::strtof(first, &end)))
      << text;
  double wide = 0;
  EXPECT_EQ(read_number(first, last, wide).ptr, last) << text;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(wide),
            std::bit_cast<std::uint64_t>(std::strtod(first, &end)))
      << text;
}

TEST(ReadNumber, GivesWhatTheCLibraryGives) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; i++) {
    std::string text = random() % 2 == 0 ? "-" : "";
    text += std::to_string(random() >> (random() % 64));
    if (random() % 4 != 0) text.insert(text[0] == '-' ? 2 : 1, ".0");
    if (random() % 2 == 0) text += 'e' + std::to_string(static_cast<int>(random() % 37) - 18);
    expect_as_in_c(text);
  }
  for (const char* text : {"0", "-0", "-0.0", "0e5", "0.000", "9007199254740993", "1e22", "1e-22",
                           "1e23", "4e-7", "00012", "1E+3", "18446744073709551616", "3.4028235e38"})
    expect_as_in_c(text);
}

TEST(ReadNumber, RoundsMiddlesOfFloatsToEven) {
  for (std::uint64_t i = 0; i < 1000; i++) {
    const std::uint64_t whole = (std::uint64_t{1} << 23) + 977 * i;
    expect_as_in_c(std::to_string(whole) + ".5");
    expect_as_in_c(std::to_string(whole) + ".500000001");
    expect_as_in_c(std::to_string(2 * whole + 1));
    expect_as_in_c(std::to_string(2 * whole + 1) + "e-1");
  }
}

TEST(ReadNumber, EndsWhereStdDoes) {
  for (const std::string_view text :
       {"", "-", "+1", ".", ".5", "1.", "1.x", "1e", "1e+", "1e-x", "1.5.2", "12abc", "1e5e5",
        "--1", "e5", "inf", "1e999", "1e-999", "5,6"}) {
    float narrow = 2, expected = 2;
    const char* const last = text.data() + text.size();
    const std::from_chars_result read = read_number(text.data(), last, narrow);
    const std::from_chars_result meant = std::from_chars(text.data(), last, expected);
    EXPECT_EQ(read.ptr, meant.ptr) << text;
    EXPECT_EQ(read.ec, meant.ec) << text;
    EXPECT_EQ(narrow, expected) << text;
  }
}

TEST(AppendHexDigits, OfEachByte) {
  std::string out = "0x";
  append_hex_digits(out, std::string_view("\x00\x0f\xA7\xff", 4));
  EXPECT_EQ(out, "0x000FA7FF");
}

}  // namespace
}  // namespace rondo
