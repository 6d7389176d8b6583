// convert, bitcast_convert and reduce_precision.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

template <class T>
class FloatToInteger : public ::testing::Test {};
using ConvertedIntegers =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(FloatToInteger, ConvertedIntegers);

TYPED_TEST(FloatToInteger, TruncatesAndSaturates) {
  using T = TypeParam;
  constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  constexpr T minus_two = std::is_signed_v<T> ? static_cast<T>(-2) : T(0);
  const std::vector<T> want{0, 0, 2, minus_two, 0, low, high, high, low};
  expect_vec(convert(vec<float>({0.0f, -0.75f, 2.9f, -2.9f, kNan, -kInf, kInf, 3e38f, -3e38f}),
                     dtype_of<T>),
             want);
  expect_vec(
      convert(vec<double>({0.0, -0.75, 2.9, -2.9, kNan, -kInf, kInf, 1e300, -1e300}), dtype_of<T>),
      want);
  // The limits themselves, and numbers just inside and outside.
  const double past = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double inside = std::nextafter(past, 0.0);
  expect_vec<T>(convert(vec<double>({past, inside, static_cast<double>(low),
                                     static_cast<double>(low) * 1.01}),
                        dtype_of<T>),
                {high, static_cast<T>(inside), low, low});
  const float inside_float = std::nextafter(static_cast<float>(past), 0.0f);
  expect_vec<T>(convert(vec<float>({static_cast<float>(past), inside_float}), dtype_of<T>),
                {high, static_cast<T>(inside_float)});
  expect_vec<T>(convert(vec_of<float16, float>({kNan, 100.9f, -0.9f}), dtype_of<T>), {0, 100, 0});
  expect_vec<T>(convert(vec_of<bfloat16, float>({kInf, -kInf, 1.5f}), dtype_of<T>), {high, low, 1});
}

TYPED_TEST(FloatToInteger, IntegersKeepTheirLowBits) {
  using T = TypeParam;
  const std::int64_t wide = 0x123456789abcdef0, minus = -3;
  expect_vec<T>(convert(vec<std::int64_t>({wide, minus}), dtype_of<T>),
                {static_cast<T>(wide), static_cast<T>(minus)});
  expect_vec<T>(convert(vec<std::uint8_t>({200, 3}), dtype_of<T>), {static_cast<T>(200), 3});
  expect_vec<T>(convert(vec<std::int8_t>({-128, 3}), dtype_of<T>), {static_cast<T>(-128), 3});
  expect_vec<T>(convert(vec<bool>({true, false}), dtype_of<T>), {1, 0});
}

TEST(Convert, ToPredAsksForNonzero) {
  expect_vec<bool>(convert(vec<float>({0, -0.0f, 0.25f, kNan, 1e-45f}), DType::kPred),
                   {false, false, true, true, true});
  expect_vec<bool>(convert(vec_of<float16, float>({0, -0.0f, 6e-8f, kNan}), DType::kPred),
                   {false, false, true, true});
  expect_vec<bool>(convert(vec<int>({0, 2, -1, 256}), DType::kPred), {false, true, true, true});
  expect_vec<bool>(convert(vec<std::complex<float>>({{0, 0}, {0, 1}, {kNan, 0}}), DType::kPred),
                   {false, true, true});
}

TEST(Convert, BetweenFloatsRoundsOnceToEven) {
  const auto up = [](const Tensor& x) { return convert(x, DType::kF32); };
  expect_vec<float>(
      up(convert(vec<float>({65519.0f, 65520.0f, 1.0f, kNan, -kInf, 2049.0f}), DType::kF16)),
      {65504.0f, kInf, 1.0f, kNan, -kInf, 2048.0f});
  expect_vec<float>(up(convert(vec<float>({257.0f, 259.0f, 3.4e38f}), DType::kBF16)),
                    {256.0f, 260.0f, kInf});
  // Rounding first to f32 would make a tie of each of these, which would round the other way.
  expect_vec<float>(up(convert(vec<double>({1.0 + 0x1p-11 + 0x1p-40}), DType::kF16)),
                    {1.0009765625f});
  expect_vec<float>(up(convert(vec<double>({1.0 + 0x1p-8 + 0x1p-40}), DType::kBF16)), {1.0078125f});
  expect_vec<float>(convert(vec<double>({0.1, 1e300, 1e-46}), DType::kF32), {0.1f, kInf, 0.0f});
  expect_vec<double>(convert(vec<float>({0.1f, 1e-45f}), DType::kF64), {double{0.1f}, 0x1p-149});
}

