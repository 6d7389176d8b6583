#include "base/array_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace rondo {
namespace {

std::string text(const Literal& literal, const ArrayStyle& style = {}) {
  std::string out;
  append_elements(out, literal, style);
  return out;
}

Literal counting(const Shape& shape) {
  std::vector<int> values(static_cast<std::size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), 0);
  return Literal::from(values, shape);
}

/// The same, recursively over the axes.
std::string expected(std::span<const int> values, std::span<const std::int64_t> dims) {
  if (dims.empty()) return std::to_string(values[0]);
  std::string out = "{";
  const std::size_t step = dims[0] == 0 ? 0 : values.size() / static_cast<std::size_t>(dims[0]);
  for (std::int64_t i = 0; i < dims[0]; ++i) {
    if (i > 0) out += ", ";
    out += expected(values.subspan(static_cast<std::size_t>(i) * step, step), dims.subspan(1));
  }
  return out + '}';
}

TEST(AppendElements, NestsOneBracketAnAxis) {
  EXPECT_EQ(text(counting({})), "0");
  EXPECT_EQ(text(counting({1})), "{0}");
  EXPECT_EQ(text(counting({3})), "{0, 1, 2}");
  EXPECT_EQ(text(counting({1, 1, 1})), "{{{0}}}");
  EXPECT_EQ(text(counting({2, 2, 2})), "{{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}}");
  for (const Shape& shape :
       {Shape{7, 3}, Shape{2, 1, 5}, Shape{3, 4, 2, 2}, Shape{100}, Shape{2, 2, 2, 2, 2, 2, 2}}) {
    const Literal literal = counting(shape);
    EXPECT_EQ(text(literal), expected(literal.data<int>(), shape.dims())) << shape;
  }
}

TEST(AppendElements, ArraysWithoutElements) {
  EXPECT_EQ(text(counting({0})), "{}");
  EXPECT_EQ(text(counting({0, 2})), "{}");
  EXPECT_EQ(text(counting({2, 0})), "{{}, {}}");
  EXPECT_EQ(text(counting({2, 0, 3})), "{{}, {}}");
  EXPECT_EQ(text(counting({1, 3, 0})), "{{{}, {}, {}}}");
}

TEST(AppendElements, StyleChoosesBracketsAndNumbers) {
  EXPECT_EQ(text(Literal::from({1.f, 0.5f}, {1, 2}),
                 {.open = '[', .close = ']', .numbers = NumberStyle::kMlir}),
            "[[1.0, 0.5]]");
}

TEST(AppendElements, EveryDType) {
  EXPECT_EQ(text(Literal::from({true, false}, {2})), "{true, false}");
  EXPECT_EQ(text(Literal::from<std::int8_t>({-128, 127}, {2})), "{-128, 127}");
  EXPECT_EQ(text(Literal::from<std::uint8_t>({65, 255}, {2})), "{65, 255}");
  EXPECT_EQ(text(Literal::from({UINT64_MAX}, {1})), "{18446744073709551615}");
  EXPECT_EQ(text(Literal::from({bfloat16(0.1f)}, {1})), "{0.1}");
  EXPECT_EQ(text(Literal::from({std::complex<double>(-0.0, 1e-7)}, {1})), "{(-0.0, 1e-07)}");
}

TEST(AppendElements, CutsLongArraysInTheMiddle) {
  const ArrayStyle cut{.cut_above = 64};
  EXPECT_EQ(text(counting({64}), cut), text(counting({64})));
  EXPECT_EQ(text(counting({65}), cut), "{0, 1, 2, ..., 62, 63, 64}");
  EXPECT_EQ(text(counting({3, 100}), cut),
            "{{0, 1, 2, ..., 97, 98, 99}, {100, 101, 102, ..., 197, 198, 199}, {200, 201, 202, "
            "..., 297, 298, 299}}");
  EXPECT_EQ(text(counting({50, 2}), cut),
            "{{0, 1}, {2, 3}, {4, 5}, ..., {94, 95}, {96, 97}, {98, 99}}");
  EXPECT_EQ(text(counting({7, 10}), cut),
            "{{0, 1, 2, ..., 7, 8, 9}, {10, 11, 12, ..., 17, 18, 19}, {20, 21, 22, ..., 27, 28, "
            "29}, ..., "
            "{40, 41, 42, ..., 47, 48, 49}, {50, 51, 52, ..., 57, 58, 59}, {60, 61, 62, ..., 67, "
            "68, 69}}");
}

TEST(AppendElements, CutTextStaysShortWhateverTheShape) {
  const ArrayStyle cut{.cut_above = 64};
  for (const Shape& shape :
       {Shape{5, 5, 5, 5, 5, 5, 5}, Shape{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
        Shape{6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0}}) {
    const std::string out = text(Literal::zeros({DType::kU8, shape}), cut);
    EXPECT_LT(out.size(), 10000u) << shape;
    EXPECT_EQ(std::count(out.begin(), out.end(), '{'), std::count(out.begin(), out.end(), '}'))
        << shape;
    EXPECT_NE(out.find("...}"), std::string::npos) << shape;
  }
  EXPECT_EQ(text(Literal::zeros(f32({std::int64_t{1} << 61, 0})), cut),
            "{{}, {}, {}, ..., {}, {}, {}}");
  EXPECT_EQ(text(Literal::zeros(f32({2, INT64_MAX, INT64_MAX, 0})), cut).substr(0, 31),
            "{{{{}, {}, {}, ..., {}, {}, {}}");
}

TEST(AppendElements, ManyAxesCostNoStack) {
  const std::vector<std::int64_t> ones(100000, 1);
  const std::string out = text(Literal::zeros({DType::kS32, ones}));
  EXPECT_EQ(out, std::string(ones.size(), '{') + '0' + std::string(ones.size(), '}'));
}

}  // namespace
}  // namespace rondo
