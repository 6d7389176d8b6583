#include "c/types.h"

#include <cmath>
#include <type_traits>

#include "fmt/format.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::c {

using lower::Type;

namespace {

constexpr std::string_view kVariables[] = {"bool",    "int8_t",   "int16_t",  "int32_t",  "int64_t",
                                           "uint8_t", "uint16_t", "uint32_t", "uint64_t", "float",
                                           "float",   "float",    "double"};

std::string float_text(double value, std::string text, bool single) {
  if (std::isnan(value)) return single ? "NAN" : "(double)NAN";
  if (std::isinf(value)) {
    const char* infinity = single ? "INFINITY" : "(double)INFINITY";
    return value < 0 ? fmt::format("(-{})", infinity) : infinity;
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (single) text += 'f';
  return text;
}

std::string signed_text(std::int64_t value) {
  // The literal behind a minus is a number of its own, which must fit.
  if (value == INT64_MIN) return "(-INT64_C(9223372036854775807) - 1)";
  if (value == INT32_MIN) return "(-2147483647 - 1)";
  if (value > INT32_MAX || value < INT32_MIN)
    return value < 0 ? fmt::format("(-INT64_C({}))", -value) : fmt::format("INT64_C({})", value);
  return fmt::format("{}", value);
}

}  // namespace

std::string_view variable_type(Type type) { return kVariables[static_cast<std::size_t>(type)]; }

std::string_view element_type(Type type) {
  return type == Type::kF16 || type == Type::kBF16 ? "uint16_t" : variable_type(type);
}

std::string constant(Type type, std::uint64_t bits) {
  return lower::for_type(type, [&]<class T>() -> std::string {
    const T value = lower::from_bits<T>(bits);
    if constexpr (lower::is_pred_type<T>) {
      return value ? "true" : "false";
    } else if constexpr (lower::is_half<T>) {
      const auto wide = static_cast<float>(value);
      return float_text(static_cast<double>(wide), fmt::format("{}", wide), true);
    } else if constexpr (std::is_floating_point_v<T>) {
      return float_text(static_cast<double>(value), fmt::format("{}", value), sizeof(T) == 4);
    } else if constexpr (std::is_signed_v<T>) {
      return signed_text(value);
    } else if constexpr (sizeof(T) == 8) {
      return fmt::format("UINT64_C({})", value);
    } else {
      return fmt::format("{}{}", static_cast<std::uint32_t>(value), sizeof(T) == 4 ? "u" : "");
    }
  });
}

std::string element_constant(Type type, std::uint64_t bits) {
  const bool is_half = type == Type::kF16 || type == Type::kBF16;
  return constant(is_half ? Type::kU16 : type, bits);
}

}  // namespace rondo::c
