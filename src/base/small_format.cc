#include "base/small_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rondo::detail {

std::uint8_t wrapped_small(DType dtype, std::uint64_t value) noexcept {
  const int unused = 8 - static_cast<int>(bit_width(dtype));
  const auto shifted = static_cast<std::uint8_t>(value << unused);
  return is_signed_integer(dtype)
             ? static_cast<std::uint8_t>(static_cast<std::int8_t>(shifted) >> unused)
             : static_cast<std::uint8_t>(shifted >> unused);
}

std::uint8_t rounded_small(DType dtype, double value) noexcept {
  if (is_integer(dtype)) {
    if (std::isnan(value)) return 0;
    const int values = 1 << bit_width(dtype);
    const int least = is_signed_integer(dtype) ? -values / 2 : 0;
    return static_cast<std::uint8_t>(
        static_cast<int>(std::clamp(std::trunc(value), double(least), double(least + values - 1))));
  }
  const SmallFormat format = small_format(dtype);
  const int sign = std::signbit(value) ? 1 << format.sign_bit() : 0;
  if (std::isnan(value))
    return static_cast<std::uint8_t>(format.has_one_nan() ? format.nan() : format.nan() ^ sign);
  int code = format.overflow();
  if (std::isfinite(value) && value != 0) {
    // The bits of exponent and mantissa count the numbers from 0, so a mantissa that is rounded up
    // to the next power of two gives the next exponent.
    const int exponent = std::max(std::ilogb(value), 1 - format.bias);
    const double mantissa =
        std::nearbyint(std::ldexp(std::abs(value), format.mantissa_bits - exponent));
    const double whole = std::ldexp(exponent + format.bias - 1, format.mantissa_bits) + mantissa;
    if (whole <= format.greatest_finite()) code = static_cast<int>(whole);
  } else if (value == 0) {
    code = 0;
  }
  const bool has_sign = !format.has_one_nan() || (code != 0 && code != format.nan());
  return static_cast<std::uint8_t>(has_sign ? code | sign : code);
}

float small_value(DType dtype, std::uint8_t bits) noexcept {
  if (is_signed_integer(dtype)) return static_cast<std::int8_t>(bits);
  if (is_integer(dtype)) return bits;
  const SmallFormat format = small_format(dtype);
  const int magnitude = bits & format.all_ones();
  const bool negative = (bits >> format.sign_bit() & 1) != 0;
  const float sign = negative ? -1.0f : 1.0f;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (format.has_one_nan() && negative && magnitude == 0) return -kNan;
  if (magnitude > format.greatest_finite()) {
    const bool infinite =
        format.specials == SmallFormat::Specials::kInfinity && magnitude == format.infinity();
    return std::copysign(infinite ? std::numeric_limits<float>::infinity() : kNan, sign);
  }
  const int exponent = magnitude >> format.mantissa_bits;
  const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  const int whole = exponent == 0 ? mantissa : mantissa | 1 << format.mantissa_bits;
  return std::copysign(std::ldexp(static_cast<float>(whole),
                                  std::max(exponent, 1) - format.bias - format.mantissa_bits),
                       sign);
}

}  // namespace rondo::detail
