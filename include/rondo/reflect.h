// Compile-time reflection of plain aggregates: how many fields, their names, references to them.
//
// It serves the trees of tensors (tree.h) and the attribute structs of the ops, which are printed,
// hashed and compared field by field. No registration is needed. A struct is supported if
//   - it is an aggregate: no constructor, no private member, no virtual function, no base class;
//   - each field can be initialised from {}, which excludes reference members;
//   - it has at most 64 fields, and none is a bit-field.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "rondo/detail/reflect.h"

namespace rondo {

/// The number of fields of an aggregate. Does not compile for unsupported types, with the reason.
template <class T>
constexpr std::size_t field_count() {
  using Struct = std::remove_cvref_t<T>;
  using detail::Reflection;
  static_assert(detail::kReflection<Struct> != Reflection::kNotAnAggregate,
                "rondo: this type is not an aggregate (it has a constructor, a private member or a "
                "virtual function, or is no struct), so its fields cannot be listed: make it a "
                "plain struct, or give it a function tree_fields(T&) that returns std::tie of its "
                "fields.");
  detail::assert_reflectable<Struct>();
  if constexpr (detail::kReflection<Struct> == Reflection::kYes) {
    return detail::count_fields<Struct>();
  } else {
    return 0;
  }
}

/// The name of field `index` of an aggregate; empty if there are not so many.
template <class T>
constexpr std::string_view field_name(std::size_t index) {
  if constexpr (field_count<T>() == 0) {
    return {};
  } else {
    constexpr auto& names = detail::kFieldNames<std::remove_cvref_t<T>>;
    return index < names.size() ? names[index] : std::string_view();
  }
}

template <class T, std::size_t kIndex>
constexpr std::string_view field_name() {
  static_assert(kIndex < field_count<T>(), "rondo: this struct has fewer fields.");
  return field_name<T>(kIndex);
}

/// A tuple of references to the fields of an aggregate, in order; to const if the object is const.
template <class T>
constexpr auto fields_of(T& object) {
  if constexpr (field_count<T>() == 0) {
    return std::tuple<>();
  } else {
    return detail::apply_fields([](auto&... fields) { return std::tie(fields...); }, object);
  }
}

}  // namespace rondo
