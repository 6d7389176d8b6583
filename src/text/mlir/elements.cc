// The elements of `dense<...>`.
#include <array>
#include <charconv>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/for_dtype.h"
#include "fmt/format.h"
#include "text/mlir/values.h"

namespace rondo::text::mlir {

namespace {

template <class T>
inline constexpr bool kIsComplexElement = false;
template <class T>
inline constexpr bool kIsComplexElement<std::complex<T>> = true;

template <class T>
T parse_bits(Cursor& cursor) {
  const Offset at = cursor.at();
  const std::string_view digits = cursor.number();
  std::uint64_t bits = 0;
  const auto [next, error] =
      std::from_chars(digits.data() + 2, digits.data() + digits.size(), bits, 16);
  constexpr unsigned kBits = static_cast<unsigned>(bit_width(dtype_of<T>));
  if (error != std::errc() || next != digits.data() + digits.size() ||
      (bits >> (kBits - 1)) >> 1 != 0)
    fail(cursor.text(), at, fmt::format("expected the bits of a number of {} bits", kBits));
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));  // of the lower bytes: little-endian
  return value;
}

template <class T>
T parse_float(Cursor& cursor) {
  if (cursor.sees("0x") || cursor.sees("0X")) return parse_bits<T>(cursor);
  return T(cursor.real<std::conditional_t<std::is_same_v<T, float>, float, double>>());
}

template <class T>
T parse_whole(Cursor& cursor) {
  const Offset at = cursor.at();
  const std::string_view digits = cursor.number();
  const char* const end = digits.data() + digits.size();
  const bool negative = digits.substr(0, 1) == "-";
  std::uint64_t size = 0;
  const std::string_view magnitude = digits.substr(negative ? 1 : 0);
  const bool hex = magnitude.substr(0, 2) == "0x" || magnitude.substr(0, 2) == "0X";
  const auto [next, error] =
      std::from_chars(magnitude.data() + (hex ? 2 : 0), end, size, hex ? 16 : 10);
  if (magnitude.empty() || error == std::errc::invalid_argument || next != end)
    fail(cursor.text(), at, "expected an integer");
  constexpr DType kDType = dtype_of<T>;
  constexpr std::uint64_t kMost = ~std::uint64_t{0} >> (64 - bit_width(kDType));
  const bool fits = error == std::errc() &&
                    (negative ? is_signed_integer(kDType) && size <= kMost / 2 + 1 : size <= kMost);
  if (!fits)
    fail(cursor.text(), at, fmt::format("{} does not fit {} bits", digits, bit_width(kDType)));
  return static_cast<T>(negative ? 0 - size : size);
}

template <class T>
T parse_element(Cursor& cursor) {
  if constexpr (std::is_same_v<T, bool>) {
    if (cursor.accept_word("true")) return true;
    if (cursor.accept_word("false")) return false;
    return parse_whole<unsigned char>(cursor) != 0;
  } else if constexpr (is_integer(dtype_of<T>)) {
    return parse_whole<T>(cursor);
  } else if constexpr (kIsComplexElement<T>) {
    cursor.expect("(");
    const auto real = parse_float<typename T::value_type>(cursor);
    cursor.expect(",");
    const auto imaginary = parse_float<typename T::value_type>(cursor);
    cursor.expect(")");
    return {real, imaginary};
  } else {
    return parse_float<T>(cursor);
  }
}

/// The elements from this axis on, in lists.
template <class T>
void parse_axis(Cursor& cursor, const Shape& shape, std::int64_t axis, T*& to) {
  if (axis == shape.rank()) {
    *to++ = parse_element<T>(cursor);
    return;
  }
  cursor.expect("[");
  for (std::int64_t i = 0; i < shape[axis]; i++) {
    if (i > 0) cursor.expect(",");
    parse_axis(cursor, shape, axis + 1, to);
  }
  cursor.expect("]");
}

/// The values of hexadecimal digits; 16 for other letters.
constexpr std::array<std::uint8_t, 256> kHexDigits = [] {
  std::array<std::uint8_t, 256> values = {};
  values.fill(16);
  for (std::uint8_t i = 0; i < 10; i++) values[static_cast<std::size_t>('0') + i] = i;
  for (std::uint8_t i = 10; i < 16; i++)
    values[static_cast<std::size_t>('a') + i - 10] =
        values[static_cast<std::size_t>('A') + i - 10] = i;
  return values;
}();

