// Scalar code of preds, integers and pointers.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include "lower/opcodes.h"
#include "native/reciprocals.h"

namespace rondo::native_code::aarch64 {

using lower::Opcode;
namespace vixl_ = vixl::aarch64;

namespace {

int bits_of(lower::Type type) { return width_of(type) * 8; }

/// A constant as the arithmetic of its type has it.
std::int64_t signed_value(lower::Type type, std::uint64_t bits) {
  const std::uint64_t held = register_bits(type, bits);
  return wide(type) ? static_cast<std::int64_t>(held)
                    : static_cast<std::int32_t>(static_cast<std::uint32_t>(held));
}

}  // namespace

// A 32-bit instruction clears the upper half of its result.
void Emitter::normalize(Type type, const Register& to, const Register& from) {
  switch (type) {
    case Type::kS8:
      return Sxtb(to.W(), from.W());
    case Type::kS16:
      return Sxth(to.W(), from.W());
    case Type::kU8:
      return Uxtb(to.W(), from.W());
    case Type::kU16:
      return Uxth(to.W(), from.W());
    default:
      if (to.GetCode() != from.GetCode()) Mov(sized(type, to), sized(type, from));
  }
}

void Emitter::emit_integer(const Instruction& i) {
  switch (i.op) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return emit_integer_binary(i);
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return emit_division(i);
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return emit_shift(i);
    case Opcode::kRotateLeft:
      return emit_rotation(i);
    case Opcode::kMin:
    case Opcode::kMax:
      return emit_min_or_max(i);
    default:
      return emit_integer_unary(i);
  }
}

void Emitter::emit_integer_binary(const Instruction& given) {
  Instruction i = given;
  if (i.type == Type::kPred) {
    if (i.op == Opcode::kAdd) i.op = Opcode::kOr;
    if (i.op == Opcode::kMultiply) i.op = Opcode::kAnd;
  }
  if (lower::info(i.op).commutative && is_constant(i.a)) std::swap(i.a, i.b);
  const Register to = general_result(i.result), r = sized(i.type, to);
  const Register a = sized(i.type, general(i.a, 0));
  const bool immediate = is_constant(i.b) && i.op != Opcode::kMultiply;
  const Operand b = immediate ? Operand(signed_value(i.type, info(i.b).bits))
                              : Operand(sized(i.type, general(i.b, 1)));
  switch (i.op) {
    case Opcode::kAdd:
      Add(r, a, b);
      break;
    case Opcode::kSubtract:
      Sub(r, a, b);
      break;
    case Opcode::kMultiply:
      Mul(r, a, b.GetRegister());
      break;
    case Opcode::kAnd:
      And(r, a, b);
      break;
    case Opcode::kOr:
      Orr(r, a, b);
      break;
    default:
      Eor(r, a, b);
  }
  normalize(i.type, to, to);
  finish(i.result, to);
}

void Emitter::emit_min_or_max(const Instruction& i) {
  if (i.bits == kClamps) return emit_clamped_index(i);
  if (i.bits == lower::kRarelyBounds && i.type == Type::kS64) {
    const Unit bound = is_constant(i.a) ? i.a : i.b;
    if (is_constant(bound))
      return emit_likely_bound(i, bound == i.a ? i.b : i.a,
                               static_cast<std::int64_t>(info(bound).bits));
  }
  const Register a = sized(i.type, general(i.a, 0)), b = sized(i.type, general(i.b, 1));
  const Register to = general_result(i.result);
  Cmp(a, b);
  const bool min = i.op == Opcode::kMin;
  const Condition first =
      signed_integer(i.type) ? (min ? vixl_::lt : vixl_::gt) : (min ? vixl_::lo : vixl_::hi);
  Csel(sized(i.type, to), a, b, first);
  finish(i.result, to);
}

// If the operand is nearly always the result, a jump that is not taken costs no time.
void Emitter::emit_likely_bound(const Instruction& i, Unit x, std::int64_t bound) {
  const Register from = general(x, 0), to = general_result(i.result);
  if (!to.Is(from)) Mov(to, from);
  compare_with_constant(to, bound);
  Label* outside = new_label();
  Label* resume = new_label();
  B(outside, i.op == Opcode::kMin ? vixl_::gt : vixl_::lt);
  Bind(resume);
  rare_.emplace_back([this, outside, resume, to, bound] {
    Bind(outside);
    Mov(to, static_cast<std::uint64_t>(bound));
    B(resume);
  });
  finish(i.result, to);
}

