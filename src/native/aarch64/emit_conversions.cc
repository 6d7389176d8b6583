// Scalar conversions.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include "native/called_functions.h"

namespace rondo::native_code::aarch64 {

namespace vixl_ = vixl::aarch64;

void Emitter::emit_convert(const Instruction& i) {
  if (i.type == i.from) return move_one(i.result, i.a);
  const bool from_float = floating(i.from), to_float = floating(i.type);
  if (from_float && to_float) return convert_floats(i);
  if (i.type == Type::kPred) {
    if (from_float) {
      Fcmp(vector_of(i.a, 0), 0.0);
    } else {
      Cmp(general(i.a, 0), 0);
    }
    const Register to = general_result(i.result);
    Cset(to.W(), vixl_::ne);
    return finish(i.result, to);
  }
  if (from_float) return emit_float_to_integer(i);
  if (to_float) return emit_integer_to_float(i);
  // Narrower: the lower bits. Wider: extended by the signedness of the source type.
  const Register a = general(i.a, 0), to = general_result(i.result);
  if (!wide(i.type)) {
    normalize(i.type, to, a);
    if (wide(i.from) && to.Is(a)) Mov(to.W(), a.W());
  } else if (signed_integer(i.from) && !wide(i.from)) {
    Sxtw(to, a.W());
  } else if (!to.Is(a)) {
    Mov(to, a);
  }
  finish(i.result, to);
}

void Emitter::convert_floats(const Instruction& i) {
  if (i.type == Type::kBF16 && wide(i.from))
    return call_on_vectors(narrowing_function(i.type), i);  // by way of f32 it rounds twice
  if (half_float(i.from) && i.type == Type::kF32) return move_one(i.result, i.a);
  const VRegister a = vector_of(i.a, 0), to = vector_result(i.result, 0);
  if (i.type == Type::kF16 && wide(i.from)) {
    Fcvt(to.H(), a);
    Fcvt(to, to.H());
  } else if (half_float(i.type)) {
    round_half(i.type, to, a);
  } else {
    Fcvt(to, a);
  }
  finish(i.result, to);
}

void Emitter::emit_integer_to_float(const Instruction& i) {
  if (i.type == Type::kBF16 && width_of(i.from) >= 4) {
    save_registers(next_call_);
    const Register a = general(i.a, 0);
    if (i.from == Type::kS32) {
      Sxtw(scratch(0), a.W());
    } else if (!a.Is(scratch(0))) {
      Mov(scratch(0), a);
    }
    call_function(narrowing_function(i.type, i.from == Type::kU64));
    move_vector(scratch_vector(0), vixl_::v0, i.result);
    restore_registers(next_call_);
    return finish(i.result, scratch_vector(0));
  }
  const Register a = sized(i.from, general(i.a, 0));
  const VRegister to = vector_result(i.result, 0);
  // f64 holds all integers that an f16 is not infinite for.
  const bool by_f64 = i.type == Type::kF16;
  const VRegister number = by_f64 ? to.D() : to;
  signed_integer(i.from) ? Scvtf(number, a) : Ucvtf(number, a);
  if (by_f64) {
    Fcvt(to.H(), number);
    Fcvt(to, to.H());
  } else if (half_float(i.type)) {
    round_half(i.type, to, to);
  }
  finish(i.result, to);
}

// The instructions truncate, saturate, and give 0 for NaN, in 32 and 64 bits.
void Emitter::emit_float_to_integer(const Instruction& i) {
  const VRegister a = vector_of(i.a, 0);
  const Register to = general_result(i.result), r = sized(i.type, to);
  const bool is_signed = signed_integer(i.type);
  is_signed ? Fcvtzs(r, a) : Fcvtzu(r, a);
  const int bits = width_of(i.type) * 8;
  if (bits < 32 && i.bits != kFits) {
    const std::int32_t most = (1 << (is_signed ? bits - 1 : bits)) - 1;
    const Register bound = scratch(1).W();
    Mov(bound, static_cast<std::uint64_t>(most));
    Cmp(r, bound);
    Csel(r, r, bound, is_signed ? vixl_::lt : vixl_::lo);
    if (is_signed) {
      Mvn(bound, bound);
      Cmp(r, bound);
      Csel(r, r, bound, vixl_::gt);
    }
  }
  finish(i.result, to);
}

void Emitter::emit_bitcast(const Instruction& i) {
  const bool from_float = floating(i.from), to_float = floating(i.type);
  if (!from_float && !to_float) {
    const Register a = general(i.a, 0), to = general_result(i.result);
    normalize(i.type, to, a);
    return finish(i.result, to);
  }
  if (i.from == i.type) return move_one(i.result, i.a);
  // Through the bits of the memory format.
  const Register bits = scratch(0);
  if (from_float) {
    const VRegister a = vector_of(i.a, 0);
    if (i.from == Type::kF16) {
      Fcvt(scratch_vector(1).H(), a);
      Umov(bits.W(), scratch_vector(1).V4H(), 0);
    } else {
      Fmov(wide(i.from) ? bits : bits.W(), a);
      if (i.from == Type::kBF16) Lsr(bits.W(), bits.W(), 16);
    }
    if (!to_float) {
      const Register to = general_result(i.result);
      normalize(i.type, to, bits);
      return finish(i.result, to);
    }
  } else {
    const Register a = general(i.a, 0);
    if (!a.Is(bits)) Mov(bits, a);
  }
  const VRegister to = vector_result(i.result, 0);
  if (i.type == Type::kBF16) Lsl(bits.W(), bits.W(), 16);
  Fmov(to, wide(i.type) ? bits : bits.W());
  if (i.type == Type::kF16) Fcvt(to, to.H());
  finish(i.result, to);
}

}  // namespace rondo::native_code::aarch64

#endif
