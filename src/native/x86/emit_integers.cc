// Scalar code of preds, integers and pointers.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include "lower/opcodes.h"

namespace rondo::native_code::x86 {

using lower::Opcode;
using lower::Type;

namespace {

int bits_of(Type type) { return width_of(type) * 8; }

}  // namespace

void Emitter::normalize(Type type, const Reg64& r) {
  switch (type) {
    case Type::kS8:
      return movsx(r.cvt32(), r.cvt8());
    case Type::kS16:
      return movsx(r.cvt32(), r.cvt16());
    case Type::kU8:
      return movzx(r.cvt32(), r.cvt8());
    case Type::kU16:
      return movzx(r.cvt32(), r.cvt16());
    default:
      return;  // a 32-bit instruction has cleared the upper half
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
    case Opcode::kMax: {
      if (i.bits == kClamps) return emit_clamped_index(i);
      if (i.bits == lower::kRarelyBounds && i.type == Type::kS64) {
        const Unit bound = is_constant(i.a) ? i.a : i.b;
        const auto value = static_cast<std::int64_t>(info(bound).bits);
        if (is_constant(bound) && value == static_cast<std::int32_t>(value))
          return emit_likely_bound(i, bound == i.a ? i.b : i.a, static_cast<std::int32_t>(value));
      }
      Reg64 a = general(i.a, 0), b = general(i.b, 1);
      const Reg64 to = general_result(i.result);
      if (to.getIdx() == b.getIdx()) std::swap(a, b);
      if (to.getIdx() != a.getIdx()) mov(to, a);
      if (wide(i.type)) {
        cmp(to, b);
      } else {
        cmp(to.cvt32(), b.cvt32());
      }
      const bool min = i.op == Opcode::kMin;
      if (signed_integer(i.type)) {
        min ? cmovg(to, b) : cmovl(to, b);
      } else {
        min ? cmova(to, b) : cmovb(to, b);
      }
      return finish(i.result, to);
    }
    default:
      return emit_integer_unary(i);
  }
}

template <class S>
void Emitter::combine(Opcode op, const Xbyak::Reg32e& r, const S& s) {
  switch (op) {
    case Opcode::kAdd:
      return add(r, s);
    case Opcode::kSubtract:
      return sub(r, s);
    case Opcode::kAnd:
      return and_(r, s);
    case Opcode::kOr:
      return or_(r, s);
    default:
      xor_(r, s);
  }
}

void Emitter::emit_integer_binary(const Instruction& given) {
  Instruction i = given;
  if (i.type == Type::kPred) {
    if (i.op == Opcode::kAdd) i.op = Opcode::kOr;
    if (i.op == Opcode::kMultiply) i.op = Opcode::kAnd;
  }
  if (lower::info(i.op).commutative && is_constant(i.a)) std::swap(i.a, i.b);
  const bool by8 = wide(i.type);
  const Reg64 result = general_result(i.result);
  const Reg64 a = general(i.a, 0);
  // A sum of registers in a third one; the upper bits of a narrow type may be anything.
  const bool adds_to_other = i.op == Opcode::kAdd && result.getIdx() != a.getIdx();
  const auto load_address = [&](const Xbyak::RegExp& sum) {
    by8 ? lea(result, ptr[sum]) : lea(result.cvt32(), ptr[sum]);
    normalize(i.type, result);
    finish(i.result, result);
  };
  if (is_constant(i.b)) {
    const std::uint64_t bits = register_bits(i.type, info(i.b).bits);
    const std::int64_t value = by8 ? static_cast<std::int64_t>(bits)
                                   : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    if (value == static_cast<std::int32_t>(value)) {
      const auto immediate = static_cast<std::uint32_t>(value);
      if (adds_to_other) return load_address(a + static_cast<std::size_t>(value));
      if (i.op == Opcode::kSubtract && result.getIdx() != a.getIdx() && value != INT32_MIN)
        return load_address(a + static_cast<std::size_t>(-value));
      if (i.op == Opcode::kMultiply && (value == 3 || value == 5 || value == 9))
        return load_address(a + a * static_cast<int>(value - 1));
      if (i.op == Opcode::kMultiply) {
        if (by8) {
          imul(result, a, static_cast<int>(value));
        } else {
          imul(result.cvt32(), a.cvt32(), static_cast<int>(value));
        }
      } else {
        if (result.getIdx() != a.getIdx()) mov(result, a);
        combine(i.op, by8 ? Xbyak::Reg32e(result) : Xbyak::Reg32e(result.cvt32()), immediate);
      }
      normalize(i.type, result);
      return finish(i.result, result);
    }
  }
  const Reg64 b = general(i.b, 1);
  if (adds_to_other && result.getIdx() != b.getIdx()) return load_address(a + b);
  const auto sized = [&](const Reg64& r) {
    return by8 ? Xbyak::Reg32e(r) : Xbyak::Reg32e(r.cvt32());
  };
  // The result's register may be that of b.
  const bool in_place_of_b = result.getIdx() == b.getIdx() && result.getIdx() != a.getIdx();
  if (i.op == Opcode::kSubtract && in_place_of_b) {
    neg(sized(result));
    add(sized(result), sized(a));
  } else {
    if (!in_place_of_b && result.getIdx() != a.getIdx()) mov(result, a);
    const Xbyak::Reg32e s = sized(in_place_of_b ? a : b);
    if (i.op == Opcode::kMultiply)
      imul(sized(result), s);
    else
      combine(i.op, sized(result), s);
  }
  normalize(i.type, result);
  finish(i.result, result);
}

void Emitter::emit_likely_bound(const Instruction& i, Unit x, std::int32_t bound) {
  const Reg64 from = general(x, 0), to = general_result(i.result);
  if (to.getIdx() != from.getIdx()) mov(to, from);
  cmp(to, static_cast<std::uint32_t>(bound));
  Label* outside = new_label();
  Label* resume = new_label();
  if (i.op == Opcode::kMin) {
    jg(*outside, T_NEAR);
  } else {
    jl(*outside, T_NEAR);
  }
  L(*resume);
  rare_.push_back([this, outside, resume, to, bound] {
    L(*outside);
    mov(to, static_cast<std::uint64_t>(static_cast<std::int64_t>(bound)));
    jmp(*resume, T_NEAR);
  });
  finish(i.result, to);
}

void Emitter::emit_clamped_index(const Instruction& i) {
  const bool by8 = i.from == Type::kS64;
  const auto room = static_cast<std::uint32_t>(info(i.b).bits);
  const Reg64 from = general(i.a, 0), to = general_result(i.result);
  const Xbyak::Reg32e index = by8 ? Xbyak::Reg32e(to) : Xbyak::Reg32e(to.cvt32());
  if (to.getIdx() != from.getIdx()) mov(to, from);
  // As an unsigned number, a negative one is out of range too.
  cmp(index, room);
  Label* outside = new_label();
  Label* resume = new_label();
  ja(*outside, T_NEAR);
  L(*resume);
  rare_.push_back([this, outside, resume, index, to, room] {
    L(*outside);
    test(index, index);
    mov(to.cvt32(), room);
    jns(*resume, T_NEAR);
    xor_(to.cvt32(), to.cvt32());
    jmp(*resume, T_NEAR);
  });
  finish(i.result, to);
}

void Emitter::emit_integer_unary(const Instruction& i) {
  const Reg64 a = general(i.a, 0);
  const bool by8 = wide(i.type);
  const int bits = bits_of(i.type);
  const Reg64 to = general_result(i.result);
  if (to.getIdx() != a.getIdx()) mov(to, a);
  const Xbyak::Reg32e r = by8 ? Xbyak::Reg32e(to) : Xbyak::Reg32e(to.cvt32());
  switch (i.op) {
    case Opcode::kNegate:
      neg(r);
      break;
    case Opcode::kAbs: {
      if (!signed_integer(i.type)) break;
      const Xbyak::Reg32e negative = by8 ? Xbyak::Reg32e(rdx) : Xbyak::Reg32e(edx);
      mov(negative, r);
      neg(negative);
      cmovns(r, negative);
      break;
    }
    case Opcode::kNot:
      if (i.type == Type::kPred) {
        xor_(r, 1);
      } else {
        not_(r);
      }
      break;
    case Opcode::kPopcount:
      if (bits < 32) and_(r, (1u << bits) - 1);
      popcnt(r, r);
      break;
    case Opcode::kCountLeadingZeros:
      if (bits < 32) and_(r, (1u << bits) - 1);
      lzcnt(r, r);
      if (bits < 32) sub(r, static_cast<std::uint32_t>(32 - bits));
      break;
    default:
      throw Xbyak::Error(Xbyak::ERR_BAD_PARAMETER);
  }
  normalize(i.type, to);
  finish(i.result, to);
}

// In 64 bits if the type is narrower: then the least integer divided by -1 needs no special case.
void Emitter::emit_division(const Instruction& i) {
  if (is_constant(i.b) && emit_division_by_constant(i)) return;
  const bool by8 = wide(i.type), is_signed = signed_integer(i.type);
  const bool divides = i.op == Opcode::kDivide;
  Label by_zero, by_minus_one, done;
  {
    const Reg64 b = general(i.b, 1);
    if (b.getIdx() != rcx.getIdx()) mov(rcx, b);
  }
  {
    const Reg64 a = general(i.a, 0);
    if (a.getIdx() != rax.getIdx()) mov(rax, a);
  }
  if (is_signed && !by8) {
    movsxd(rax, eax);
    movsxd(rcx, ecx);
  }
  test(rcx, rcx);
  jz(by_zero);
  if (is_signed) {
    if (by8) {
      cmp(rcx, ~0u);
      je(by_minus_one);
    }
    cqo();
    idiv(rcx);
  } else {
    xor_(edx, edx);
    div(rcx);
  }
  if (!divides) mov(rax, rdx);
  jmp(done);
  L(by_zero);
  if (divides) mov(rax, ~std::uint64_t{0});
  if (is_signed && by8) {
    jmp(done);
    L(by_minus_one);
    if (divides) {
      neg(rax);
    } else {
      xor_(eax, eax);
    }
  }
  L(done);
  if (!by8) {
    mov(eax, eax);
    normalize(i.type, rax);
  }
  finish(i.result, rax);
}

void Emitter::shift_by_constant(const Instruction& i) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bits_of(i.type));
  const Reg64 to = general_result(i.result), a = general(i.a, 0);
  if (to.getIdx() != a.getIdx()) mov(to, a);
  // The bits that are shifted in depend on the op, not on the sign of the type.
  if (i.op == Opcode::kShiftRightLogical && bits < 32) and_(to.cvt32(), (1u << bits) - 1);
  if (i.op == Opcode::kShiftRightArithmetic) {
    if (bits == 8) movsx(to.cvt32(), to.cvt8());
    if (bits == 16) movsx(to.cvt32(), to.cvt16());
  }
  const Xbyak::Reg32e r = wide(i.type) ? Xbyak::Reg32e(to) : Xbyak::Reg32e(to.cvt32());
  std::uint64_t by = info(i.b).bits & (bits == 64 ? ~0ull : (1ull << bits) - 1);
  if (by >= bits && i.op == Opcode::kShiftRightArithmetic) by = bits - 1;
  if (by >= bits) {
    xor_(to.cvt32(), to.cvt32());
  } else if (i.op == Opcode::kShiftLeft) {
    shl(r, static_cast<int>(by));
  } else if (i.op == Opcode::kShiftRightLogical) {
    shr(r, static_cast<int>(by));
  } else {
    sar(r, static_cast<int>(by));
  }
  normalize(i.type, to);
  finish(i.result, to);
}

