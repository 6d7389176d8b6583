// Scalar conversions.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include <cmath>
#include <cstring>

#include "native/called_functions.h"

namespace rondo::native_code::x86 {

void Emitter::emit_convert(const Instruction& i) {
  if (i.type == i.from) return move_one(i.result, i.a);
  const bool from_float = floating(i.from), to_float = floating(i.type);
  if (i.type == Type::kPred) {
    if (from_float) {
      const Xmm a = vector_of(i.a, 0);
      vxorps(scratch(1), scratch(1), scratch(1));
      wide(i.from) ? vucomisd(a, scratch(1)) : vucomiss(a, scratch(1));
      setp(al);
      setne(cl);
      or_(al, cl);
    } else {
      const Reg64 a = general(i.a, 0);
      test(a, a);
      setne(al);
    }
    movzx(eax, al);
    return finish(i.result, rax);
  }
  if (from_float && !to_float) return emit_float_to_integer(i);
  if (!from_float && to_float) return emit_integer_to_float(i);
  if (!from_float) {
    // Narrower: the lower bits. Wider: extended by the signedness of the source type.
    const Reg64 a = general(i.a, 0), to = general_result(i.result);
    if (wide(i.type)) {
      if (signed_integer(i.from) && !wide(i.from)) {
        movsxd(to, a.cvt32());
      } else if (to.getIdx() != a.getIdx()) {
        mov(to, a);
      }
    } else {
      if (wide(i.from) || to.getIdx() != a.getIdx()) mov(to.cvt32(), a.cvt32());
      normalize(i.type, to);
    }
    return finish(i.result, to);
  }
  if (half_float(i.type)) {
    if (wide(i.from)) {
      // Rounding to f32 first would round twice.
      return call_on_vectors(narrowing_function(i.type), i);
    }
    const Xmm a = vector_of(i.a, 0);
    const Xmm build = scratch(0);
    if (a.getIdx() != build.getIdx()) vmovaps(build, a);
    round_half(i.type, build);
    return finish(i.result, build);
  }
  const Xmm a = vector_of(i.a, 0);
  if (wide(i.type)) {
    const Xmm to = vector_result(i.result, 0);
    vcvtss2sd(to, a, a);
    return finish(i.result, to);
  }
  if (wide(i.from)) {
    const Xmm to = vector_result(i.result, 0);
    vcvtsd2ss(to, a, a);
    return finish(i.result, to);
  }
  move_one(i.result, i.a);  // a half is held as f32 already
}

void Emitter::emit_integer_to_float(const Instruction& i) {
  if (half_float(i.type) && width_of(i.from) >= 4) {
    // Rounding to f32 first would round twice.
    save_registers(next_call_);
    const Reg64 a = general(i.a, 0);
    if (i.from == Type::kS32) {
      movsxd(rdi, a.cvt32());
    } else {
      mov(rdi, a);
    }
    call_function(narrowing_function(i.type, i.from == Type::kU64));
    vmovaps(scratch(0), xmm0);
    restore_registers(next_call_);
    return finish(i.result, scratch(0));
  }
  const Xmm build = scratch(0);
  const Reg64 a = general(i.a, 0);
  vxorps(build, build, build);
  if (i.from == Type::kU64) {
    if (avx512()) {
      wide(i.type) ? vcvtusi2sd(build, build, a) : vcvtusi2ss(build, build, a);
    } else {
      // Half of it, its last bit kept sticky, and twice that.
      Label large, done;
      test(a, a);
      js(large);
      wide(i.type) ? vcvtsi2sd(build, build, a) : vcvtsi2ss(build, build, a);
      jmp(done);
      L(large);
      mov(rdx, a);
      mov(rcx, a);
      shr(rdx, 1);
      and_(ecx, 1);
      or_(rdx, rcx);
      wide(i.type) ? vcvtsi2sd(build, build, rdx) : vcvtsi2ss(build, build, rdx);
      wide(i.type) ? vaddsd(build, build, build) : vaddss(build, build, build);
      L(done);
    }
  } else {
    // 64 bits hold any narrower unsigned integer.
    const bool narrow = signed_integer(i.from) && !wide(i.from);
    const Xbyak::Reg32e r = narrow ? Xbyak::Reg32e(a.cvt32()) : Xbyak::Reg32e(a);
    wide(i.type) ? vcvtsi2sd(build, build, r) : vcvtsi2ss(build, build, r);
  }
  if (half_float(i.type)) round_half(i.type, build);
  finish(i.result, build);
}

// NaN becomes 0, and too large values the largest integer: both before converting, if the bounds
// are floats.
void Emitter::emit_float_to_integer(const Instruction& i) {
  const Xmm x = scratch(0), t = scratch(1);
  const Source a = source(i.a);
  if (i.bits == kFits) {
    vcvttsd2si(rax, a.get());
    mov(eax, eax);
    return finish(i.result, rax);
  }
  if (wide(i.from)) {
    move_vector(x, a.get(), 1);
  } else {
    vxorps(x, x, x);
    vcvtss2sd(x, x, a.get());
  }
  if (avx512()) {
    vcmpsd(k6, x, x, 7);
    vmovapd(x | k6 | T_z, x);
  } else {
    vcmpsd(t, x, x, 7);
    vandpd(x, x, t);
  }
  auto number = [&](double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return pooled(bits, 8, 8);
  };
  const int bits = width_of(i.type) * 8;
  const bool is_signed = signed_integer(i.type);
  if (bits < 64) {
    const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
    const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
    vmaxsd(x, x, number(low));
    vminsd(x, x, number(high));
    vcvttsd2si(rax, x);
    mov(eax, eax);
    return finish(i.result, rax);
  }
  const double past = std::ldexp(1.0, 63);
  if (is_signed) {
    // The instruction gives the least integer for too small values.
    vcvttsd2si(rax, x);
    mov(rcx, std::uint64_t{INT64_MAX});
    vucomisd(x, number(past));
    cmovae(rax, rcx);
    return finish(i.result, rax);
  }
  vmaxsd(x, x, number(0));
  Label large, done;
  vucomisd(x, number(past));
  jae(large);
  vcvttsd2si(rax, x);
  jmp(done);
  L(large);
  vsubsd(x, x, number(past));
  vcvttsd2si(rax, x);
  btc(rax, 63);
  mov(rcx, ~std::uint64_t{0});
  vucomisd(x, number(past));
  cmovae(rax, rcx);
  L(done);
  finish(i.result, rax);
}

void Emitter::emit_bitcast(const Instruction& i) {
  const bool from_float = floating(i.from), to_float = floating(i.type);
  if (!from_float && !to_float) {
    const Reg64 a = general(i.a, 0), to = general_result(i.result);
    if (to.getIdx() != a.getIdx()) mov(to, a);
    normalize(i.type, to);
    return finish(i.result, to);
  }
  if (from_float && to_float && i.from == i.type) return move_one(i.result, i.a);
  // Through the bits of the memory format.
  if (from_float) {
    const Xmm a = vector_of(i.a, 0);
    if (wide(i.from)) {
      vmovq(rax, a);
    } else if (i.from == Type::kF32) {
      vmovd(eax, a);
    } else if (i.from == Type::kF16) {
      vcvtps2ph(scratch(1), a, 0);
      vmovd(eax, scratch(1));
      movzx(eax, ax);
    } else {
      vmovd(eax, a);
      shr(eax, 16);
    }
    if (!to_float) {
      normalize(i.type, rax);
      return finish(i.result, rax);
    }
  } else {
    const Reg64 a = general(i.a, 0);
    mov(rax, a);
  }
  const Xmm build = scratch(0);
  if (wide(i.type)) {
    vmovq(build, rax);
  } else if (i.type == Type::kF16) {
    vmovd(build, eax);
    vcvtph2ps(build, build);
  } else {
    if (i.type == Type::kBF16) shl(eax, 16);
    vmovd(build, eax);
  }
  finish(i.result, build);
}

}  // namespace rondo::native_code::x86

#endif
