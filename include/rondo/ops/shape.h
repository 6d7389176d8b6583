// Creating arrays, and ops that change their shape and not their elements.
//
// Axes may be negative: they count from the end. All of these throw TraceError, naming the types,
// for axes out of range and sizes that do not fit.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/number_ranges.h"
#include "rondo/detail/why.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"

namespace rondo {

/// An axis with the line of the call, for functions that take any number of tensors after it.
/// Converts implicitly from a C++ integer.
struct LocatedAxis {
  template <std::integral T>
  requires(!std::same_as<T, bool>)
      LocatedAxis(T number, SourceLocation here = SourceLocation::current())  // NOLINT: implicit
      : axis(static_cast<std::int64_t>(number)), at(here) {}
  std::int64_t axis;
  SourceLocation at;
};

/// The literal as a tensor.
RONDO_API Tensor constant(const Literal& value, SourceLocation at = SourceLocation::current());

/// An array of another library (rondo/array_adaptor.h) as a tensor.
template <AdaptedArray T>
Tensor constant(const T& array, SourceLocation at = SourceLocation::current()) {
  return constant(ArrayAdaptor<T>::literal(array), at);
}

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

/// An array of the given shape with the values in row-major order: `constant({1, 2, 3, 4}, {2,
/// 2})`. Throws TraceError if their number does not match the shape.
template <HostScalar T>
Tensor constant(std::initializer_list<T> values, std::initializer_list<std::int64_t> shape,
                SourceLocation at = SourceLocation::current()) {
  return constant(Literal::from(values, Shape(shape)), at);
}

/// An array of rank 2, by rows: `constant({{1, 2}, {3, 4}})` is s32[2,2]. Throws TraceError if the
/// rows differ in length.
template <HostScalar T>
Tensor constant(std::initializer_list<std::initializer_list<T>> rows,
                SourceLocation at = SourceLocation::current()) {
  return constant(detail::literal_of_numbers(rows, std::nullopt, at), at);
}

/// From ranges of numbers: std::vector, std::array, std::span, C arrays, std::valarray and whatever
/// else std::begin supports. One range is an array of rank 1, a range of ranges of rank 2, and so
/// on: a `std::vector<std::array<float, 3>>` of two is f32[2,3]. Throws TraceError, naming the
/// position, if ranges of one level differ in length.
template <detail::NumbersOfRank1OrMore R>
Tensor constant(const R& range, SourceLocation at = SourceLocation::current()) {
  return constant(detail::literal_of_numbers(range, std::nullopt, at), at);
}

/// An array of the given shape with the numbers of a range, nested or not, in row-major order; `{}`
/// is the shape of a scalar. Throws TraceError if their number does not match the shape.
template <detail::NumbersOfRank1OrMore R>
Tensor constant(const R& range, const Shape& shape, SourceLocation at = SourceLocation::current()) {
  return constant(detail::literal_of_numbers(range, shape, at), at);
}
// A list in braces: `{}` alone could also be a source location.
template <detail::NumbersOfRank1OrMore R>
Tensor constant(const R& range, std::initializer_list<std::int64_t> shape,
                SourceLocation at = SourceLocation::current()) {
  return constant(detail::literal_of_numbers(range, Shape(shape), at), at);
}

/// An array of one value: a C++ scalar (exactly representable in the dtype), or a tensor of that
/// dtype whose shape broadcasts to the type's. The program holds a scalar and a broadcast, whatever
/// the size.
RONDO_API Tensor full(const TensorType& type, const Operand& value);
/// Zeros in every dtype: full(type, 0). False for pred.
RONDO_API Tensor zeros(const TensorType& type, SourceLocation at = SourceLocation::current());
/// Ones in every dtype: full(type, 1). True for pred, 1 + 0i for complex numbers.
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
/// 0, 1, ..., n - 1. A tensor in place of the dtype gives its own: `arange(n, x)`.
RONDO_API Tensor arange(std::int64_t n, DType dtype = DType::kS32,
                        SourceLocation at = SourceLocation::current());
template <std::same_as<Tensor> Like>
Tensor arange(std::int64_t n, const Like& like, SourceLocation at = SourceLocation::current()) {
  return arange(n, like.dtype(), at);
}
/// The unit matrix of n rows. A tensor in place of the dtype gives its own: `eye(n, x)`.
RONDO_API Tensor eye(std::int64_t n, DType dtype = DType::kF32,
                     SourceLocation at = SourceLocation::current());
template <std::same_as<Tensor> Like>
Tensor eye(std::int64_t n, const Like& like, SourceLocation at = SourceLocation::current()) {
  return eye(n, like.dtype(), at);
}

/// The same elements in row-major order under other dimensions, of which one may be -1 and is then
/// inferred.
RONDO_API Tensor reshape(const Operand& x, const std::vector<std::int64_t>& dims);
template <std::same_as<Shape> S>
Tensor reshape(const Operand& x, const S& shape) {
  return reshape(x, shape.vector());
}

// clang-format off
template <std::integral... Sizes, detail::Why kWhy = "rondo: write the sizes in braces: rondo::reshape(x, {2, 3})"> requires(sizeof...(Sizes) > 0) Tensor reshape(const Operand&, Sizes...) = delete;
template <std::integral... Sizes, detail::Why kWhy = "rondo: write the sizes in braces: rondo::broadcast_to(x, {2, 3})"> requires(sizeof...(Sizes) > 0) Tensor broadcast_to(const Operand&, Sizes...) = delete;
template <std::integral... Axes, detail::Why kWhy = "rondo: write the axes in braces: rondo::transpose(x, {1, 0})"> requires(sizeof...(Axes) > 0) Tensor transpose(const Operand&, Axes...) = delete;
// clang-format on

/// NumPy's broadcast_to: axes of size 1 repeat, missing leading axes are added.
RONDO_API Tensor broadcast_to(const Operand& x, const std::vector<std::int64_t>& dims);
template <std::same_as<Shape> S>
Tensor broadcast_to(const Operand& x, const S& shape) {
  return broadcast_to(x, shape.vector());
}

/// Axis i of x becomes axis map[i] of the result, which must have its size (an axis of size 1
/// repeats); x repeats along all other axes. Like StableHLO's broadcast_in_dim.
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

/// x with an axis of size 1 inserted, as axis number `axis` of the result.
RONDO_API Tensor expand_dims(const Operand& x, std::int64_t axis);

/// Concatenates the parts along `axis`; they have one dtype, and equal sizes except for that axis.
/// A scalar literal takes the others' dtype.
RONDO_API Tensor concatenate(const std::vector<Tensor>& parts, std::int64_t axis,
                             SourceLocation at = SourceLocation::current());
/// The same for separate parts, callable without `rondo::` like other ops of tensors:
/// `concatenate(0, a, b)`.
template <detail::Part... Parts>
requires(sizeof...(Parts) > 0) Tensor concatenate(LocatedAxis axis, const Parts&... parts) {
  return concatenate({detail::as_tensor(parts, axis.at)...}, axis.axis, axis.at);
}

/// Stacks the parts, of one type, along a new axis, which is number `axis` of the result. A scalar
/// literal takes the others' dtype.
RONDO_API Tensor stack(const std::vector<Tensor>& parts, std::int64_t axis,
                       SourceLocation at = SourceLocation::current());
/// The same for separate parts: `stack(0, a, b)`.
template <detail::Part... Parts>
requires(sizeof...(Parts) > 0) Tensor stack(LocatedAxis axis, const Parts&... parts) {
  return stack({detail::as_tensor(parts, axis.at)...}, axis.axis, axis.at);
}

/// x with low[i] copies of the scalar `value` before, high[i] after and interior[i] between its
/// elements along axis i. Negative low and high remove elements, after the interior padding. Like
/// XLA's Pad.
RONDO_API Tensor pad(const Operand& x, const Operand& value, const std::vector<std::int64_t>& low,
                     const std::vector<std::int64_t>& high,
                     const std::vector<std::int64_t>& interior = {});

/// x with its elements in reverse order along the axes (all if `axes` is empty).
RONDO_API Tensor reverse(const Operand& x, const Axes& axes = {});

}  // namespace rondo