void Emitter::emit_clamped_index(const Instruction& i) {
  const auto room = static_cast<std::int64_t>(info(i.b).bits);
  const Register from = general(i.a, 0), to = general_result(i.result);
  const Register index = sized(i.from, to);
  if (!to.Is(from)) Mov(to, from);
  // As an unsigned number, a negative one is out of range too.
  compare_with_constant(index, room);
  Label* outside = new_label();
  Label* resume = new_label();
  B(outside, vixl_::hi);
  Bind(resume);
  rare_.emplace_back([this, outside, resume, index, to, room] {
    Bind(outside);
    Cmp(index, 0);
    Mov(scratch(1), static_cast<std::uint64_t>(room));
    Csel(to, Register(vixl_::xzr), scratch(1), vixl_::lt);
    B(resume);
  });
  finish(i.result, to);
}

void Emitter::emit_integer_unary(const Instruction& i) {
  const int bits = bits_of(i.type);
  const Register a = general(i.a, 0), to = general_result(i.result);
  const Register from = sized(i.type, a), r = sized(i.type, to);
  switch (i.op) {
    case Opcode::kNegate:
      Neg(r, from);
      break;
    case Opcode::kAbs:
      if (signed_integer(i.type)) {
        Cmp(from, 0);
        Cneg(r, from, vixl_::lt);
      } else if (!to.Is(a)) {
        Mov(to, a);
      }
      break;
    case Opcode::kNot:
      i.type == Type::kPred ? Eor(r, from, 1) : Mvn(r, from);
      break;
    case Opcode::kPopcount: {
      const VRegister v = scratch_vector(0);
      if (bits < 32) {
        And(scratch(0).W(), from, (std::int64_t{1} << bits) - 1);
        Fmov(v.S(), scratch(0).W());
      } else {
        wide(i.type) ? Fmov(v.D(), from) : Fmov(v.S(), from);
      }
      Cnt(v.V8B(), v.V8B());
      Addv(v.B(), v.V8B());
      Fmov(to.W(), v.S());
      break;
    }
    default:  // kCountLeadingZeros
      if (bits < 32) {
        And(scratch(0).W(), from, (std::int64_t{1} << bits) - 1);
        Clz(r, scratch(0).W());
        Sub(r, r, 32 - bits);
      } else {
        Clz(r, from);
      }
  }
  normalize(i.type, to, to);
  finish(i.result, to);
}

// The instruction gives 0 for a quotient by 0, and the least integer for that divided by -1.
void Emitter::emit_division(const Instruction& i) {
  if (is_constant(i.b) && emit_division_by_constant(i)) return;
  const Register a = sized(i.type, general(i.a, 0)), b = sized(i.type, general(i.b, 1));
  const Register to = general_result(i.result), r = sized(i.type, to);
  const Register quotient = sized(i.type, scratch(2));
  signed_integer(i.type) ? Sdiv(quotient, a, b) : Udiv(quotient, a, b);
  if (i.op == Opcode::kDivide) {
    Cmp(b, 0);
    Csinv(r, quotient, sized(i.type, vixl_::xzr), vixl_::ne);
  } else {
    Msub(r, quotient, b, a);
  }
  normalize(i.type, to, to);
  finish(i.result, to);
}

// Section 4 and 5. The dividend is in scratch register 1, in 64 bits; the quotient goes to 2.
void Emitter::divide_unsigned(std::uint64_t by) {
  const int log = log2_above(by);
  const std::uint64_t power = log == 64 ? 0 : std::uint64_t{1} << log;
  Mov(scratch(0), scaled_quotient(power - by, by) + 1);
  Umulh(scratch(2), scratch(1), scratch(0));
  Sub(scratch(0), scratch(1), scratch(2));
  Add(scratch(2), scratch(2), Operand(scratch(0), vixl_::LSR, 1));
  if (log > 1) Lsr(scratch(2), scratch(2), static_cast<unsigned>(log - 1));
}

