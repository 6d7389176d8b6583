// Views of several dimensions where tensors are expected: std::mdspan, its reference implementation
// (Kokkos::mdspan), and any class with the same members. The elements are copied, whatever their
// layout: in row-major order by layout_right, reordered otherwise. <rondo/rondo.h> does not include
// this header.
//
//     std::mdspan<const float, std::dextents<int, 2>, std::layout_left> columns(data, 3, 2);
//     rondo::Tensor y = rondo::jit(f)(columns);          // f32[3,2]
//     rondo::Tensor x = rondo::constant(columns);
//
// A literal's elements are a layout_right view: std::mdspan(y.data<float>().data(), 3, 2).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "rondo/array_adaptor.h"
#include "rondo/detail/strided_copy.h"
#include "rondo/dtype.h"
#include "rondo/literal.h"

namespace rondo {

/// A view with the members of std::mdspan whose elements are in memory, each axis with a stride.
template <class T>
concept StridedView = requires(const T& view) {
  typename T::element_type;
  { T::rank() } -> std::convertible_to<std::size_t>;
  { view.extent(std::size_t{0}) } -> std::convertible_to<std::int64_t>;
  { view.stride(std::size_t{0}) } -> std::convertible_to<std::int64_t>;
  { view.data_handle() } -> std::convertible_to<const typename T::element_type*>;
  view.mapping();
}
&&HostScalar<std::remove_cv_t<typename T::element_type>>;

template <StridedView T>
struct ArrayAdaptor<T> {
  using Element = std::remove_cv_t<typename T::element_type>;

  static Literal literal(const T& view) {
    static_assert(!std::is_same_v<Element, long double>,
                  "rondo: a long double array has no element type; use double");
    constexpr auto kWidth = static_cast<std::int64_t>(sizeof(Element));
    std::vector<std::int64_t> dims(T::rank()), from(T::rank()), to(T::rank());
    std::int64_t stride = kWidth;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      dims[axis] = static_cast<std::int64_t>(view.extent(axis));
      from[axis] = static_cast<std::int64_t>(view.stride(axis)) * kWidth;
      to[axis] = stride;
      stride *= dims[axis];
    }
    Literal literal = Literal::uninitialized({dtype_of<Element>, dims});
    detail::copy_strided({literal.mutable_bytes(), to},
                         {reinterpret_cast<const std::byte*>(view.data_handle()), from}, dims,
                         sizeof(Element));
    return literal;
  }
};

}  // namespace rondo