/// By a constant, of 32 or 64 bits.
void Emitter::emit_rotation(const Instruction& i) {
  const int bits = bits_of(i.type);
  const auto right = static_cast<std::uint8_t>(-info(i.b).bits % static_cast<std::uint64_t>(bits));
  const Reg64 to = general_result(i.result), a = general(i.a, 0);
  wide(i.type) ? rorx(to, a, right) : rorx(to.cvt32(), a.cvt32(), right);
  finish(i.result, to);
}

void Emitter::emit_shift(const Instruction& i) {
  if (is_constant(i.b)) return shift_by_constant(i);
  const bool by8 = wide(i.type);
  const std::uint32_t bits = static_cast<std::uint32_t>(bits_of(i.type));
  {
    const Reg64 a = general(i.a, 0);
    if (a.getIdx() != rax.getIdx()) mov(rax, a);
  }
  // The bits that are shifted in depend on the op, not on the sign of the type.
  if (i.op == Opcode::kShiftRightLogical && bits < 32) and_(eax, (1u << bits) - 1);
  if (i.op == Opcode::kShiftRightArithmetic) {
    if (bits == 8) movsx(eax, al);
    if (bits == 16) movsx(eax, ax);
  }
  {
    const Reg64 b = general(i.b, 1);
    if (b.getIdx() != rcx.getIdx()) mov(rcx, b);
  }
  // Amounts are compared as unsigned.
  if (bits == 8) movzx(ecx, cl);
  if (bits == 16) movzx(ecx, cx);
  if (i.op == Opcode::kShiftRightArithmetic) {
    mov(edx, bits - 1);
    cmp(rcx, rdx);
    cmova(rcx, rdx);
    if (by8) {
      sarx(rax, rax, rcx);
    } else {
      sarx(eax, eax, ecx);
    }
  } else {
    const bool left = i.op == Opcode::kShiftLeft;
    if (by8) {
      left ? shlx(rax, rax, rcx) : shrx(rax, rax, rcx);
    } else {
      left ? shlx(eax, eax, ecx) : shrx(eax, eax, ecx);
    }
    xor_(edx, edx);
    cmp(rcx, bits);
    cmovae(rax, rdx);
  }
  normalize(i.type, rax);
  finish(i.result, rax);
}

