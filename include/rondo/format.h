// Formatters for std::format where the standard library has it: `std::format("{}", tensor)`, and
// with a width, `{:>20}`. Tensors and literals also take the digits of floats, `{:.3f}`, with f, e
// or g. <rondo/rondo.h> includes this header. fmt has the same in rondo/fmt.h.
#pragma once

#include <version>

#if defined(__cpp_lib_format)

#include <format>

#include "rondo/detail/std_format.h"
#include "rondo/dtype.h"
#include "rondo/function.h"
#include "rondo/literal.h"
#include "rondo/shape.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

template <>
struct std::formatter<rondo::DType> : rondo::detail::StdFormatter<rondo::DType> {};
template <>
struct std::formatter<rondo::Shape> : rondo::detail::StdFormatter<rondo::Shape> {};
template <>
struct std::formatter<rondo::TensorType> : rondo::detail::StdFormatter<rondo::TensorType> {};
template <>
struct std::formatter<rondo::Literal> : rondo::detail::StdDigitsFormatter<rondo::Literal> {};
template <>
struct std::formatter<rondo::Tensor> : rondo::detail::StdDigitsFormatter<rondo::Tensor> {};
template <>
struct std::formatter<rondo::Function> : rondo::detail::StdFormatter<rondo::Function> {};

#endif
