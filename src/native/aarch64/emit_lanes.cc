// Integers, preds, comparisons and selections in lanes.
//
// Lanes have 4 bytes, two or four of them, or 8 bytes, two of them. A pred in lanes has 4 bytes a
// lane, all ones or zero.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include <algorithm>

#include "native/called_functions.h"

namespace rondo::native_code::aarch64 {

using lower::Opcode;
namespace vixl_ = vixl::aarch64;

Emitter::VRegister Emitter::bytes_of(const VRegister& v) {
  return v.GetSizeInBytes() == 16 ? v.V16B() : v.V8B();
}

Emitter::Register Emitter::any_lane(Unit mask) {
  const VRegister m = vector_of(mask, 0);
  if (info(mask).lanes == 2) {
    Fmov(scratch(0), m.D());
    return scratch(0);
  }
  Umaxv(scratch_vector(1).S(), m);
  Fmov(scratch(0).W(), scratch_vector(1).S());
  return scratch(0).W();
}

void Emitter::emit_lane_value(const Instruction& i) {
  const VRegister to = vector_result(i.result, 0);
  if (i.kind == Kind::kLaneIndex) {
    Dup(to, sized(i.type, general(i.a, 0)));
    const VRegister numbers = shaped(i.type, i.lanes, scratch_vector(1));
    wide(i.type) ? load_table(numbers, 0, 1)
                 : load_table(numbers, std::uint64_t{1} << 32, std::uint64_t{3} << 32 | 2);
    Add(to, to, numbers);
  } else if (i.type == Type::kPred) {
    Neg(scratch(0).W(), general(i.a, 0).W());
    Dup(to, scratch(0).W());
  } else if (floating(i.type)) {
    const VRegister a = vector_of(i.a, 0);
    Dup(to, wide(i.type) ? a.V2D() : a.V4S(), 0);
  } else {
    Dup(to, sized(i.type, general(i.a, 0)));
  }
  finish(i.result, to);
}

void Emitter::normalize_lanes(Type type, const VRegister& to, const VRegister& from) {
  const int unused = 32 - 8 * width_of(type);
  if (unused <= 0 || type == Type::kPred) {
    if (to.GetCode() != from.GetCode()) Mov(bytes_of(to), bytes_of(from));
    return;
  }
  Shl(to, from, unused);
  signed_integer(type) ? Sshr(to, to, unused) : Ushr(to, to, unused);
}

void Emitter::emit_lanes_integer(const Instruction& i) {
  if (i.type == Type::kPred) return emit_lanes_pred(i);
  switch (i.op) {
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return emit_lanes_shift(i);
    case Opcode::kRotateLeft:
      return rotate_lanes(i);
    case Opcode::kPopcount:
    case Opcode::kCountLeadingZeros:
      return count_bits_of_lanes(i);
    default:
      break;
  }
  const bool is_signed = signed_integer(i.type);
  const VRegister a = vector_of(i.a, 0), b = i.b != 0 ? vector_of(i.b, 1) : a;
  const VRegister to = vector_result(i.result, 0);
  switch (i.op) {
    case Opcode::kAdd:
      Add(to, a, b);
      break;
    case Opcode::kSubtract:
      Sub(to, a, b);
      break;
    case Opcode::kMultiply:
      Mul(to, a, b);
      break;
    case Opcode::kAnd:
      And(bytes_of(to), bytes_of(a), bytes_of(b));
      break;
    case Opcode::kOr:
      Orr(bytes_of(to), bytes_of(a), bytes_of(b));
      break;
    case Opcode::kXor:
      Eor(bytes_of(to), bytes_of(a), bytes_of(b));
      break;
    case Opcode::kMin:
    case Opcode::kMax: {
      const bool min = i.op == Opcode::kMin;
      if (!wide(i.type)) {
        is_signed ? (min ? Smin(to, a, b) : Smax(to, a, b))
                  : (min ? Umin(to, a, b) : Umax(to, a, b));
        break;
      }
      const VRegister greater = scratch_vector(2).V2D();
      is_signed ? Cmgt(greater, a, b) : Cmhi(greater, a, b);
      const VRegister where = bytes_of(greater);
      min ? Bsl(where, bytes_of(b), bytes_of(a)) : Bsl(where, bytes_of(a), bytes_of(b));
      return finish(i.result, greater);
    }
    case Opcode::kNegate:
      Neg(to, a);
      break;
    case Opcode::kAbs:
      if (!is_signed) return finish(i.result, a);
      Abs(to, a);
      break;
    default:  // kNot
      Mvn(bytes_of(to), bytes_of(a));
  }
  if (width_of(i.type) < 4) normalize_lanes(i.type, to, to);
  finish(i.result, to);
}

void Emitter::count_bits_of_lanes(const Instruction& i) {
  const int bits = 8 * width_of(i.type);
  const VRegister x = shaped(i.type, i.lanes, scratch_vector(0));
  VRegister a = vector_of(i.a, 0);
  if (bits < 32) {
    Shl(x, a, 32 - bits);
    a = x;
  }
  if (i.op == Opcode::kCountLeadingZeros) {
    // The bit behind those of the type ends the count.
    if (bits < 32) Orr(x, 0x80, 24 - bits);
    Clz(x, a);
    return finish(i.result, x);
  }
  const bool whole = x.GetSizeInBytes() == 16;
  Cnt(bytes_of(x), bytes_of(a));
  Uaddlp(whole ? x.V8H() : x.V4H(), bytes_of(x));
  Uaddlp(whole ? x.V4S() : x.V2S(), whole ? x.V8H() : x.V4H());
  if (wide(i.type)) Uaddlp(x.V2D(), x.V4S());
  finish(i.result, x);
}

// The bits that are shifted in depend on the op, not on the sign of the type. An instruction by a
// vector reads the lowest byte of each amount, with its sign: negative ones shift right.
void Emitter::emit_lanes_shift(const Instruction& i) {
  const int bits = 8 * width_of(i.type), held = wide(i.type) ? 64 : 32;
  const bool left = i.op == Opcode::kShiftLeft, arithmetic = i.op == Opcode::kShiftRightArithmetic;
  const VRegister to = vector_result(i.result, 0);
  VRegister a = vector_of(i.a, 0);
  const VRegister x = shaped(i.type, i.lanes, scratch_vector(0));
  if (bits < 32 && !left && arithmetic != signed_integer(i.type)) {
    Shl(x, a, 32 - bits);
    arithmetic ? Sshr(x, x, 32 - bits) : Ushr(x, x, 32 - bits);
    a = x;
  }
  if (is_constant(i.b)) {
    std::uint64_t by = info(i.b).bits & (bits == 64 ? ~0ull : (1ull << bits) - 1);
    if (arithmetic) by = std::min<std::uint64_t>(by, static_cast<std::uint64_t>(bits) - 1);
    const auto shift = static_cast<int>(std::min<std::uint64_t>(by, 64));
    if (by >= static_cast<std::uint64_t>(bits)) {
      load_bits(to, 0);
    } else if (shift == 0) {
      if (to.GetCode() != a.GetCode()) Mov(bytes_of(to), bytes_of(a));
    } else {
      left ? Shl(to, a, shift) : arithmetic ? Sshr(to, a, shift) : Ushr(to, a, shift);
    }
  } else {
    // At most as many bits as there are, or but one where the sign is shifted in.
    const VRegister amount = shaped(i.type, i.lanes, scratch_vector(2));
    const VRegister most = shaped(i.type, i.lanes, scratch_vector(3));
    const VRegister b = vector_of(i.b, 1);
    load_bits(most, static_cast<std::uint64_t>(arithmetic ? held - 1 : held));
    if (wide(i.type)) {
      Cmhi(amount, b, most);
      Bsl(bytes_of(amount), bytes_of(most), bytes_of(b));
    } else if (bits < 32) {
      Shl(amount, b, 32 - bits);
      Ushr(amount, amount, 32 - bits);
      Umin(amount, amount, most);
    } else {
      Umin(amount, b, most);
    }
    if (!left) Neg(amount, amount);
    arithmetic ? Sshl(to, a, amount) : Ushl(to, a, amount);
  }
  if (width_of(i.type) < 4) normalize_lanes(i.type, to, to);
  finish(i.result, to);
}

/// By a constant, of 4 or 8 bytes: shifted to the left, with the upper bits inserted below.
void Emitter::rotate_lanes(const Instruction& i) {
  const int bits = wide(i.type) ? 64 : 32;
  const auto by = static_cast<int>(info(i.b).bits % static_cast<std::uint64_t>(bits));
  const VRegister a = vector_of(i.a, 0), to = vector_result(i.result, 2);
  if (by == 0) return finish(i.result, a);
  const bool in_place = to.GetCode() == a.GetCode();
  const VRegister x = in_place ? shaped(i.type, i.lanes, scratch_vector(2)) : to;
  Shl(x, a, by);
  Sri(x, a, bits - by);
  finish(i.result, x);
}

// A pred adds up by or, multiplies by and.
void Emitter::emit_lanes_pred(const Instruction& i) {
  const VRegister a = vector_of(i.a, 0), b = i.b != 0 ? vector_of(i.b, 1) : a;
  const VRegister to = vector_result(i.result, 0);
  switch (i.op) {
    case Opcode::kAdd:
    case Opcode::kMax:
    case Opcode::kOr:
      Orr(bytes_of(to), bytes_of(a), bytes_of(b));
      break;
    case Opcode::kMultiply:
    case Opcode::kMin:
    case Opcode::kAnd:
      And(bytes_of(to), bytes_of(a), bytes_of(b));
      break;
    case Opcode::kXor:
      Eor(bytes_of(to), bytes_of(a), bytes_of(b));
      break;
    default:  // kNot
      Mvn(bytes_of(to), bytes_of(a));
  }
  finish(i.result, to);
}

// Where one is NaN, all but the inverted ones are false.
void Emitter::emit_lanes_compare(const Instruction& i) {
  VRegister a = vector_of(i.a, 0), b = vector_of(i.b, 1);
  const VRegister to = wide(i.from) ? scratch_vector(2).V2D() : vector_result(i.result, 2);
  // Preds are compared as integers without sign.
  const bool is_float = floating(i.from), is_signed = signed_integer(i.from);
  if (i.op == Opcode::kLess || i.op == Opcode::kLessEqual) std::swap(a, b);
  switch (i.op) {
    case Opcode::kEqual:
    case Opcode::kNotEqual:
      is_float ? Fcmeq(to, a, b) : Cmeq(to, a, b);
      if (i.op == Opcode::kNotEqual) Mvn(bytes_of(to), bytes_of(to));
      break;
    case Opcode::kLess:
    case Opcode::kGreater:
      is_float ? Fcmgt(to, a, b) : is_signed ? Cmgt(to, a, b) : Cmhi(to, a, b);
      break;
    default:
      is_float ? Fcmge(to, a, b) : is_signed ? Cmge(to, a, b) : Cmhs(to, a, b);
  }
  finish_mask(i.result, to);
}

void Emitter::finish_mask(Unit u, const VRegister& mask) {
  if (mask.GetLaneSizeInBytes() != 8) return finish(u, mask);
  const VRegister to = vector_result(u, 2);
  Xtn(to, mask);
  finish(u, to);
}

void Emitter::emit_lanes_select(const Instruction& i) {
  const VRegister b = vector_of(i.b, 0), c = vector_of(i.c, 1), mask = vector_of(i.a, 2);
  const VRegister to = vector_result(i.result, 2);
  const bool is_b = to.GetCode() == b.GetCode(), is_c = to.GetCode() == c.GetCode();
  // Three instructions choose by bits: into the mask, or into either operand.
  const VRegister in_place = is_b || is_c ? shaped(i.type, i.lanes, scratch_vector(2)) : to;
  VRegister where = mask;
  if (wide(i.type)) {
    where = in_place;
    Sxtl(where, mask);
  }
  if (is_c) {
    Bit(bytes_of(to), bytes_of(b), bytes_of(where));
  } else if (is_b) {
    Bif(bytes_of(to), bytes_of(c), bytes_of(where));
  } else {
    if (to.GetCode() != where.GetCode()) Mov(bytes_of(to), bytes_of(where));
    Bsl(bytes_of(to), bytes_of(b), bytes_of(c));
  }
  finish(i.result, to);
}

// The rare lanes whose arguments have no inline code: one call handles them.
void Emitter::emit_lanes_math_call(const Instruction& i) {
  Label* some = new_label();
  Label* done = new_label();
  if (i.c != 0) {
    Cbnz(any_lane(i.c), some);
    const VRegister to = vector_result(i.result, 0);
    load_bits(to, 0);
    finish(i.result, to);
  } else {
    B(some);
  }
  Bind(done);
  rare_.emplace_back([this, i, call = next_call_, some, done] {
    Bind(some);
    const Register lanes = scratch(2);
    if (i.c == 0) {
      Mov(lanes, (std::uint64_t{1} << i.lanes) - 1);
    } else {
      const VRegister bits = shaped(Type::kPred, i.lanes, scratch_vector(1));
      load_table(bits, std::uint64_t{2} << 32 | 1, std::uint64_t{8} << 32 | 4);
      And(bytes_of(bits), bytes_of(bits), bytes_of(vector_of(i.c, 0)));
      i.lanes == 2 ? Addp(bits, bits, bits) : Addv(bits.S(), bits);
      Fmov(lanes.W(), bits.S());
    }
    const auto store_operand = [&](Unit u, std::uint32_t at) {
      const VRegister v = vector_of(u, 0);
      Str(v.GetSizeInBytes() == 16 ? v.Q() : v.D(), stack(call_area_ + at));
    };
    store_operand(i.a, 0);
    if (i.b != 0) store_operand(i.b, 64);
    save_registers(call);
    Mov(scratch(0), i.bits);
    Add(scratch(1), vixl_::sp, call_area_);
    call_function(lanes_function(i.type, i.b != 0));
    restore_registers(call);
    const VRegister to = vector_result(i.result, 0);
    Ldr(to.GetSizeInBytes() == 16 ? to.Q() : to.D(), stack(call_area_ + 128));
    finish(i.result, to);
    B(done);
  });
}

}  // namespace rondo::native_code::aarch64

#endif
