// float16 and bfloat16 against arithmetic in double, in which all of their numbers and the
// midpoints between them are exact.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "rondo/dtype.h"

namespace rondo {
namespace {

template <class T>
struct Layout;
template <>
struct Layout<float16> {
  static constexpr int kFraction = 10, kBias = 15;
};
template <>
struct Layout<bfloat16> {
  static constexpr int kFraction = 7, kBias = 127;
};

template <class T>
constexpr unsigned kInfinityBits = (2u * Layout<T>::kBias + 1u) << Layout<T>::kFraction;

/// The number that the bits encode; infinity counts as the power of two after the largest number.
template <class T>
double meaning(unsigned bits) {
  constexpr int kFraction = Layout<T>::kFraction;
  const unsigned fraction = bits & ((1u << kFraction) - 1);
  const int exponent = static_cast<int>((bits & 0x7fffu) >> kFraction);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - Layout<T>::kBias - kFraction)
                                         : std::ldexp((1u << kFraction) + fraction,
                                                      exponent - Layout<T>::kBias - kFraction);
  return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

template <class T>
class SmallFloat : public ::testing::Test {};
using SmallFloats = ::testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(SmallFloat, SmallFloats);

TYPED_TEST(SmallFloat, EveryNumberWidensExactlyAndComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto x = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    const float wide = x;
    const unsigned magnitude = bits & 0x7fffu;
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000u) != 0) << bits;
    if (magnitude > kInfinityBits<TypeParam>) {
      constexpr unsigned kQuiet = 1u << (Layout<TypeParam>::kFraction - 1);
      ASSERT_TRUE(std::isnan(wide)) << bits;
      ASSERT_EQ(TypeParam(wide).bits, bits | kQuiet);
      ASSERT_EQ(TypeParam(static_cast<double>(wide)).bits, bits | kQuiet);
      continue;
    }
    if (magnitude == kInfinityBits<TypeParam>) {
      ASSERT_TRUE(std::isinf(wide)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(wide), meaning<TypeParam>(bits)) << bits;
    }
    ASSERT_EQ(TypeParam(wide).bits, bits);
    ASSERT_EQ(TypeParam(static_cast<double>(wide)).bits, bits);
  }
}

// Between adjacent numbers a < b: up to the midpoint the result is a, above it b, and at the
// midpoint the even one. For the last pair b is infinity, which counts as the next power of two.
TYPED_TEST(SmallFloat, RoundsToNearestEvenBetweenAllNeighbours) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr float kInfinityF = std::numeric_limits<float>::infinity();
  for (unsigned bits = 0; bits < kInfinityBits<TypeParam>; ++bits) {
    const double low = meaning<TypeParam>(bits);
    const double high = meaning<TypeParam>(bits + 1);
    const double middle = low + (high - low) / 2;
    const unsigned even = bits + (bits & 1);
    for (const unsigned sign : {0u, 0x8000u}) {
      const double s = sign == 0 ? 1 : -1;
      ASSERT_EQ(TypeParam(s * middle).bits, even | sign) << low;
      ASSERT_EQ(TypeParam(s * std::nextafter(middle, 0.0)).bits, bits | sign) << low;
      ASSERT_EQ(TypeParam(s * std::nextafter(middle, kInfinity)).bits, (bits + 1) | sign) << low;

      const auto middle_f = static_cast<float>(middle);
      ASSERT_EQ(static_cast<double>(middle_f), middle);
      const auto sf = static_cast<float>(s);
      ASSERT_EQ(TypeParam(sf * middle_f).bits, even | sign) << low;
      ASSERT_EQ(TypeParam(sf * std::nextafter(middle_f, 0.0f)).bits, bits | sign) << low;
      ASSERT_EQ(TypeParam(sf * std::nextafter(middle_f, kInfinityF)).bits, (bits + 1) | sign)
          << low;
    }
  }
}

TYPED_TEST(SmallFloat, ExtremesOfDouble) {
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::denorm_min()).bits, 0);
  EXPECT_EQ(TypeParam(-std::numeric_limits<double>::denorm_min()).bits, 0x8000);
  EXPECT_EQ(TypeParam(std::numeric_limits<double>::max()).bits, kInfinityBits<TypeParam>);
  EXPECT_EQ(TypeParam(-std::numeric_limits<double>::infinity()).bits,
            kInfinityBits<TypeParam> | 0x8000);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).bits, kInfinityBits<TypeParam>);
}

