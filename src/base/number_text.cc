#include "base/number_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "base/small_format.h"

namespace rondo {
namespace {

template <class T>
struct FloatLayout;
template <>
struct FloatLayout<float> {
  using Bits = std::uint32_t;
  static constexpr int kFraction = 23;
};
template <>
struct FloatLayout<double> {
  using Bits = std::uint64_t;
  static constexpr int kFraction = 52;
};
template <>
struct FloatLayout<float16> {
  using Bits = std::uint16_t;
  static constexpr int kFraction = 10;
};
template <>
struct FloatLayout<bfloat16> {
  using Bits = std::uint16_t;
  static constexpr int kFraction = 7;
};

void append_hex(std::string& out, std::uint64_t value) {
  char text[16];
  out += "0x";
  out.append(text, std::to_chars(text, text + sizeof text, value, 16).ptr);
}

/// Writes infinities, NaNs and zeros; false, without writing, for other numbers.
template <class T>
bool append_special(std::string& out, T value, NumberStyle style) {
  using Bits = typename FloatLayout<T>::Bits;
  constexpr int kFraction = FloatLayout<T>::kFraction;
  constexpr int kWidth = static_cast<int>(sizeof(Bits)) * 8;
  constexpr std::uint64_t kSign = std::uint64_t{1} << (kWidth - 1);
  constexpr std::uint64_t kFractionMask = (std::uint64_t{1} << kFraction) - 1;
  constexpr std::uint64_t kInfinity = (kSign - 1) & ~kFractionMask;
  constexpr std::uint64_t kQuiet = std::uint64_t{1} << (kFraction - 1);

  const std::uint64_t bits = std::bit_cast<Bits>(value);
  const std::uint64_t magnitude = bits & ~kSign;
  if (magnitude != 0 && magnitude < kInfinity) return false;
  const bool negative = (bits & kSign) != 0;
  if (magnitude == 0) {
    // XLA takes `-0` for an integer, which has no sign.
    out += negative ? "-0.0" : style == NumberStyle::kMlir ? "0.0" : "0";
  } else if (style == NumberStyle::kMlir) {
    append_hex(out, bits);
  } else {
    if (negative) out += '-';
    out += magnitude == kInfinity ? "inf" : "nan";
    const std::uint64_t payload = magnitude & kFractionMask;
    if (payload != 0 && payload != kQuiet) {
      out += '(';
      append_hex(out, payload);
      out += ')';
    }
  }
  return true;
}

/// Writes small whole numbers, which are frequent; false, without writing, for others. Up to
/// 2^kDigits the digits of the number are its shortest form, and up to 99999 they are not longer
/// than the scientific form.
template <int kDigits, class Wide>
bool append_small_integer(std::string& out, Wide value, NumberStyle style) {
  constexpr int kLimit = kDigits < 16 ? 1 << kDigits : 99999;
  if (!(value >= -kLimit && value <= kLimit)) return false;
  const auto integer = static_cast<int>(value);
  if (static_cast<Wide>(integer) != value || integer == 0) return false;
  char text[8];
  char* end = std::to_chars(text, text + 6, integer).ptr;
  if (style == NumberStyle::kMlir) {
    *end++ = '.';
    *end++ = '0';
  }
  out.append(text, end);
  return true;
}

/// Converts the output of std::to_chars to the form that the style requires.
void append_digits(std::string& out, std::string_view text, NumberStyle style) {
  if (style == NumberStyle::kHlo || text.find('.') != std::string_view::npos) {
    out += text;
    return;
  }
  const std::size_t exponent = std::min(text.find('e'), text.size());
  out += text.substr(0, exponent);
  out += ".0";
  out += text.substr(exponent);
}

template <class T>
void append_wide_float(std::string& out, T value, NumberStyle style) {
  if (append_small_integer<24>(out, value, style) || append_special(out, value, style)) return;
  char text[32];
  char* end = std::to_chars(text, text + sizeof text, value).ptr;
  // XLA first reads digits without a point or exponent as a 64-bit integer. Texts shorter than 18
  // digits cannot overflow it.
  if (end - text > 18 &&
      std::string_view(text, end).find_first_of(".e") == std::string_view::npos) {
    end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  }
  append_digits(out, {text, end}, style);
}

constexpr int kMaxPowerOfTen = 46;
constexpr std::array<double, 2 * kMaxPowerOfTen + 1> kPowersOfTen = {
    1e-46, 1e-45, 1e-44, 1e-43, 1e-42, 1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35,
    1e-34, 1e-33, 1e-32, 1e-31, 1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23,
    1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11,
    1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,
    1e2,   1e3,   1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,
    1e14,  1e15,  1e16,  1e17,  1e18,  1e19,  1e20,  1e21,  1e22,  1e23,  1e24,  1e25,
    1e26,  1e27,  1e28,  1e29,  1e30,  1e31,  1e32,  1e33,  1e34,  1e35,  1e36,  1e37,
    1e38,  1e39,  1e40,  1e41,  1e42,  1e43,  1e44,  1e45,  1e46};

double power_of_ten(int exponent) { return *(kPowersOfTen.begin() + (exponent + kMaxPowerOfTen)); }

/// digits * 10^exponent.
struct ShortDecimal {
  unsigned digits = 0;
  int exponent = 0;
};

/// The shortest decimal that rounds to `value` (positive and finite, of a 16-bit type), and the
/// nearest of those. The numbers that round to it are an interval. In units of its fifth digit the
/// interval holds an integer, and each further digit is dropped while it still does. Doubles are
/// exact enough for the bounds, as the test that tries every number shows.
template <class T>
ShortDecimal shortest_decimal(T value, double wide) {
  const auto widened = [](int bits) -> double {
    return static_cast<float>(T::from_bits(static_cast<std::uint16_t>(bits)));
  };
  const double gap = wide - widened(value.bits - 1);
  const double above = widened(value.bits + 1);
  // The power of ten of the first digit: log10(2) times that of two, rounded down, or one more.
  int magnitude =
      ((static_cast<int>(std::bit_cast<std::uint64_t>(wide) >> 52) - 1023) * 1233) >> 12;
  if (power_of_ten(magnitude + 1) <= wide) ++magnitude;
  int exponent = magnitude - 4;
  const double unit = power_of_ten(-exponent);
  const double low = (wide - gap / 2) * unit;
  const double high = (std::isinf(above) ? wide + gap / 2 : (wide + above) / 2) * unit;
  auto first = static_cast<unsigned>(std::ceil(low));
  auto last = static_cast<unsigned>(high);
  if (value.bits % 2 == 1) {  // the bounds themselves round to the even numbers beside it
    if (first == low) ++first;
    if (last == high) --last;
  }
  while (exponent < magnitude && (first + 9) / 10 <= last / 10) {
    first = (first + 9) / 10;
    last /= 10;
    ++exponent;
  }
  const auto nearest = static_cast<unsigned>(std::nearbyint(wide * power_of_ten(-exponent)));
  const unsigned digits = std::clamp(nearest, first, last);
  return digits == 10 ? ShortDecimal{1, exponent + 1} : ShortDecimal{digits, exponent};
}

/// Writes like std::to_chars: the shorter of fixed and scientific form, fixed if they are equally
/// long.
template <class T>
void append_narrow_float(std::string& out, T value, NumberStyle style) {
  const auto wide = static_cast<float>(value);
  if (append_small_integer<FloatLayout<T>::kFraction + 1>(out, wide, style) ||
      append_special(out, value, style))
    return;
  if ((value.bits & 0x8000u) != 0) out += '-';
  const ShortDecimal decimal = shortest_decimal(T::from_bits(value.bits & 0x7fffu), std::abs(wide));
  char digits[12];
  const char* digits_end = std::to_chars(digits, digits + sizeof digits, decimal.digits).ptr;
  const std::string_view significand(digits, digits_end);
  const int count = static_cast<int>(significand.size());
  const int exponent = decimal.exponent;
  const int scientific_length = count + (count > 1 ? 1 : 0) + 4;
  const int fixed_length = exponent >= 0       ? count + exponent
                           : count > -exponent ? count + 1
                                               : 2 - exponent;
  char text[32];
  char* end = text;
  const auto put = [&end](std::string_view part) { end += part.copy(end, part.size()); };
  const auto put_zeros = [&end](int zeros) {
    while (zeros-- > 0) *end++ = '0';
  };
  if (fixed_length > scientific_length) {
    put(significand.substr(0, 1));
    if (count > 1) put(".");
    put(significand.substr(1));
    const int power = exponent + count - 1;
    put(power < 0 ? "e-" : "e+");
    *end++ = static_cast<char>('0' + std::abs(power) / 10);
    *end++ = static_cast<char>('0' + std::abs(power) % 10);
  } else if (exponent >= 0) {
    put(significand);
    put_zeros(exponent);
  } else if (count > -exponent) {
    const auto whole = significand.size() - static_cast<std::size_t>(-exponent);
    put(significand.substr(0, whole));
    put(".");
    put(significand.substr(whole));
  } else {
    put("0.");
    put_zeros(-exponent - count);
    put(significand);
  }
  append_digits(out, {text, end}, style);
}

/// The first letter that is no digit; the digits are appended to the number.
const char* read_digits(const char* at, const char* last, std::uint64_t& number) noexcept {
  for (; at != last && *at >= '0' && *at <= '9'; ++at)
    number = 10 * number + static_cast<unsigned>(*at - '0');
  return at;
}

/// Clinger, How to Read Floating Point Numbers Accurately (1990): an integer and a power of ten
/// that doubles hold exactly have a correctly rounded product or quotient.
template <class T>
std::from_chars_result read_decimal(const char* first, const char* last, T& value) noexcept {
  constexpr std::ptrdiff_t kMostDigits = 19;  // of 64 bits
  constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53;
  constexpr int kMostPower = 22;
  const auto in_general = [&] { return std::from_chars(first, last, value); };
  const bool negative = first != last && *first == '-';
  const char* const whole = negative ? first + 1 : first;
  std::uint64_t digits = 0;
  const char* at = read_digits(whole, last, digits);
  std::ptrdiff_t count = at - whole;
  if (count == 0) return in_general();
  int exponent = 0;
  if (at != last && *at == '.') {
    const char* const fraction = ++at;
    at = read_digits(at, last, digits);
    if (at == fraction) return in_general();
    count += at - fraction;
    exponent = static_cast<int>(std::max<std::ptrdiff_t>(fraction - at, -kMostDigits));
  }
  if (count > kMostDigits) return in_general();
  if (at != last && (*at == 'e' || *at == 'E')) {
    const bool down = ++at != last && *at == '-';
    if (at != last && (*at == '-' || *at == '+')) ++at;
    const char* const begin = at;
    std::uint64_t power = 0;
    at = read_digits(at, last, power);
    if (at == begin || at - begin > 3) return in_general();
    exponent += down ? -static_cast<int>(power) : static_cast<int>(power);
  }
  if (digits > kMostExact || std::abs(exponent) > kMostPower) return in_general();
  const auto integer = static_cast<double>(digits);
  const double number =
      exponent < 0 ? integer / power_of_ten(-exponent) : integer * power_of_ten(exponent);
  if constexpr (sizeof(T) < sizeof(double)) {
    // Rounded twice it is right unless the first time gave the middle of two floats.
    constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1;
    if ((std::bit_cast<std::uint64_t>(number) & kDropped) == (kDropped + 1) / 2)
      return in_general();
  }
  value = static_cast<T>(negative ? -number : number);
  return {at, std::errc()};
}

}  // namespace

std::from_chars_result read_number(const char* first, const char* last, float& value) noexcept {
  return read_decimal(first, last, value);
}
std::from_chars_result read_number(const char* first, const char* last, double& value) noexcept {
  return read_decimal(first, last, value);
}

void append_hex_digits(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::size_t before = out.size();
  out.resize(before + 2 * bytes.size());
  char* to = out.data() + before;
  for (const char byte : bytes) {
    *to++ = kDigits[static_cast<std::uint8_t>(byte) >> 4];
    *to++ = kDigits[static_cast<std::uint8_t>(byte) & 15];
  }
}

namespace detail {

void append_float(std::string& out, float value, NumberStyle style) {
  append_wide_float(out, value, style);
}
void append_float(std::string& out, double value, NumberStyle style) {
  append_wide_float(out, value, style);
}
void append_float(std::string& out, float16 value, NumberStyle style) {
  append_narrow_float(out, value, style);
}
void append_float(std::string& out, bfloat16 value, NumberStyle style) {
  append_narrow_float(out, value, style);
}

void append_small(std::string& out, DType dtype, std::uint8_t bits, NumberStyle style) {
  const float value = small_value(dtype, bits);
  if (is_integer(dtype)) {
    append_number(out, static_cast<int>(value), style);
  } else if (std::isfinite(value)) {
    append_float(out, value, style);
  } else if (style == NumberStyle::kMlir) {
    append_hex(out, bits);
  } else {
    const SmallFormat format = small_format(dtype);
    const int payload = bits & ((1 << format.mantissa_bits) - 1);
    const bool is_usual = format.specials != SmallFormat::Specials::kInfinity ||
                          (bits & format.all_ones()) == format.nan();
    if (std::signbit(value)) out += '-';
    out += std::isinf(value) ? "inf" : "nan";
    if (!std::isinf(value) && !is_usual) {
      out += '(';
      append_hex(out, static_cast<std::uint64_t>(payload));
      out += ')';
    }
  }
}

}  // namespace detail

}  // namespace rondo
