// The elements of a temporary literal: they keep it alive, and give a span only if they have a name
// themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::ElementsAre;
using Elements = OwnedElements<float>;

// The only handle to a literal of 64 kB, whose memory the next one reuses.
Literal numbers(float first) {
  std::vector<float> values(16384);
  std::iota(values.begin(), values.end(), first);
  return Literal::from(values);
}

TEST(OwnedElements, KeepTheLiteral) {
  const auto elements = numbers(1).data<float>();
  const Literal next = numbers(7);  // would reuse the first one's memory
  static_assert(std::is_same_v<decltype(elements), const Elements>);
  EXPECT_EQ(elements.size(), 16384u);
  EXPECT_EQ(elements.front(), 1);
  EXPECT_EQ(elements[2], 3);
  EXPECT_EQ(elements.back(), 16384);
  EXPECT_EQ(elements.data()[5], 6);
  float expected = 1;
  for (const float value : numbers(1).data<float>()) {
    if (expected == 100) (void)numbers(7);
    ASSERT_EQ(value, expected++);
  }
  EXPECT_EQ(expected, 16385);
}

TEST(OwnedElements, OfATensorThatIsGone) {
  const auto elements = (iota(f32({16384}), 0) + 1).eval().data<float>();
  const Literal next = numbers(7);
  EXPECT_EQ(elements[16383], 16384);
}

TEST(OwnedElements, AreARangeAndASpanUnderAName) {
  static_assert(std::ranges::random_access_range<Elements>);
  static_assert(std::ranges::sized_range<Elements>);
  static_assert(!std::is_constructible_v<std::span<const float>, Elements>);
  static_assert(!std::is_convertible_v<Elements, std::span<const float>>);
  static_assert(std::is_convertible_v<const Elements&, std::span<const float>>);
  const auto elements = numbers(1).data<float>();
  const std::span<const float> span = elements;
  EXPECT_EQ(span.data(), elements.data());
  EXPECT_EQ(span.size(), elements.size());
  EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()).back(), 16384);
  EXPECT_EQ(*std::max_element(elements.begin(), elements.end()), 16384);
  EXPECT_EQ(*(elements.end() - 1), 16384);
  EXPECT_EQ(elements.begin()[3], 4);
  EXPECT_LT(elements.begin() + 1, elements.end());
  std::vector<float> reversed(elements.size());
  std::reverse_copy(elements.begin(), elements.end(), reversed.begin());
  EXPECT_EQ(reversed[0], 16384);
  EXPECT_THAT(Literal::from({1, 2}, {2}).data<int>(), ElementsAre(1, 2));
}

TEST(OwnedElements, OfACopyAreThoseOfItsOwnLiteral) {
  Literal source = numbers(1);
  const std::span<float> writable = source.mutable_data<float>();  // so that copies share nothing
  auto* first = new Elements(std::move(source).data<float>());
  const Elements copy = *first;
  writable[0] = 50;
  EXPECT_EQ(first->front(), 50);
  EXPECT_EQ(copy.front(), 1);
  const Elements moved = std::move(*first);
  delete first;
  const Literal next = numbers(7);
  EXPECT_EQ(copy.back(), 16384);
  EXPECT_EQ(moved.front(), 50);
  EXPECT_EQ(moved.back(), 16384);
}

TEST(OwnedElements, AreOfTheLiteralsDtype) {
  EXPECT_THROW((void)numbers(1).data<double>(), TraceError);
  EXPECT_TRUE(Literal().data<float>().empty());
}

TEST(Literal, WithoutANameGivesItsTypeByValue) {
  static_assert(std::is_same_v<decltype(numbers(1).type()), TensorType>);
  static_assert(std::is_same_v<decltype(numbers(1).shape()), Shape>);
  static_assert(std::is_same_v<decltype((Tensor(1) + 1).shape()), Shape>);
  static_assert(std::is_same_v<decltype(std::declval<Tensor&>().shape()), const Shape&>);
  std::vector<std::int64_t> dims;
  for (const std::int64_t dim : (ones(f32({2, 3})) + 1).shape()) dims.push_back(dim);
  for (const std::int64_t dim : (ones(f32({4, 5})) + 1).eval().shape()) dims.push_back(dim);
  EXPECT_THAT(dims, ElementsAre(2, 3, 4, 5));
}

}  // namespace
}  // namespace rondo