void Emitter::divide_signed(std::int64_t by) {
  const std::uint64_t size =
      by < 0 ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
  const int log = log2_above(size);
  Mov(scratch(0), scaled_quotient(std::uint64_t{1} << (log - 1), size) + 1);
  Smulh(scratch(2), scratch(1), scratch(0));
  Add(scratch(2), scratch(2), scratch(1));
  if (log > 1) Asr(scratch(2), scratch(2), static_cast<unsigned>(log - 1));
  Add(scratch(2), scratch(2), Operand(scratch(1), vixl_::LSR, 63));
  if (by < 0) Neg(scratch(2), scratch(2));
}

/// By a multiplication. False if there is no such code for the divisor.
bool Emitter::emit_division_by_constant(const Instruction& i) {
  const bool by8 = wide(i.type), is_signed = signed_integer(i.type);
  const std::uint64_t bits = register_bits(i.type, info(i.b).bits);
  const std::int64_t by =
      is_signed ? signed_value(i.type, info(i.b).bits) : static_cast<std::int64_t>(bits);
  const std::uint64_t size =
      is_signed && by < 0 ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
  if (size < 2) return false;
  const Register a = general(i.a, 1), dividend = scratch(1);
  if (is_signed && !by8) {
    Sxtw(dividend, a.W());
  } else if (!a.Is(dividend)) {
    Mov(dividend, a);
  }
  // A 32-bit dividend times the divisor's reciprocal, rounded up to 64 bits, has an error less than
  // the distance to the next quotient.
  if (by8) {
    is_signed ? divide_signed(by) : divide_unsigned(size);
  } else if (!is_signed) {
    Mov(scratch(0), scaled_quotient(1, size) + 1);
    Umulh(scratch(2), dividend, scratch(0));
  } else if (size == 2) {
    divide_signed(by);
  } else {
    Mov(scratch(0), scaled_quotient(1, size) + 1);
    Smulh(scratch(2), dividend, scratch(0));
    Add(scratch(2), scratch(2), Operand(dividend, vixl_::LSR, 63));
    if (by < 0) Neg(scratch(2), scratch(2));
  }
  const Register to = general_result(i.result);
  if (i.op == Opcode::kDivide) {
    Mov(sized(i.type, to), sized(i.type, scratch(2)));
  } else {
    Mov(scratch(0), bits);
    Msub(sized(i.type, to), sized(i.type, scratch(2)), sized(i.type, scratch(0)),
         sized(i.type, dividend));
  }
  normalize(i.type, to, to);
  finish(i.result, to);
  return true;
}

// The bits that are shifted in depend on the op, not on the sign of the type.
void Emitter::shift_by_constant(const Instruction& i) {
  const auto bits = static_cast<unsigned>(bits_of(i.type));
  const Register to = general_result(i.result), a = sized(i.type, general(i.a, 0));
  const Register r = sized(i.type, to);
  std::uint64_t by = info(i.b).bits & (bits == 64 ? ~0ull : (1ull << bits) - 1);
  const bool arithmetic = i.op == Opcode::kShiftRightArithmetic;
  if (by >= bits && arithmetic) by = bits - 1;
  const auto shift = static_cast<unsigned>(by);
  if (by >= bits) {
    Mov(to, 0);
  } else if (i.op == Opcode::kShiftLeft) {
    Lsl(r, a, shift);
  } else if (arithmetic) {
    Sbfx(r, a, shift, bits - shift);
  } else {
    Ubfx(r, a, shift, bits - shift);
  }
  normalize(i.type, to, to);
  finish(i.result, to);
}

/// By a constant, of 32 or 64 bits.
void Emitter::emit_rotation(const Instruction& i) {
  const auto bits = static_cast<std::uint64_t>(bits_of(i.type));
  const Register to = general_result(i.result);
  Ror(sized(i.type, to), sized(i.type, general(i.a, 0)),
      static_cast<unsigned>(-info(i.b).bits % bits));
  finish(i.result, to);
}

