// The code that errors of operators advise to write: each is what its op requires, and works.
#include <complex>

#include "errors/message.h"

namespace rondo {
namespace {

const Tensor kI = constant({1, 2, 3});
const Tensor kV = constant({1.0f, 2.0f, 3.0f});

TEST(Remedies, OfAFloatBesideAnInteger) {
  EXPECT_REFUSED(kI * 0.1f, "multiply: inexact scalar: 0.1 beside a tensor of s32",
                 "Write rondo::convert(x, rondo::DType::kF32) * 0.1f,");
  EXPECT_REFUSED(0.25 - kI, "subtract: ", "Write 0.25 - rondo::convert(x, rondo::DType::kF32),");
  EXPECT_REFUSED(kI + 1.5, "Write rondo::convert(x, rondo::DType::kF32) + 1.5,");
  EXPECT_REFUSED(void(kI < 0.5f), "compare: ", "rondo::convert(x, rondo::DType::kF32) < 0.5f,");
  EXPECT_REFUSED(void(0.5f >= kI), "0.5f >= rondo::convert(x, rondo::DType::kF32),");
  EXPECT_REFUSED(void(kI != 2.5), "rondo::convert(x, rondo::DType::kF32) != 2.5,");
  EXPECT_REFUSED(maximum(kI, 0.5), "rondo::maximum(rondo::convert(x, rondo::DType::kF32), 0.5),");
  EXPECT_REFUSED(pow(2.5f, kI),
                 "pow: ", "rondo::pow(2.5f, rondo::convert(x, rondo::DType::kF32)),");
  EXPECT_REFUSED(mod(kI, 0.5), "mod: ", "rondo::mod(rondo::convert(x, rondo::DType::kF32), 0.5),");
  EXPECT_REFUSED(kI & 1.5, "and: ", "rondo::convert(x, rondo::DType::kF32) & 1.5");
  EXPECT_REFUSED(where(kI > 1, kI, 0.5),
                 "where: ", "Convert the tensor: rondo::convert(x, rondo::DType::kF32),");
  EXPECT_REFUSED(kI * 1e300, "Write rondo::convert(x, rondo::DType::kF64) * 1e+300,");
  EXPECT_REFUSED(kV * 1e300, "Write rondo::convert(x, rondo::DType::kF64) * 1e+300,");
  EXPECT_REFUSED(kV * std::complex<float>(0, 1), "rondo::convert(x, rondo::DType::kC64) * ");
  EXPECT_REFUSED(convert(kI, DType::kU8) + 300, "rondo::convert(x, rondo::DType::kS32) + 300,");
  EXPECT_REFUSED(kI + std::int64_t{5'000'000'000}, "rondo::convert(x, rondo::DType::kS64) + ");
  Tensor i = kI;
  EXPECT_REFUSED(i *= 0.1f, "Write rondo::convert(x, rondo::DType::kF32) * 0.1f,");
  // In a loop, of its index.
  EXPECT_REFUSED((void)fori_loop(
                     0, 3, [](Tensor index, Tensor s) { return s + index * 0.1f; }, 0.0f),
                 "multiply: ", "Write rondo::convert(x, rondo::DType::kF32) * 0.1f,");
  // The advice of the messages is a valid program.
  testing::expect_values((rondo::convert(kI, rondo::DType::kF32) * 0.1f).eval(), {3},
                         std::vector<float>{1 * 0.1f, 2 * 0.1f, 3 * 0.1f});
}

TEST(Remedies, OfTwoDtypes) {
  EXPECT_REFUSED(kI * kV, "Convert the first: rondo::convert(x, rondo::DType::kF32) * y.");
  EXPECT_REFUSED(kV / kI, "Convert the second: x / rondo::convert(y, rondo::DType::kF32).");
  EXPECT_REFUSED(void(kV < kI), "Convert the second: x < rondo::convert(y, rondo::DType::kF32).");
  EXPECT_REFUSED(minimum(kI, kV),
                 "Convert the first: rondo::minimum(rondo::convert(x, rondo::DType::kF32), y).");
  EXPECT_REFUSED(kI >> convert(kI, DType::kS64),
                 "Convert the first: rondo::convert(x, rondo::DType::kS64) >> y.");
  EXPECT_REFUSED(dot(kV, kI),
                 "Convert the second: rondo::dot(x, rondo::convert(y, rondo::DType::kF32)).");
}

TEST(Remedies, NameTheProductOfMatrices) {
  const Tensor a = zeros(f32({2, 3})), b = zeros(f32({3, 4})), v = zeros(f32({2}));
  constexpr char kMatmul[] = "For the product of matrices write rondo::matmul(x, y)";
  EXPECT_REFUSED(a * b, "multiply", "do not broadcast", kMatmul);
  EXPECT_REFUSED(v * a, kMatmul);
  EXPECT_REFUSED(a + b, kMatmul);
  EXPECT_REFUSED(maximum(zeros(f32({5, 2, 3})), b), kMatmul);
  EXPECT_EQ(matmul(a, b).shape(), Shape({2, 4}));
  EXPECT_EQ(matmul(v, a).shape(), Shape({3}));
  EXPECT_EQ(matmul(zeros(f32({5, 2, 3})), b).shape(), Shape({5, 2, 4}));
  // If a product would not fit either, it is not suggested.
  for (const auto& [x, y] :
       {std::pair(b, v), std::pair(zeros(f32({5, 2, 3})), zeros(f32({4, 3, 7}))),
        std::pair(zeros(f32({3})), zeros(f32({4})))}) {
    const std::string message = testing::message_of([&, p = x, q = y] { p* q; });
    EXPECT_NE(message.find("do not broadcast"), std::string::npos) << message;
    EXPECT_EQ(message.find("matmul"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace rondo
