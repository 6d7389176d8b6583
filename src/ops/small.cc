#include "ops/small.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/small_format.h"
#include "ops/elementwise.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

/// The low bits of bytes, as the byte of an integer of that width.
Tensor wrapped_bytes(const Tensor& bytes, DType dtype, SourceLocation at) {
  const auto bits = static_cast<int>(bit_width(dtype));
  const Operand x(bytes, at);
  if (bits == 8) return bytes;
  if (!is_signed_integer(dtype)) return x & Operand((1 << bits) - 1, at);
  return shift_right_arithmetic({x << Operand(8 - bits, at), at}, {8 - bits, at});
}

/// The bits of bytes without those that a sign repeats, as u8.
Tensor bits_of_bytes(const Tensor& bytes, DType dtype, SourceLocation at) {
  Tensor plain = bitcast_convert({bytes, at}, DType::kU8);
  if (!is_signed_integer(dtype)) return plain;
  return Operand(plain, at) & Operand((1 << bit_width(dtype)) - 1, at);
}
Tensor bytes_of_bits(const Tensor& bits, DType dtype, SourceLocation at) {
  return wrapped_bytes(bitcast_convert({bits, at}, storage_dtype(dtype)), dtype, at);
}

Tensor integer_bytes(const Tensor& numbers, DType dtype, SourceLocation at) {
  const DType storage = storage_dtype(dtype);
  if (!is_floating(numbers.dtype()))
    return wrapped_bytes(convert({numbers, at}, storage), dtype, at);
  const int values = 1 << bit_width(dtype);
  const int least = is_signed_integer(dtype) ? -values / 2 : 0;
  return convert({clamp({least, at}, {numbers, at}, {least + values - 1, at}), at}, storage);
}

/// How f32 or f64 stores numbers.
struct WideFormat {
  DType floats, bits;
  int mantissa_bits, bias;
};

/// Exponent and mantissa of a format are one number that counts its values from 0, so a mantissa
/// that is rounded up to a power of two gives the next exponent without further ado.
Tensor float_bytes(const Tensor& numbers, DType dtype, SourceLocation at) {
  const SmallFormat format = small_format(dtype);
  const bool is_exact = byte_width(numbers.dtype()) <= 2 || numbers.dtype() == DType::kF32;
  const WideFormat wide = is_exact ? WideFormat{DType::kF32, DType::kS32, 23, 127}
                                   : WideFormat{DType::kF64, DType::kS64, 52, 1023};
  const auto operand = [at](const Tensor& tensor) { return Operand(tensor, at); };
  const auto number = [at](std::int64_t value) { return Operand(value, at); };
  const auto whole = [&](const Tensor& tensor) { return convert(operand(tensor), DType::kS32); };

  const Tensor x = convert({numbers, at}, wide.floats);
  const Tensor bits = bitcast_convert(operand(x), wide.bits);
  const Tensor negative = operand(bits) < number(0);
  const std::int64_t infinity = std::int64_t{2 * wide.bias + 1} << wide.mantissa_bits;
  const std::int64_t all = infinity | ((std::int64_t{1} << wide.mantissa_bits) - 1);
  const Tensor magnitude = operand(bits) & number(all);
  // The power of two at most |x|, but at least that of the least exponent, whose numbers and those
  // below it are equally dense.
  const std::int64_t least = std::int64_t{1 - format.bias + wide.bias} << wide.mantissa_bits;
  const Tensor power = maximum(operand(operand(magnitude) & number(infinity)), number(least));
  const Tensor mantissa = operand(bitcast_convert(operand(magnitude), wide.floats)) /
                          operand(bitcast_convert(operand(power), wide.floats));
  const Tensor rounded = round(operand(operand(mantissa) * Operand(1 << format.mantissa_bits, at)));
  const Tensor exponent =
      operand(whole(shift_right_logical(operand(power), number(wide.mantissa_bits)))) -
      number(wide.bias - format.bias + 1);
  Tensor code =
      operand(operand(exponent) * number(1 << format.mantissa_bits)) + operand(whole(rounded));
  const Tensor is_nan = operand(magnitude) > number(infinity);
  code = where(operand(operand(code) > number(format.greatest_finite())), number(format.overflow()),
               operand(code));
  code = where(operand(is_nan), number(format.nan()), operand(code));
  Tensor has_sign = negative;
  if (format.has_one_nan()) {
    const Tensor is_number =
        operand(operand(code) != number(0)) & operand(operand(code) != number(format.nan()));
    has_sign = operand(has_sign) & operand(is_number);
  }
  code = where(operand(has_sign), operand(operand(code) ^ number(1 << format.sign_bit())),
               operand(code));
  return convert(operand(code), DType::kU8);
}

Tensor table_of(DType dtype, SourceLocation at) {
  std::vector<float> values;
  for (int bits = 0; bits < 256; bits++)
    values.push_back(detail::small_value(dtype, static_cast<std::uint8_t>(bits)));
  return ir::make_constant(Literal::from(values), at);
}

