#include "lower/opcodes.h"

#include <limits>

#include "lower/arithmetic.h"

namespace rondo::lower {

const OpcodeInfo& info(Opcode code) noexcept {
  using enum OpcodeKind;
  static constexpr OpcodeInfo kTable[] = {
      {"constant", kConstant},
      {"negate", kUnary, 1},
      {"abs", kUnary, 1},
      {"not", kUnary, 1},
      {"sqrt", kUnary, 1},
      {"floor", kUnary, 1},
      {"ceil", kUnary, 1},
      {"round_even", kUnary, 1},
      {"truncate", kUnary, 1},
      {"popcount", kUnary, 1},
      {"count_leading_zeros", kUnary, 1},
      {"convert", kConvert, 1},
      {"bitcast", kConvert, 1},
      {"math_call", kMath, 2},
      {"add", kBinary, 2, true, true},
      {"subtract", kBinary, 2},
      {"multiply", kBinary, 2, true, true},
      {"divide", kBinary, 2},
      {"remainder", kBinary, 2},
      {"min", kBinary, 2, false, true},
      {"max", kBinary, 2, false, true},
      {"and", kBinary, 2, true, true},
      {"or", kBinary, 2, true, true},
      {"xor", kBinary, 2, true, true},
      {"shift_left", kBinary, 2},
      {"shift_right_logical", kBinary, 2},
      {"shift_right_arithmetic", kBinary, 2},
      {"rotate_left", kBinary, 2},
      {"equal", kCompare, 2, true},
      {"not_equal", kCompare, 2, true},
      {"less", kCompare, 2},
      {"less_equal", kCompare, 2},
      {"greater", kCompare, 2},
      {"greater_equal", kCompare, 2},
      {"fma", kTernary, 3},
      {"fnma", kTernary, 3},
      {"fms", kTernary, 3},
      {"select", kTernary, 3},
      {"base", kMemory},
      {"view", kMemory},
      {"load", kMemory},
      {"store", kMemory, 1},
      {"copy", kMemory},
      {"call", kMemory},
      {"tape_read", kMemory, 1},
      {"tape_write", kMemory, 1},
      {"tape_set", kMemory},
      {"for", kControl},
      {"end_for", kControl},
      {"lanes", kControl},
      {"end_lanes", kControl},
      {"while", kControl},
      {"test", kControl},
      {"end_while", kControl},
      {"if", kControl},
      {"else", kControl},
      {"end_if", kControl},
  };
  static_assert(std::size(kTable) == static_cast<std::size_t>(Opcode::kEndIf) + 1);
  return kTable[static_cast<std::size_t>(code)];
}

std::string_view type_name(Type type) noexcept {
  static constexpr std::string_view kNames[] = {"pred", "s8",  "s16", "s32",  "s64", "u8",  "u16",
                                                "u32",  "u64", "f16", "bf16", "f32", "f64", "ptr"};
  return kNames[static_cast<std::size_t>(type)];
}

std::int64_t width(Type type) noexcept {
  static constexpr std::int64_t kWidths[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8};
  return kWidths[static_cast<std::size_t>(type)];
}

Type bits_type(Type type) noexcept {
  switch (width(type)) {
    case 1:
      return Type::kU8;
    case 2:
      return Type::kU16;
    case 4:
      return Type::kU32;
    default:
      return Type::kU64;
  }
}

std::int64_t op_work(const Op& op) noexcept {
  switch (op.code) {
    case Opcode::kConstant:
    case Opcode::kBase:
      return 0;
    case Opcode::kMathCall:
      return op.c == kNone ? 96 : 4;  // of rare arguments, or one lane after the other
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kSqrt:
      return 8;
    default:
      return 1;
  }
}

std::int64_t op_latency(const Op& op) noexcept {
  const bool of_floats = is_float(op.type) || is_float(op.from);
  switch (op.code) {
    case Opcode::kConstant:
    case Opcode::kBase:
    case Opcode::kView:
      return 0;
    case Opcode::kMathCall:
      return 40;
    case Opcode::kSqrt:
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return 12;
    case Opcode::kLoad:
      return 5;
    case Opcode::kMultiply:
    case Opcode::kConvert:
      return of_floats ? 4 : op.code == Opcode::kMultiply ? 3 : 1;
    case Opcode::kMin:
    case Opcode::kMax:
      return op.bits == kRarelyBounds ? 0 : of_floats ? 4 : 2;
    default:
      return of_floats ? 3 : 1;
  }
}

std::uint64_t identity(Opcode combine, Type type) noexcept {
  return for_type(type, [&]<class T>() -> std::uint64_t {
    using Limits = std::numeric_limits<Computed<T>>;
    const auto extreme = [](bool low) {
      if constexpr (is_float_type<T>)
        return T(low ? -Limits::infinity() : Limits::infinity());
      else
        return T(low ? Limits::lowest() : Limits::max());
    };
    switch (combine) {
      case Opcode::kAdd:
        return to_bits(converted<T>(-0.0));  // 0 would change -0
      case Opcode::kMultiply:
        return to_bits(converted<T>(1));
      case Opcode::kMin:
        return to_bits(extreme(false));
      case Opcode::kMax:
        return to_bits(extreme(true));
      case Opcode::kAnd:
        if constexpr (is_pred_type<T>)
          return 1;
        else if constexpr (std::is_integral_v<T>)
          return to_bits(static_cast<T>(~T(0)));
        else
          return 0;
      default:
        return 0;
    }
  });
}

Type type_of(DType dtype) noexcept {
  if (dtype == DType::kC64) return Type::kF32;
  if (dtype == DType::kC128) return Type::kF64;
  return static_cast<Type>(dtype);  // both list the types in one order
}

static_assert(static_cast<int>(Type::kPred) == static_cast<int>(DType::kPred) &&
              static_cast<int>(Type::kU64) == static_cast<int>(DType::kU64) &&
              static_cast<int>(Type::kF64) == static_cast<int>(DType::kF64));

}  // namespace rondo::lower
