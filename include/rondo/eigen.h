// Eigen's matrices, vectors, arrays and tensors as tensors, and back. Needs Eigen 3.3 or newer; no
// other header of Rondo includes Eigen.
//
//     Eigen::VectorXf y = rondo::jit(f)(x);           // x an Eigen::VectorXf; f takes a Tensor
//     auto step = rondo::native<Eigen::Vector4f(Eigen::Matrix4f, Eigen::Vector4f)>(f);
//
// A vector type, of one row or column, is a tensor of rank 1, any other Eigen::Matrix or Array one
// of rank 2, an Eigen::Tensor one of its rank. Element [i, j] of the tensor is (i, j) of the
// matrix: literals are row-major, so the elements of a column-major matrix are reordered when they
// are copied.
//
// With this header, Eigen::Matrix, Array, Map, Ref, their dense expressions, and Eigen::Tensor
// convert to Tensor and are leaves of trees: arguments of jitted and transformed functions,
// carries, fields of structs of arguments. Tensors convert to Eigen::Matrix, Array and Tensor.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <type_traits>
#include <utility>

#include "rondo/array_adaptor.h"
#include "rondo/detail/eigen.h"
#include "rondo/detail/eigen_tensor.h"
#include "rondo/detail/eigen_values.h"
#include "rondo/detail/evaluate.h"
#include "rondo/detail/leaves.h"
#include "rondo/detail/why.h"
#include "rondo/error.h"
#include "rondo/literal.h"
#include "rondo/native.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

template <detail::EigenDense T>
struct ArrayAdaptor<T>
    : detail::EigenReader<T>, detail::eigen_maker_t<T>, detail::eigen_of_fixed_size_t<T> {
  using Element = typename detail::EigenReader<T>::Element;
};

/// The elements of an Eigen object, copied into row-major order. An expression is computed. A
/// dynamic vector or row-major matrix that is moved in is kept by the literal, without a copy:
/// `from_eigen(std::move(m))`.
template <class T>
requires AdaptedArray<std::remove_cvref_t<T>> Literal from_eigen(T&& array) {
  using Array = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<T, Array> && detail::owns_literal_elements<Array>()) {
    if (array.size() > 0) {
      detail::assert_eigen_scalar<typename Array::Scalar>();
      const auto held = std::make_shared<const Array>(std::forward<T>(array));
      return Literal::sharing(
          std::shared_ptr<const void>(held, held->data()),
          {dtype_of<typename ArrayAdaptor<Array>::Element>, detail::eigen_shape(*held)});
    }
  }
  return ArrayAdaptor<Array>::literal(array);
}
// clang-format off
template <class T, detail::Why kWhy = "rondo: from_eigen takes Eigen::Matrix, Array, Map, Ref and Tensor, and expressions of matrices and arrays: of a sparse or diagonal matrix write Eigen::MatrixXf(m), of a Transform t.matrix(), of a Quaternion q.coeffs(), of an expression of Eigen::Tensor its value"> requires(!AdaptedArray<std::remove_cvref_t<T>>) Literal from_eigen(T&&) = delete;
// clang-format on

/// A tensor or literal as an Eigen type:
///
///     auto m = rondo::to_eigen<Eigen::MatrixXf>(x);                    // a copy
///     auto v = rondo::to_eigen<Eigen::Map<const Eigen::VectorXf>>(y);  // a view of a Literal
///     auto s = rondo::to_eigen<Filter>(rondo::jit(step)(state));       // a struct of matrices
///
/// A Map is of a vector or a RowMajor matrix, or has Stride<Dynamic, Dynamic>; it is valid like a
/// span from Literal::data, and writes through it, unless it is of const, change the literal alone.
/// From a tree of tensors or literals it makes a tree with the same fields, with an Eigen type, a
/// number, a Literal or a Tensor in place of each.
///
/// A lazy tensor is evaluated. Throws TraceError, naming both types, if the dtype is not the
/// scalar's or a size is not the type's, and inside a traced function, where there is no value.
template <class To, class From>
[[nodiscard("rondo: to_eigen returns the matrix; use it")]] To to_eigen(
    From&& from, SourceLocation at = SourceLocation::current()) {
  using Source = std::remove_cvref_t<From>;
  if constexpr (detail::kIsEigenMap<To>) {
    static_assert(std::is_same_v<Source, Literal> && std::is_lvalue_reference_v<From>,
                  "rondo: an Eigen::Map looks into a literal that has a name: Literal y = "
                  "x.eval(); then rondo::to_eigen<Eigen::Map<...>>(y)");
    if constexpr (std::is_same_v<Source, Literal> && std::is_lvalue_reference_v<From>)
      return detail::EigenView<To>::make(from, at);
  } else {
    static_assert(
        detail::becomes<Source, To>(),
        "rondo: to_eigen<T> takes a Tensor or a Literal, and T is an Eigen::Matrix, Array, "
        "Tensor or Map; or it takes a tree of them, and T is one with the same fields, "
        "with an Eigen type or a number in place of each");
    if constexpr (detail::becomes<Source, To>()) {
      if constexpr (detail::all_leaves<Source, detail::LeafIs<Tensor>>())
        detail::keep_values(detail::leaf_tensors(from, at), at, "to_eigen");
      return detail::values_of<To>(from, at);
    }
  }
}

}  // namespace rondo