void Emitter::emit_shift(const Instruction& i) {
  if (is_constant(i.b)) return shift_by_constant(i);
  const auto bits = static_cast<unsigned>(bits_of(i.type));
  const bool arithmetic = i.op == Opcode::kShiftRightArithmetic;
  Register a = sized(i.type, general(i.a, 0)), b = sized(i.type, general(i.b, 1));
  if (bits < 32) {
    // Amounts are compared as unsigned.
    const Register shifted = scratch(0).W(), amount = scratch(1).W();
    if (i.op != Opcode::kShiftLeft)
      arithmetic ? Sbfx(shifted, a, 0, bits) : Ubfx(shifted, a, 0, bits);
    else if (!a.Is(shifted))
      Mov(shifted, a);
    Ubfx(amount, b, 0, bits);
    a = shifted, b = amount;
  }
  const Register to = general_result(i.result), r = sized(i.type, to);
  const Register build = sized(i.type, scratch(2));
  if (arithmetic) {
    // At most all bits but one: min(b, bits - 1).
    Cmp(b, bits - 1);
    Mov(build, bits - 1);
    Csel(build, b, build, vixl_::ls);
    Asr(r, a, build);
  } else {
    Cmp(b, bits);
    i.op == Opcode::kShiftLeft ? Lsl(build, a, b) : Lsr(build, a, b);
    Csel(r, build, sized(i.type, vixl_::xzr), vixl_::lo);
  }
  normalize(i.type, to, to);
  finish(i.result, to);
}

void Emitter::compare_with_constant(const Register& a, std::int64_t value) {
  if (vixl_::Assembler::IsImmAddSub(value)) {
    Cmp(a, value);
  } else if (value != INT64_MIN && vixl_::Assembler::IsImmAddSub(-value)) {
    Cmn(a, -value);
  } else {
    const Register by = a.Is64Bits() ? scratch(3) : scratch(3).W();
    Mov(by, static_cast<std::uint64_t>(value));
    Cmp(a, by);
  }
}

Emitter::Condition Emitter::compare(const Instruction& i) {
  const int which = static_cast<int>(i.op) - static_cast<int>(Opcode::kEqual);
  if (floating(i.from)) {
    // Where one is NaN, all hold that are the inverse of these.
    constexpr Condition conditions[] = {vixl_::eq, vixl_::ne, vixl_::mi,
                                        vixl_::ls, vixl_::gt, vixl_::ge};
    const VRegister a = vector_of(i.a, 0);
    if (is_constant(i.b) && register_bits(i.from, info(i.b).bits) == 0) {
      Fcmp(a, 0.0);
    } else {
      Fcmp(a, vector_of(i.b, 1));
    }
    return conditions[which];
  }
  const Register a = sized(i.from, general(i.a, 0));
  if (is_constant(i.b)) {
    compare_with_constant(a, signed_value(i.from, info(i.b).bits));
  } else {
    Cmp(a, sized(i.from, general(i.b, 1)));
  }
  constexpr Condition with_sign[] = {vixl_::eq, vixl_::ne, vixl_::lt,
                                     vixl_::le, vixl_::gt, vixl_::ge};
  constexpr Condition without[] = {vixl_::eq, vixl_::ne, vixl_::lo,
                                   vixl_::ls, vixl_::hi, vixl_::hs};
  return signed_integer(i.from) ? with_sign[which] : without[which];
}

void Emitter::emit_compare(const Instruction& i) {
  const Condition condition = compare(i);
  const Register to = general_result(i.result);
  Cset(to.W(), condition);
  finish(i.result, to);
}

Emitter::Condition Emitter::test_predicate(Unit predicate, std::size_t position) {
  if (position > 0 && is_fused(position - 1) && code_.code[position - 1].result == predicate)
    return compare(code_.code[position - 1]);
  Cmp(general(predicate, 0).W(), 0);
  return vixl_::ne;
}

void Emitter::emit_general_select(const Instruction& i, std::size_t position) {
  const Condition condition = test_predicate(i.a, position);
  const auto value = [&](Unit u, int scratch_number) {
    const bool is_zero = is_constant(u) && info(u).bits == 0;
    return is_zero ? Register(vixl_::xzr) : general(u, scratch_number);
  };
  const Register b = value(i.b, 0), c = value(i.c, 1), to = general_result(i.result);
  Csel(to, b, c, condition);
  finish(i.result, to);
}

}  // namespace rondo::native_code::aarch64

#endif
