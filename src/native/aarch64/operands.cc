// What the instructions have as operands without others before them.
#include "native/aarch64/assemble.h"
#include "native/register_bits.h"

#if defined(RONDO_HAVE_VIXL)

#include <aarch64/assembler-aarch64.h>

#include "lower/opcodes.h"

namespace rondo::native_code::aarch64 {

using lower::Opcode;
using lower::Type;

bool fits_access(const MachineAddress& address, int bytes) {
  if (address.terms.empty()) return true;
  const std::int64_t stride = address.terms[0].stride;
  return address.terms.size() == 1 && address.offset == 0 && (stride == 1 || stride == bytes);
}

namespace {

bool is_shift(Opcode op) {
  return op == Opcode::kShiftLeft || op == Opcode::kShiftRightLogical ||
         op == Opcode::kShiftRightArithmetic || op == Opcode::kRotateLeft;
}

/// Of an instruction that adds or subtracts 12 bits, perhaps shifted by 12.
bool is_addend(std::int64_t value) {
  return vixl::aarch64::Assembler::IsImmAddSub(value) ||
         (value != INT64_MIN && vixl::aarch64::Assembler::IsImmAddSub(-value));
}

/// The second operand of scalar arithmetic, or either one where they may change places.
bool takes_second(const Instruction& i, const UnitInfo& constant) {
  const bool compares = i.op >= Opcode::kEqual && i.op <= Opcode::kGreaterEqual;
  const Type type = compares ? i.from : i.type;
  const std::uint64_t bits = register_bits(type, constant.bits);
  if (floating(type)) return compares && bits == 0;
  const std::int64_t value = wide(type)
                                 ? static_cast<std::int64_t>(bits)
                                 : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
  if (compares || i.op == Opcode::kAdd || i.op == Opcode::kSubtract) return is_addend(value);
  switch (i.op) {
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor: {
      unsigned n = 0, imm_s = 0, imm_r = 0;
      return vixl::aarch64::Assembler::IsImmLogical(bits, wide(type) ? 64 : 32, &n, &imm_s, &imm_r);
    }
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return true;
    case Opcode::kMin:
    case Opcode::kMax:
      return i.bits == kClamps || i.bits == lower::kRarelyBounds;
    default:
      return is_shift(i.op);
  }
}

}  // namespace

bool takes_constant(const Instruction& i, int operand, const UnitInfo& constant) {
  const bool is_zero = !floating(constant.type) && constant.lanes == 1 && constant.bits == 0;
  if (i.kind == Kind::kStore) return is_zero;
  if (i.lanes > 1) return operand == 1 && is_shift(i.op);
  if (i.op == Opcode::kSelect) return operand == 0 || is_zero;
  const bool second = operand == 1 || (lower::info(i.op).commutative && operand == 0);
  return second && takes_second(i, constant);
}

}  // namespace rondo::native_code::aarch64

#endif
