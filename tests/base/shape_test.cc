#include "rondo/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <thread>
#include <vector>

#include "rondo/error.h"
#include "rondo/type.h"

namespace rondo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kTwoTo62 = std::int64_t{1} << 62;

TEST(Shape, DimensionsAndElements) {
  const Shape scalar;
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_TRUE(scalar.empty());
  EXPECT_EQ(scalar.begin(), scalar.end());
  EXPECT_EQ(scalar.str(), "[]");
  EXPECT_EQ(Shape(std::vector<std::int64_t>{}), scalar);

  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.size(), 3u);
  EXPECT_FALSE(shape.empty());
  EXPECT_EQ(shape.elements(), 24);
  EXPECT_EQ(shape[1], 3);
  EXPECT_THAT(shape.vector(), ElementsAre(2, 3, 4));
  EXPECT_THAT(shape.dims(), ElementsAre(2, 3, 4));
  EXPECT_EQ(shape.str(), "[2,3,4]");
  EXPECT_EQ((Shape{5, 0, 7}).elements(), 0);
}

TEST(Shape, EqualityComparesDimensions) {
  EXPECT_EQ((Shape{2, 3}), (Shape(std::vector<std::int64_t>{2, 3})));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2, 3}), (Shape{2, 3, 1}));
  EXPECT_NE((Shape{1}), Shape());
  EXPECT_NE((Shape{0, 2}), (Shape{0, 3}));
}

TEST(Shape, CopiesShareAndMovesEmpty) {
  Shape a{2, 3};
  Shape b = a;
  EXPECT_EQ(a.begin(), b.begin());
  const Shape c = std::move(a);
  EXPECT_EQ(c, b);
  EXPECT_EQ(a.rank(), 0);  // NOLINT(bugprone-use-after-move): that it is safe is what is tested
  a = c;
  EXPECT_EQ(a, b);
  Shape& alias = b;
  b = alias;
  EXPECT_EQ(b.str(), "[2,3]");
  b = std::move(alias);
  EXPECT_EQ(b.str(), "[2,3]");
}

TEST(Shape, CopiesOnManyThreads) {
  const Shape shape{1, 2, 3};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([shape] {
      for (int i = 0; i < 1000; ++i) {
        Shape copy = shape;
        Shape other;
        other = copy;
        EXPECT_EQ(other.elements(), 6);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Shape, ANegativeDimensionIsNamed) {
  EXPECT_THAT(([] {
                return Shape{2, -3};
              }),
              ThrowsMessage<TraceError>(
                  "shape [2,-3]: dimension 1 is negative\n  Give sizes of 0 or more."));
  EXPECT_THROW((Shape{0, -1}), TraceError);
  EXPECT_THROW((Shape{INT64_MIN}), TraceError);
}

TEST(Shape, UpTo2To62Elements) {
  EXPECT_EQ((Shape{kTwoTo62}).elements(), kTwoTo62);
  EXPECT_EQ((Shape{kTwoTo62 / 2, 2, 1}).elements(), kTwoTo62);
  EXPECT_THAT(([] { return Shape{kTwoTo62 + 1}; }),
              ThrowsMessage<TraceError>(HasSubstr("has more than 2^62 elements")));
  EXPECT_THROW((Shape{kTwoTo62, 2}), TraceError);
  // Products that are small again modulo 2^64.
  EXPECT_THROW((Shape{kTwoTo62, 4}), TraceError);
  EXPECT_THROW((Shape{std::int64_t{1} << 32, std::int64_t{1} << 32}), TraceError);
  EXPECT_THROW((Shape{INT64_MAX, INT64_MAX, INT64_MAX}), TraceError);
}

TEST(Shape, AZeroMakesUpForAnyOtherDimension) {
  EXPECT_EQ((Shape{kTwoTo62, 8, 0}).elements(), 0);
  EXPECT_EQ((Shape{0, INT64_MAX, INT64_MAX}).elements(), 0);
  EXPECT_EQ((Shape{INT64_MAX, 0, INT64_MAX}).str(), "[9223372036854775807,0,9223372036854775807]");
}

TEST(TensorType, NotationAndEquality) {
  EXPECT_EQ(f32({2, 3}).str(), "f32[2,3]");
  EXPECT_EQ(pred().str(), "pred[]");
  EXPECT_EQ(bf16({0}).str(), "bf16[0]");
  EXPECT_EQ(c128({1, 1}).str(), "c128[1,1]");
  EXPECT_EQ(TensorType{}.str(), "f32[]");
  EXPECT_EQ(s32({2}), (TensorType{DType::kS32, {2}}));
  EXPECT_NE(s32({2}), u32({2}));
  EXPECT_NE(s32({2}), s32({3}));
  std::ostringstream out;
  out << u8({4}) << ' ' << Shape{1, 2} << ' ' << DType::kF16;
  EXPECT_EQ(out.str(), "u8[4] [1,2] f16");
}

TEST(TensorType, EachFunctionGivesItsDType) {
  const TensorType types[] = {
      pred(),       s8(),       s16(),       s32(),    s64(),      u8(),
      u16(),        u32(),      u64(),       f16(),    bf16(),     f32(),
      f64(),        c64(),      c128(),      s2(),     u2(),       s4(),
      u4(),         f4e2m1fn(), f8e3m4(),    f8e4m3(), f8e4m3fn(), f8e4m3b11fnuz(),
      f8e4m3fnuz(), f8e5m2(),   f8e5m2fnuz()};
  int i = 0;
  for (const TensorType& type : types) EXPECT_EQ(type.dtype, static_cast<DType>(i++)) << type;
  EXPECT_EQ(i, kDTypeCount);
}

TEST(TensorType, BytesSaturate) {
  EXPECT_EQ(f32({2, 3}).bytes(), 24);
  EXPECT_EQ(c128().bytes(), 16);
  EXPECT_EQ(f64({0, 5}).bytes(), 0);
  EXPECT_EQ(u8({kTwoTo62}).bytes(), kTwoTo62);
  EXPECT_EQ(f64({kTwoTo62}).bytes(), INT64_MAX);
  EXPECT_EQ(c128({kTwoTo62}).bytes(), INT64_MAX);
}

}  // namespace
}  // namespace rondo
