// How Eigen's types are read and made.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "rondo/detail/fitting_array.h"
#include "rondo/detail/strided_copy.h"
#include "rondo/dtype.h"
#include "rondo/error.h"
#include "rondo/literal.h"
#include "rondo/type.h"

namespace rondo::detail {

template <class Derived>
void accept_eigen_dense(const Eigen::DenseBase<Derived>&);

/// Eigen::Matrix, Array, Map, Ref, Block and the dense expressions of them.
template <class T>
concept EigenDense = requires(const T& array) {
  accept_eigen_dense(array);
};

template <class T>
inline constexpr bool kIsEigenPlain = false;
template <class S, int kRows, int kColumns, int kOptions, int kMostRows, int kMostColumns>
inline constexpr bool
    kIsEigenPlain<Eigen::Matrix<S, kRows, kColumns, kOptions, kMostRows, kMostColumns>> = true;
template <class S, int kRows, int kColumns, int kOptions, int kMostRows, int kMostColumns>
inline constexpr bool
    kIsEigenPlain<Eigen::Array<S, kRows, kColumns, kOptions, kMostRows, kMostColumns>> = true;

/// Eigen::Matrix and Array, which own their elements.
template <class T>
concept EigenPlain = kIsEigenPlain<T>;

// The element of a Literal that has the bits of one of Eigen's.
template <class Scalar>
struct EigenElement {
  using type = Scalar;
};
template <>
struct EigenElement<Eigen::half> {
  using type = float16;
};
template <>
struct EigenElement<Eigen::bfloat16> {
  using type = bfloat16;
};
template <class Scalar>
using eigen_element_t = typename EigenElement<Scalar>::type;

/// Does not compile, with the reason, for a scalar that no dtype has.
template <class Scalar>
constexpr void assert_eigen_scalar() {
  static_assert(HostScalar<eigen_element_t<Scalar>> && !std::is_same_v<Scalar, long double>,
                "rondo: an array of this scalar type has no element type here: use float, double, "
                "std::complex of them, Eigen::half, Eigen::bfloat16, bool or an integer of up to "
                "64 bits (m.cast<double>() converts)");
}

template <class T>
inline constexpr bool kIsEigenVector = bool(T::IsVectorAtCompileTime);
template <class T>
inline constexpr bool kHasRowMajorElements = kIsEigenVector<T> || bool(T::IsRowMajor);
template <class T>
inline constexpr bool kHasFixedSize = T::SizeAtCompileTime != Eigen::Dynamic;

constexpr std::int64_t size_or_any(int size) { return size == Eigen::Dynamic ? -1 : size; }

/// The sizes that a Matrix or Array may have, for a tensor of rank 1 or 2; -1 for any.
template <class T>
constexpr auto eigen_sizes() {
  if constexpr (kIsEigenVector<T>) {
    return std::array<std::int64_t, 1>{size_or_any(T::SizeAtCompileTime)};
  } else {
    return std::array<std::int64_t, 2>{size_or_any(T::RowsAtCompileTime),
                                       size_or_any(T::ColsAtCompileTime)};
  }
}
template <class T>
constexpr auto most_eigen_sizes() {
  if constexpr (kIsEigenVector<T>) {
    return std::array<std::int64_t, 1>{size_or_any(T::MaxSizeAtCompileTime)};
  } else {
    return std::array<std::int64_t, 2>{size_or_any(T::MaxRowsAtCompileTime),
                                       size_or_any(T::MaxColsAtCompileTime)};
  }
}
template <class T>
void check_fits_eigen(const Literal& literal, SourceLocation at) {
  assert_eigen_scalar<typename T::Scalar>();
  constexpr auto sizes = eigen_sizes<T>();
  constexpr auto most = most_eigen_sizes<T>();
  check_fits(literal, {dtype_of<eigen_element_t<typename T::Scalar>>, sizes, most}, "to_eigen", at);
}

template <EigenDense T>
Shape eigen_shape(const T& array) {
  if constexpr (kIsEigenVector<T>) {
    return {static_cast<std::int64_t>(array.size())};
  } else {
    return {static_cast<std::int64_t>(array.rows()), static_cast<std::int64_t>(array.cols())};
  }
}

/// The elements of a Literal as an Eigen object of the sizes of T: in row-major order, which for a
/// column is the only one.
template <class T, class Scalar>
auto row_major_map(Scalar* elements, Eigen::Index rows, Eigen::Index columns) {
  constexpr int kRows = T::RowsAtCompileTime, kColumns = T::ColsAtCompileTime;
  constexpr int kOrder = kColumns == 1 && kRows != 1 ? Eigen::ColMajor : Eigen::RowMajor;
  using Plain = Eigen::Matrix<std::remove_const_t<Scalar>, kRows, kColumns, kOrder>;
  return Eigen::Map<std::conditional_t<std::is_const_v<Scalar>, const Plain, Plain>>(elements, rows,
                                                                                     columns);
}

/// The bytes between elements of adjacent rows and columns; for a vector, of adjacent elements.
template <EigenDense T>
auto eigen_strides(const T& array) {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(typename T::Scalar));
  const std::int64_t inner = array.innerStride() * kWidth;
  if constexpr (kIsEigenVector<T>) {
    return std::array<std::int64_t, 1>{inner};
  } else {
    const std::int64_t outer = array.outerStride() * kWidth;
    return T::IsRowMajor ? std::array<std::int64_t, 2>{outer, inner}
                         : std::array<std::int64_t, 2>{inner, outer};
  }
}
template <class Scalar>
std::array<std::int64_t, 2> row_major_strides(Eigen::Index columns) {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(Scalar));
  return {columns * kWidth, kWidth};
}