/// Without the `0x`.
std::string_view hex_digits(std::string_view text, Offset at, std::string_view quoted) {
  if (quoted.substr(0, 2) != "0x" && quoted.substr(0, 2) != "0X")
    fail(text, at, "expected `0x` and the bytes of the elements");
  return quoted.substr(2);
}

/// Makes bytes those of elements: preds are 0 or 1, and small dtypes have no other bits.
void wrap_bytes(std::byte* bytes, std::int64_t count, DType dtype) {
  if (!is_pred(dtype) && !is_small(dtype)) return;
  for (std::int64_t i = 0; i < count; i++) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    bytes[i] = static_cast<std::byte>(is_pred(dtype) ? (byte != 0 ? 1 : 0)
                                                     : detail::wrapped_small(dtype, byte));
  }
}

/// The bytes of all elements or of one for all.
Literal parse_hex(std::string_view text, Offset at, std::string_view digits,
                  const TensorType& type) {
  const auto bytes = static_cast<std::int64_t>(digits.size() / 2);
  const bool splat = bytes == byte_width(type.dtype) && type.elements() != 1;
  if (digits.size() % 2 != 0 || (!splat && bytes != type.bytes())) {
    fail(text, at,
         fmt::format("{} hexadecimal digits; {} takes {}", digits.size(), type.str(),
                     2 * type.bytes()));
  }
  Literal value = Literal::uninitialized(splat ? TensorType{type.dtype, {}} : type);
  std::byte* const to = value.mutable_bytes();
  const char* from = digits.data();
  unsigned wrong = 0;
  for (std::int64_t i = 0; i < bytes; i++) {
    const unsigned high = kHexDigits[static_cast<unsigned char>(*from++)];
    const unsigned low = kHexDigits[static_cast<unsigned char>(*from++)];
    wrong |= high | low;
    to[i] = static_cast<std::byte>(16 * high + low);
  }
  if (wrong >= 16) fail(text, at, "expected hexadecimal digits");
  wrap_bytes(to, bytes, type.dtype);
  return value;
}

}  // namespace

Literal elements_of_bytes(std::string_view bytes, const TensorType& type) {
  const bool splat =
      type.elements() != 1 && static_cast<std::int64_t>(bytes.size()) == byte_width(type.dtype);
  Literal value = Literal::uninitialized(splat ? TensorType{type.dtype, {}} : type);
  std::memcpy(value.mutable_bytes(), bytes.data(), bytes.size());
  wrap_bytes(value.mutable_bytes(), static_cast<std::int64_t>(bytes.size()), type.dtype);
  return value;
}

Literal parse_resource(std::string_view text, const Resource& resource, const TensorType& type) {
  constexpr std::size_t kAlignmentDigits = 8;  // of an integer of 32 bits before the elements
  const std::string_view digits = hex_digits(text, resource.at, resource.quoted);
  if (digits.size() < kAlignmentDigits)
    fail(text, resource.at, "a resource begins with its alignment, 8 hexadecimal digits");
  return parse_hex(text, resource.at, digits.substr(kAlignmentDigits), type);
}

Literal parse_elements(std::string_view text, Offset at, std::string_view inside,
                       const TensorType& type) {
  Cursor cursor(text.substr(0, at + inside.size()), at);
  if (cursor.peek() == '"') {
    const Offset quote = cursor.at();
    const std::string_view digits = hex_digits(text, quote, cursor.quoted());
    Literal value = parse_hex(text, quote, digits, type);
    if (!cursor.at_end()) cursor.fail("expected `>`");
    return value;
  }
  if (cursor.at_end()) {
    if (type.elements() != 0) fail(text, at, fmt::format("{} has elements", type.str()));
    return Literal::zeros(type);
  }
  const bool splat = cursor.peek() != '[' && type.rank() > 0;
  // Each element takes a letter, and a comma but for the last.
  if (!splat && static_cast<std::uint64_t>(type.elements()) > inside.size())
    fail(text, at, fmt::format("there are fewer elements than {} has", type.str()));
  Literal value = Literal::uninitialized(splat ? TensorType{type.dtype, {}} : type);
  for_any_dtype(type.dtype, [&]<class T>() {
    T* to = reinterpret_cast<T*>(value.mutable_bytes());
    parse_axis(cursor, value.shape(), 0, to);
  });
  if (!cursor.at_end()) cursor.fail("expected `>`");
  return value;
}

}  // namespace rondo::text::mlir