void Emitter::compare_integers(const Instruction& i) {
  const Reg64 a = general(i.a, 0);
  const bool by8 = wide(i.from);
  if (is_constant(i.b)) {
    const std::uint64_t bits = register_bits(i.from, info(i.b).bits);
    const std::int64_t value = by8 ? static_cast<std::int64_t>(bits)
                                   : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    if (value == static_cast<std::int32_t>(value)) {
      if (by8) {
        cmp(a, static_cast<std::uint32_t>(value));
      } else {
        cmp(a.cvt32(), static_cast<std::uint32_t>(value));
      }
      return;
    }
  }
  const Reg64 b = general(i.b, 1);
  if (by8) {
    cmp(a, b);
  } else {
    cmp(a.cvt32(), b.cvt32());
  }
}

void Emitter::compare_floats(const Instruction& i) {
  // After vucomis, "above" is false if one is NaN; "less" swaps its operands to use it.
  const bool swapped = i.op == Opcode::kLess || i.op == Opcode::kLessEqual;
  const Xmm a = vector_of(swapped ? i.b : i.a, 0);
  const Source b = source(swapped ? i.a : i.b);
  i.from == Type::kF64 ? vucomisd(a, b.get()) : vucomiss(a, b.get());
}

void Emitter::emit_compare(const Instruction& i) {
  const Reg64 to = general_result(i.result);
  if (floating(i.from) && avx512()) {
    compare_into_mask(i);
    selecting_ = i.result;
    kmovd(to.cvt32(), k6);
    return finish(i.result, to);
  }
  if (floating(i.from)) {
    compare_floats(i);
    switch (i.op) {
      case Opcode::kEqual:
        setnp(al);
        sete(cl);
        and_(al, cl);
        break;
      case Opcode::kNotEqual:
        setp(al);
        setne(cl);
        or_(al, cl);
        break;
      case Opcode::kLess:
      case Opcode::kGreater:
        seta(al);
        break;
      default:
        setae(al);
    }
  } else {
    compare_integers(i);
    const bool is_signed = signed_integer(i.from);
    switch (i.op) {
      case Opcode::kEqual:
        sete(al);
        break;
      case Opcode::kNotEqual:
        setne(al);
        break;
      case Opcode::kLess:
        is_signed ? setl(al) : setb(al);
        break;
      case Opcode::kLessEqual:
        is_signed ? setle(al) : setbe(al);
        break;
      case Opcode::kGreater:
        is_signed ? setg(al) : seta(al);
        break;
      default:
        is_signed ? setge(al) : setae(al);
    }
  }
  movzx(to.cvt32(), al);
  finish(i.result, to);
}

