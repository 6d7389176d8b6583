// What the formatters of fmt and of the standard library share.
#pragma once

#include <array>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

#include "rondo/dtype.h"
#include "rondo/export.h"
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
/// Like `out << value`: evaluates a lazy tensor.
inline std::string formatted(const Tensor& value) {
  std::ostringstream out;
  out << value;
  return std::move(out).str();
}

/// The elements with `field`, such as "{:.3f}", for each float; an array's follow its type.
RONDO_API std::string formatted_digits(const Literal& value, std::string_view field);
/// The same; for a tensor without a value, what `<<` shows.
RONDO_API std::string formatted_digits(const Tensor& value, std::string_view field);

/// The digits of floats that a format asks for.
class Digits {
 public:
  /// Takes `.3f`, `.10e`; false for any other specification.
  constexpr bool take(std::string_view spec) {
    if (spec.size() < 3 || spec.size() > 4 || spec[0] != '.') return false;
    if (std::string_view("feg").find(spec.back()) == std::string_view::npos) return false;
    for (const char c : spec.substr(1, spec.size() - 2)) {
      if (c < '0' || c > '9') return false;
    }
    field_[size_++] = '{';
    field_[size_++] = ':';
    for (const char c : spec) field_[size_++] = c;
    field_[size_++] = '}';
    return true;
  }
  bool given() const { return size_ > 0; }
  template <class T>
  std::string text_of(const T& value) const {
    return formatted_digits(value, std::string_view(field_.data(), size_));
  }

 private:
  std::array<char, 8> field_{};
  std::size_t size_ = 0;
};

/// Formats a T as text by `Text`, a library's formatter of std::string_view.
template <class Text, class T>
struct FormatterBy : Text {
  template <class Context>
  auto format(const T& value, Context& context) const {
    return Text::format(formatted(value), context);
  }
};

/// The same with the digits of floats.
template <class Text, class T>
struct DigitsFormatterBy : FormatterBy<Text, T> {
  template <class Context>
  constexpr auto parse(Context& context) {
    auto end = context.begin();
    while (end != context.end() && *end != '}') ++end;
    const std::string_view spec(context.begin(), end);
    return digits_.take(spec) ? end : Text::parse(context);
  }

  template <class Context>
  auto format(const T& value, Context& context) const {
    if (!digits_.given()) return FormatterBy<Text, T>::format(value, context);
    return Text::format(digits_.text_of(value), context);
  }

 private:
  Digits digits_;
};

}  // namespace rondo::detail
