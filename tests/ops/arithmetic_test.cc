// add subtract multiply divide remainder negate abs sign maximum minimum clamp floor ceil round
// square reciprocal, integer pow.
#include <cstdint>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

template <class T>
class IntegerArithmetic : public ::testing::Test {};
using Integers = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                  std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerArithmetic, Integers);

__extension__ typedef unsigned __int128 Wide;

// The expected values are computed in 128 bits and truncated to the width.
TYPED_TEST(IntegerArithmetic, WrapsAsTwosComplementDoes) {
  using T = TypeParam;
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  const std::vector<T> edges{
      low, static_cast<T>(low + 1), 0, 1, 2, 7, static_cast<T>(high / 2), static_cast<T>(high - 1),
      high};
  std::vector<T> a, b, sums, differences, products, negated;
  for (T x : edges) {
    for (T y : edges) {
      a.push_back(x);
      b.push_back(y);
      const Wide p = static_cast<Wide>(x), q = static_cast<Wide>(y);
      sums.push_back(static_cast<T>(p + q));
      differences.push_back(static_cast<T>(p - q));
      products.push_back(static_cast<T>(p * q));
      negated.push_back(static_cast<T>(-p));
    }
  }
  expect_vec(vec(a) + vec(b), sums);
  expect_vec(vec(a) - vec(b), differences);
  expect_vec(vec(a) * vec(b), products);
  expect_vec(-vec(a), negated);
  expect_vec(+vec(a), a);
  expect_vec(square(vec(a)), [&] {
    std::vector<T> squares;
    for (T x : a) squares.push_back(static_cast<T>(static_cast<Wide>(x) * static_cast<Wide>(x)));
    return squares;
  }());
}

TYPED_TEST(IntegerArithmetic, DividesByEverything) {
  using T = TypeParam;
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max(),
          ones = static_cast<T>(-1);
  const Tensor a = vec<T>({7, 0, high, low, static_cast<T>(low + 1)});
  expect_vec<T>(a / T(0), {ones, ones, ones, ones, ones});
  expect_vec<T>(a % T(0), {7, 0, high, low, static_cast<T>(low + 1)});
  expect_vec<T>(a / T(2), {3, 0, static_cast<T>(high / 2), static_cast<T>(low / 2),
                           static_cast<T>((low + 1) / 2)});
  expect_vec<T>(rem(a, T(2)), {1, 0, 1, 0, std::is_signed_v<T> ? ones : T(1)});
  if constexpr (std::is_signed_v<T>) {
    expect_vec<T>(a / T(-1), {-7, 0, static_cast<T>(-high), low, high});
    expect_vec<T>(a % T(-1), {0, 0, 0, 0, 0});
    expect_vec<T>(vec<T>({7, -7, 7, -7}) / vec<T>({2, 2, -2, -2}), {3, -3, -3, 3});
    expect_vec<T>(vec<T>({7, -7, 7, -7}) % vec<T>({2, 2, -2, -2}), {1, -1, 1, -1});
  }
}

TYPED_TEST(IntegerArithmetic, HasSizesSignsAndExtremes) {
  using T = TypeParam;
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  const Tensor x = vec<T>({low, 0, 3, high});
  if constexpr (std::is_signed_v<T>) {
    expect_vec<T>(abs(vec<T>({low, -3, 0, high})), {low, 3, 0, high});
    expect_vec<T>(sign(vec<T>({low, -3, 0, high})), {-1, -1, 0, 1});
    expect_vec<T>(maximum(x, T(-1)), {-1, 0, 3, high});
  } else {
    expect_vec<T>(abs(x), {low, 0, 3, high});
    expect_vec<T>(sign(x), {0, 0, 1, 1});
  }
  expect_vec<T>(maximum(x, 2), {2, 2, 3, high});
  expect_vec<T>(minimum(x, 2), {low, 0, 2, 2});
  expect_vec<T>(clamp(1, x, 5), {1, 1, 3, 5});
  expect_vec<T>(clamp(5, x, 1), {1, 1, 1, 1});
}