TYPED_TEST(SmallFloat, NaNsStayNaNsWhateverTheirPayload) {
  // Only the upper part of the payload is kept; a NaN whose payload is entirely in the lower part
  // must not become infinity.
  const auto narrow = TypeParam(std::bit_cast<float>(0x7f800001u));
  EXPECT_GT(narrow.bits, kInfinityBits<TypeParam>);
  EXPECT_LT(narrow.bits, 0x8000);
  const auto negative = TypeParam(std::bit_cast<double>(0xfff0000000000001u));
  EXPECT_GT(negative.bits & 0x7fff, static_cast<int>(kInfinityBits<TypeParam>));
  EXPECT_NE(negative.bits & 0x8000, 0);
}

TYPED_TEST(SmallFloat, IntegersRoundOnce) {
  for (std::int64_t i = -70000; i <= 70000; ++i) {
    ASSERT_EQ(TypeParam(i).bits, TypeParam(static_cast<double>(i)).bits) << i;
  }
  EXPECT_EQ(TypeParam(true).bits, TypeParam(1.0).bits);
  EXPECT_EQ(TypeParam(static_cast<std::int8_t>(-5)).bits, TypeParam(-5.0).bits);
}

TEST(Float16, DoublesAreNotRoundedTwice) {
  // Through float this would first be rounded to the midpoint of 1 and its successor, and then down
  // to the even 1.
  EXPECT_EQ(float16(1 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(float16(static_cast<float>(1 + 0x1p-11 + 0x1p-40)).bits, 0x3c00);
}

TEST(Float16, LargeIntegers) {
  EXPECT_EQ(float16(65519).bits, 0x7bff);
  EXPECT_EQ(float16(65520).bits, 0x7c00);
  EXPECT_EQ(float16(std::numeric_limits<std::int64_t>::min()).bits, 0xfc00);
  EXPECT_EQ(float16(std::numeric_limits<std::uint64_t>::max()).bits, 0x7c00);
}

TEST(Bfloat16, LargeIntegersAreNotRoundedTwice) {
  // 2^62 + 2^54 is the midpoint of two bfloat16 numbers, and 1 more is lost in a double.
  constexpr std::int64_t kMiddle = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  const std::uint16_t low = bfloat16(0x1p62).bits;
  EXPECT_EQ(bfloat16(kMiddle).bits, low);
  EXPECT_EQ(bfloat16(kMiddle - 1).bits, low);
  EXPECT_EQ(bfloat16(kMiddle + 1).bits, low + 1);
  EXPECT_EQ(bfloat16(-kMiddle - 1).bits, (low + 1) | 0x8000);
  EXPECT_EQ(bfloat16(static_cast<std::uint64_t>(kMiddle) + 1).bits, low + 1);
  EXPECT_EQ(bfloat16(std::numeric_limits<std::int64_t>::min()).bits, bfloat16(-0x1p63).bits);
  EXPECT_EQ(bfloat16(std::numeric_limits<std::uint64_t>::max()).bits, bfloat16(0x1p64).bits);
}

TEST(Float16, KnownNumbers) {
  EXPECT_EQ(float16(1.0f).bits, 0x3c00);
  EXPECT_EQ(float16(-2.0f).bits, 0xc000);
  EXPECT_EQ(float16(0.1f).bits, 0x2e66);
  EXPECT_EQ(float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(float16(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(bfloat16(3.14159265f).bits, 0x4049);
  EXPECT_EQ(float16().bits, 0);
}

// g++ defines it where its own _Float16 works.
#if defined(__FLT16_MANT_DIG__) && defined(__GNUC__) && !defined(__clang__)
__extension__ typedef _Float16 CompilerFloat16;

TEST(Float16, AgreesWithTheCompiler) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300000; ++i) {
    const std::uint64_t bits = random();
    // Exponents near those of float16, and sometimes any.
    const double x = i % 4 == 0 ? std::bit_cast<double>(bits)
                                : std::ldexp(1 + static_cast<double>(bits >> 12) * 0x1p-52,
                                             static_cast<int>(bits % 44) - 27);
    if (std::isnan(x)) continue;
    ASSERT_EQ(float16(x).bits, std::bit_cast<std::uint16_t>(static_cast<CompilerFloat16>(x))) << x;
    const auto f = static_cast<float>(x);
    ASSERT_EQ(float16(f).bits, std::bit_cast<std::uint16_t>(static_cast<CompilerFloat16>(f))) << f;
  }
}
#endif

}  // namespace
}  // namespace rondo
