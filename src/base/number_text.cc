#include "base/number_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string_view>

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

/// Infinities, NaNs and zeros; false for other numbers, of which nothing is written.
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

/// What std::to_chars wrote, in the form that the style asks for.
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
  if (append_special(out, value, style)) return;
  char text[32];
  char* end = std::to_chars(text, text + sizeof text, value).ptr;
  // XLA reads digits without a point or exponent as a 64-bit integer first. Shorter texts than 18
  // digits cannot overflow it.
  if (end - text > 18 &&
      std::string_view(text, end).find_first_of(".e") == std::string_view::npos) {
    end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  }
  append_digits(out, {text, end}, style);
}

constexpr int kMaxPowerOfTen = 46;
constexpr std::array<double, kMaxPowerOfTen + 1> kPowersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46};

double times_power_of_ten(double value, int exponent) {
  return exponent >= 0 ? value * kPowersOfTen[static_cast<std::size_t>(exponent)]
                       : value / kPowersOfTen[static_cast<std::size_t>(-exponent)];
}

/// digits * 10^exponent.
struct ShortDecimal {
  unsigned digits = 0;
  int exponent = 0;
};

/// The shortest decimal that rounds to `value` (positive and finite), of a 16-bit type. Doubles are
/// wide enough for the search: five digits at most are needed, and the boundaries between 16-bit
/// numbers have twelve bits. (The tests try every number.)
template <class T>
ShortDecimal shortest_decimal(T value) {
  const auto wide = static_cast<double>(static_cast<float>(value));
  // The power of ten of the first digit: log10(2) times that of two, rounded down, or one more.
  int magnitude = (std::ilogb(wide) * 1233) >> 12;
  if (times_power_of_ten(1, magnitude + 1) <= wide) ++magnitude;
  const auto reads_back = [&](unsigned digits, int exponent) {
    return T(times_power_of_ten(digits, exponent)).bits == value.bits;
  };
  for (int count = 1;; ++count) {
    const int exponent = magnitude - count + 1;
    const double scaled = times_power_of_ten(wide, -exponent);
    const auto below = static_cast<unsigned>(scaled);
    const bool up = scaled - below >= 0.5;
    // Usually the nearer one reads back if any does; below a power of two the numbers lie twice as
    // dense.
    for (const unsigned digits : {below + (up ? 1 : 0), below + (up ? 0 : 1)}) {
      if (!reads_back(digits, exponent)) continue;
      ShortDecimal result{digits, exponent};
      while (result.digits % 10 == 0) {
        result.digits /= 10;
        ++result.exponent;
      }
      return result;
    }
  }
}

/// Writes as std::to_chars does: the shorter of fixed and scientific form, fixed where they are
/// equally long.
template <class T>
void append_narrow_float(std::string& out, T value, NumberStyle style) {
  if (append_special(out, value, style)) return;
  if ((value.bits & 0x8000u) != 0) out += '-';
  const ShortDecimal decimal = shortest_decimal(T::from_bits(value.bits & 0x7fffu));
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
    const auto whole = static_cast<std::size_t>(count + exponent);
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

}  // namespace

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

}  // namespace detail

}  // namespace rondo
