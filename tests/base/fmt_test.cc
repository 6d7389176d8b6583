// An fmt header is included before, as in a program that uses both.
#include "rondo/fmt.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <vector>

namespace rondo {
namespace {

TEST(Fmt, FormatsTypesAndLiterals) {
  EXPECT_EQ(fmt::format("{}", DType::kBF16), "bf16");
  EXPECT_EQ(fmt::format("{}", Shape{2, 3}), "[2,3]");
  EXPECT_EQ(fmt::format("{}", f32({2})), "f32[2]");
  EXPECT_EQ(fmt::format("{}", Literal::scalar(2.5)), "f64[] 2.5");
}

TEST(Fmt, TakesWidthAndAlignment) {
  EXPECT_EQ(fmt::format("[{:>6}]", DType::kF32), "[   f32]");
  EXPECT_EQ(fmt::format("[{:_<8}]", Shape{1}), "[[1]_____]");
}

TEST(Fmt, TakesTheDigitsOfFloats) {
  const Literal third = Literal::scalar(1.0f / 3);
  EXPECT_EQ(fmt::format("{:.3f}", third), "0.333");
  EXPECT_EQ(fmt::format("{:.2e} {:.10g}", third, Literal::scalar(0.5)), "3.33e-01 0.5");
  const Literal row = Literal::from(std::vector<double>{1, 2.25}, {2});
  EXPECT_EQ(fmt::format("{:.1f}", row), "f64[2] {1.0, 2.2}");
  EXPECT_EQ(fmt::format("{:.3f}", Literal::scalar(7)), "7");
  // Other format specifications are those of text.
  EXPECT_EQ(fmt::format("[{:.3}]", Literal::scalar(2.5)), "[f64]");
  EXPECT_THROW((void)fmt::format(fmt::runtime("{:.3x}"), third), fmt::format_error);
}

static_assert(fmt::is_formattable<Tensor>::value);
static_assert(fmt::is_formattable<Function>::value);

}  // namespace
}  // namespace rondo