TYPED_TEST(IntegerArithmetic, PowersWrap) {
  using T = TypeParam;
  const std::vector<T> bases{0, 1, 2, 3, 5, static_cast<T>(-1), static_cast<T>(-2)};
  const std::vector<T> exponents{0, 1, 2, 7, 31, 100};
  std::vector<T> x, y, want;
  for (T base : bases) {
    for (T exponent : exponents) {
      x.push_back(base);
      y.push_back(exponent);
      Wide power = 1;
      for (T i = 0; i < exponent; i++) power *= static_cast<Wide>(base);
      want.push_back(static_cast<T>(power));
    }
  }
  expect_vec(pow(vec(x), vec(y)), want);
  if constexpr (std::is_signed_v<T>) {
    expect_vec<T>(pow(vec<T>({0, 1, -1, -1, 2, -3}), vec<T>({-1, -5, -3, -4, -1, -2})),
                  {0, 1, -1, 1, 0, 0});
  }
}

TEST(PredArithmetic, AddsAsOrAndMultipliesAsAnd) {
  const Tensor a = vec<bool>({false, false, true, true}), b = vec<bool>({false, true, false, true});
  expect_vec<bool>(a + b, {false, true, true, true});
  expect_vec<bool>(a * b, {false, false, false, true});
  expect_vec<bool>(maximum(a, b), {false, true, true, true});
  expect_vec<bool>(minimum(a, b), {false, false, false, true});
}

TEST(PredArithmetic, RefusesWhatHasNoMeaning) {
  const Tensor p = vec<bool>({false, true});
  const char* remedy = "rondo::convert(x, DType::kS32)";
  expect_error(
      [&] { p - p; },
      {"subtract: takes integers, floats and complex numbers; the operand is pred[2]", remedy});
  expect_error([&] { p / p; }, {"divide: takes", "pred[2]", remedy});
  expect_error([&] { p % p; }, {"remainder: takes integers and floats", "pred[2]", remedy});
  expect_error([&] { -p; }, {"negate: takes", "pred[2]", remedy});
  expect_error([&] { abs(p); }, {"abs: takes signed integers", "pred[2]", remedy});
  expect_error([&] { sign(p); }, {"sign: takes", "pred[2]", remedy});
  expect_error([&] { pow(p, p); }, {"pow: takes", "pred[2]", remedy});
  expect_error([&] { clamp(p, p, p); }, {"clamp: takes integers and floats", "pred[2]", remedy});
}

template <class T>
class FloatArithmetic : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FloatArithmetic, Floats);

TYPED_TEST(FloatArithmetic, FollowsIeee) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T denormal = std::numeric_limits<T>::denorm_min();
  const std::vector<T> edges{0,   T(-0.0), 1,   T(-2.5),  T(0.1),
                             inf, -inf,    nan, denormal, std::numeric_limits<T>::max()};
  std::vector<T> a, b, sums, differences, products, quotients, remainders;
  for (T x : edges) {
    for (T y : edges) {
      a.push_back(x);
      b.push_back(y);
      sums.push_back(x + y);
      differences.push_back(x - y);
      products.push_back(x * y);
      quotients.push_back(x / y);
      remainders.push_back(std::fmod(x, y));
    }
  }
  expect_signed(vec(a) + vec(b), sums);
  expect_signed(vec(a) - vec(b), differences);
  expect_signed(vec(a) * vec(b), products);
  expect_signed(vec(a) / vec(b), quotients);
  expect_signed(vec(a) % vec(b), remainders);
  expect_signed<T>(-vec<T>({0, T(-0.0), 1, -inf}), {T(-0.0), 0, -1, inf});
  expect_signed<T>(abs(vec<T>({T(-0.0), -1, -inf, nan, -denormal})), {0, 1, inf, nan, denormal});
}

TYPED_TEST(FloatArithmetic, RemainderHasTheSignOfTheDividend) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  expect_signed<T>(
      rem(vec<T>({5.5, -5.5, 5, inf, 3, T(-0.0), -6}), vec<T>({-2, 2, 0, 2, inf, 3, 3})),
      {1.5, -1.5, nan, nan, 3, T(-0.0), T(-0.0)});
}

TYPED_TEST(FloatArithmetic, ExtremesPropagateNanAndOrderZeros) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const Tensor a = vec<T>({nan, 1, nan, 0, T(-0.0), T(-0.0), -inf, 2}),
               b = vec<T>({1, nan, nan, T(-0.0), 0, T(-0.0), 3, -inf});
  expect_signed<T>(maximum(a, b), {nan, nan, nan, 0, 0, T(-0.0), 3, 2});
  expect_signed<T>(minimum(a, b), {nan, nan, nan, T(-0.0), T(-0.0), T(-0.0), -inf, -inf});
  expect_signed<T>(clamp(0, vec<T>({nan, -1, 0.5, 2, T(-0.0), inf}), 1), {nan, 0, 0.5, 1, 0, 1});
  expect_vec<T>(clamp(vec<T>({nan, 0, 3}), vec<T>({1, 1, 2}), vec<T>({2, nan, 1})), {nan, nan, 1});
}

