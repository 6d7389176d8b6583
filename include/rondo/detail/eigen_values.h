// Tensors and trees of them as Eigen's types, for to_eigen.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "rondo/array_adaptor.h"
#include "rondo/detail/call_checks.h"
#include "rondo/detail/eigen.h"
#include "rondo/detail/evaluate.h"
#include "rondo/detail/leaves.h"
#include "rondo/detail/mapped_tree.h"
#include "rondo/detail/tree.h"
#include "rondo/error.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"

namespace rondo::detail {

template <class T>
inline constexpr bool kIsEigenMap = false;
template <class Plain, int kOptions, class Stride>
inline constexpr bool kIsEigenMap<Eigen::Map<Plain, kOptions, Stride>> = true;

/// A view of a literal's elements.
template <class Map>
struct EigenView;
template <class Plain, int kOptions, class Stride>
struct EigenView<Eigen::Map<Plain, kOptions, Stride>> {
  using Map = Eigen::Map<Plain, kOptions, Stride>;
  using Array = std::remove_const_t<Plain>;
  using Scalar = std::conditional_t<std::is_const_v<Plain>, const typename Array::Scalar,
                                    typename Array::Scalar>;
  static constexpr bool kIsDense =
      std::is_same_v<Stride, Eigen::Stride<0, 0>> && kHasRowMajorElements<Array>;
  static constexpr bool kIsStrided =
      std::is_same_v<Stride, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

  static Map of(Scalar* elements, const Shape& shape) {
    const auto rows = static_cast<Eigen::Index>(shape[0]);
    if constexpr (kIsEigenVector<Array>) {
      if constexpr (kIsStrided) {
        return Map(elements, rows, Stride(rows, 1));
      } else {
        return Map(elements, rows);
      }
    } else {
      const auto columns = static_cast<Eigen::Index>(shape[1]);
      if constexpr (kIsStrided) {
        return Map(elements, rows, columns,
                   Array::IsRowMajor ? Stride(columns, 1) : Stride(1, columns));
      } else {
        return Map(elements, rows, columns);
      }
    }
  }

  template <class From>
  static Map make(From& literal, SourceLocation at) {
    static_assert(
        kIsDense || kIsStrided,
        "rondo: the elements of a literal are in row-major order, and without gaps: a Map "
        "of them is one of a vector or of a RowMajor matrix, as Eigen::Map<const "
        "Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>, or has "
        "an Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>");
    static_assert(kOptions == Eigen::Unaligned,
                  "rondo: the elements of a literal may be aligned as their type alone: leave out "
                  "the alignment of the Map");
    check_fits_eigen<Array>(literal, at);
    if constexpr (std::is_const_v<Plain>) {
      return of(reinterpret_cast<Scalar*>(literal.bytes()), literal.shape());
    } else {
      static_assert(!std::is_const_v<From>,
                    "rondo: this literal is const: write Eigen::Map<const ...>");
      using Element = eigen_element_t<typename Array::Scalar>;
      return of(reinterpret_cast<Scalar*>(literal.template mutable_data<Element>().data()),
                literal.shape());
    }
  }
};

inline Literal value_of_leaf(const Tensor& leaf, SourceLocation at) {
  return leaf.value_for("to_eigen", at);
}
inline Literal value_of_leaf(const Literal& leaf, SourceLocation) { return leaf; }

/// Whether a Tensor or Literal becomes a T, or each leaf of a tree of them.
template <class From, class To>
constexpr bool becomes() {
  if constexpr (kTreeKind<From> == TreeKind::kLeaf) {
    return (std::is_same_v<From, Tensor> || std::is_same_v<From, Literal>)&&kTreeKind<To> ==
           TreeKind::kLeaf;
  } else {
    return corresponds<To, From>();
  }
}

/// A tree of values from one of Tensors or Literals.
template <class To, class From>
To values_of(const From& from, SourceLocation at) {
  return mapped_tree<To>(from, [&at]<class Leaf>(const auto& leaf) -> Leaf {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(leaf)>, Leaf>) {
      return leaf;
    } else if constexpr (AdaptedResult<Leaf>) {
      return ArrayAdaptor<Leaf>::from(value_of_leaf(leaf, at), at);
    } else if constexpr (HostScalar<Leaf>) {
      return value_of_leaf(leaf, at).template item<Leaf>();
    } else {
      return Leaf(value_of_leaf(leaf, at));
    }
  });
}

/// Whether a T that is moved from can give its memory to a literal.
template <class T>
constexpr bool owns_literal_elements() {
  if constexpr (EigenPlain<T>) {
    return !kHasFixedSize<T> && T::MaxSizeAtCompileTime == Eigen::Dynamic &&
           kHasRowMajorElements<T>;
  } else {
    return false;
  }
}

}  // namespace rondo::detail
