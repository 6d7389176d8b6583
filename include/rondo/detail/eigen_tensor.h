// How Eigen::Tensor is read and made: the classes of <unsupported/Eigen/CXX11/Tensor>, which is not
// included here.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rondo/array_adaptor.h"
#include "rondo/detail/eigen.h"
#include "rondo/detail/fitting_array.h"
#include "rondo/detail/strided_copy.h"
#include "rondo/dtype.h"
#include "rondo/error.h"
#include "rondo/literal.h"

namespace Eigen {
template <class Scalar, int kRank, int kOptions, class Index>
class Tensor;
template <class Scalar, class Sizes, int kOptions, class Index>
class TensorFixedSize;
template <class Plain, int kOptions, template <class> class Pointer>
class TensorMap;
}  // namespace Eigen

namespace rondo::detail {

// Some of the classes number their axes by std::size_t, others by a signed type.
struct EigenAxis {
  std::size_t axis;
  operator std::size_t() const { return axis; }                              // NOLINT
  operator Eigen::Index() const { return static_cast<Eigen::Index>(axis); }  // NOLINT
};

template <class T>
std::vector<std::int64_t> eigen_tensor_dims(const T& tensor) {
  std::vector<std::int64_t> dims(static_cast<std::size_t>(tensor.rank()));
  for (std::size_t axis = 0; axis < dims.size(); axis++)
    dims[axis] = static_cast<std::int64_t>(tensor.dimension(EigenAxis{axis}));
  return dims;
}

/// Strides in bytes, of the given order.
inline std::vector<std::int64_t> packed_strides(const std::vector<std::int64_t>& dims,
                                                bool is_row_major, std::size_t width) {
  std::vector<std::int64_t> strides(dims.size());
  auto stride = static_cast<std::int64_t>(width);
  for (std::size_t i = 0; i < dims.size(); i++) {
    const std::size_t axis = is_row_major ? dims.size() - 1 - i : i;
    strides[axis] = stride;
    stride *= dims[axis];
  }
  return strides;
}

template <class T>
struct EigenTensorReader {
  using Scalar = std::remove_const_t<typename T::Scalar>;
  using Element = eigen_element_t<Scalar>;
  static constexpr bool kIsRowMajor = int{T::Layout} == int{Eigen::RowMajor};

  static Literal literal(const T& tensor) {
    assert_eigen_scalar<Scalar>();
    const auto dims = eigen_tensor_dims(tensor);
    Literal literal = Literal::uninitialized({dtype_of<Element>, dims});
    const auto from = packed_strides(dims, kIsRowMajor, sizeof(Scalar));
    const auto to = packed_strides(dims, true, sizeof(Scalar));
    copy_strided({literal.mutable_bytes(), to},
                 {reinterpret_cast<const std::byte*>(tensor.data()), from}, dims, sizeof(Scalar));
    return literal;
  }
};

/// Copies to a tensor of the literal's sizes.
template <class T>
void write_eigen_tensor(const Literal& literal, T& tensor) {
  using Reader = EigenTensorReader<T>;
  const auto dims = literal.shape().vector();
  constexpr std::size_t kWidth = sizeof(typename Reader::Scalar);
  copy_strided({reinterpret_cast<std::byte*>(tensor.data()),
                packed_strides(dims, Reader::kIsRowMajor, kWidth)},
               {literal.bytes(), packed_strides(dims, true, kWidth)}, dims, kWidth);
}

}  // namespace rondo::detail

namespace rondo {

template <class S, int kRank, int kOptions, class Index>
struct ArrayAdaptor<Eigen::Tensor<S, kRank, kOptions, Index>>
    : detail::EigenTensorReader<Eigen::Tensor<S, kRank, kOptions, Index>> {
  using Array = Eigen::Tensor<S, kRank, kOptions, Index>;
  static Array from(const Literal& literal, SourceLocation at = {}) {
    detail::assert_eigen_scalar<S>();
    const std::vector<std::int64_t> any(kRank, -1);
    detail::check_fits(literal, {dtype_of<detail::eigen_element_t<S>>, any, any}, "to_eigen", at);
    typename Array::Dimensions dims;
    for (std::size_t axis = 0; axis < any.size(); axis++)
      dims[axis] = static_cast<Index>(literal.shape()[axis]);
    Array tensor(dims);
    detail::write_eigen_tensor(literal, tensor);
    return tensor;
  }
};

template <class S, class Sizes, int kOptions, class Index>
struct ArrayAdaptor<Eigen::TensorFixedSize<S, Sizes, kOptions, Index>>
    : detail::EigenTensorReader<Eigen::TensorFixedSize<S, Sizes, kOptions, Index>> {
  using Array = Eigen::TensorFixedSize<S, Sizes, kOptions, Index>;
  static Array from(const Literal& literal, SourceLocation at = {}) {
    detail::assert_eigen_scalar<S>();
    Array tensor;
    const auto dims = detail::eigen_tensor_dims(tensor);
    detail::check_fits(literal, {dtype_of<detail::eigen_element_t<S>>, dims, dims}, "to_eigen", at);
    detail::write_eigen_tensor(literal, tensor);
    return tensor;
  }
};

template <class Plain, int kOptions, template <class> class Pointer>
struct ArrayAdaptor<Eigen::TensorMap<Plain, kOptions, Pointer>>
    : detail::EigenTensorReader<Eigen::TensorMap<Plain, kOptions, Pointer>> {};

}  // namespace rondo