TYPED_TEST(FloatArithmetic, SignsAndRounding) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(),
          minus_zero = T(-0.0);
  const Tensor x = vec<T>(
      {0, minus_zero, 2.5, -2.5, 0.5, -0.5, 1.5, T(0.49999997), -0.25, inf, -inf, nan, 1e10});
  expect_signed<T>(sign(x), {0, minus_zero, 1, -1, 1, -1, 1, 1, -1, 1, -1, nan, 1});
  expect_signed<T>(round(x),
                   {0, minus_zero, 2, -2, 0, minus_zero, 2, 0, minus_zero, inf, -inf, nan, 1e10});
  expect_signed<T>(floor(x), {0, minus_zero, 2, -3, 0, -1, 1, 0, -1, inf, -inf, nan, 1e10});
  expect_signed<T>(ceil(x),
                   {0, minus_zero, 3, -2, 1, minus_zero, 2, 1, minus_zero, inf, -inf, nan, 1e10});
  expect_signed<T>(reciprocal(vec<T>({4, 0, minus_zero, inf})), {0.25, inf, -inf, 0});
  expect_signed<T>(square(vec<T>({-3, minus_zero, inf})), {9, 0, inf});
}

TYPED_TEST(FloatArithmetic, KeepsDenormalNumbers) {
  using T = TypeParam;
  const T tiny = std::numeric_limits<T>::denorm_min(), least = std::numeric_limits<T>::min();
  expect_vec<T>(vec<T>({tiny, least}) / T(2) * T(2), {0, least});
  expect_vec<T>(vec<T>({tiny, least}) - vec<T>({0, tiny}), {tiny, least - tiny});
  expect_vec<bool>(ne(vec<T>({tiny}), 0), {true});
  expect_vec<T>(maximum(vec<T>({tiny}), 0), {tiny});
}

TEST(HalfArithmetic, IsDoneInF32AndRoundedOnce) {
  // 1 + 2^-11 is a tie of f16 and goes to the even 1; 2048 + 1 likewise.
  const Tensor a = vec_of<float16, float>({1.0f, 2048.0f, 65504.0f, 6e-8f, 3.0f});
  const Tensor b = vec_of<float16, float>({0.00048828125f, 1.0f, 65504.0f, 6e-8f, 0.0f});
  expect_vec<float>(convert(a + b, DType::kF32), {1.0f, 2048.0f, kInf, 1.1920929e-7f, 3.0f});
  expect_vec<float>(convert(a / b, DType::kF32), {2048.0f, 2048.0f, 1.0f, 1.0f, kInf});
  const Tensor c = vec_of<bfloat16, float>({256.0f, 1.0f, 3e38f}),
               d = vec_of<bfloat16, float>({1.0f, 0.00390625f, 3e38f});
  expect_vec<float>(convert(c + d, DType::kF32), {256.0f, 1.0f, kInf});
  EXPECT_EQ((a + b).type(), f16({5}));
  EXPECT_EQ((c * d).type(), bf16({3}));
}

TEST(RoundHalfAway, IsTheRoundOfC) {
  // 0.49999997 is the float below a half; from 2^23 on all floats are whole.
  std::vector<float> x{0.49999997f, -0.49999997f, 8388607.5f, 8388609.f, 1e30f, 0.f, -0.f, kInf};
  for (int i = -40; i <= 40; i++) x.push_back(static_cast<float>(i) / 8);
  std::vector<float> want;
  for (const float each : x) want.push_back(std::round(each));
  expect_signed<float>(round_half_away(vec<float>(x)), want);
  expect_signed<double>(round_half_away(vec<double>({0.49999999999999994, -2.5, kNan})),
                        {0, -3, kNan});
  expect_error([] { round_half_away(vec<int>({1})); }, {"round_half_away: takes floats"});
}