namespace {

using Gen = Xbyak::CodeGenerator;
using ConditionalMove = void (Gen::*)(const Xbyak::Reg&, const Xbyak::Operand&);

/// The conditional moves for a comparison of integers and for its negation. For floats as in
/// compare_floats(), except for == and !=, where NaN counts too.
struct Moves {
  ConditionalMove holds, fails;
};

Moves moves_of(const Instruction& comparison) {
  static constexpr Moves with_sign[] = {{&Gen::cmove, &Gen::cmovne}, {&Gen::cmovne, &Gen::cmove},
                                        {&Gen::cmovl, &Gen::cmovge}, {&Gen::cmovle, &Gen::cmovg},
                                        {&Gen::cmovg, &Gen::cmovle}, {&Gen::cmovge, &Gen::cmovl}};
  static constexpr Moves without[] = {{&Gen::cmove, &Gen::cmovne}, {&Gen::cmovne, &Gen::cmove},
                                      {&Gen::cmovb, &Gen::cmovae}, {&Gen::cmovbe, &Gen::cmova},
                                      {&Gen::cmova, &Gen::cmovbe}, {&Gen::cmovae, &Gen::cmovb}};
  const auto at =
      static_cast<std::size_t>(comparison.op) - static_cast<std::size_t>(Opcode::kEqual);
  if (!floating(comparison.from))
    return signed_integer(comparison.from) ? with_sign[at] : without[at];
  const bool strict = comparison.op == Opcode::kLess || comparison.op == Opcode::kGreater;
  return strict ? Moves{&Gen::cmova, &Gen::cmovbe} : Moves{&Gen::cmovae, &Gen::cmovb};
}

}  // namespace

