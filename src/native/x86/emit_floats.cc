// Arithmetic on floats, scalars and lanes alike.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include "native/called_functions.h"

namespace rondo::native_code::x86 {

using lower::Opcode;
using lower::Type;

namespace {

using Gen = Xbyak::CodeGenerator;
using Binary = void (Gen::*)(const Xbyak::Xmm&, const Xbyak::Operand&, const Xbyak::Operand&);
using Fused = void (Gen::*)(const Xbyak::Xmm&, const Xbyak::Xmm&, const Xbyak::Operand&);

/// In the order ss, sd, ps, pd.
constexpr int form_of(Type type, int lanes) { return (lanes > 1 ? 2 : 0) + (wide(type) ? 1 : 0); }

Binary binary_of(Opcode op, int form) {
  static constexpr Binary add[] = {&Gen::vaddss, &Gen::vaddsd, &Gen::vaddps, &Gen::vaddpd};
  static constexpr Binary sub[] = {&Gen::vsubss, &Gen::vsubsd, &Gen::vsubps, &Gen::vsubpd};
  static constexpr Binary mul[] = {&Gen::vmulss, &Gen::vmulsd, &Gen::vmulps, &Gen::vmulpd};
  static constexpr Binary div[] = {&Gen::vdivss, &Gen::vdivsd, &Gen::vdivps, &Gen::vdivpd};
  static constexpr Binary min[] = {&Gen::vminss, &Gen::vminsd, &Gen::vminps, &Gen::vminpd};
  static constexpr Binary max[] = {&Gen::vmaxss, &Gen::vmaxsd, &Gen::vmaxps, &Gen::vmaxpd};
  switch (op) {
    case Opcode::kAdd:
      return add[form];
    case Opcode::kSubtract:
      return sub[form];
    case Opcode::kMultiply:
      return mul[form];
    case Opcode::kDivide:
      return div[form];
    case Opcode::kMin:
      return min[form];
    default:
      return max[form];
  }
}

struct FusedForms {
  Fused by213[4];  // x, y, z: x = y * x + z
  Fused by231[4];  // x, y, z: x = y * z + x
};

/// Predicates of vcmpss and the like.
std::uint8_t condition_of(Opcode comparison) {
  constexpr std::uint8_t how[] = {0, 4, 17, 18, 30, 29};
  return how[static_cast<int>(comparison) - static_cast<int>(Opcode::kEqual)];
}

const FusedForms& fused_of(Opcode op) {
  static constexpr FusedForms add = {
      {&Gen::vfmadd213ss, &Gen::vfmadd213sd, &Gen::vfmadd213ps, &Gen::vfmadd213pd},
      {&Gen::vfmadd231ss, &Gen::vfmadd231sd, &Gen::vfmadd231ps, &Gen::vfmadd231pd}};
  static constexpr FusedForms from = {
      {&Gen::vfnmadd213ss, &Gen::vfnmadd213sd, &Gen::vfnmadd213ps, &Gen::vfnmadd213pd},
      {&Gen::vfnmadd231ss, &Gen::vfnmadd231sd, &Gen::vfnmadd231ps, &Gen::vfnmadd231pd}};
  static constexpr FusedForms less = {
      {&Gen::vfmsub213ss, &Gen::vfmsub213sd, &Gen::vfmsub213ps, &Gen::vfmsub213pd},
      {&Gen::vfmsub231ss, &Gen::vfmsub231sd, &Gen::vfmsub231ps, &Gen::vfmsub231pd}};
  return op == Opcode::kFma ? add : op == Opcode::kFnma ? from : less;
}

}  // namespace

void Emitter::emit_float(const Instruction& i) {
  switch (i.op) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
      return emit_float_binary(i);
    case Opcode::kRemainder:
      return call_on_vectors(remainder_function(i.type), i);
    case Opcode::kMin:
    case Opcode::kMax:
      return emit_min_max(i);
    case Opcode::kFma:
    case Opcode::kFnma:
    case Opcode::kFms:
      return emit_fused(i);
    case Opcode::kNegate:
    case Opcode::kAbs: {
      const Xmm a = vector_of(i.a, 0);
      const Xmm to = vector_result(i.result, 0);
      if (i.op == Opcode::kNegate) {
        const Address sign = sign_mask(i, false);
        wide(i.type) ? vxorpd(to, a, sign) : vxorps(to, a, sign);
      } else {
        clear_sign(i, to, a);
      }
      return finish(i.result, to);
    }
    default:
      return emit_rounding(i);
  }
}