TEST(HalfArithmetic, HasTheEdgesOfFloats) {
  const Tensor x = vec_of<float16, float>({2.5f, -0.5f, kNan, -kInf, -0.0f});
  const auto as_floats = [](const Tensor& t) { return convert(t, DType::kF32); };
  expect_signed<float>(as_floats(round(x)), {2, -0.0f, kNan, -kInf, -0.0f});
  expect_signed<float>(as_floats(round_half_away(x)), {3, -1, kNan, -kInf, -0.0f});
  expect_signed<float>(as_floats(sign(x)), {1, -1, kNan, -1, -0.0f});
  expect_signed<float>(as_floats(maximum(x, 0)), {2.5f, 0, kNan, 0, 0});
  expect_signed<float>(as_floats(abs(x)), {2.5f, 0.5f, kNan, kInf, 0});
  expect_signed<float>(as_floats(clamp(-1, vec_of<bfloat16, float>({2.5f, -0.5f, kNan}), 1)),
                       {1, -0.5f, kNan});
}

TEST(ComplexArithmetic, MultipliesAndDividesAsC) {
  using C = std::complex<float>;
  const Tensor a = vec<C>({{1, 2}, {kInf, 0}, {1, 1}, {0, 0}, {1, 1}}),
               b = vec<C>({{3, 4}, {1, 1}, {0, 0}, {0, 0}, {kInf, 0}});
  expect_complex<float>(a + b, {{4, 6}, {kInf, 1}, {1, 1}, {0, 0}, {kInf, 1}});
  expect_complex<float>(a - b, {{-2, -2}, {kInf, -1}, {1, 1}, {0, 0}, {-kInf, 1}});
  expect_complex<float>(a * b, {{-5, 10}, {kInf, kInf}, {0, 0}, {0, 0}, {kInf, kInf}});
  expect_complex<float>(a / b, {{0.44f, 0.08f}, {kInf, -kInf}, {kInf, kInf}, {kNan, kNan}, {0, 0}},
                        1e-6);
  expect_complex<float>(-a, {{-1, -2}, {-kInf, 0}, {-1, -1}, {0, 0}, {-1, -1}});
  expect_complex<float>(square(vec<C>({{3, 4}})), {{-7, 24}});
  expect_complex<double>(reciprocal(vec<std::complex<double>>({{0.5, 0.25}})), {{1.6, -0.8}},
                         1e-15);
}

TEST(ComplexArithmetic, HasModuliAndDirections) {
  using C = std::complex<float>;
  const Tensor z = vec<C>({{3, 4}, {0, 0}, {kInf, kNan}, {1, kInf}, {1e30f, 1e30f}});
  expect_close<float>(abs(z), {5}, {5, 0, kNan, kInf, 1.4142135e30f});
  EXPECT_EQ(abs(z).dtype(), DType::kF32);
  EXPECT_EQ(abs(vec<std::complex<double>>({{3, 4}})).dtype(), DType::kF64);
  expect_complex<float>(
      sign(z), {{0.6f, 0.8f}, {0, 0}, {kNan, kNan}, {0, kNan}, {0.70710677f, 0.70710677f}}, 1e-6);
}

TEST(ComplexArithmetic, HasNoOrder) {
  const Tensor z = vec<std::complex<float>>({{3, 4}});
  for (const char* part : {"rondo::real(x)", "c64[1]"}) {
    expect_error([&] { maximum(z, z); }, {"maximum: takes pred, integers and floats", part});
    expect_error([&] { minimum(z, 0); }, {"minimum: takes", part});
    expect_error([&] { clamp(z, z, z); }, {"clamp: takes", part});
    expect_error([&] { z % z; }, {"remainder: takes", part});
    expect_error([&] { floor(z); }, {"floor: takes floats", part});
  }
}

TEST(ArithmeticErrors, OfIntegersWhereFloatsBelong) {
  const Tensor i = vec<int>({1, 2});
  for (const char* part : {"s32[2]", "rondo::convert(x, DType::kF32)"}) {
    expect_error([&] { floor(i); }, {"floor: takes floats; the operand is", part});
    expect_error([&] { ceil(i); }, {"ceil: takes floats; the operand is", part});
    expect_error([&] { round(i); }, {"round: takes floats; the operand is", part});
    expect_error([&] { reciprocal(i); },
                 {"reciprocal: takes floats and complex numbers; the operand is", part});
  }
}

}  // namespace
}  // namespace rondo
