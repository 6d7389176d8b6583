// Formatters for users of fmt: `fmt::print("{}", tensor)`, and with a width, `{:>20}`. Tensors and
// literals also take the digits of floats, like rondo::print: `{:.3f}`, with f, e or g.
// <rondo/rondo.h> includes this header if an fmt header is included before it.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "rondo/detail/formatters.h"
#include "rondo/dtype.h"
#include "rondo/function.h"
#include "rondo/literal.h"
#include "rondo/shape.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

template <>
struct fmt::formatter<rondo::DType>
    : rondo::detail::FormatterBy<fmt::formatter<std::string_view>, rondo::DType> {};
template <>
struct fmt::formatter<rondo::Shape>
    : rondo::detail::FormatterBy<fmt::formatter<std::string_view>, rondo::Shape> {};
template <>
struct fmt::formatter<rondo::TensorType>
    : rondo::detail::FormatterBy<fmt::formatter<std::string_view>, rondo::TensorType> {};
template <>
struct fmt::formatter<rondo::Literal>
    : rondo::detail::DigitsFormatterBy<fmt::formatter<std::string_view>, rondo::Literal> {};
template <>
struct fmt::formatter<rondo::Tensor>
    : rondo::detail::DigitsFormatterBy<fmt::formatter<std::string_view>, rondo::Tensor> {};
template <>
struct fmt::formatter<rondo::Function>
    : rondo::detail::FormatterBy<fmt::formatter<std::string_view>, rondo::Function> {};
