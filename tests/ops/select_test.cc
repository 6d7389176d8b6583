// where.
#include <cstdint>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

template <class T>
class Where : public ::testing::Test {};
using Elements =
    ::testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Where, Elements);

TYPED_TEST(Where, ChoosesElementByElement) {
  using T = TypeParam;
  const Tensor p = vec<bool>({true, false, false, true});
  expect_vec<T>(where(p, vec<T>({1, 0, 1, 1}), vec<T>({0, 1, 0, 0})), {1, 1, 0, 1});
  expect_vec<T>(where(p, vec<T>({1, 1, 1, 1}), 0), {1, 0, 0, 1});
  expect_vec<T>(where(p, 0, vec<T>({1, 1, 1, 1})), {0, 1, 1, 0});
}

TEST(WhereOf, HalvesAndComplexNumbers) {
  const Tensor p = vec<bool>({true, false});
  expect_vec<float>(convert(where(p, vec_of<float16, float>({1.5f, 2}), 0.25), DType::kF32),
                    {1.5f, 0.25f});
  expect_vec<float>(convert(where(p, 3, vec_of<bfloat16, float>({1.5f, 2})), DType::kF32), {3, 2});
  expect_complex<float>(where(p, vec<std::complex<float>>({{1, 2}, {3, 4}}), 0), {{1, 2}, {0, 0}});
  expect_complex<double>(where(p, 0, vec<std::complex<double>>({{1, 2}, {3, 4}})),
                         {{0, 0}, {3, 4}});
}

TEST(WhereOf, BroadcastsAllThree) {
  const Tensor column = Literal::from<bool>({true, false}, {2, 1}),
               row = Literal::from<int>({1, 2, 3}, {3});
  expect_values<int>(where(column, row, -1), {2, 3}, {1, 2, 3, -1, -1, -1});
  expect_values<int>(where(column, 1, 0), {2, 1}, {1, 0});
  expect_values<int>(where(true, row, Literal::zeros(s32({2, 1}))), {2, 3}, {1, 2, 3, 1, 2, 3});
  expect_vec<int>(where(Tensor(false), row, 7), {7, 7, 7});
  expect_scalar(where(Tensor(true), 1, 2), 1);
  expect_scalar(where(Tensor(false), 1.5, 2), 2.0);
  EXPECT_EQ(where(column, Literal::zeros(f32({0})), 1).type(), f32({2, 0}));
}

TEST(WhereOf, IsNotArithmetic) {
  // NaN and infinity on the side that is not selected do not matter.
  expect_vec<float>(where(vec<bool>({true, false}), vec<float>({1, kNan}), vec<float>({kInf, 2})),
                    {1, 2});
}

TEST(WhereOf, Errors) {
  const Tensor x = vec<float>({1, 2}), p = vec<bool>({true, false});
  expect_error([&] { where(x, x, x); },
               {"where: the predicate is f32[2]; it must be pred", "x != 0"});
  expect_error([&] { where(1, x, x); }, {"where: the predicate is s32[]; it must be pred"});
  expect_error(
      [&] {
        where(p, x, vec<int>({1, 2}));
      },
      {"where: the operands are f32[2] and s32[2]", "rondo::convert"});
  expect_error(
      [&] {
        where(p, x, vec<float>({1, 2, 3}));
      },
      {"where: the shapes of", "f32[3]", "do not broadcast"});
  expect_error(
      [&] {
        where(p, vec<int>({1, 2}), 1.5);
      },
      {"inexact scalar: 1.5 beside a tensor of s32"});
  expect_error([&] { where(Tensor(), x, x); }, {"where: an operand is an empty Tensor"});
  expect_error([&] { where(p, Tensor(), x); }, {"where: an operand is an empty Tensor"});
}

}  // namespace
}  // namespace rondo