// The flags come first: operands are moved without changing them.
void Emitter::emit_general_select(const Instruction& given, std::size_t position) {
  Instruction i = given;
  Moves moves{&Gen::cmovnz, &Gen::cmovz};
  bool tests_parity = false;
  if (position > 0 && is_fused(position - 1)) {
    const Instruction& comparison = code_.code[position - 1];
    tests_parity = floating(comparison.from) && comparison.op <= Opcode::kNotEqual;
    floating(comparison.from) ? compare_floats(comparison) : compare_integers(comparison);
    if (tests_parity && comparison.op == Opcode::kNotEqual) std::swap(i.b, i.c);
    moves = tests_parity ? Moves{&Gen::cmove, &Gen::cmovne} : moves_of(comparison);
  } else {
    const Reg64 predicate = general(i.a, 2);
    test(predicate.cvt32(), predicate.cvt32());
  }
  const auto value = [&](Unit u, int scratch_number) {
    if (!is_constant(u)) return general(u, scratch_number);
    const Reg64 to = scratch_number == 0 ? rax : rcx;
    const std::uint64_t bits = register_bits(info(u).type, info(u).bits);
    bits <= 0xffffffffu ? mov(to.cvt32(), static_cast<std::uint32_t>(bits)) : mov(to, bits);
    return to;
  };
  const Reg64 b = value(i.b, 0), c = value(i.c, 1), result = general_result(i.result);
  if (result.getIdx() == c.getIdx() && !tests_parity) {
    (this->*moves.holds)(result, b);
    return finish(i.result, result);
  }
  const Reg64 to = result.getIdx() == c.getIdx() ? rax : result;
  if (to.getIdx() != b.getIdx()) mov(to, b);
  (this->*moves.fails)(to, c);
  if (tests_parity) cmovp(to, c);
  finish(i.result, to);
}

}  // namespace rondo::native_code::x86

#endif
