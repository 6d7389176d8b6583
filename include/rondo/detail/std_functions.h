// Functions of namespace std that users may call with a Tensor: these overloads do not compile, and
// name the right function. Without them std::sqrt(x) ends with a list of what std::sqrt takes.
//
// A deleted implicit conversion to double, with a reason, would report it too, but it would make `x
// + 1` an equally good addition of doubles as of tensors. So these are in namespace std, which the
// standard reserves. They take only tensors, define nothing, and no call that compiles without them
// changes its meaning: what a `using std::sqrt; sqrt(x)` finds in namespace rondo is no template,
// and takes precedence.
#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>

#include "rondo/detail/why.h"
#include "rondo/tensor.h"

namespace rondo::detail {

struct OnlyTensor {
  template <std::same_as<Tensor> T>
  OnlyTensor(const T&);  // NOLINT: it is a conversion
};
struct OnlyNumber {
  template <class T>
  requires std::is_arithmetic_v<T> OnlyNumber(const T&);  // NOLINT: it is a conversion
};
struct TensorOrNumber {
  template <class T>
  requires(std::same_as<T, Tensor> || std::is_arithmetic_v<T>)
      TensorOrNumber(const T&);  // NOLINT: it is a conversion
};

}  // namespace rondo::detail

namespace std {

// clang-format off
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::exp(x)"> void exp(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::expm1(x)"> void expm1(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::log(x)"> void log(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::log1p(x)"> void log1p(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::sqrt(x)"> void sqrt(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::cbrt(x)"> void cbrt(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::sin(x)"> void sin(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::cos(x)"> void cos(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::tan(x)"> void tan(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::sinh(x)"> void sinh(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::cosh(x)"> void cosh(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::tanh(x)"> void tanh(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::asin(x)"> void asin(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::acos(x)"> void acos(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::atan(x)"> void atan(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::asinh(x)"> void asinh(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::acosh(x)"> void acosh(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::atanh(x)"> void atanh(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::erf(x)"> void erf(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::erfc(x)"> void erfc(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::floor(x)"> void floor(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::ceil(x)"> void ceil(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::round(x)"> void round(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::abs(x)"> void abs(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::real(x)"> void real(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::imag(x)"> void imag(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::conj(x)"> void conj(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::abs(x)"> void fabs(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::pow(2.0f, x)"> void exp2(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::log(x) / std::log(2.0f)"> void log2(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::log(x) / std::log(10.0f)"> void log10(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::sign(x) * rondo::floor(rondo::abs(x))"> void trunc(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::round(x)"> void rint(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::round(x)"> void nearbyint(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::is_nan(x)"> void isnan(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::is_inf(x)"> void isinf(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::is_finite(x)"> void isfinite(const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::pow(x, y)"> void pow(const ::rondo::detail::TensorOrNumber&, const ::rondo::detail::TensorOrNumber&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::atan2(y, x)"> void atan2(const ::rondo::detail::TensorOrNumber&, const ::rondo::detail::TensorOrNumber&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::hypot(x, y)"> void hypot(const ::rondo::detail::TensorOrNumber&, const ::rondo::detail::TensorOrNumber&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::rem(x, y)"> void fmod(const ::rondo::detail::TensorOrNumber&, const ::rondo::detail::TensorOrNumber&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::maximum(x, y)"> void fmax(const ::rondo::detail::TensorOrNumber&, const ::rondo::detail::TensorOrNumber&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::minimum(x, y)"> void fmin(const ::rondo::detail::TensorOrNumber&, const ::rondo::detail::TensorOrNumber&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::maximum(x, y)"> void max(const ::rondo::detail::OnlyTensor&, const ::rondo::detail::OnlyNumber&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::maximum(x, y)"> void max(const ::rondo::detail::OnlyNumber&, const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::minimum(x, y)"> void min(const ::rondo::detail::OnlyTensor&, const ::rondo::detail::OnlyNumber&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::minimum(x, y)"> void min(const ::rondo::detail::OnlyNumber&, const ::rondo::detail::OnlyTensor&) = delete;
template <::rondo::detail::Why kWhy = "rondo: of a Tensor write rondo::clamp(lo, x, hi)"> void clamp(const ::rondo::detail::OnlyTensor&, const ::rondo::detail::TensorOrNumber&, const ::rondo::detail::TensorOrNumber&) = delete;
// An equally good match as std's own, and more constrained; with a second template parameter the
// two would not be compared.
template <::std::same_as<::rondo::Tensor> T> ::rondo::detail::Refused<"rondo: of Tensors write rondo::maximum(x, y)"> max(const T&, const T&) = delete;
template <::std::same_as<::rondo::Tensor> T> ::rondo::detail::Refused<"rondo: of Tensors write rondo::maximum(x, y); of the elements of one, rondo::max(x)"> max(::std::initializer_list<T>) = delete;
template <::std::same_as<::rondo::Tensor> T> ::rondo::detail::Refused<"rondo: of Tensors write rondo::minimum(x, y)"> min(const T&, const T&) = delete;
template <::std::same_as<::rondo::Tensor> T> ::rondo::detail::Refused<"rondo: of Tensors write rondo::minimum(x, y); of the elements of one, rondo::min(x)"> min(::std::initializer_list<T>) = delete;
template <::std::same_as<::rondo::Tensor> T> ::rondo::detail::Refused<"rondo: of Tensors write rondo::clamp(lo, x, hi)"> clamp(const T&, const T&, const T&) = delete;
// clang-format on

}  // namespace std
