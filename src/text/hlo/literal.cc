// The elements of a constant of HLO.
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/for_dtype.h"
#include "base/small_format.h"
#include "fmt/format.h"
#include "text/hlo/program.h"
#include "text/mlir/cursor.h"

namespace rondo::text::hlo {

namespace {

using mlir::Cursor;

template <class T>
inline constexpr bool kIsComplexValue = false;
template <class T>
inline constexpr bool kIsComplexValue<std::complex<T>> = true;

/// The integer type of a float's bits, and the bits of infinity.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
template <class T>
T from_bits(BitsOf<T> bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}
template <class T>
BitsOf<T> bits_of_value(T value) {
  BitsOf<T> bits;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
  return bits;
}

/// `1.5e-07`, `inf`, `-nan`, `nan(0x400001)`, which has the payload.
template <class T>
T parse_real(Cursor& cursor) {
  const mlir::Offset at = cursor.at();
  const bool negative = cursor.accept("-");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  T value;
  const char first = cursor.peek();
  if (first == 'i' && cursor.accept_word("inf")) {
    value = T(kInfinity);
  } else if (first == 'n' && cursor.accept_word("nan")) {
    value = T(std::numeric_limits<double>::quiet_NaN());
    if (cursor.peek() == '(') {
      std::string_view digits = cursor.bracketed('(');
      BitsOf<T> payload = 0;
      const bool hex = digits.substr(0, 2) == "0x";
      if (hex) digits.remove_prefix(2);
      const auto [next, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), payload, 16);
      const BitsOf<T> infinity = bits_of_value(T(kInfinity));
      if (!hex || error != std::errc() || next != digits.data() + digits.size() || payload == 0 ||
          (payload & infinity) != 0)
        mlir::fail(cursor.text(), at, "expected the payload of a NaN, nan(0x...)");
      value = from_bits<T>(static_cast<BitsOf<T>>(infinity | payload));
    }
  } else {
    value = T(cursor.real<std::conditional_t<std::is_same_v<T, float>, float, double>>());
    if (std::isinf(static_cast<double>(value)))
      mlir::fail(cursor.text(), at, "the number is too great for the type");
  }
  constexpr auto kSign = static_cast<BitsOf<T>>(BitsOf<T>{1} << (8 * sizeof(T) - 1));
  return negative ? from_bits<T>(static_cast<BitsOf<T>>(bits_of_value(value) ^ kSign)) : value;
}

template <class T>
T parse_integer(Cursor& cursor, std::int64_t bits) {
  const mlir::Offset at = cursor.at();
  const std::string_view digits = cursor.number();
  T value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [next, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || next != end)
    mlir::fail(cursor.text(), at, fmt::format("expected an integer of {} bits", bits));
  return value;
}

/// Of a small dtype: the same, where a format without infinity or payloads has none.
template <class T>
T parse_small(Cursor& cursor) {
  constexpr DType kDType = dtype_of<T>;
  const mlir::Offset at = cursor.at();
  if constexpr (is_integer(kDType)) {
    const auto value = parse_integer<int>(cursor, bit_width(kDType));
    if (static_cast<int>(T(value)) != value)
      mlir::fail(cursor.text(), at,
                 fmt::format("expected an integer of {} bits", bit_width(kDType)));
    return T(value);
  } else {
    constexpr SmallFormat kFormat = small_format(kDType);
    constexpr bool kHasPayloads = kFormat.specials == SmallFormat::Specials::kInfinity;
    const bool negative = cursor.accept("-");
    const auto with_sign = [&](double value) { return T(negative ? -value : value); };
    const T infinity = with_sign(std::numeric_limits<double>::infinity());
    if (cursor.accept_word("inf")) return infinity;
    if (!cursor.accept_word("nan")) {
      if (negative && cursor.peek() == '-') cursor.fail("expected a number");
      const auto read = parse_real<double>(cursor);
      const T value = with_sign(read);
      if (!std::isfinite(static_cast<float>(value)))
        mlir::fail(cursor.text(), at, "the number is too great for the type");
      return value;
    }
    if (!kHasPayloads || cursor.peek() != '(')
      return with_sign(std::numeric_limits<double>::quiet_NaN());
    std::string_view digits = cursor.bracketed('(');
    const bool hex = digits.substr(0, 2) == "0x";
    if (hex) digits.remove_prefix(2);
    unsigned payload = 0;
    const char* const end = digits.data() + digits.size();
    const auto [next, error] = std::from_chars(digits.data(), end, payload, 16);
    if (!hex || error != std::errc() || next != end || payload == 0 ||
        payload >> kFormat.mantissa_bits != 0)
      mlir::fail(cursor.text(), at, "expected the payload of a NaN, nan(0x...)");
    return T::from_bits(static_cast<std::uint8_t>(infinity.bits | payload));
  }
}

template <class T>
T parse_value(Cursor& cursor) {
  const mlir::Offset at = cursor.at();
  if constexpr (std::is_same_v<T, bool>) {
    if (cursor.accept_word("true") || cursor.accept_word("1")) return true;
    if (cursor.accept_word("false") || cursor.accept_word("0")) return false;
    mlir::fail(cursor.text(), at, "expected true or false");
  } else if constexpr (std::is_integral_v<T>) {
    return parse_integer<T>(cursor, 8 * sizeof(T));
  } else if constexpr (is_small(dtype_of<T>)) {
    return parse_small<T>(cursor);
  } else if constexpr (kIsComplexValue<T>) {
    cursor.expect("(");
    const auto real = parse_real<typename T::value_type>(cursor);
    cursor.expect(",");
    const auto imaginary = parse_real<typename T::value_type>(cursor);
    cursor.expect(")");
    return {real, imaginary};
  } else {
    return parse_real<T>(cursor);
  }
}

/// The elements from this axis on, in braces.
template <class T>
void parse_part(Cursor& cursor, const Shape& shape, std::int64_t axis, T*& to) {
  if (axis == shape.rank()) {
    *to++ = parse_value<T>(cursor);
    return;
  }
  cursor.expect("{");
  for (std::int64_t i = 0; i < shape[axis]; i++) {
    if (i > 0) cursor.accept(",");
    parse_part(cursor, shape, axis + 1, to);
  }
  cursor.expect("}");
}

}  // namespace

Literal parse_literal(std::string_view text, mlir::Offset at, std::string_view inside,
                      const TensorType& type) {
  Cursor cursor(text.substr(0, at + inside.size()), at);
  if (type.elements() == 0) return Literal::zeros(type);
  try {
    if (static_cast<std::uint64_t>(type.elements()) > inside.size())  // each takes a letter
      mlir::fail(text, at, fmt::format("there are fewer elements than {} has", type.str()));
    Literal value = Literal::uninitialized(type);
    for_any_dtype(type.dtype, [&]<class T>() {
      T* to = reinterpret_cast<T*>(value.mutable_bytes());
      parse_part(cursor, type.shape, 0, to);
    });
    if (!cursor.at_end()) cursor.fail("expected `)`");
    return value;
  } catch (const ParseError&) {
    // To look for it first would take longer than to read the numbers, which have points too.
    if (inside.find("...") == inside.npos) throw;
    mlir::fail(text, at,
               "the elements are left out\n  Print the program with large constants: "
               "print_large_constants.");
  }
}

}  // namespace rondo::text::hlo