TEST(Convert, IntegersToFloatsRoundToTheNearestEven) {
  expect_vec<float>(convert(vec<int>({16777217, 16777219, -16777217}), DType::kF32),
                    {16777216.0f, 16777220.0f, -16777216.0f});
  expect_vec<double>(convert(vec<std::int64_t>({9007199254740993}), DType::kF64),
                     {9007199254740992.0});
  expect_vec<float>(convert(vec<std::uint64_t>({~std::uint64_t{0}}), DType::kF32), {0x1p64f});
  const auto up = [](const Tensor& x) { return convert(x, DType::kF32); };
  expect_vec<float>(up(convert(vec<int>({257, 2049, 65520}), DType::kBF16)),
                    {256.0f, 2048.0f, 65536.0f});
  expect_vec<float>(up(convert(vec<int>({257, 2049, 65520}), DType::kF16)),
                    {257.0f, 2048.0f, kInf});
  // One above a tie of bf16, which is not distinguishable in f64.
  const std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  expect_vec<float>(up(convert(vec<std::int64_t>({tie, tie + 1, -tie, -tie - 1}), DType::kBF16)),
                    {0x1p62f, 0x1.02p62f, -0x1p62f, -0x1.02p62f});
  const std::uint64_t high_tie = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 55);
  expect_vec<float>(up(convert(vec<std::uint64_t>({high_tie, high_tie + 1}), DType::kBF16)),
                    {0x1p63f, 0x1.02p63f});
}

TEST(Convert, ComplexNumbers) {
  using C = std::complex<float>;
  expect_complex<float>(convert(vec<float>({1.5f, -0.0f}), DType::kC64), {{1.5f, 0}, {0, 0}});
  expect_complex<float>(convert(vec<int>({3}), DType::kC64), {{3, 0}});
  expect_complex<double>(convert(vec<C>({{1.5f, 2}}), DType::kC128), {{1.5, 2}});
  expect_complex<float>(convert(vec<std::complex<double>>({{0.1, 0.2}}), DType::kC64),
                        {{0.1f, 0.2f}});
  expect_vec<float>(convert(vec<C>({{1.5f, 2}}), DType::kF32), {1.5f});
  expect_vec<int>(convert(vec<C>({{-1.5f, 2}}), DType::kS32), {-1});
  expect_vec<double>(convert(vec<std::complex<double>>({{0.1, 2}}), DType::kF64), {0.1});
}

TEST(Convert, KeepsShapesAndReturnsWhatFitsAlready) {
  const Tensor x = Literal::zeros(f32({2, 3}));
  EXPECT_EQ(convert(x, DType::kS8).type(), s8({2, 3}));
  EXPECT_TRUE(convert(x, DType::kF32).same_as(x));
  expect_scalar(convert(2.75, DType::kS32), 2);
  expect_error([] { convert(Tensor(), DType::kF32); }, {"convert: an operand is an empty Tensor"});
}

// Every pair of dtypes that can represent a small number.
TEST(Convert, EveryPairOfDtypes) {
  for (int from = 0; from < kDTypeCount; from++) {
    for (int to = 0; to < kDTypeCount; to++) {
      const Tensor x = convert(vec<int>({0, 1}), static_cast<DType>(from));
      const Tensor y = convert(x, static_cast<DType>(to));
      EXPECT_EQ(y.type(), (TensorType{static_cast<DType>(to), {2}}));
      expect_vec<int>(convert(y, DType::kS32), {0, 1});
    }
  }
}

