// An fmt header stands before, as in a program that uses both.
#include "rondo/fmt.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

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

static_assert(fmt::is_formattable<Tensor>::value);
static_assert(fmt::is_formattable<Function>::value);

}  // namespace
}  // namespace rondo
