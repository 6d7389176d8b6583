// & | ^ ~ ! << >>, the named shifts, popcount, count_leading_zeros, the logical functions.
#include <bit>
#include <cstdint>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

template <class T>
class Bits : public ::testing::Test {};
using IntegersOfBits = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                        std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Bits, IntegersOfBits);

TYPED_TEST(Bits, CombineBitByBit) {
  using T = TypeParam;
  const Tensor a = vec<T>({12, 0, static_cast<T>(-1)}), b = vec<T>({10, 5, 7});
  expect_vec<T>(a & b, {8, 0, 7});
  expect_vec<T>(a | b, {14, 5, static_cast<T>(-1)});
  expect_vec<T>(a ^ b, {6, 5, static_cast<T>(-8)});
  expect_vec<T>(~a, {static_cast<T>(-13), static_cast<T>(-1), 0});
}

// The expected value comes from shifting by one position at a time.
TYPED_TEST(Bits, ShiftsPastTheWidthLeaveNothing) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  const int width = static_cast<int>(sizeof(T) * 8);
  const std::vector<T> values{1, static_cast<T>(-100), std::numeric_limits<T>::min(),
                              std::numeric_limits<T>::max()};
  std::vector<T> x, amount, left, logical, arithmetic;
  for (T value : values) {
    for (int by : {0, 1, 3, width - 1, width, width + 1, 127, -1}) {
      x.push_back(value);
      amount.push_back(static_cast<T>(by));
      const int places = by < 0 || by > width ? width : by;
      U l = static_cast<U>(value), r = l, a = l;
      const U top = static_cast<U>(U(1) << (width - 1));
      for (int i = 0; i < places; i++) {
        l = static_cast<U>(l + l);
        r = static_cast<U>(r / 2);
        a = static_cast<U>(a / 2 + (a & top));
      }
      left.push_back(static_cast<T>(l));
      logical.push_back(static_cast<T>(r));
      arithmetic.push_back(static_cast<T>(a));
    }
  }
  expect_vec(shift_left(vec(x), vec(amount)), left);
  expect_vec(vec(x) << vec(amount), left);
  expect_vec(shift_right_logical(vec(x), vec(amount)), logical);
  expect_vec(shift_right_arithmetic(vec(x), vec(amount)), arithmetic);
  expect_vec(vec(x) >> vec(amount), std::is_signed_v<T> ? arithmetic : logical);
}

TYPED_TEST(Bits, AreCounted) {
  using T = TypeParam;
  const T width = sizeof(T) * 8;
  const Tensor x = vec<T>({0, 1, 7, static_cast<T>(-1), std::numeric_limits<T>::max()});
  const T sign_bit = std::is_signed_v<T> ? 1 : 0;
  expect_vec<T>(popcount(x), {0, 1, 3, width, static_cast<T>(width - sign_bit)});
  expect_vec<T>(count_leading_zeros(x),
                {width, static_cast<T>(width - 1), static_cast<T>(width - 3), 0, sign_bit});
}

// Values of XLA's CPU backend (jaxlib 0.10.2).
TEST(Shifts, AreThoseOfXla) {
  const Tensor s = vec<std::int8_t>({-100, -100, -100, -100, 1}),
               by = vec<std::int8_t>({1, 7, 8, -1, 7});
  expect_vec<std::int8_t>(s << by, {56, 0, 0, 0, -128});
  expect_vec<std::int8_t>(shift_right_logical(s, by), {78, 1, 0, 0, 0});
  expect_vec<std::int8_t>(s >> by, {-50, -1, -1, -1, 0});
  const Tensor u = vec<std::uint8_t>({200, 200, 200}), far = vec<std::uint8_t>({1, 7, 255});
  expect_vec<std::uint8_t>(shift_right_arithmetic(u, far), {228, 255, 255});
  expect_vec<std::uint8_t>(u >> far, {100, 1, 0});
}

TEST(Preds, CombineLogically) {
  const Tensor a = vec<bool>({false, false, true, true}), b = vec<bool>({false, true, false, true});
  expect_vec<bool>(a & b, {false, false, false, true});
  expect_vec<bool>(a | b, {false, true, true, true});
  expect_vec<bool>(a ^ b, {false, true, true, false});
  expect_vec<bool>(!a, {true, true, false, false});
  expect_vec<bool>(~a, {true, true, false, false});
  expect_vec<bool>(a & true, {false, false, true, true});
  expect_vec<bool>(false | a, {false, false, true, true});
}

TEST(Logical, TakesTheTruthOfAnyDtype) {
  const Tensor x = vec<float>({0.0f, -0.0f, kNan, 0.5f});
  expect_vec<bool>(logical_not(x), {true, true, false, false});
  expect_vec<bool>(logical_and(x, vec<int>({1, 1, 1, 0})), {false, false, true, false});
  expect_vec<bool>(logical_or(x, vec<bool>({false, true, false, false})),
                   {false, true, true, true});
  expect_vec<bool>(logical_xor(x, vec<std::uint8_t>({1, 0, 255, 0})), {true, false, false, true});
  expect_vec<bool>(logical_and(x, true), {false, false, true, true});
  expect_vec<bool>(logical_or(x, 0), {false, false, true, true});
  expect_vec<bool>(logical_not(vec<std::complex<float>>({{0, 0}, {0, 1}})), {true, false});
  EXPECT_EQ(logical_and(Literal::zeros(f32({2, 1})), Literal::zeros(s32({3}))).type(),
            pred({2, 3}));
}

TEST(BitErrors, NameTheRemedy) {
  const Tensor x = vec<float>({1, 2}), p = vec<bool>({true});
  expect_error([&] { x& x; },
               {"and: takes pred and integers; the operand is f32[2]", "rondo::bitcast_convert"});
  expect_error([&] { x | 1; }, {"or: takes pred and integers; the operand is f32[2]"});
  expect_error([&] { x ^ x; }, {"xor: takes pred and integers; the operand is f32[2]"});
  expect_error([&] { ~x; }, {"not: takes pred and integers; the operand is f32[2]"});
  expect_error([&] { x << x; }, {"shift_left: takes integers; the operand is f32[2]"});
  expect_error([&] { x >> 1; }, {"shift_right_arithmetic: takes integers; the operand is f32[2]"});
  expect_error([&] { shift_right_logical(x, 1); },
               {"shift_right_logical: takes integers; the operand is f32[2]"});
  expect_error([&] { p << p; },
               {"shift_left: takes integers; the operand is pred[1]", "DType::kS32"});
  expect_error([&] { popcount(x); }, {"popcount: takes integers; the operand is f32[2]"});
  expect_error([&] { count_leading_zeros(p); },
               {"count_leading_zeros: takes integers; the operand is pred[1]"});
  expect_error([&] { !vec<int>({1}); }, {"!: takes pred; the operand is s32[1]", "x == 0", "~x"});
  expect_error([&] { logical_not(Tensor()); }, {"logical_not: an operand is an empty Tensor"});
}

}  // namespace
}  // namespace rondo