/// What the definition says, by frexp and nearbyint: no number of the format has a finer grain than
/// its least normal number of this exponent.
double reduced_to(double x, int exponent_bits, int mantissa_bits, int own_exponent_bits) {
  if (!std::isfinite(x) || x == 0) return x;
  const int bias = (1 << (std::min(exponent_bits, own_exponent_bits) - 1)) - 1;
  int exponent = 0;
  std::frexp(x, &exponent);
  const bool gradual = exponent_bits >= own_exponent_bits;
  const int own_bias = (1 << (own_exponent_bits - 1)) - 1;
  const int unit = std::max(exponent - 1, 1 - own_bias) - mantissa_bits;
  double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  // Without a mantissa the even one of two neighbours is that of an even exponent field.
  if (mantissa_bits == 0 && std::abs(x) == std::ldexp(1.5, exponent - 1) && unit == exponent - 1) {
    const bool is_even = (exponent - 1 + own_bias) % 2 == 0;
    rounded = std::copysign(std::ldexp(1.0, is_even ? exponent - 1 : exponent), x);
  }
  if (gradual)
    return std::abs(rounded) >= std::ldexp(1.0, own_bias + 1) ? std::copysign(HUGE_VAL, x)
                                                              : rounded;
  if (std::abs(rounded) >= std::ldexp(1.0, bias + 1)) return std::copysign(HUGE_VAL, x);
  return std::abs(rounded) < std::ldexp(1.0, 1 - bias) ? std::copysign(0.0, x) : rounded;
}

template <class T>
class ReducePrecision : public ::testing::Test {};
using ConvertedFloats = ::testing::Types<float16, bfloat16, float, double>;
TYPED_TEST_SUITE(ReducePrecision, ConvertedFloats);

TYPED_TEST(ReducePrecision, RoundsToAnyFormat) {
  using T = TypeParam;
  constexpr int own = std::is_same_v<T, float16> ? 5 : std::is_same_v<T, double> ? 11 : 8;
  constexpr int own_mantissa = std::is_same_v<T, float16>    ? 10
                               : std::is_same_v<T, bfloat16> ? 7
                               : std::is_same_v<T, float>    ? 23
                                                             : 52;
  std::vector<T> numbers{T(0.0), T(-0.0), T(HUGE_VAL), T(-HUGE_VAL)};
  // Numbers, ties and their neighbours about every power of two, subnormal ones too.
  const int least = 2 - (1 << (own - 1)) - own_mantissa, most = (1 << (own - 1)) - 1;
  for (int power = least; power <= most; power += own == 11 ? 7 : 1) {
    for (const double factor : {1.0, 1.0625, 1.1, 1.125, 1.25, 1.5, 1.75, 1.875, 1.9999})
      numbers.push_back(T(std::ldexp(power % 2 ? factor : -factor, power)));
  }
  const Tensor x = vec<T>(numbers);
  for (const auto& [exponent, mantissa] : {std::pair{5, 10},
                                           {8, 7},
                                           {8, 0},
                                           {5, 2},
                                           {4, 3},
                                           {5, 0},
                                           {1, 3},
                                           {2, 1},
                                           {8, 5},
                                           {own, 3},
                                           {8, 23},
                                           {11, 52},
                                           {11, 2},
                                           {40, 60}}) {
    std::vector<double> want;
    for (const T number : numbers)
      want.push_back(
          reduced_to(static_cast<double>(number), exponent, std::min(mantissa, own_mantissa), own));
    SCOPED_TRACE(std::to_string(exponent) + ", " + std::to_string(mantissa));
    expect_signed(convert(reduce_precision(x, exponent, mantissa), DType::kF64), want);
  }
}

TEST(ReducePrecisionOfFloats, IsAConversionThereAndBack) {
  const Tensor x = vec<float>({0.1f, -3.7f, 65519.9f, 65520.0f, 6.2e-5f, 3.4e38f, -kInf});
  const auto there_and_back = [&](DType dtype) { return convert(convert(x, dtype), DType::kF32); };
  expect_scalar(all(reduce_precision(x, 8, 7) == there_and_back(DType::kBF16)), true);
  expect_scalar(all(reduce_precision(x, 5, 10) == there_and_back(DType::kF16)), true);
}

TEST(ReducePrecisionOfFloats, KeepsTheBitsOfNan) {
  const std::vector<std::uint32_t> bits{0x7f800001, 0xff812345, 0x7fc12345};
  const Tensor nans = bitcast_convert(vec<std::uint32_t>(bits), DType::kF32);
  for (const int mantissa : {3, 0})
    expect_vec<std::uint32_t>(bitcast_convert(reduce_precision(nans, 5, mantissa), DType::kU32),
                              bits);
}

