// Formatters for users of fmt: `fmt::print("{}", tensor)`, and with a width, `{:>20}`.
// <rondo/rondo.h> includes this header if an fmt header stands before it.
#pragma once

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <string_view>

#include "rondo/dtype.h"
#include "rondo/function.h"
#include "rondo/literal.h"
#include "rondo/shape.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

namespace rondo::detail {

inline std::string formatted(DType value) { return std::string(dtype_name(value)); }
inline std::string formatted(const Shape& value) { return value.str(); }
inline std::string formatted(const TensorType& value) { return value.str(); }
inline std::string formatted(const Literal& value) { return value.str(); }
inline std::string formatted(const Function& value) { return value.str(); }
/// As `out << value` does: evaluates a lazy tensor.
inline std::string formatted(const Tensor& value) {
  std::ostringstream out;
  out << value;
  return std::move(out).str();
}

template <class T>
struct Formatter : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const T& value, Context& context) const {
    return fmt::formatter<std::string_view>::format(formatted(value), context);
  }
};

}  // namespace rondo::detail

template <>
struct fmt::formatter<rondo::DType> : rondo::detail::Formatter<rondo::DType> {};
template <>
struct fmt::formatter<rondo::Shape> : rondo::detail::Formatter<rondo::Shape> {};
template <>
struct fmt::formatter<rondo::TensorType> : rondo::detail::Formatter<rondo::TensorType> {};
template <>
struct fmt::formatter<rondo::Literal> : rondo::detail::Formatter<rondo::Literal> {};
template <>
struct fmt::formatter<rondo::Tensor> : rondo::detail::Formatter<rondo::Tensor> {};
template <>
struct fmt::formatter<rondo::Function> : rondo::detail::Formatter<rondo::Function> {};