/// The sign bit of each lane, or all others. The whole register is read, so the constant fills 16
/// bytes for a scalar as well.
Emitter::Address Emitter::sign_mask(const Instruction& i, bool others) {
  const int width = wide(i.type) ? 8 : 4;
  const std::uint64_t sign = wide(i.type) ? 1ull << 63 : 1ull << 31, bits = others ? ~sign : sign;
  return i.lanes > 1 ? lanes_constant(bits, width, bytes_of(i.type, i.lanes))
                     : pooled(bits, width, 16);
}

void Emitter::clear_sign(const Instruction& i, const Xmm& to, const Xmm& from) {
  const Address others = sign_mask(i, true);
  wide(i.type) ? vandpd(to, from, others) : vandps(to, from, others);
}

void Emitter::emit_float_binary(const Instruction& given) {
  Instruction i = given;
  if ((i.op == Opcode::kAdd || i.op == Opcode::kMultiply) &&
      (is_constant(i.a) || place_of(i.a).kind == Place::Kind::kStack))
    std::swap(i.a, i.b);
  const Xmm a = vector_of(i.a, 0);
  if (i.mask != 0) {
    const Xmm kept = begin_masked(i);
    (this->*binary_of(i.op, form_of(i.type, i.lanes)))(kept, a, source(i.b).get());
    return finish(i.result, unmasked(kept));
  }
  const Source b = source(i.b);
  const Xmm to = vector_result(i.result, 0);
  (this->*binary_of(i.op, form_of(i.type, i.lanes)))(to, a, b.get());
  if (half_float(i.type)) round_half(i.type, to);
  finish(i.result, to);
}

void Emitter::emit_fused(const Instruction& given) {
  Instruction i = given;
  const auto form = static_cast<std::size_t>(form_of(i.type, i.lanes));
  const FusedForms& forms = fused_of(i.op);
  auto in_register = [&](Unit u) {
    return !is_constant(u) && place_of(u).kind == Place::Kind::kRegister;
  };
  const Xmm to = vector_result(i.result, 0);
  auto is_result = [&](Unit u) { return in_register(u) && place_of(u).number == to.getIdx(); };
  // One factor must be in a register; the result may be in the register of any of the three.
  if (is_result(i.b) || (!in_register(i.a) && in_register(i.b))) std::swap(i.a, i.b);
  if (is_result(i.c) && !is_result(i.a)) {
    const Xmm a = vector_of(i.a, 1);
    const Source b = source(i.b);
    (this->*forms.by231[form])(to, a, b.get());
  } else if (is_result(i.a) && !is_result(i.b)) {
    const Xmm b = vector_of(i.b, 1);
    const Source c = source(i.c);
    if (is_result(i.c)) {
      // The result replaces a and c, which are the same, as in x * b + x.
      vmovaps(scratch(2, static_cast<int>(to.getBit()) / 8), to);
      (this->*forms.by213[form])(to, b, scratch(2, static_cast<int>(to.getBit()) / 8));
    } else {
      (this->*forms.by213[form])(to, b, c.get());
    }
  } else {
    const Xmm build = is_result(i.a) ? scratch(0, bytes_of(i.type, i.lanes)) : to;
    const Xmm first = vector_of(i.a, 0);
    if (first.getIdx() != build.getIdx()) vmovaps(build, first);
    const Xmm b = vector_of(i.b, 1);
    (this->*forms.by213[form])(build, b, source(i.c).get());
    if (half_float(i.type)) round_half(i.type, build);
    return finish(i.result, build);
  }
  if (half_float(i.type)) round_half(i.type, to);
  finish(i.result, to);
}