TEST(ReducePrecisionOfFloats, RefusesOtherNumbersAndFormats) {
  expect_error([] { reduce_precision(vec<int>({1}), 5, 2); },
               {"reduce_precision: takes floats; the operand is s32[1]"});
  expect_error(
      [] {
        reduce_precision(vec<std::complex<float>>({{1, 2}}), 5, 2);
      },
      {"takes floats", "rondo::real(x)"});
  expect_error([] { reduce_precision(vec<float>({1}), 0, 2); },
               {"to 0 bits of exponent and 2 of mantissa; there must be at least 1 and 0"});
  expect_error([] { reduce_precision(vec<float>({1}), 3, -1); }, {"3 bits of exponent and -1"});
}

// Rounded as in JAX, which says that it is linear; sums over trips of a loop are not taken out.
TEST(ReducePrecisionOfFloats, RoundsTangentsAndCotangents) {
  const auto f = [](const Tensor& x) { return reduce_precision(x, 8, 2) * 1.1f; };
  expect_scalar(jvp(f, std::tuple{Tensor(1.3f)}, std::tuple{Tensor(2.3f)}).second, 2.5f * 1.1f);
  expect_scalar(grad(f)(1.3f), 1.0f);  // 1.1 rounded
  const auto summed = [](const Tensor& xs) {
    return scan([](const Tensor& sum,
                   const Tensor& x) { return std::pair(sum + reduce_precision(x, 8, 2), x); },
                0.0f, xs)
        .first;
  };
  expect_scalar(jit(summed)(vec<float>({1.1f, 1.1f, 1.1f, 1.1f})), 4.0f);
}

TEST(BitcastConvert, SameWidth) {
  expect_vec<std::uint32_t>(bitcast_convert(vec<float>({1.0f, -0.0f}), DType::kU32),
                            {0x3f800000u, 0x80000000u});
  expect_vec<float>(bitcast_convert(vec<int>({0x40490fdb}), DType::kF32), {3.14159274f});
  expect_vec<std::uint16_t>(bitcast_convert(vec_of<bfloat16, float>({1.0f}), DType::kU16),
                            {0x3f80});
  expect_vec<std::int8_t>(bitcast_convert(vec<std::uint8_t>({200}), DType::kS8), {-56});
}

TEST(BitcastConvert, ANarrowerDtypeAddsAnAxis) {
  expect_values<std::uint8_t>(bitcast_convert(vec<float>({1.0f, 2.0f}), DType::kU8), {2, 4},
                              {0, 0, 128, 63, 0, 0, 0, 64});
  expect_values<std::uint16_t>(
      bitcast_convert(Literal::scalar<std::uint64_t>(0x0004000300020001), DType::kU16), {4},
      {1, 2, 3, 4});
}

TEST(BitcastConvert, AWiderDtypeTakesTheLastAxis) {
  const Tensor bytes = Literal::from<std::uint8_t>({0, 0, 128, 63, 0, 0, 0, 64}, {2, 4});
  expect_vec<float>(bitcast_convert(bytes, DType::kF32), {1.0f, 2.0f});
  expect_scalar(bitcast_convert(vec<std::uint16_t>({1, 2, 3, 4}), DType::kU64),
                std::uint64_t{0x0004000300020001});
  EXPECT_EQ(bitcast_convert(Literal::zeros(u8({0, 4})), DType::kF32).type(), f32({0}));
}

TEST(BitcastConvert, Errors) {
  expect_error(
      [] {
        bitcast_convert(vec<std::uint8_t>({1, 2, 3}), DType::kF32);
      },
      {"bitcast_convert: from u8[3] to f32: 4 elements make one, so the last axis must have size 4",
       "Reshape"});
  expect_error([] { bitcast_convert(Literal::scalar<std::uint8_t>(1), DType::kU16); },
               {"from u8[] to u16", "size 2"});
  expect_error([] { bitcast_convert(vec<bool>({true}), DType::kU8); },
               {"bitcast_convert: from pred[1] to u8", "rondo::convert"});
  expect_error([] { bitcast_convert(vec<std::uint8_t>({1}), DType::kPred); },
               {"from u8[1] to pred"});
  // It would have 0 bits, by which the other's are divided.
  expect_error([] { bitcast_convert(vec<std::uint8_t>({1}), static_cast<DType>(99)); },
               {"bitcast_convert", "no dtype"});
  expect_error(
      [] {
        bitcast_convert(vec<std::complex<float>>({{1, 2}}), DType::kF64);
      },
      {"from c64[1] to f64", "rondo::real"});
}

}  // namespace
}  // namespace rondo