/// Writes the elements to `to` in row-major order.
template <EigenDense T>
void read_eigen(const T& array, typename T::Scalar* to) {
  constexpr bool kHasAddress = (T::Flags & Eigen::DirectAccessBit) != 0;
  if constexpr (kHasAddress && !kHasFixedSize<T>) {
    const Shape shape = eigen_shape(array);
    const auto strides = eigen_strides(array);
    const auto packed = row_major_strides<typename T::Scalar>(array.cols());
    copy_strided({reinterpret_cast<std::byte*>(to),
                  std::span<const std::int64_t>(packed).last(strides.size())},
                 {reinterpret_cast<const std::byte*>(array.data()), strides}, shape.dims(),
                 sizeof(typename T::Scalar));
  } else {
    auto map = row_major_map<T>(to, array.rows(), array.cols());
    if constexpr (std::is_base_of_v<Eigen::ArrayBase<T>, T>) {
      map.noalias() = array.matrix();
    } else {
      map.noalias() = array;
    }
  }
}

/// Writes elements in row-major order to an array of their sizes.
template <EigenPlain T>
void write_eigen(const typename T::Scalar* from, T& array) {
  if constexpr (kHasFixedSize<T>) {
    const auto map = row_major_map<T>(from, array.rows(), array.cols());
    if constexpr (std::is_base_of_v<Eigen::ArrayBase<T>, T>) {
      array = map.array();
    } else {
      array = map;
    }
  } else {
    const Shape shape = eigen_shape(array);
    const auto strides = eigen_strides(array);
    const auto packed = row_major_strides<typename T::Scalar>(array.cols());
    copy_strided({reinterpret_cast<std::byte*>(array.data()), strides},
                 {reinterpret_cast<const std::byte*>(from),
                  std::span<const std::int64_t>(packed).last(strides.size())},
                 shape.dims(), sizeof(typename T::Scalar));
  }
}

template <class T>
struct EigenReader {
  using Element = eigen_element_t<typename T::Scalar>;
  static Literal literal(const T& array) {
    assert_eigen_scalar<typename T::Scalar>();
    Literal literal = Literal::uninitialized({dtype_of<Element>, eigen_shape(array)});
    read_eigen(array, reinterpret_cast<typename T::Scalar*>(literal.mutable_bytes()));
    return literal;
  }
};

template <class T>
struct EigenMaker {
  static T from(const Literal& literal, SourceLocation at = {}) {
    check_fits_eigen<T>(literal, at);
    T array;
    if constexpr (!kHasFixedSize<T>) {
      const auto rows = static_cast<Eigen::Index>(literal.shape()[0]);
      if constexpr (kIsEigenVector<T>) {
        array.resize(rows);
      } else {
        array.resize(rows, static_cast<Eigen::Index>(literal.shape()[1]));
      }
    }
    write_eigen(reinterpret_cast<const typename T::Scalar*>(literal.bytes()), array);
    return array;
  }
};

// For native, whose arguments and results are where they are.
template <class T>
struct EigenOfFixedSize {
  using Element = eigen_element_t<typename T::Scalar>;
  static constexpr auto kDims = eigen_sizes<T>();
  static constexpr bool kIsRowMajor = kHasRowMajorElements<T>;
  static Element* data(T& array) { return reinterpret_cast<Element*>(array.data()); }
  static void read(const T& array, Element* to) {
    assert_eigen_scalar<typename T::Scalar>();
    read_eigen(array, reinterpret_cast<typename T::Scalar*>(to));
  }
  static void write(const Element* from, T& array) {
    write_eigen(reinterpret_cast<const typename T::Scalar*>(from), array);
  }
};

template <int>
struct NothingOfEigen {};

template <class T>
using eigen_maker_t = std::conditional_t<EigenPlain<T>, EigenMaker<T>, NothingOfEigen<0>>;
template <class T>
constexpr auto fixed_size_of_eigen() {
  if constexpr (EigenPlain<T>) {
    if constexpr (kHasFixedSize<T>) {
      return std::type_identity<EigenOfFixedSize<T>>{};
    } else {
      return std::type_identity<NothingOfEigen<1>>{};
    }
  } else {
    return std::type_identity<NothingOfEigen<1>>{};
  }
}
template <class T>
using eigen_of_fixed_size_t = typename decltype(fixed_size_of_eigen<T>())::type;

}  // namespace rondo::detail
