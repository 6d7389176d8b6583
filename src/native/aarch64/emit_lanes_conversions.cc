// Conversions in lanes.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include <bit>

namespace rondo::native_code::aarch64 {

void Emitter::emit_lanes_convert(const Instruction& i) {
  if (i.type == i.from) return move_one(i.result, i.a);
  if (i.from == Type::kPred) return convert_from_pred(i);
  if (i.type == Type::kPred) return convert_to_pred(i);
  const bool from_float = floating(i.from), to_float = floating(i.type);
  if (from_float && !to_float) return convert_lanes_to_integer(i);
  if (!from_float && to_float) return convert_lanes_to_float(i);
  const VRegister a = vector_of(i.a, 0), to = vector_result(i.result, 0);
  if (wide(i.type) == wide(i.from)) {
    if (wide(i.type) || (from_float && i.type == Type::kF32)) return move_one(i.result, i.a);
    from_float ? round_half(i.type, to, a) : normalize_lanes(i.type, to, a);
  } else if (from_float) {
    wide(i.type) ? Fcvtl(to, a) : Fcvtn(to, a);
  } else if (wide(i.type)) {
    signed_integer(i.from) ? Sxtl(to, a) : Uxtl(to, a);
  } else {
    Xtn(to, a);
    normalize_lanes(i.type, to, to);
  }
  finish(i.result, to);
}

void Emitter::convert_from_pred(const Instruction& i) {
  const VRegister mask = vector_of(i.a, 0), to = vector_result(i.result, 0);
  if (!floating(i.type)) {
    const VRegister one = shaped(Type::kPred, i.lanes, to);
    Ushr(one, mask, 31);
    if (wide(i.type)) Uxtl(to, one);
    return finish(i.result, to);
  }
  const VRegister one = shaped(i.type, i.lanes, scratch_vector(1));
  load_bits(one,
            wide(i.type) ? std::bit_cast<std::uint64_t>(1.0) : std::bit_cast<std::uint32_t>(1.0f));
  if (wide(i.type)) Sxtl(to, mask);
  And(bytes_of(to), bytes_of(one), bytes_of(wide(i.type) ? to : mask));
  finish(i.result, to);
}

void Emitter::convert_to_pred(const Instruction& i) {
  const VRegister a = vector_of(i.a, 0);
  const VRegister to = wide(i.from) ? scratch_vector(2).V2D() : vector_result(i.result, 2);
  if (floating(i.from)) {
    Fcmeq(to, a, 0.0);
    Mvn(bytes_of(to), bytes_of(to));
  } else {
    Cmtst(to, a, a);
  }
  finish_mask(i.result, to);
}

void Emitter::convert_lanes_to_float(const Instruction& i) {
  VRegister a = vector_of(i.a, 0);
  const VRegister to = vector_result(i.result, 0);
  const bool is_signed = signed_integer(i.from);
  if (wide(i.type) && !wide(i.from)) {
    is_signed ? Sxtl(to, a) : Uxtl(to, a);
    a = to;
  }
  is_signed ? Scvtf(to, a) : Ucvtf(to, a);
  if (half_float(i.type)) round_half(i.type, to, to);
  finish(i.result, to);
}

// The instructions truncate, saturate, and give 0 for NaN; so do those that narrow, but for NaN.
void Emitter::convert_lanes_to_integer(const Instruction& i) {
  VRegister a = vector_of(i.a, 0);
  const VRegister to = vector_result(i.result, 0);
  const bool is_signed = signed_integer(i.type);
  const VRegister x = wide(i.type) || wide(i.from) ? scratch_vector(0).V2D() : to;
  if (wide(i.type) && !wide(i.from)) {
    Fcvtl(x, a);
    a = x;
  }
  is_signed ? Fcvtzs(x, a) : Fcvtzu(x, a);
  if (wide(i.type)) return finish(i.result, x);
  if (wide(i.from)) is_signed ? Sqxtn(to, x) : Uqxtn(to, x);
  const int bits = 8 * width_of(i.type);
  if (bits < 32 && i.bits != kFits) {
    const VRegister bound = shaped(i.type, i.lanes, scratch_vector(1));
    load_bits(bound, (std::uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1);
    is_signed ? Smin(to, to, bound) : Umin(to, to, bound);
    if (is_signed) {
      Mvn(bytes_of(bound), bytes_of(bound));
      Smax(to, to, bound);
    }
  }
  finish(i.result, to);
}

void Emitter::emit_lanes_bitcast(const Instruction& i) {
  if (width_of(i.type) >= 4 || i.from == i.type) return move_one(i.result, i.a);
  const VRegister a = vector_of(i.a, 0), to = vector_result(i.result, 0);
  const bool from_float = floating(i.from), to_float = floating(i.type);
  const VRegister half = scratch_vector(1).V4H();
  if (!from_float && !to_float) {
    normalize_lanes(i.type, to, a);
    return finish(i.result, to);
  }
  // Through the bits of the memory format. Lanes behind those of the value may be anything.
  if (i.from == Type::kF16) {
    Fcvtn(half, a.V4S());
  } else if (i.from == Type::kBF16) {
    Shrn(half, a.V4S(), 16);
  } else {
    Xtn(half, a.V4S());
  }
  if (i.type == Type::kF16) {
    Fcvtl(to.V4S(), half);
  } else if (i.type == Type::kBF16) {
    Shll(to.V4S(), half, 16);
  } else {
    signed_integer(i.type) ? Sxtl(to.V4S(), half) : Uxtl(to.V4S(), half);
  }
  finish(i.result, to);
}

}  // namespace rondo::native_code::aarch64

#endif
