// C++ numbers as arrays: ranges of numbers, nested or not.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/array_adaptor.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"

namespace rondo::detail {

/// A tensor, a literal or a C++ scalar.
template <class T>
concept Part = std::same_as<T, Tensor> || std::same_as<T, Literal> || ScalarValue<T>;
template <Part T>
Tensor as_tensor(const T& part, SourceLocation at) {
  if constexpr (std::same_as<T, Tensor>)
    return part;
  else
    return Tensor(part, at);
}

// The element type of a range, by std::begin, which supports C arrays too; void if it is no range.
template <class R>
struct RangeElement {
  using type = void;
};
template <class R>
requires requires(const R& range) {
  std::begin(range) != std::end(range);
  *std::begin(range);
}
struct RangeElement<R> {
  using Element = std::remove_cvref_t<decltype(*std::begin(std::declval<const R&>()))>;
  using type = std::conditional_t<std::is_same_v<Element, R>, void, Element>;  // such as a path
};
template <class R>
using range_element_t = typename RangeElement<R>::type;

// Ranges of numbers, nested or not.
template <class R>
struct NumberRange {
  static constexpr std::size_t kRank = 0;
  using Number = R;
};
template <class R>
requires(!ScalarValue<R> && !AdaptedArray<R> &&
         !std::is_void_v<range_element_t<R>>) struct NumberRange<R> {
  using Inner = NumberRange<range_element_t<R>>;
  static constexpr std::size_t kRank = Inner::kRank + 1;
  using Number = typename Inner::Number;
};
template <class R>
concept NumbersOfRank1OrMore = NumberRange<R>::kRank >
0 && HostScalar<typename NumberRange<R>::Number>;

/// The size that the type gives; 0 if it gives none.
template <class R>
inline constexpr std::size_t kFixedSize = 0;
template <class T, std::size_t kSize>
inline constexpr std::size_t kFixedSize<T[kSize]> = kSize;
template <class T, std::size_t kSize>
inline constexpr std::size_t kFixedSize<std::array<T, kSize>> = kSize;
template <class T, std::size_t kSize>
inline constexpr std::size_t kFixedSize<std::span<T, kSize>> =
    kSize == std::dynamic_extent ? 0 : kSize;

/// Throws TraceError: the range at `place`, one index per level, has `size` elements, the first one
/// at this level has `first`.
[[noreturn]] RONDO_API void refuse_ragged(std::span<const std::size_t> place, std::size_t size,
                                          std::size_t first, SourceLocation at);

/// The elements of nested ranges in row-major order, and the sizes of each level.
template <class R>
class NestedNumbers {
 public:
  using Number = typename NumberRange<R>::Number;
  NestedNumbers(const R& range, SourceLocation at) : at_(at) {
    set_fixed<R>(0);
    append(range, 0);
  }
  Literal literal(const std::optional<Shape>& shape) const {
    return Literal::from(values_, shape ? *shape : Shape(std::span<const std::int64_t>(dims_)));
  }

 private:
  static constexpr std::size_t kRank = NumberRange<R>::kRank;
  template <class Range>
  void set_fixed(std::size_t depth) {
    dims_[depth] = static_cast<std::int64_t>(kFixedSize<Range>);
    if constexpr (NumberRange<Range>::kRank > 1) set_fixed<range_element_t<Range>>(depth + 1);
  }
  template <class Range>
  void append(const Range& range, std::size_t depth) {
    std::size_t& size = place_[depth];
    size = 0;
    for (const auto& element : range) {
      if constexpr (NumberRange<Range>::kRank == 1)
        values_.push_back(element);
      else
        append(element, depth + 1);
      size++;
    }
    if (!was_seen_[depth]) {
      was_seen_[depth] = true;
      dims_[depth] = static_cast<std::int64_t>(size);
    }
    const auto first = static_cast<std::size_t>(dims_[depth]);
    if (size != first) refuse_ragged(std::span(place_).first(depth), size, first, at_);
  }

  std::vector<Number> values_;
  std::array<std::int64_t, kRank> dims_{};
  std::array<bool, kRank> was_seen_{};
  std::array<std::size_t, kRank> place_{};  // of the current range, an index per level
  SourceLocation at_;
};

template <class R>
Literal literal_of_numbers(const R& range, const std::optional<Shape>& shape, SourceLocation at) {
  using Number = typename NumberRange<R>::Number;
  // std::vector<bool> has no addressable elements.
  if constexpr (NumberRange<R>::kRank == 1 &&
                requires { std::span<const Number>(std::data(range), std::size(range)); }) {
    const std::span<const Number> values(std::data(range), std::size(range));
    return Literal::from(values, shape ? *shape : Shape{static_cast<std::int64_t>(values.size())});
  } else {
    return NestedNumbers<R>(range, at).literal(shape);
  }
}

}  // namespace rondo::detail
