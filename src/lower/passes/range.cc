#include "lower/passes/range.h"

#include <bit>
#include <cstdint>
#include <type_traits>

#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::lower {

Range range_of(Type type) {
  if (type == Type::kPred) return {0, 1};
  if (!is_integer(type) || width(type) == 8) return {};
  const int bits = static_cast<int>(8 * width(type));
  if (type >= Type::kU8) return {0, (std::int64_t{1} << bits) - 1};
  return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

bool is_followed(Type type) {
  return type == Type::kPred || (is_integer(type) && type != Type::kU64);
}

namespace {

std::optional<Range> sum(const Range& a, const Range& b) {
  Range to;
  if (__builtin_add_overflow(a.low, b.low, &to.low) ||
      __builtin_add_overflow(a.high, b.high, &to.high))
    return std::nullopt;
  return to;
}

std::optional<Range> difference(const Range& a, const Range& b) {
  Range to;
  if (__builtin_sub_overflow(a.low, b.high, &to.low) ||
      __builtin_sub_overflow(a.high, b.low, &to.high))
    return std::nullopt;
  return to;
}

std::optional<Range> product(const Range& a, const Range& b) {
  Range to{INT64_MAX, INT64_MIN};
  for (const std::int64_t x : {a.low, a.high}) {
    for (const std::int64_t y : {b.low, b.high}) {
      std::int64_t corner = 0;
      if (__builtin_mul_overflow(x, y, &corner)) return std::nullopt;
      to = {std::min(to.low, corner), std::max(to.high, corner)};
    }
  }
  return to;
}

/// By a positive divisor; the sign is the dividend's.
std::optional<Range> remainder(const Range& a, const Range& b) {
  if (b.low <= 0) return std::nullopt;
  return Range{a.low >= 0 ? 0 : 1 - b.high, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
}

std::optional<Range> quotient(const Range& a, const Range& b) {
  if (a.low < 0 || b.low <= 0) return std::nullopt;
  return Range{a.low / b.high, a.high / b.low};
}

/// Of the bits, if one operand is non-negative.
std::optional<Range> common_bits(const Range& a, const Range& b) {
  if (a.low < 0 && b.low < 0) return std::nullopt;
  if (a.low < 0 || b.low < 0) return Range{0, a.low < 0 ? b.high : a.high};
  return Range{0, std::min(a.high, b.high)};
}

/// All bits below the highest one of operands that are not negative.
std::optional<Range> joined_bits(const Op& op, const Range& a, const Range& b) {
  if (a.low < 0 || b.low < 0) return std::nullopt;
  const auto most = static_cast<std::uint64_t>(a.high | b.high);
  const auto all = static_cast<std::int64_t>((std::uint64_t{1} << std::bit_width(most)) - 1);
  return Range{op.code == Opcode::kOr ? std::max(a.low, b.low) : 0, all};
}

/// By a constant.
std::optional<Range> shifted_right(const Op& op, const Range& a, const Range& by) {
  const std::int64_t bits = 8 * width(op.type);
  if (by.low != by.high || by.low < 0 || by.low >= bits) return std::nullopt;
  if (a.low >= 0 || op.code == Opcode::kShiftRightArithmetic)
    return Range{a.low >> by.low, a.high >> by.low};
  if (by.low == 0) return std::nullopt;
  return Range{0, static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits + by.low))};
}

std::optional<Range> shifted_left(const Op& op, const Range& a, const Range& by) {
  const std::int64_t bits = 8 * width(op.type);
  if (by.low != by.high || by.low < 0 || by.low >= bits - 1) return std::nullopt;
  const std::int64_t factor = std::int64_t{1} << by.low;
  return product(a, {factor, factor});
}

Range constant(const Op& op) {
  std::int64_t value = 0;
  for_type(op.type, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) value = static_cast<std::int64_t>(from_bits<T>(op.bits));
  });
  return {value, value};
}

/// Of 0 or 1.
Range as_range(const std::optional<bool>& known) {
  if (!known) return {0, 1};
  return *known ? Range{1, 1} : Range{0, 0};
}

