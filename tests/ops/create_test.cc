#include <complex>
#include <limits>

#include "support/expect.h"

namespace rondo::testing {
namespace {

TEST(Constant, OfRankOne) {
  expect_values<float>(constant({1.0f, 2.5f}), {2}, {1, 2.5f});
  expect_values<std::int32_t>(constant({1, 2, 3}), {3}, {1, 2, 3});
  expect_values<std::int64_t>(constant({std::int64_t{1} << 40}), {1}, {std::int64_t{1} << 40});
  expect_values<bool>(constant({true, false, true}), {3}, {true, false, true});
  expect_values<std::complex<float>>(constant({std::complex<float>(1, 2)}), {1}, {{1, 2}});
}

TEST(Constant, OfANumber) {
  expect_values<float>(constant(2.5f), {}, {2.5f});
  expect_values<bool>(constant(true), {}, {true});
  // A tensor like any other, whose dtype does not adapt.
  expect_error([] { constant(1) + constant({1.0f}); }, {"add", "s32[]", "f32[1]"});
}

TEST(Constant, OfRankTwo) {
  expect_values<std::int32_t>(constant({{1, 2, 3}, {4, 5, 6}}), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values<double>(constant({{0.5}}), {1, 1}, {0.5});
  expect_values<bool>(constant({{true, false}, {false, true}}), {2, 2}, {true, false, false, true});
}

TEST(Constant, OfVectorsAndLiterals) {
  expect_values<float>(constant(std::vector<float>{1, 2, 3, 4}, {2, 2}), {2, 2}, {1, 2, 3, 4});
  expect_values<float>(constant(std::vector<float>{}, {0, 3}), {0, 3}, {});
  expect_values<bool>(constant(std::vector<bool>{true, false}, {2, 1}), {2, 1}, {true, false});
  expect_values<std::int16_t>(constant(std::vector<std::int16_t>{7, 8}), {2}, {7, 8});
  expect_values<std::uint8_t>(constant(Literal::from<std::uint8_t>({1, 2}, {1, 2})), {1, 2},
                              {1, 2});
}

TEST(Constant, RowsOfDifferentLengthsAndWrongCounts) {
  expect_error(
      [] {
        constant({{1, 2}, {3}});
      },
      {"constant", "row 1 has 1 elements", "row 0 has 2", "create_test.cc"});
  expect_error([] { constant(std::vector<float>{1, 2, 3}, {2, 2}); }, {"3", "[2,2]"});
}

TEST(Full, ScalarsTakeTheDtype) {
  expect_values<std::uint8_t>(full(u8({2, 2}), 7), {2, 2}, {7, 7, 7, 7});
  expect_values<double>(full(f64({3}), 0.1), {3}, {0.1, 0.1, 0.1});
  expect_values<float>(full(f32(), 2), {}, {2});
  expect_values<float>(full(f32({0, 4}), 2), {0, 4}, {});
  expect_values<std::complex<float>>(full(c64({1}), std::complex<float>(1, 2)), {1}, {{1, 2}});
}

TEST(Full, TensorsBroadcast) {
  expect_values<float>(full(f32({2, 2}), constant({1.0f, 2.0f})), {2, 2}, {1, 2, 1, 2});
  expect_values<std::int32_t>(full(s32({3}), Tensor(4)), {3}, {4, 4, 4});
}

TEST(Full, Misuse) {
  expect_error([] { full(u8({2}), 300); }, {"300", "u8", "out of range"});
  expect_error([] { full(s32({2}), 1.5); }, {"1.5", "s32"});
  expect_error(
      [] {
        full(f32({2}), constant({1, 2}));
      },
      {"full", "s32[2]", "f32[2]", "convert", "kF32"});
  expect_error([] { full(f32({3}), constant({1.0f, 2.0f})); }, {"f32[2]", "[3]"});
}

TEST(Full, LargeOnesCostTheProgramAScalar) {
  const std::string text = to_hlo_text(zeros(f32({1000, 1000})) + 1.0f);
  EXPECT_LT(text.size(), 1000u);
  EXPECT_NE(text.find("broadcast("), std::string::npos);
}

TEST(ZerosAndOnes, OfEveryDtype) {
  for (int i = 0; i < kDTypeCount; i++) {
    const TensorType type{static_cast<DType>(i), {2}};
    EXPECT_TRUE(zeros(type).eval().identical(Literal::zeros(type))) << type.str();
    EXPECT_EQ(ones(type).eval().type(), type);
  }
  expect_values<bool>(ones(pred({2})), {2}, {true, true});
  EXPECT_EQ(ones(bf16({2})).eval().data<bfloat16>()[1].bits, 0x3f80);
  expect_values<std::complex<double>>(ones(c128({1})), {1}, {{1, 0}});
}

TEST(Iota, CountsAlongAnAxis) {
  expect_values<std::int32_t>(iota(s32({2, 3}), 0), {2, 3}, {0, 0, 0, 1, 1, 1});
  expect_values<std::int32_t>(iota(s32({2, 3}), 1), {2, 3}, {0, 1, 2, 0, 1, 2});
  expect_values<std::int32_t>(iota(s32({2, 3}), -2), {2, 3}, {0, 0, 0, 1, 1, 1});
  expect_values<float>(iota(f32({2, 2, 2}), 1), {2, 2, 2}, {0, 0, 1, 1, 0, 0, 1, 1});
  expect_values<std::complex<float>>(iota(c64({3}), 0), {3}, {{0, 0}, {1, 0}, {2, 0}});
  expect_values<float>(iota(f32({0, 3}), 1), {0, 3}, {});
  expect_values<float>(iota(f32({3, 0}), 0), {3, 0}, {});
}

TEST(Iota, WrapsAndRoundsAsXlaDoes) {
  const Literal wrapped = iota(u8({258}), 0).eval();
  EXPECT_EQ(wrapped.data<std::uint8_t>()[255], 255);
  EXPECT_EQ(wrapped.data<std::uint8_t>()[257], 1);
  EXPECT_EQ(iota(s8({130}), 0).eval().data<std::int8_t>()[129], -127);
  // bf16 has 8 bits of significand: 257 is between 256 and 258, and the tie rounds to 256.
  EXPECT_EQ(static_cast<float>(iota(bf16({258}), 0).eval().data<bfloat16>()[257]), 256.0f);
  EXPECT_EQ(static_cast<float>(iota(f16({2050}), 0).eval().data<float16>()[2049]), 2048.0f);
}

TEST(Iota, Misuse) {
  expect_error([] { iota(pred({2}), 0); }, {"iota", "pred[2]"});
  expect_error([] { iota(s32(), 0); }, {"iota", "axis 0", "scalar"});
  expect_error([] { iota(s32({2}), 1); },
               {"iota", "axis 1 is out of range", "-1 to 0", "create_test.cc"});
}

TEST(Iota, Text) {
  EXPECT_NE(to_hlo_text(iota(s32({2, 3}), 1) + 1).find("iota(), iota_dimension=1"),
            std::string::npos);
  EXPECT_NE(to_stablehlo_text(iota(s32({2, 3}), 1) + 1).find("iota"), std::string::npos);
}

TEST(Arange, CountsFromZero) {
  expect_values<std::int32_t>(arange(4), {4}, {0, 1, 2, 3});
  expect_values<double>(arange(3, DType::kF64), {3}, {0, 1, 2});
  expect_values<std::int32_t>(arange(0), {0}, {});
  expect_error([] { arange(-1); }, {"arange", "-1"});
  expect_error([] { arange(3, DType::kPred); }, {"pred[3]"});
}

TEST(Eye, UnitMatrix) {
  expect_values<float>(eye(3), {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  expect_values<std::int32_t>(eye(2, DType::kS32), {2, 2}, {1, 0, 0, 1});
  expect_values<bool>(eye(2, DType::kPred), {2, 2}, {true, false, false, true});
  expect_values<float>(eye(0), {0, 0}, {});
  expect_error([] { eye(-2); }, {"eye", "-2"});
}

}  // namespace
}  // namespace rondo::testing
