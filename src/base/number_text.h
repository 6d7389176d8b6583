// Numbers as text that reads back as the same number.
#pragma once

#include <charconv>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "rondo/dtype.h"

namespace rondo {

/// Which reader the numbers are for. All styles write the fewest decimal digits that give back the
/// same bits in the number's own type, as `12`, `0.5`, `1.5e-07`, `-0.0`; a complex number is
/// `(real, imaginary)`; pred is `true` or `false`.
enum class NumberStyle : std::uint8_t {
  kHlo,   // floats without need for a point; `inf`, `-inf`, `nan`, `-nan`, and with any other
          // payload `nan(0x400001)`
  kMlir,  // floats have a point; infinities and NaNs are their bits, `0x7fc00000`
};

namespace detail {
void append_float(std::string& out, float value, NumberStyle style);
void append_float(std::string& out, double value, NumberStyle style);
void append_float(std::string& out, float16 value, NumberStyle style);
void append_float(std::string& out, bfloat16 value, NumberStyle style);
void append_small(std::string& out, DType dtype, std::uint8_t bits, NumberStyle style);
}  // namespace detail

/// What std::from_chars gives, in a fraction of its time for numbers of few digits.
std::from_chars_result read_number(const char* first, const char* last, float& value) noexcept;
std::from_chars_result read_number(const char* first, const char* last, double& value) noexcept;

/// Two digits for each byte: `0FA0`.
void append_hex_digits(std::string& out, std::string_view bytes);

template <HostScalar T>
void append_number(std::string& out, T value, NumberStyle style = NumberStyle::kHlo) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    using Plain = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    char text[20];
    const char* end = std::to_chars(text, text + sizeof text, static_cast<Plain>(value)).ptr;
    out.append(text, static_cast<std::size_t>(end - text));
  } else if constexpr (is_complex(dtype_of<T>)) {
    out += '(';
    detail::append_float(out, value.real(), style);
    out += ", ";
    detail::append_float(out, value.imag(), style);
    out += ')';
  } else if constexpr (is_small(dtype_of<T>)) {
    detail::append_small(out, dtype_of<T>, value.bits, style);
  } else if constexpr (std::is_same_v<T, long double>) {
    detail::append_float(out, static_cast<double>(value), style);
  } else {
    detail::append_float(out, value, style);
  }
}

}  // namespace rondo
