// Checks of ops that only move elements: each element of the result is one of the operand's, or a
// filler.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "support/expect.h"

namespace rondo::testing {

using Index = std::vector<std::int64_t>;

/// Calls visit(index) for each index of the shape, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit&& visit) {
  Index index(shape.size(), 0);
  for (std::int64_t n = 0; n < shape.elements(); n++) {
    visit(index);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

/// The row-major position of an index.
inline std::int64_t position(const Index& index, const Shape& shape) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < index.size(); i++) at = at * shape[i] + index[i];
  return at;
}

/// 1, 2, 3, ...; it wraps in narrow dtypes, and alternates in pred.
template <class T>
Literal numbered(const Shape& shape) {
  std::vector<T> values;
  for (std::int64_t i = 1; i <= shape.elements(); i++) {
    if constexpr (std::is_same_v<T, bool>) {
      values.push_back(i % 2 == 1);
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
      values.emplace_back(static_cast<double>(i), static_cast<double>(-i));
    } else {
      values.push_back(static_cast<T>(i));
    }
  }
  return Literal::from(values, shape);
}

inline constexpr std::int64_t kFiller = -1;

template <class T>
void expect_moved_as(const std::function<Tensor(const Tensor&)>& op, const Shape& from,
                     const Shape& to, const std::function<std::int64_t(const Index&)>& source,
                     T filler) {
  const Literal x = numbered<T>(from);
  const auto data = x.data<T>();
  std::vector<T> want;
  for_each_index(to, [&](const Index& index) {
    const std::int64_t at = source(index);
    want.push_back(at == kFiller ? filler : data[static_cast<std::size_t>(at)]);
  });
  expect_values(op(Tensor(x)).eval(), to, want);
}

/// `op` on an array of shape `from` has the shape `to`, and element `index` of it is number
/// `source(index)` of the operand or, if that is kFiller, 0. Checked for element types of every
/// width.
inline void expect_moved(const std::function<Tensor(const Tensor&)>& op, const Shape& from,
                         const Shape& to, const std::function<std::int64_t(const Index&)>& source) {
  SCOPED_TRACE(from.str() + " -> " + to.str());
  expect_moved_as<std::int32_t>(op, from, to, source, 0);
  expect_moved_as<std::uint8_t>(op, from, to, source, 0);
  expect_moved_as<bool>(op, from, to, source, false);
  expect_moved_as<std::int16_t>(op, from, to, source, 0);
  expect_moved_as<double>(op, from, to, source, 0);
  expect_moved_as<std::complex<double>>(op, from, to, source, {});
}

/// Random shapes with axes of 0 to 4 elements, mostly small ones.
class Shapes {
 public:
  explicit Shapes(unsigned seed) : engine_(seed) {}
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  Shape shape(std::int64_t rank) {
    std::vector<std::int64_t> dims;
    for (std::int64_t i = 0; i < rank; i++) dims.push_back(number(0, 9) == 0 ? 0 : number(1, 4));
    return dims;
  }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

}  // namespace rondo::testing
