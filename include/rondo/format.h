// Formatters for std::format where the standard library has it: `std::format("{}", tensor)`, and
// with a width, `{:>20}`. Tensors and literals also take the digits of floats, `{:.3f}`, with f, e
// or g. <rondo/rondo.h> includes this header. fmt has the same in rondo/fmt.h.
#pragma once

#include <version>

#if defined(__cpp_lib_format)

#include <format>
#include <string_view>

#include "rondo/detail/formatters.h"
#include "rondo/dtype.h"
#include "rondo/function.h"
#include "rondo/literal.h"
#include "rondo/shape.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

template <>
struct std::formatter<rondo::DType>
    : rondo::detail::FormatterBy<std::formatter<std::string_view>, rondo::DType> {};
template <>
struct std::formatter<rondo::Shape>
    : rondo::detail::FormatterBy<std::formatter<std::string_view>, rondo::Shape> {};
template <>
struct std::formatter<rondo::TensorType>
    : rondo::detail::FormatterBy<std::formatter<std::string_view>, rondo::TensorType> {};
template <>
struct std::formatter<rondo::Literal>
    : rondo::detail::DigitsFormatterBy<std::formatter<std::string_view>, rondo::Literal> {};
template <>
struct std::formatter<rondo::Tensor>
    : rondo::detail::DigitsFormatterBy<std::formatter<std::string_view>, rondo::Tensor> {};
template <>
struct std::formatter<rondo::Function>
    : rondo::detail::FormatterBy<std::formatter<std::string_view>, rondo::Function> {};

#endif
