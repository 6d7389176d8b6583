// convert and bitcast_convert.
#include <cstdint>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

template <class T>
class FloatToInteger : public ::testing::Test {};
using Integers = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                  std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(FloatToInteger, Integers);

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
  expect_error(
      [] {
        bitcast_convert(vec<std::complex<float>>({{1, 2}}), DType::kF64);
      },
      {"from c64[1] to f64", "rondo::real"});
}

}  // namespace
}  // namespace rondo