// By themselves, vmin and vmax give their second operand if one is NaN or both are zero.
void Emitter::emit_min_max(const Instruction& given) {
  Instruction i = given;
  const int form = form_of(i.type, i.lanes);
  const bool by8 = wide(i.type), min = i.op == Opcode::kMin;
  const Binary extreme = binary_of(i.op, form);
  if (i.bits == kSelects) {
    const Xmm a = vector_of(i.a, 0);
    const Source b = source(i.b);
    const Xmm to = vector_result(i.result, 0);
    (this->*extreme)(to, a, b.get());
    return finish(i.result, to);
  }
  if (is_constant(i.a)) std::swap(i.a, i.b);
  if (is_constant(i.b) && !is_constant(i.a)) {
    const std::uint64_t bits = register_bits(i.type, info(i.b).bits);
    const std::uint64_t magnitude = bits & (by8 ? ~0ull >> 1 : 0x7fffffffull);
    const std::uint64_t infinity = by8 ? 0x7ffull << 52 : 0x7f800000ull;
    if (magnitude != 0 && magnitude <= infinity) {
      const Xmm b = vector_of(i.b, 0);
      const Xmm to = vector_result(i.result, 0);
      (this->*extreme)(to, b, source(i.a).get());
      return finish(i.result, to);
    }
    if (bits == 0 && !min) {
      // max(0, -0) is -0 here, whose sign is cleared.
      const Xmm b = vector_of(i.b, 0);
      const Xmm to = vector_result(i.result, 1);
      (this->*extreme)(to, b, source(i.a).get());
      clear_sign(i, to, to);
      return finish(i.result, to);
    }
  }
  const Xmm a = vector_of(i.a, 0), b = vector_of(i.b, 1);
  Xmm build = scratch(2, bytes_of(i.type, i.lanes));
  if (avx512()) {
    const Xmm to = vector_result(i.result, 2);
    if (to.getIdx() != a.getIdx() && to.getIdx() != b.getIdx()) build = to;
    const std::uint8_t how = min ? 0x4 : 0x5;  // by value, with the sign that decides between zeros
    switch (form) {
      case 0:
        vcmpss(k6, a, b, 3);
        vrangess(build, a, b, how);
        vorps(build | k6, a, b);
        break;
      case 1:
        vcmpsd(k6, a, b, 3);
        vrangesd(build, a, b, how);
        vorpd(build | k6, a, b);
        break;
      case 2:
        vcmpps(k6, a, b, 3);
        vrangeps(build, a, b, how);
        vorps(build | k6, a, b);
        break;
      default:
        vcmppd(k6, a, b, 3);
        vrangepd(build, a, b, how);
        vorpd(build | k6, a, b);
    }
  } else if (min) {
    // Both orders: they differ in zeros and NaNs only, where the union of bits is right.
    const Xmm other = scratch(1, bytes_of(i.type, i.lanes));
    (this->*extreme)(build, a, b);
    (this->*extreme)(other, b, a);
    vorps(build, build, other);
  } else {
    // For zeros the difference of the bits is the sign; NaNs stay NaN.
    const Xmm other = scratch(1, bytes_of(i.type, i.lanes));
    (this->*extreme)(build, a, b);
    (this->*extreme)(other, b, a);
    vxorps(other, other, build);
    vorps(build, build, other);
    (this->*binary_of(Opcode::kSubtract, form))(build, build, other);
  }
  finish(i.result, build);
}

void Emitter::emit_rounding(const Instruction& i) {
  const int form = form_of(i.type, i.lanes);
  const Source a = source(i.a);
  const Xmm to = vector_result(i.result, 0);
  if (i.op == Opcode::kSqrt) {
    switch (form) {
      case 0:
        vxorps(scratch(2), scratch(2), scratch(2));  // breaks the dependency on the old value
        vsqrtss(to, scratch(2), a.get());
        break;
      case 1:
        vxorps(scratch(2), scratch(2), scratch(2));
        vsqrtsd(to, scratch(2), a.get());
        break;
      case 2:
        vsqrtps(to, a.get());
        break;
      default:
        vsqrtpd(to, a.get());
    }
    if (half_float(i.type)) round_half(i.type, to);
    return finish(i.result, to);
  }
  const std::uint8_t how = i.op == Opcode::kRoundEven ? 8
                           : i.op == Opcode::kFloor   ? 9
                           : i.op == Opcode::kCeil    ? 10
                                                      : 11;
  if (i.op < Opcode::kFloor || i.op > Opcode::kTruncate)
    throw Xbyak::Error(Xbyak::ERR_BAD_PARAMETER);
  if (form < 2) vxorps(scratch(2), scratch(2), scratch(2));
  switch (form) {
    case 0:
      avx512() ? vrndscaless(to, scratch(2), a.get(), how) : vroundss(to, scratch(2), a.get(), how);
      break;
    case 1:
      avx512() ? vrndscalesd(to, scratch(2), a.get(), how) : vroundsd(to, scratch(2), a.get(), how);
      break;
    case 2:
      avx512() ? vrndscaleps(to, a.get(), how) : vroundps(to, a.get(), how);
      break;
    default:
      avx512() ? vrndscalepd(to, a.get(), how) : vroundpd(to, a.get(), how);
  }
  finish(i.result, to);
}

