#include "rondo/tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "base/for_dtype.h"
#include "fmt/format.h"
#include "ir/known_value.h"
#include "ir/lazy.h"
#include "ir/node.h"
#include "ir/region.h"
#include "ir/spelling.h"
#include "rondo/fmt.h"

namespace rondo {

const TensorType& Tensor::type() const& {
  if (empty())
    throw TraceError(
        "this Tensor is empty\n  Give it a value first: a default-constructed Tensor has none, nor "
        "one that was moved from.");
  if (const ir::KnownValue* known = value()) return known->literal().type();
  return node()->types[result_];
}

const ir::Node* Tensor::node_of_value() const { return value()->node(); }

bool Tensor::is_same_constant(const Tensor& other) const noexcept {
  const auto node_if_made = [](const Tensor& tensor) {
    const ir::KnownValue* known = tensor.value();
    return known ? known->node_if_made() : tensor.node();
  };
  const ir::Node* node = node_if_made(*this);
  return node && node == node_if_made(other);
}

Tensor::Tensor(const Literal& value, SourceLocation at) : Tensor(ir::make_constant(value, at)) {}

Tensor Tensor::from_scalar(const Scalar& value, SourceLocation at) {
  Tensor tensor = ir::make_constant(ir::scalar_literal(value, value.dtype, at), at);
  tensor.scalar_ = true;
  return tensor;
}

std::int64_t Tensor::dim(std::int64_t axis, SourceLocation at) const {
  const std::int64_t n = rank();
  if (axis < -n || axis >= n) {
    const std::string axes =
        n == 0 ? "which has no axes" : fmt::format("whose axes are {} to {}", -n, n - 1);
    throw TraceError(fmt::format("dim: axis {} of {}, {}\n  at {}\n  Axes count from 0, or from "
                                 "the end: -1 is the last.",
                                 axis, type().str(), axes, at.str()),
                     at);
  }
  return shape()[axis < 0 ? axis + n : axis];
}

Tensor Operand::any() const {
  return tensor_ ? *tensor_
                 : ir::make_constant(ir::scalar_literal(scalar_, scalar_.dtype, at_), at_);
}

Tensor Operand::as(DType dtype) const {
  return tensor_ ? *tensor_ : ir::make_constant(ir::scalar_literal(scalar_, dtype, at_), at_);
}

std::string detail::formatted_digits(const Tensor& value, std::string_view field) {
  if (value.empty() || ir::depends_on_trace({&value, 1})) return formatted(value);
  return formatted_digits(value.eval(), field);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (tensor.empty()) return out << "(empty tensor)";
  if (!ir::depends_on_trace({&tensor, 1})) return out << tensor.eval().str();
  const ir::Node* node = tensor.node();
  out << tensor.type().str() << ' ';
  if (const auto* parameter = node->attributes.try_as<ir::ParameterAttributes>())
    out << parameter->name;
  else
    out << node->op->name << '.' << node->id;
  const auto& behind = ir::parameter_behind(node)->attrs<ir::ParameterAttributes>();
  if (!behind.region || behind.region->open.load(std::memory_order_acquire)) return out;
  return out << fmt::format(" (escaped: it depends on '{}' of {}{}, which is finished)",
                            behind.name, behind.region->what, ir::in_brackets(behind.region->at));
}

namespace ir {

namespace {

std::string scalar_text(const Scalar& value) {
  if (value.dtype == DType::kPred) return value.integer ? "true" : "false";
  if (value.dtype == DType::kU64)
    return fmt::format("{}", static_cast<std::uint64_t>(value.integer));
  if (is_integer(value.dtype)) return fmt::format("{}", value.integer);
  if (is_complex(value.dtype)) return fmt::format("({}, {})", value.real, value.imaginary);
  if (byte_width(value.dtype) < 8) return fmt::format("{}", static_cast<float>(value.real));
  return fmt::format("{}", value.real);
}

/// The dtype to which a tensor of dtype `dtype` is converted so that it fits the scalar.
DType dtype_beside(const Scalar& value, DType dtype) {
  const bool wide = dtype == DType::kF64 || dtype == DType::kC128;
  if (value.imaginary != 0) return wide ? DType::kC128 : DType::kC64;
  const bool overflows =
      std::isfinite(value.real) &&
      std::abs(value.real) > static_cast<double>(std::numeric_limits<float>::max());
  if (is_complex(dtype)) return DType::kC128;
  if (is_floating(value.dtype) || is_complex(value.dtype) || is_floating(dtype))
    return overflows || wide ? DType::kF64 : DType::kF32;
  if (value.dtype == DType::kU64 && value.integer < 0) return DType::kU64;
  const bool narrow = value.integer == static_cast<std::int32_t>(value.integer);
  return narrow && byte_width(dtype) <= 4 && dtype != DType::kU32 ? DType::kS32 : DType::kS64;
}

struct InexactCall {
  const Scalar& value;
  DType dtype;
  SourceLocation at;
  const ScalarUse* use;
};

[[noreturn]] void inexact(const InexactCall& call, const char* why) {
  const std::string tensor = converted("x", dtype_beside(call.value, call.dtype));
  std::string op, remedy = "Convert the tensor: " + tensor;
  if (call.use) {
    const Spelling& written = call.use->op;
    const std::string scalar = scalar_code(call.value);
    op = fmt::format("{}: ", written.name);
    if (!written.code.empty()) {
      remedy = "Write " + (call.use->scalar_first ? written.of(scalar, tensor, tensor)
                                                  : written.of(tensor, scalar, tensor));
    }
  }
  throw TraceError(
      fmt::format("{}inexact scalar: {} beside a tensor of {} {}\n  at {}\n  {}, or a scalar that "
                  "{} can hold.",
                  op, scalar_text(call.value), dtype_name(call.dtype), why, call.at.str(), remedy,
                  dtype_name(call.dtype)),
      call.at);
}

template <class T>
Literal integer_scalar(const InexactCall& call) {
  const Scalar& value = call.value;
  if (value.imaginary != 0) inexact(call, "would lose its imaginary part");
  constexpr bool wide = sizeof(T) == 8;
  if (!is_floating(value.dtype) && !is_complex(value.dtype)) {
    const bool large = value.dtype == DType::kU64 && value.integer < 0;  // exceeds int64
    const bool fits =
        std::is_unsigned_v<T>
            ? (large ? wide
                     : value.integer >= 0 &&
                           (wide || value.integer <=
                                        static_cast<std::int64_t>(std::numeric_limits<T>::max())))
            : !large && value.integer >= static_cast<std::int64_t>(std::numeric_limits<T>::min()) &&
                  value.integer <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
    if (!fits) inexact(call, "is out of range");
    return Literal::scalar(static_cast<T>(value.integer));
  }
  if (std::isnan(value.real)) inexact(call, "is no integer");
  if (std::trunc(value.real) != value.real) inexact(call, "would lose its fraction");
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double past = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (!(value.real >= low && value.real < past)) inexact(call, "is out of range");
  return Literal::scalar(static_cast<T>(value.real));
}

double real_of(const Scalar& value) {
  if (is_floating(value.dtype) || is_complex(value.dtype)) return value.real;
  if (value.dtype == DType::kU64)
    return static_cast<double>(static_cast<std::uint64_t>(value.integer));
  return static_cast<double>(value.integer);
}

template <class T>
Literal float_scalar(const InexactCall& call) {
  const Scalar& value = call.value;
  if (value.imaginary != 0) inexact(call, "would lose its imaginary part");
  const double real = real_of(value);
  const T rounded = static_cast<T>(real);
  if (std::isinf(static_cast<double>(rounded)) && !std::isinf(real))
    inexact(call, "overflows to infinity");
  return Literal::scalar(rounded);
}

template <class T>
Literal small_scalar(const InexactCall& call) {
  if constexpr (is_small(dtype_of<T>)) {
    const double real = real_of(call.value);
    const auto rounded = static_cast<T>(real);
    const auto back = static_cast<double>(rounded);
    if (call.value.imaginary != 0) inexact(call, "would lose its imaginary part");
    if (is_integer(dtype_of<T>) && back != real)
      inexact(call, std::trunc(real) == real ? "is out of range" : "would lose its fraction");
    if (std::isfinite(real) && !std::isfinite(back)) inexact(call, "is out of range");
    return Literal::scalar(rounded);
  } else {
    throw InternalError("a small dtype that is none");
  }
}

template <class T>
Literal complex_scalar(const InexactCall& call) {
  const Scalar& value = call.value;
  const T re = static_cast<T>(real_of(value)), im = static_cast<T>(value.imaginary);
  if ((std::isinf(re) && !std::isinf(real_of(value))) ||
      (std::isinf(im) && !std::isinf(value.imaginary))) {
    inexact(call, "overflows to infinity");
  }
  return Literal::scalar(std::complex<T>(re, im));
}

}  // namespace

Literal scalar_literal(const Scalar& value, DType dtype, SourceLocation at, const ScalarUse* use) {
  const InexactCall call{value, dtype, at, use};
  switch (dtype) {
    case DType::kPred:
      if (value.imaginary != 0 || real_of(value) != (real_of(value) != 0 ? 1 : 0))
        inexact(call, "is neither 0 nor 1");
      return Literal::scalar(real_of(value) != 0);
    case DType::kS8:
      return integer_scalar<std::int8_t>(call);
    case DType::kS16:
      return integer_scalar<std::int16_t>(call);
    case DType::kS32:
      return integer_scalar<std::int32_t>(call);
    case DType::kS64:
      return integer_scalar<std::int64_t>(call);
    case DType::kU8:
      return integer_scalar<std::uint8_t>(call);
    case DType::kU16:
      return integer_scalar<std::uint16_t>(call);
    case DType::kU32:
      return integer_scalar<std::uint32_t>(call);
    case DType::kU64:
      return integer_scalar<std::uint64_t>(call);
    case DType::kF16:
      return float_scalar<float16>(call);
    case DType::kBF16:
      return float_scalar<bfloat16>(call);
    case DType::kF32:
      return float_scalar<float>(call);
    case DType::kF64:
      return float_scalar<double>(call);
    case DType::kC64:
      return complex_scalar<float>(call);
    case DType::kC128:
      return complex_scalar<double>(call);
    default:
      break;
  }
  if (is_small(dtype))
    return for_any_dtype(dtype, [&]<class T>() { return small_scalar<T>(call); });
  throw InternalError("a dtype that does not exist");
}

}  // namespace ir

}  // namespace rondo
