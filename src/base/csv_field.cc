#include "base/csv_field.h"

#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <system_error>
#include <type_traits>

#include "base/for_dtype.h"
#include "base/number_text.h"

namespace rondo {
namespace {

/// Whether a number that no double can hold is too close to 0, rather than too large.
bool is_nearly_zero(std::string_view text) {
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) return text.substr(exponent + 1).starts_with('-');
  return text.find_first_of("123456789") > text.find('.');
}

template <class Float>
CsvFault read_csv_float(std::string_view text, Float& value) {
  const char* const end = text.data() + text.size();
  const auto [next, error] = read_number(text.data(), end, value);
  if (next != end || error == std::errc::invalid_argument) return CsvFault::kNoNumber;
  if (error != std::errc::result_out_of_range) return CsvFault::kNone;
  if constexpr (std::is_same_v<Float, float>) {
    double wide = 0;
    if (const CsvFault fault = read_csv_float(text, wide); fault != CsvFault::kNone) return fault;
    value = static_cast<float>(wide);
    return std::isinf(value) ? CsvFault::kTooLarge : CsvFault::kNone;
  } else {
    if (!is_nearly_zero(text)) return CsvFault::kTooLarge;
    value = text.starts_with('-') ? -0.0 : 0.0;
    return CsvFault::kNone;
  }
}

template <class T, class Integer>
CsvFault read_csv_integer(std::string_view text, T& value) {
  constexpr IntegerLimits kLimits = integer_limits(dtype_of<T>);
  const char* const end = text.data() + text.size();
  Integer integer = 0;
  const auto [next, error] = std::from_chars(text.data(), end, integer);
  if (next != end || error == std::errc::invalid_argument) {
    double number = 0;
    const bool is_number = read_csv_float(text, number) != CsvFault::kNoNumber;
    return is_number ? CsvFault::kNoInteger : CsvFault::kNoNumber;
  }
  if (error == std::errc::result_out_of_range) return CsvFault::kTooLarge;
  if constexpr (std::is_signed_v<Integer>) {
    if (integer < kLimits.least || integer > static_cast<std::int64_t>(kLimits.greatest))
      return CsvFault::kTooLarge;
  } else {
    if (integer > kLimits.greatest) return CsvFault::kTooLarge;
  }
  value = static_cast<T>(integer);
  return CsvFault::kNone;
}

CsvFault read_csv_pred(std::string_view text, bool& value) {
  value = text == "1" || text == "true" || text == "True";
  const bool is_pred = value || text == "0" || text == "false" || text == "False";
  return is_pred ? CsvFault::kNone : CsvFault::kNoPred;
}

}  // namespace

template <HostScalar T>
std::optional<T> csv_element(double number) noexcept {
  constexpr DType kDType = dtype_of<T>;
  if constexpr (is_pred(kDType)) {
    if (number != 0 && number != 1) return std::nullopt;
    return number == 1;
  } else if constexpr (is_integer(kDType)) {
    constexpr IntegerLimits kLimits = integer_limits(kDType);
    // As doubles: the greatest of 64 bits rounds up to a power of two, which is out of range.
    const bool fits = number >= static_cast<double>(kLimits.least) &&
                      (bit_width(kDType) == 64 ? number < static_cast<double>(kLimits.greatest)
                                               : number <= static_cast<double>(kLimits.greatest));
    if (!fits || number != std::trunc(number)) return std::nullopt;
    if constexpr (is_unsigned_integer(kDType))
      return static_cast<T>(static_cast<std::uint64_t>(number));
    else
      return static_cast<T>(static_cast<std::int64_t>(number));
  } else if constexpr (std::is_same_v<T, double>) {
    return number;
  } else {
    const auto element = static_cast<T>(number);
    const auto rounded = static_cast<float>(element);
    if (std::isnan(number) && !std::isnan(rounded)) return std::nullopt;
    if (std::isfinite(number) && !std::isfinite(rounded)) return std::nullopt;
    if (std::isinf(number) && !std::isinf(rounded)) return std::nullopt;
    // f4 has neither infinities nor NaNs: what is too large becomes 6.
    if (kDType == DType::kF4E2M1FN && std::abs(number) > 7) return std::nullopt;
    return element;
  }
}

template <HostScalar T>
CsvFault read_csv_number(std::string_view text, T& value) noexcept {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  if constexpr (std::is_same_v<T, bool>) {
    return read_csv_pred(text, value);
  } else if constexpr (is_unsigned_integer(dtype_of<T>)) {
    // Of a negative number, to tell it from what is no number.
    if (text.starts_with('-') && text != "-0") {
      std::int64_t negative = 0;
      const CsvFault fault = read_csv_integer<std::int64_t, std::int64_t>(text, negative);
      return fault == CsvFault::kNone ? CsvFault::kTooLarge : fault;
    }
    return read_csv_integer<T, std::uint64_t>(text == "-0" ? "0" : text, value);
  } else if constexpr (is_integer(dtype_of<T>)) {
    return read_csv_integer<T, std::int64_t>(text, value);
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return read_csv_float(text, value);
  } else {
    double number = 0;
    if (const CsvFault fault = read_csv_float(text, number); fault != CsvFault::kNone) return fault;
    const std::optional<T> element = csv_element<T>(number);
    if (!element) return CsvFault::kTooLarge;
    value = *element;
    return CsvFault::kNone;
  }
}

#define RONDO_CSV_FIELD(T)                                                         \
  template CsvFault read_csv_number<T>(std::string_view text, T & value) noexcept; \
  template std::optional<T> csv_element<T>(double number) noexcept;
RONDO_CSV_FIELD(bool)
RONDO_CSV_FIELD(std::int8_t)
RONDO_CSV_FIELD(std::int16_t)
RONDO_CSV_FIELD(std::int32_t)
RONDO_CSV_FIELD(std::int64_t)
RONDO_CSV_FIELD(std::uint8_t)
RONDO_CSV_FIELD(std::uint16_t)
RONDO_CSV_FIELD(std::uint32_t)
RONDO_CSV_FIELD(std::uint64_t)
RONDO_CSV_FIELD(float16)
RONDO_CSV_FIELD(bfloat16)
RONDO_CSV_FIELD(float)
RONDO_CSV_FIELD(double)
RONDO_CSV_FIELD(int2)
RONDO_CSV_FIELD(uint2)
RONDO_CSV_FIELD(int4)
RONDO_CSV_FIELD(uint4)
RONDO_CSV_FIELD(float4_e2m1fn)
RONDO_CSV_FIELD(float8_e3m4)
RONDO_CSV_FIELD(float8_e4m3)
RONDO_CSV_FIELD(float8_e4m3fn)
RONDO_CSV_FIELD(float8_e4m3b11fnuz)
RONDO_CSV_FIELD(float8_e4m3fnuz)
RONDO_CSV_FIELD(float8_e5m2)
RONDO_CSV_FIELD(float8_e5m2fnuz)
#undef RONDO_CSV_FIELD

}  // namespace rondo