std::optional<Range> of_preds(const Op& op, const Range& a, const Range& b) {
  switch (op.code) {
    case Opcode::kNot:
      return Range{1 - a.high, 1 - a.low};
    case Opcode::kAnd:
      return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
    case Opcode::kOr:
      return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return std::nullopt;
  }
}

std::optional<Range> unbounded(const Op& op, const Range& a, const Range& b, const Range& c) {
  if (info(op.code).kind == OpcodeKind::kCompare) {
    const bool known = is_followed(op.from) || (op.from == Type::kU64 && a.low >= 0 && b.low >= 0);
    return known ? as_range(compared(op.code, a, b)) : Range{0, 1};
  }
  if (op.type == Type::kPred) {
    if (const auto range = of_preds(op, a, b)) return range;
  }
  switch (op.code) {
    case Opcode::kConstant:
      return constant(op);
    case Opcode::kConvert:
      return is_followed(op.from) ? std::optional(a) : std::nullopt;
    case Opcode::kBitcast:
      return is_followed(op.from) && a.low >= 0 ? std::optional(a) : std::nullopt;
    case Opcode::kAdd:
      return sum(a, b);
    case Opcode::kSubtract:
      return difference(a, b);
    case Opcode::kMultiply:
      return product(a, b);
    case Opcode::kDivide:
      return quotient(a, b);
    case Opcode::kRemainder:
      return remainder(a, b);
    case Opcode::kMin:
      return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
    case Opcode::kMax:
      return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
    case Opcode::kAnd:
      return common_bits(a, b);
    case Opcode::kOr:
    case Opcode::kXor:
      return joined_bits(op, a, b);
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return shifted_right(op, a, b);
    case Opcode::kShiftLeft:
      return shifted_left(op, a, b);
    case Opcode::kSelect:
      return join(b, c);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Range> computed(const Op& op, const Range& a, const Range& b, const Range& c) {
  if (op.type == Type::kU64) {
    const bool is_known = op.code == Opcode::kConstant || op.code == Opcode::kBitcast;
    const std::optional<Range> range = is_known ? unbounded(op, a, b, c) : std::nullopt;
    return range && range->low >= 0 ? range : std::nullopt;
  }
  if (!is_followed(op.type)) return std::nullopt;
  const std::optional<Range> range = unbounded(op, a, b, c);
  return range && range_of(op.type).contains(*range) ? range : std::nullopt;
}

std::optional<bool> compared(Opcode compare, const Range& a, const Range& b) {
  const auto decided = [](bool always, bool never) {
    return always ? std::optional(true) : never ? std::optional(false) : std::nullopt;
  };
  switch (compare) {
    case Opcode::kLess:
      return decided(a.high < b.low, a.low >= b.high);
    case Opcode::kLessEqual:
      return decided(a.high <= b.low, a.low > b.high);
    case Opcode::kGreater:
      return decided(a.low > b.high, a.high <= b.low);
    case Opcode::kGreaterEqual:
      return decided(a.low >= b.high, a.high < b.low);
    default: {
      const bool equal = compare == Opcode::kEqual;
      const bool apart = a.high < b.low || a.low > b.high, one = a.low == b.high && a.high == b.low;
      return decided(equal ? one : apart, equal ? apart : one);
    }
  }
}

Range where_compared(Opcode compare, const Range& a, const Range& b) {
  switch (compare) {
    case Opcode::kLess:
      return b.high == INT64_MIN ? a : common(a, {INT64_MIN, b.high - 1});
    case Opcode::kLessEqual:
      return common(a, {INT64_MIN, b.high});
    case Opcode::kGreater:
      return b.low == INT64_MAX ? a : common(a, {b.low + 1, INT64_MAX});
    case Opcode::kGreaterEqual:
      return common(a, {b.low, INT64_MAX});
    case Opcode::kEqual:
      return common(a, b);
    case Opcode::kNotEqual:
      if (b.low != b.high || a.low == a.high) return a;
      return {a.low == b.low ? a.low + 1 : a.low, a.high == b.low ? a.high - 1 : a.high};
    default:
      return a;
  }
}

}  // namespace rondo::lower
