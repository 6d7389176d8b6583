// Making arrays, and ops that change their shape and not their elements.
//
// Axes may be negative: they count from the end. All of these throw TraceError, naming the types,
// for axes out of range and sizes that do not fit.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "rondo/literal.h"
#include "rondo/tensor.h"

namespace rondo {

/// An axis with the line of the call, for functions that take any number of tensors after it. Made
/// implicitly of a C++ integer.
struct LocatedAxis {
  template <std::integral T>
  requires(!std::same_as<T, bool>)
      LocatedAxis(T number, SourceLocation here = SourceLocation::current())  // NOLINT: implicit
      : axis(static_cast<std::int64_t>(number)), at(here) {}
  std::int64_t axis;
  SourceLocation at;
};

namespace detail {
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
}  // namespace detail

/// The literal as a tensor.
RONDO_API Tensor constant(const Literal& value, SourceLocation at = SourceLocation::current());

/// A scalar of the C++ type's dtype.
template <HostScalar T>
Tensor constant(const T& value, SourceLocation at = SourceLocation::current()) {
  return constant(Literal::scalar(value), at);
}

// clang-format off
template <detail::Why kWhy = "rondo: constant takes C++ numbers of one type; for tensors write rondo::stack({a, b}, 0), or rondo::matrix({{a, b}, {c, d}}) for scalars"> Tensor constant(std::initializer_list<Tensor>, SourceLocation = {}) = delete;
// clang-format on

/// An array of rank 1: `constant({1.0f, 2.0f})` is f32[2].
template <HostScalar T>
Tensor constant(std::initializer_list<T> values, SourceLocation at = SourceLocation::current()) {
  return constant(Literal::from(values, {static_cast<std::int64_t>(values.size())}), at);
}

namespace detail {
/// The length of the rows. Throws TraceError if `row`, of `columns` elements, is not as long as the
/// first.
RONDO_API void check_row(std::size_t row, std::size_t columns, std::size_t first,
                         SourceLocation at);
}  // namespace detail

/// An array of rank 2, by rows: `constant({{1, 2}, {3, 4}})` is s32[2,2]. Throws TraceError if the
/// rows differ in length.
template <HostScalar T>
Tensor constant(std::initializer_list<std::initializer_list<T>> rows,
                SourceLocation at = SourceLocation::current()) {
  const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  std::vector<T> values;
  std::size_t row = 0;
  for (const auto& one : rows) {
    detail::check_row(row++, one.size(), columns, at);
    values.insert(values.end(), one.begin(), one.end());
  }
  return constant(Literal::from(values, {static_cast<std::int64_t>(rows.size()),
                                         static_cast<std::int64_t>(columns)}),
                  at);
}

/// An array of the given shape with the values in row-major order. Throws TraceError if their
/// number is not the shape's.
template <HostScalar T>
Tensor constant(const std::vector<T>& values, const Shape& shape,
                SourceLocation at = SourceLocation::current()) {
  return constant(Literal::from(values, shape), at);
}
namespace detail {

template <class T>
struct NestedNumbers {
  using Number = T;
  static void append(std::vector<T>& values, std::vector<std::int64_t>&, std::size_t, std::size_t,
                     const T& value, SourceLocation) {
    values.push_back(value);
  }
};
template <class T>
struct NestedNumbers<std::vector<T>> {
  using Number = typename NestedNumbers<T>::Number;
  /// `dims` are the sizes found so far, those of this depth and below are compared; `row` is the
  /// place of `rows` in what is around it.
  static void append(std::vector<Number>& values, std::vector<std::int64_t>& dims,
                     std::size_t depth, std::size_t row, const std::vector<T>& rows,
                     SourceLocation at) {
    if (depth == dims.size()) dims.push_back(static_cast<std::int64_t>(rows.size()));
    check_row(row, rows.size(), static_cast<std::size_t>(dims[depth]), at);
    for (std::size_t i = 0; i < rows.size(); i++)
      NestedNumbers<T>::append(values, dims, depth + 1, i, rows[i], at);
    if (rows.empty()) pad_empty(dims, depth + 1);
  }
  static void pad_empty(std::vector<std::int64_t>& dims, std::size_t depth) {
    if constexpr (!HostScalar<T>) {
      if (depth == dims.size()) dims.push_back(0);
      NestedNumbers<T>::pad_empty(dims, depth + 1);
    }
  }
};

}  // namespace detail

/// A vector as an array of rank 1, a vector of vectors of rank 2, and so on: `constant(rows)` of a
/// std::vector<std::vector<float>>. Throws TraceError if rows differ in length.
template <class T>
requires(HostScalar<typename detail::NestedNumbers<std::vector<T>>::Number>) Tensor
    constant(const std::vector<T>& values, SourceLocation at = SourceLocation::current()) {
  if constexpr (HostScalar<T>) {
    return constant(Literal::from(values), at);
  } else {
    using Numbers = detail::NestedNumbers<std::vector<T>>;
    std::vector<typename Numbers::Number> numbers;
    std::vector<std::int64_t> dims;
    Numbers::append(numbers, dims, 0, 0, values, at);
    return constant(Literal::from(numbers, Shape(dims)), at);
  }
}
/// A C array, as an array of rank 1.
template <HostScalar T, std::size_t kSize>
requires(kSize > 0) Tensor
    constant(const T (&values)[kSize], SourceLocation at = SourceLocation::current()) {
  return constant(Literal::from(std::span<const T>(values), {static_cast<std::int64_t>(kSize)}),
                  at);
}

/// An array of one value: a C++ scalar (exactly representable in the dtype), or a tensor of that
/// dtype whose shape broadcasts to the type's. The program holds a scalar and a broadcast, whatever
/// the size.
RONDO_API Tensor full(const TensorType& type, const Operand& value);
RONDO_API Tensor zeros(const TensorType& type, SourceLocation at = SourceLocation::current());
RONDO_API Tensor ones(const TensorType& type, SourceLocation at = SourceLocation::current());
// clang-format off
template <detail::Why kWhy = "rondo: give the dtype with the sizes: rondo::full(rondo::f32({2, 3}), value)"> Tensor full(std::initializer_list<std::int64_t>, const Operand&) = delete;
template <detail::Why kWhy = "rondo: give the dtype with the sizes: rondo::zeros(rondo::f32({2, 3}))"> Tensor zeros(std::initializer_list<std::int64_t>, SourceLocation = {}) = delete;
template <detail::Why kWhy = "rondo: give the dtype with the sizes: rondo::ones(rondo::f32({2, 3}))"> Tensor ones(std::initializer_list<std::int64_t>, SourceLocation = {}) = delete;
template <detail::Why kWhy = "rondo: give the dtype with the sizes: rondo::zeros(rondo::f32({2, 3}))", std::integral... Sizes> Tensor zeros(Sizes...) = delete;
template <detail::Why kWhy = "rondo: give the dtype with the sizes: rondo::ones(rondo::f32({2, 3}))", std::integral... Sizes> Tensor ones(Sizes...) = delete;
// clang-format on

/// Each element is its index along `axis`, converted to the dtype: integers wrap, floats round.
/// Throws TraceError for pred and for a scalar type, which has no axis.
RONDO_API Tensor iota(const TensorType& type, std::int64_t axis,
                      SourceLocation at = SourceLocation::current());
/// 0, 1, ..., n - 1. Instead of a dtype a tensor says that its own is meant: `arange(n, x)`.
RONDO_API Tensor arange(std::int64_t n, DType dtype = DType::kS32,
                        SourceLocation at = SourceLocation::current());
template <std::same_as<Tensor> Like>
Tensor arange(std::int64_t n, const Like& like, SourceLocation at = SourceLocation::current()) {
  return arange(n, like.dtype(), at);
}
/// The unit matrix of n rows. Instead of a dtype a tensor says that its own is meant: `eye(n, x)`.
RONDO_API Tensor eye(std::int64_t n, DType dtype = DType::kF32,
                     SourceLocation at = SourceLocation::current());
template <std::same_as<Tensor> Like>
Tensor eye(std::int64_t n, const Like& like, SourceLocation at = SourceLocation::current()) {
  return eye(n, like.dtype(), at);
}

/// The same elements in row-major order under other dimensions, of which one may be -1: it is
/// inferred.
RONDO_API Tensor reshape(const Operand& x, const std::vector<std::int64_t>& dims);
template <std::same_as<Shape> S>
Tensor reshape(const Operand& x, const S& shape) {
  return reshape(x, shape.vector());
}

/// NumPy's broadcast_to: axes of size 1 repeat, missing leading axes are added.
RONDO_API Tensor broadcast_to(const Operand& x, const std::vector<std::int64_t>& dims);
template <std::same_as<Shape> S>
Tensor broadcast_to(const Operand& x, const S& shape) {
  return broadcast_to(x, shape.vector());
}

/// Axis i of x becomes axis map[i] of the result, which must have its size (an axis of size 1
/// repeats); x repeats along all other axes. As StableHLO's broadcast_in_dim.
RONDO_API Tensor broadcast_in_dim(const Operand& x, const std::vector<std::int64_t>& dims,
                                  const std::vector<std::int64_t>& map);
template <std::same_as<Shape> S>
Tensor broadcast_in_dim(const Operand& x, const S& shape, const std::vector<std::int64_t>& map) {
  return broadcast_in_dim(x, shape.vector(), map);
}

/// Axis i of the result is axis perm[i] of x; the axes in reverse order if `perm` is empty.
RONDO_API Tensor transpose(const Operand& x, const std::vector<std::int64_t>& perm = {});

/// x without the given axes, all of size 1; without all of its axes of size 1 if `axes` is empty.
RONDO_API Tensor squeeze(const Operand& x, const Axes& axes = {});

/// x with an axis of size 1 inserted, which is number `axis` of the result.
RONDO_API Tensor expand_dims(const Operand& x, std::int64_t axis);

/// The parts one after the other along `axis`; they have one dtype, and sizes that are equal but
/// for that axis. A scalar literal takes the others' dtype.
RONDO_API Tensor concatenate(const std::vector<Tensor>& parts, std::int64_t axis,
                             SourceLocation at = SourceLocation::current());
/// The same of parts that are named one by one, without `rondo::`, as other ops of tensors:
/// `concatenate(0, a, b)`.
template <detail::Part... Parts>
requires(sizeof...(Parts) > 0) Tensor concatenate(LocatedAxis axis, const Parts&... parts) {
  return concatenate({detail::as_tensor(parts, axis.at)...}, axis.axis, axis.at);
}

/// The parts, of one type, along a new axis, which is number `axis` of the result. A scalar literal
/// takes the others' dtype.
RONDO_API Tensor stack(const std::vector<Tensor>& parts, std::int64_t axis,
                       SourceLocation at = SourceLocation::current());
/// The same of parts that are named one by one: `stack(0, a, b)`.
template <detail::Part... Parts>
requires(sizeof...(Parts) > 0) Tensor stack(LocatedAxis axis, const Parts&... parts) {
  return stack({detail::as_tensor(parts, axis.at)...}, axis.axis, axis.at);
}

/// x with low[i] copies of the scalar `value` before, high[i] after and interior[i] between its
/// elements along axis i. Negative low and high cut off elements, after the interior padding. As
/// XLA's Pad.
RONDO_API Tensor pad(const Operand& x, const Operand& value, const std::vector<std::int64_t>& low,
                     const std::vector<std::int64_t>& high,
                     const std::vector<std::int64_t>& interior = {});

/// x with its elements in reverse order along the axes (all if `axes` is empty).
RONDO_API Tensor reverse(const Operand& x, const Axes& axes = {});

}  // namespace rondo