/// The `all` lower bits of each byte as several numbers of `bits`, the lowest first, along a new
/// last axis; and back.
Tensor split_bytes(const Tensor& bytes, int all, int bits, SourceLocation at) {
  std::vector<Tensor> parts;
  std::vector<std::int64_t> dims = bytes.shape().vector();
  dims.push_back(1);
  for (int from = 0; from < all; from += bits) {
    const Tensor shifted = shift_right_logical({bytes, at}, {from, at});
    const Tensor part = Operand(shifted, at) & Operand((1 << bits) - 1, at);
    parts.push_back(reshape({part, at}, dims));
  }
  return concatenate(parts, static_cast<std::int64_t>(dims.size()) - 1, at);
}
Tensor part_of(const Tensor& parts, std::int64_t i, SourceLocation at) {
  std::vector<std::int64_t> starts(parts.shape().vector().size()), limits = parts.shape().vector();
  starts.back() = i;
  limits.back() = i + 1;
  return slice({parts, at}, starts, limits);
}
Tensor joined_bytes(const Tensor& parts, int bits, SourceLocation at) {
  std::vector<std::int64_t> dims = parts.shape().vector();
  dims.pop_back();
  Tensor bytes;
  for (std::int64_t i = 0; i < parts.shape().vector().back(); i++) {
    const Tensor part = reshape({part_of(parts, i, at), at}, dims);
    const Tensor shifted = Operand(part, at) << Operand(bits * i, at);
    bytes = bytes.empty() ? shifted : Operand(bytes, at) | Operand(shifted, at);
  }
  return bytes;
}

}  // namespace

Tensor numbers_of(const Tensor& bytes, DType dtype, SourceLocation at) {
  if (is_integer(dtype)) return bytes;
  return take({table_of(dtype, at), at}, {bytes, at});
}

Tensor bytes_of(const Tensor& numbers, DType dtype, SourceLocation at) {
  return is_integer(dtype) ? integer_bytes(numbers, dtype, at) : float_bytes(numbers, dtype, at);
}

std::vector<Tensor> convert_bytes(const ir::Node& node, std::span<const Tensor> operands) {
  const DType from = node.operand_type(0).dtype, to = node.type().dtype;
  const SourceLocation at = node.location();
  Tensor x = is_small(from) ? numbers_of(operands[0], from, at) : operands[0];
  if (!is_small(to)) return {convert({x, at}, to)};
  if (is_complex(x.dtype())) x = real({x, at});
  return {bytes_of(x, to, at)};
}

std::vector<Tensor> bitcast_bytes(const ir::Node& node, std::span<const Tensor> operands) {
  const DType from = node.operand_type(0).dtype, to = node.type().dtype;
  const SourceLocation at = node.location();
  Tensor bits = is_small(from) ? bits_of_bytes(operands[0], from, at) : operands[0];
  const auto from_bits = static_cast<int>(bit_width(from)),
             to_bits = static_cast<int>(bit_width(to));
  if (from_bits == to_bits)
    return {is_small(to) ? bytes_of_bits(bitcast_convert({bits, at}, DType::kU8), to, at)
                         : bitcast_convert({bits, at}, to)};
  // By way of bytes: [..., 4] numbers of 4 bits are [..., 2, 2] of which pairs make a byte.
  const int small_bits = std::min(from_bits, to_bits);
  if (to_bits > from_bits) {
    if (small_bits < 8) {
      std::vector<std::int64_t> dims = bits.shape().vector();
      const int count = std::max(1, std::min(to_bits, 8) / small_bits);
      dims.back() /= count;
      dims.push_back(count);
      bits = joined_bytes(reshape({bits, at}, dims), small_bits, at);
    }
    if (to_bits <= 8) bits = reshape({bits, at}, node.type().shape.vector());
  } else {
    if (from_bits >= 8) bits = bitcast_convert({bits, at}, DType::kU8);
    if (small_bits < 8)
      bits = reshape({split_bytes(bits, std::min(from_bits, 8), small_bits, at), at},
                     node.type().shape.vector());
  }
  return {is_small(to) ? bytes_of_bits(bits, to, at) : bitcast_convert({bits, at}, to)};
}

std::vector<Tensor> bits_on_bytes(const ir::Node& node, std::span<const Tensor> operands) {
  const DType dtype = node.type().dtype;
  const SourceLocation at = node.location();
  ir::Operands bits;
  for (const Tensor& operand : operands) bits.push_back(bits_of_bytes(operand, dtype, at));
  return {bytes_of_bits(ir::make(*node.op, std::move(bits), node.attributes, at), dtype, at)};
}

std::vector<Tensor> arithmetic_shift_on_bytes(const ir::Node& node,
                                              std::span<const Tensor> operands) {
  const DType dtype = node.type().dtype;
  const SourceLocation at = node.location();
  const DType with_sign = bit_width(dtype) == 2 ? DType::kS2 : DType::kS4;
  const Tensor x = bytes_of_bits(bits_of_bytes(operands[0], dtype, at), with_sign, at);
  const Tensor by = bitcast_convert({bits_of_bytes(operands[1], dtype, at), at}, DType::kS8);
  const Tensor shifted = shift_right_arithmetic({x, at}, {by, at});
  return {bytes_of_bits(bitcast_convert({shifted, at}, DType::kU8), dtype, at)};
}

std::vector<Tensor> leading_zeros_on_bytes(const ir::Node& node, std::span<const Tensor> operands) {
  const DType dtype = node.type().dtype;
  const SourceLocation at = node.location();
  const auto unused = static_cast<int>(8 - bit_width(dtype));
  const Tensor bits = bits_of_bytes(operands[0], dtype, at);
  const Tensor upper = Operand(bits, at) << Operand(unused, at);
  const Tensor ended = Operand(upper, at) | Operand((1 << unused) - 1, at);
  return {bytes_of_bits(count_leading_zeros({ended, at}), dtype, at)};
}

}  // namespace rondo::ops
