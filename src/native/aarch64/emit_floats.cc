// Arithmetic on floats, scalars and lanes alike.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include "native/called_functions.h"

namespace rondo::native_code::aarch64 {

using lower::Opcode;
namespace vixl_ = vixl::aarch64;

void Emitter::emit_float(const Instruction& i) {
  if (i.op == Opcode::kRemainder) return call_on_vectors(remainder_function(i.type), i);
  if (i.op == Opcode::kFma || i.op == Opcode::kFnma || i.op == Opcode::kFms) return emit_fused(i);
  const VRegister a = vector_of(i.a, 0), b = i.b != 0 ? vector_of(i.b, 1) : a;
  const VRegister to = vector_result(i.result, 0);
  switch (i.op) {
    case Opcode::kAdd:
      Fadd(to, a, b);
      break;
    case Opcode::kSubtract:
      Fsub(to, a, b);
      break;
    case Opcode::kMultiply:
      Fmul(to, a, b);
      break;
    case Opcode::kDivide:
      Fdiv(to, a, b);
      break;
    // These propagate NaN, and have -0 below 0.
    case Opcode::kMin:
      Fmin(to, a, b);
      break;
    case Opcode::kMax:
      Fmax(to, a, b);
      break;
    case Opcode::kNegate:
      Fneg(to, a);
      break;
    case Opcode::kAbs:
      Fabs(to, a);
      break;
    case Opcode::kSqrt:
      Fsqrt(to, a);
      break;
    case Opcode::kFloor:
      Frintm(to, a);
      break;
    case Opcode::kCeil:
      Frintp(to, a);
      break;
    case Opcode::kRoundEven:
      Frintn(to, a);
      break;
    default:  // kTruncate
      Frintz(to, a);
  }
  const bool rounds = i.op == Opcode::kAdd || i.op == Opcode::kSubtract ||
                      i.op == Opcode::kMultiply || i.op == Opcode::kDivide || i.op == Opcode::kSqrt;
  if (half_float(i.type) && rounds) round_half(i.type, to, to);
  finish(i.result, to);
}

void Emitter::emit_fused(const Instruction& i) {
  if (i.lanes > 1) return emit_lanes_fused(i);
  const VRegister a = vector_of(i.a, 0), b = vector_of(i.b, 1), c = vector_of(i.c, 2);
  const VRegister to = vector_result(i.result, 0);
  switch (i.op) {
    case Opcode::kFma:
      Fmadd(to, a, b, c);
      break;
    case Opcode::kFnma:
      Fmsub(to, a, b, c);
      break;
    default:  // a * b - c
      Fnmsub(to, a, b, c);
  }
  if (half_float(i.type)) round_half(i.type, to, to);
  finish(i.result, to);
}

// The instructions add to their result.
void Emitter::emit_lanes_fused(const Instruction& i) {
  const VRegister a = vector_of(i.a, 0), b = vector_of(i.b, 1);
  VRegister to = vector_result(i.result, 2);
  if (to.GetCode() == a.GetCode() || to.GetCode() == b.GetCode())
    to = shaped(i.type, i.lanes, scratch_vector(2));
  if (is_constant(i.c)) {
    load_constant(to, i.c);
  } else if (!in_register(i.c)) {
    Ldr(to.GetSizeInBytes() == 16 ? to.Q() : to.D(), stack(place_of(i.c).offset));
  } else if (i.op != Opcode::kFms) {
    move_vector(to, vector_of(i.c, 2), i.c);
  }
  if (i.op == Opcode::kFms) Fneg(to, in_register(i.c) ? vector_of(i.c, 2) : to);
  i.op == Opcode::kFnma ? Fmls(to, a, b) : Fmla(to, a, b);
  if (half_float(i.type)) round_half(i.type, to, to);
  finish(i.result, to);
}

void Emitter::emit_float_select(const Instruction& i, std::size_t position) {
  const Condition condition = test_predicate(i.a, position);
  const VRegister b = vector_of(i.b, 0), c = vector_of(i.c, 1), to = vector_result(i.result, 0);
  Fcsel(to, b, c, condition);
  finish(i.result, to);
}

// bf16 is the upper half of f32: half of the last place that is kept is added, and one less if that
// place is even, so that ties go to even. A carry into the exponent is right too. NaNs become quiet
// instead.
void Emitter::round_half(Type type, const VRegister& to, const VRegister& from) {
  if (type == Type::kF16) {
    const VRegister t = scratch_vector(from.GetCode() == scratch_vector(2).GetCode() ? 1 : 2);
    if (from.GetSizeInBytes() == 4) {
      Fcvt(t.H(), from);
      return Fcvt(to, t.H());
    }
    Fcvtn(t.V4H(), from.V4S());
    return Fcvtl(to.V4S(), t.V4H());
  }
  if (from.GetSizeInBytes() == 4) {
    const Register bits = scratch(0).W(), rounded = scratch(1).W(), t = scratch(2).W();
    Fmov(bits, from);
    Ubfx(rounded, bits, 16, 1);
    Mov(t, 0x7fff);
    Add(rounded, rounded, t);
    Add(rounded, rounded, bits);
    Orr(bits, bits, 0x400000);
    Fcmp(from, from);
    Csel(rounded, bits, rounded, vixl_::vs);
    And(rounded, rounded, 0xffff0000u);
    return Fmov(to, rounded);
  }
  const bool whole = from.GetSizeInBytes() == 16;
  std::vector<VRegister> free;
  for (int s = 0; s < kScratchVectors; s++) {
    const VRegister v = scratch_vector(s);
    if (v.GetCode() != from.GetCode()) free.push_back(whole ? v.V4S() : v.V2S());
  }
  const VRegister rounded = free[0], t = free[1], quiet = free[2];
  const auto bytes = [&](const VRegister& v) { return whole ? v.V16B() : v.V8B(); };
  Shl(rounded, from, 15);
  Ushr(rounded, rounded, 31);  // the last bit that is kept
  Add(rounded, rounded, from);
  Movi(t, 0x7f, vixl_::MSL, 8);
  Add(rounded, rounded, t);
  Mov(bytes(quiet), bytes(from));
  Orr(quiet, 0x40, 16);
  Fcmeq(t, from, from);
  Bsl(bytes(t), bytes(rounded), bytes(quiet));
  Ushr(t, t, 16);
  Shl(to, t, 16);
}

}  // namespace rondo::native_code::aarch64

#endif