void Emitter::round_half(Type type, const Xmm& x) {
  const int bytes = x.getBit() / 8;
  const Xmm t = scratch(2, bytes);
  if (type == Type::kF16) {
    const Xmm narrow = vector(t.getIdx(), bytes / 2);
    vcvtps2ph(narrow, x, 0);
    vcvtph2ps(x, narrow);
    return;
  }
  // Adds half of the last place that is kept, and one more if that place is odd: ties go to even. A
  // carry into the exponent is right too. NaNs become quiet instead.
  const Xmm quiet = scratch(1, bytes);
  auto constant = [&](std::uint32_t bits) { return lanes_constant(bits, 4, bytes); };
  if (avx512()) {
    vcmpps(k6, x, x, 3);
    vorps(quiet, x, constant(0x400000));
    vpsrld(t, x, 16);
    vandps(t, t, constant(1));
    vpaddd(t, t, x);
    vpaddd(x, t, constant(0x7fff));
    vmovaps(x | k6, quiet);
  } else {
    vorps(quiet, x, constant(0x400000));
    vpsrld(t, x, 16);
    vandps(t, t, constant(1));
    vpaddd(t, t, x);
    vpaddd(t, t, constant(0x7fff));
    vcmpps(x, x, x, 3);
    vblendvps(x, t, quiet, x);
  }
  vandps(x, x, constant(0xffff0000u));
}

/// In mask register 6.
void Emitter::compare_into_mask(const Instruction& comparison) {
  const Xmm a = vector_of(comparison.a, 1);
  const Source b = source(comparison.b);
  const std::uint8_t predicate = condition_of(comparison.op);
  wide(comparison.from) ? vcmpsd(k6, a, b.get(), predicate) : vcmpss(k6, a, b.get(), predicate);
}

void Emitter::emit_float_select(const Instruction& i, std::size_t position) {
  const bool by8 = wide(i.type);
  const Xmm c = vector_of(i.c, 0);
  const bool compares = position > 0 && is_fused(position - 1), known = selecting_ == i.a;
  selecting_ = i.a;
  if (avx512()) {
    if (compares)
      compare_into_mask(code_.code[position - 1]);
    else if (!known)
      kmovd(k6, general(i.a, 0).cvt32());
    const Xmm b = vector_of(i.b, 1);
    const Xmm to = vector_result(i.result, 2);
    by8 ? vblendmpd(to | k6, c, b) : vblendmps(to | k6, c, b);
    return finish(i.result, to);
  }
  const Xmm mask = scratch(2);
  if (compares) {
    const Instruction& comparison = code_.code[position - 1];
    const Xmm x = vector_of(comparison.a, 1);
    const Source y = source(comparison.b);
    by8 ? vcmpsd(mask, x, y.get(), condition_of(comparison.op))
        : vcmpss(mask, x, y.get(), condition_of(comparison.op));
  } else if (!known) {
    const Reg64 predicate = general(i.a, 0);
    mov(rax, predicate);
    neg(rax);
    vmovq(mask, rax);
  }
  const Xmm b = vector_of(i.b, 1);
  const Xmm to = vector_result(i.result, 0);
  by8 ? vblendvpd(to, c, b, mask) : vblendvps(to, c, b, mask);
  finish(i.result, to);
}

}  // namespace rondo::native_code::x86

#endif
