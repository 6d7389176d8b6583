// Conversions in lanes.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include <cmath>
#include <cstring>

namespace rondo::native_code::x86 {

namespace {

std::uint64_t bits_of_double(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
std::uint32_t bits_of_float(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace

void Emitter::convert_from_pred(const Instruction& i) {
  const int bytes = bytes_of(i.type, i.lanes);
  const bool by8 = wide(i.type);
  const std::uint64_t one = i.type == Type::kF64 ? bits_of_double(1)
                            : floating(i.type)   ? bits_of_float(1)
                                                 : 1;
  if (avx512()) {
    const Opmask k = mask_of(i.a, 6);
    const Xmm to = vector_result(i.result, 0);
    if (by8) {
      vpbroadcastq(to | k | T_z, pooled(one, 8, 8));
    } else {
      vbroadcastss(to | k | T_z, pooled(one, 4, 4));
    }
    return finish(i.result, to);
  }
  const Xmm a = vector_of(i.a, 0);
  const Xmm to = vector_result(i.result, 0);
  if (by8) {
    vpmovsxdq(to, Xmm(a.getIdx()));
    vandpd(to, to, pooled(one, 8, bytes));
  } else {
    vandps(to, a, pooled(one, 4, bytes));
  }
  finish(i.result, to);
}

void Emitter::convert_to_pred(const Instruction& i) {
  const int bytes = bytes_of(i.from, i.lanes);
  const bool by8 = wide(i.from);
  const Xmm a = vector_of(i.a, 0);
  if (avx512()) {
    const Opmask to = mask_result(i.result);
    if (floating(i.from)) {
      const Xmm zero = scratch(1, bytes);
      vxorps(zero, zero, zero);
      by8 ? vcmppd(to, a, zero, 4) : vcmpps(to, a, zero, 4);
    } else {
      by8 ? vptestmq(to, a, a) : vptestmd(to, a, a);
    }
    return finish(i.result, to);
  }
  const Xmm build = scratch(2, bytes), zero = scratch(1, bytes);
  vxorps(zero, zero, zero);
  if (floating(i.from)) {
    by8 ? vcmppd(build, a, zero, 4) : vcmpps(build, a, zero, 4);
  } else {
    by8 ? vpcmpeqq(build, a, zero) : vpcmpeqd(build, a, zero);
    vxorps(build, build, lanes_constant(0xffffffffu, 4, bytes));
  }
  if (by8) {
    narrow_mask(scratch(0), build);
    return finish(i.result, scratch(0));
  }
  finish(i.result, build);
}

void Emitter::convert_lanes_to_float(const Instruction& i) {
  const Xmm to = vector_result(i.result, 0);
  const Source a = source(i.a);
  if (wide(i.from)) {
    const bool is_signed = i.from == Type::kS64;
    if (i.type == Type::kF64) {
      is_signed ? vcvtqq2pd(to, a.get()) : vcvtuqq2pd(to, a.get());
    } else {
      const Xmm x = vector_of(i.a, 0);
      is_signed ? vcvtqq2ps(to, x) : vcvtuqq2ps(to, x);
    }
  } else if (i.type == Type::kF64) {
    const Xmm x = vector_of(i.a, 0);
    i.from == Type::kU32 ? vcvtudq2pd(to, x) : vcvtdq2pd(to, x);
  } else {
    i.from == Type::kU32 ? vcvtudq2ps(to, a.get()) : vcvtdq2ps(to, a.get());
  }
  if (half_float(i.type)) round_half(i.type, to);
  finish(i.result, to);
}

// As the scalar code, with clamping instead of branches: NaN becomes 0, and too large values the
// largest integer.
void Emitter::convert_lanes_to_integer(const Instruction& i) {
  if (wide(i.type)) return convert_lanes_to_wide_integer(i);
  if (wide(i.from)) return convert_wide_lanes_to_integer(i);
  const int bytes = bytes_of(i.from, i.lanes);
  const bool is_signed = signed_integer(i.type);
  const int bits = width_of(i.type) * 8;
  const Xmm a = vector_of(i.a, 0);
  const Xmm x = scratch(0, bytes), t = scratch(1, bytes);
  if (i.type == Type::kU32) {
    vmaxps(x, a, lanes_constant(0, 4, bytes));
    vcvttps2udq(x, x);
    return finish(i.result, x);
  }
  if (avx512()) {
    vcmpps(k6, a, a, 7);
    vmovaps(x | k6 | T_z, a);
  } else {
    vcmpps(t, a, a, 7);
    vandps(x, a, t);
  }
  if (bits < 32) {
    const float low = is_signed ? -std::ldexp(1.0f, bits - 1) : 0;
    const float high = std::ldexp(1.0f, is_signed ? bits - 1 : bits) - 1;
    vmaxps(x, x, lanes_constant(bits_of_float(low), 4, bytes));
    vminps(x, x, lanes_constant(bits_of_float(high), 4, bytes));
    vcvttps2dq(x, x);
    return finish(i.result, x);
  }
  // Values out of range give the least integer: right for too small ones.
  const std::uint32_t past = bits_of_float(std::ldexp(1.0f, 31));
  if (avx512()) {
    vcmpps(k6, x, lanes_constant(past, 4, bytes), 29);
    vcvttps2dq(x, x);
    vbroadcastss(x | k6, pooled(INT32_MAX, 4, 4));
  } else {
    // All ones in those lanes turn the least integer into the largest.
    vcmpps(t, x, lanes_constant(past, 4, bytes), 29);
    vcvttps2dq(x, x);
    vxorps(x, x, t);
  }
  finish(i.result, x);
}

// AVX-512 only; f64 holds any narrower float.
void Emitter::convert_lanes_to_wide_integer(const Instruction& i) {
  const int bytes = bytes_of(i.type, i.lanes);
  const Xmm a = vector_of(i.a, 0);
  const Xmm x = scratch(0, bytes), to = scratch(1, bytes);
  if (wide(i.from)) {
    if (a.getIdx() != x.getIdx()) vmovaps(x, a);
  } else {
    vcvtps2pd(x, a);
  }
  if (signed_integer(i.type)) {
    vcmppd(k6, x, x, 7);
    vcvttpd2qq(to | k6 | T_z, x);
    vcmppd(k6, x, lanes_constant(bits_of_double(std::ldexp(1.0, 63)), 8, bytes), 29);
    vpbroadcastq(to | k6, pooled(static_cast<std::uint64_t>(INT64_MAX), 8, 8));
  } else {
    // If one is NaN, vmax gives its second operand.
    vmaxpd(x, x, lanes_constant(0, 8, bytes));
    vcvttpd2uqq(to, x);
  }
  finish(i.result, to);
}

// From f64 to types of 4 bytes or less.
void Emitter::convert_wide_lanes_to_integer(const Instruction& i) {
  if (i.bits == kFits) {
    const Xmm from = vector_of(i.a, 0), to = vector_result(i.result, 1);
    i.type == Type::kU32 ? vcvttpd2udq(to, from) : vcvttpd2dq(to, from);
    return finish(i.result, to);
  }
  const int bytes = bytes_of(i.from, i.lanes), bits = width_of(i.type) * 8;
  const bool is_signed = signed_integer(i.type);
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  const Xmm a = vector_of(i.a, 0);
  const Xmm x = scratch(0, bytes), ordered = scratch(1, bytes);
  if (avx512()) {
    vcmppd(k6, a, a, 7);
    vmovapd(x | k6 | T_z, a);
  } else {
    vcmppd(ordered, a, a, 7);
    vandpd(x, a, ordered);
  }
  vmaxpd(x, x, lanes_constant(bits_of_double(low), 8, bytes));
  vminpd(x, x, lanes_constant(bits_of_double(high), 8, bytes));
  const Xmm to = scratch(1, bytes_of(i.type, i.lanes));
  i.type == Type::kU32 ? vcvttpd2udq(to, x) : vcvttpd2dq(to, x);
  finish(i.result, to);
}

void Emitter::emit_lanes_convert(const Instruction& i) {
  if (i.type == i.from) return move_one(i.result, i.a);
  if (i.from == Type::kPred) return convert_from_pred(i);
  if (i.type == Type::kPred) return convert_to_pred(i);
  const bool from_float = floating(i.from), to_float = floating(i.type);
  if (from_float && !to_float) return convert_lanes_to_integer(i);
  if (!from_float && to_float) return convert_lanes_to_float(i);
  const Xmm a = vector_of(i.a, 0);
  const int bytes = bytes_of(i.type, i.lanes);
  if (from_float) {
    const Xmm to = vector_result(i.result, 0);
    if (wide(i.type)) {
      vcvtps2pd(to, Xmm(a.getIdx(), a.getKind(), static_cast<int>(a.getBit())));
    } else if (wide(i.from)) {
      vcvtpd2ps(to, a);
    } else {
      if (a.getIdx() != to.getIdx()) vmovaps(to, a);
      if (half_float(i.type)) round_half(i.type, to);
    }
    return finish(i.result, to);
  }
  const Xmm to = scratch(1, bytes);
  if (wide(i.type) && wide(i.from)) {
    return move_one(i.result, i.a);
  } else if (wide(i.type)) {
    signed_integer(i.from) ? vpmovsxdq(to, a) : vpmovzxdq(to, a);
  } else if (wide(i.from)) {
    if (avx512()) {
      vpmovqd(to, a);
    } else {
      narrow_mask(to, a);
    }
    normalize_lanes(i.type, to);
  } else {
    vmovaps(to, a);
    normalize_lanes(i.type, to);
  }
  finish(i.result, to);
}

void Emitter::emit_lanes_bitcast(const Instruction& i) {
  if (floating(i.from) == floating(i.type) || width_of(i.type) >= 4) {
    if (floating(i.type) || width_of(i.type) >= 4) return move_one(i.result, i.a);
    Instruction as_integer = i;
    return emit_lanes_convert(as_integer);
  }
  const Xmm a = vector_of(i.a, 0);
  const Xmm to = scratch(0, bytes_of(i.type, i.lanes));
  const Xmm half = vector(scratch(1).getIdx(), static_cast<int>(to.getBit()) / 16);
  if (i.from == Type::kF16) {
    vcvtps2ph(half, a, 0);
    i.type == Type::kS16 ? vpmovsxwd(to, half) : vpmovzxwd(to, half);
  } else if (i.from == Type::kBF16) {
    i.type == Type::kS16 ? vpsrad(to, a, 16) : vpsrld(to, a, 16);
  } else if (i.type == Type::kBF16) {
    vpslld(to, a, 16);
  } else {
    vpmovdw(half, a);
    vcvtph2ps(to, half);
  }
  finish(i.result, to);
}

}  // namespace rondo::native_code::x86

#endif
