// Integers, preds, comparisons and selections in lanes.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include <cstring>

#include "native/called_functions.h"

namespace rondo::native_code::x86 {

using lower::Opcode;

namespace {

/// The immediates of vcmp: ordered and quiet, except not-equal, which is true if one is NaN.
std::uint8_t float_predicate(Opcode op) {
  constexpr std::uint8_t predicates[] = {0, 4, 17, 18, 30, 29};
  return predicates[static_cast<int>(op) - static_cast<int>(Opcode::kEqual)];
}

/// The immediates of vpcmp.
std::uint8_t integer_predicate(Opcode op) {
  constexpr std::uint8_t predicates[] = {0, 4, 1, 2, 6, 5};
  return predicates[static_cast<int>(op) - static_cast<int>(Opcode::kEqual)];
}

}  // namespace

// Constants as lanes of 4 or 8 bytes, which `key` distinguishes from others of that size.
Emitter::Address Emitter::lane_table(int width, int bytes, std::uint64_t key,
                                     absl::FunctionRef<std::int64_t(int)> value_of) {
  auto [entry, is_new] = pool_.try_emplace({key, width << 16 | bytes << 8 | 0x80});
  if (is_new) {
    const auto size = static_cast<std::size_t>(bytes), step = static_cast<std::size_t>(width);
    if (pool_at_ < size + 64) throw Xbyak::Error(Xbyak::ERR_CODE_IS_TOO_BIG);
    pool_at_ = (pool_at_ - size) / size * size;
    for (int lane = 0; lane < bytes / width; lane++) {
      const std::int64_t value = value_of(lane);
      std::memcpy(buffer_ + pool_at_ + static_cast<std::size_t>(lane) * step, &value, step);
    }
    entry->second = pool_at_;
  }
  const void* address = buffer_ + entry->second;
  return ptr[rip + address];
}

// 0, step, 2 step, …
Emitter::Address Emitter::lane_numbers(int width, int bytes, std::int64_t step) {
  return lane_table(width, bytes, static_cast<std::uint64_t>(step),
                    [&](int lane) { return lane * step; });
}

void Emitter::emit_broadcast(const Instruction& i) {
  const int bytes = bytes_of(i.type, i.lanes);
  const bool by8 = wide(i.type);
  if (i.type == Type::kPred) {
    const Reg64 a = general(i.a, 0);
    mov(eax, a.cvt32());
    neg(eax);
    if (avx512()) {
      and_(eax, (1u << i.lanes) - 1);
      const Opmask to = mask_result(i.result);
      kmovd(to, eax);
      return finish(i.result, to);
    }
    const Xmm to = vector_result(i.result, 0);
    vmovd(Xmm(to.getIdx()), eax);
    vpbroadcastd(to, Xmm(to.getIdx()));
    return finish(i.result, to);
  }
  const Xmm to = vector_result(i.result, 0);
  const Xmm low(to.getIdx());
  if (!floating(i.type)) {
    const Reg64 a = general(i.a, 0);
    if (avx512()) {
      by8 ? vpbroadcastq(to, a) : vpbroadcastd(to, a.cvt32());
    } else if (by8) {
      vmovq(low, a);
      vpbroadcastq(to, low);
    } else {
      vmovd(low, a.cvt32());
      vpbroadcastd(to, low);
    }
    return finish(i.result, to);
  }
  const Source a = source(i.a);
  if (!by8) {
    vbroadcastss(to, a.get());
  } else if (bytes == 16) {
    vmovddup(to, a.get());
  } else {
    vbroadcastsd(as_ymm(to), a.get());
  }
  finish(i.result, to);
}

void Emitter::emit_lane_value(const Instruction& i) {
  if (i.kind == Kind::kBroadcast) return emit_broadcast(i);
  if (i.kind == Kind::kTailMask) {
    if (is_constant(i.a)) {
      mov(eax, (1u << info(i.a).bits) - 1);
    } else {
      // bzhi uses only the lowest 8 bits of its count.
      const Reg64 left = general(i.a, 0);
      mov(ecx, (1u << i.lanes) - 1);
      bzhi(eax, ecx, left.cvt32());
    }
    const Opmask to = mask_result(i.result);
    kmovd(to, eax);
    return finish(i.result, to);
  }
  const int bytes = bytes_of(i.type, i.lanes);
  const Reg64 first = general(i.a, 0);
  const Xmm to = vector_result(i.result, 0);
  const Xmm low(to.getIdx());
  if (wide(i.type)) {
    vmovq(low, first);
    vpbroadcastq(to, low);
    vpaddq(to, to, lane_numbers(8, bytes, 1));
  } else {
    vmovd(low, first.cvt32());
    vpbroadcastd(to, low);
    vpaddd(to, to, lane_numbers(4, bytes, 1));
  }
  finish(i.result, to);
}

/// A register that holds c, for an instruction that writes the lanes of the mask.
Emitter::Xmm Emitter::begin_masked(const Instruction& i) {
  const int bytes = bytes_of(i.type, i.lanes);
  Xmm to = vector_result(i.result, 2);
  const bool is_c = !is_constant(i.c) && place_of(i.c).kind == Place::Kind::kRegister &&
                    place_of(i.c).number == to.getIdx();
  if (!is_c) {
    // The result's register may be that of an operand.
    to = scratch(2, bytes);
    if (is_constant(i.c)) {
      vmovaps(to, vector_of(i.c, 1));
    } else {
      move_vector(to, source(i.c).get(), i.lanes);
    }
  }
  return to | mask_of(i.mask, 6);
}

void Emitter::normalize_lanes(Type type, const Xmm& x) {
  const int bytes = static_cast<int>(x.getBit()) / 8;
  switch (type) {
    case Type::kS8:
    case Type::kS16: {
      const std::uint8_t by = type == Type::kS8 ? 24 : 16;
      vpslld(x, x, by);
      return vpsrad(x, x, by);
    }
    case Type::kU8:
      return vandps(x, x, lanes_constant(0xff, 4, bytes));
    case Type::kU16:
      return vandps(x, x, lanes_constant(0xffff, 4, bytes));
    default:
      return;
  }
}

void Emitter::emit_lanes_integer(const Instruction& i) {
  if (i.type == Type::kPred) return emit_lanes_pred(i);
  if (i.mask != 0) return emit_masked_integer(i);
  if (i.b == 0) return emit_lanes_integer_unary(i);
  if (i.op == Opcode::kRotateLeft) return rotate_lanes(i);
  const bool by8 = wide(i.type), is_signed = signed_integer(i.type);
  const Xmm a = vector_of(i.a, 0), to = vector_result(i.result, 2);
  const Source b_source = source(i.b);
  const Operand& b = b_source.get();
  switch (i.op) {
    case Opcode::kAdd:
      by8 ? vpaddq(to, a, b) : vpaddd(to, a, b);
      break;
    case Opcode::kSubtract:
      by8 ? vpsubq(to, a, b) : vpsubd(to, a, b);
      break;
    case Opcode::kMultiply:
      by8 ? vpmullq(to, a, b) : vpmulld(to, a, b);
      break;
    case Opcode::kAnd:
      by8 ? vandpd(to, a, b) : vandps(to, a, b);
      break;
    case Opcode::kOr:
      by8 ? vorpd(to, a, b) : vorps(to, a, b);
      break;
    case Opcode::kXor:
      by8 ? vxorpd(to, a, b) : vxorps(to, a, b);
      break;
    case Opcode::kMin:
      if (by8) {
        is_signed ? vpminsq(to, a, b) : vpminuq(to, a, b);
      } else {
        is_signed ? vpminsd(to, a, b) : vpminud(to, a, b);
      }
      break;
    case Opcode::kMax:
      if (by8) {
        is_signed ? vpmaxsq(to, a, b) : vpmaxuq(to, a, b);
      } else {
        is_signed ? vpmaxsd(to, a, b) : vpmaxud(to, a, b);
      }
      break;
    case Opcode::kShiftLeft:
      by8 ? vpsllvq(to, a, b) : vpsllvd(to, a, b);
      break;
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      shift_lanes_right(i, to, a, b);
      break;
    default:
      throw Xbyak::Error(Xbyak::ERR_BAD_PARAMETER);
  }
  normalize_lanes(i.type, to);
  finish(i.result, to);
}

void Emitter::emit_masked_integer(const Instruction& i) {
  const bool by8 = wide(i.type);
  const Xmm a = vector_of(i.a, 0), kept = begin_masked(i);
  const Source b = source(i.b);
  switch (i.op) {
    case Opcode::kAdd:
      by8 ? vpaddq(kept, a, b.get()) : vpaddd(kept, a, b.get());
      break;
    case Opcode::kSubtract:
      by8 ? vpsubq(kept, a, b.get()) : vpsubd(kept, a, b.get());
      break;
    default:
      by8 ? vpmullq(kept, a, b.get()) : vpmulld(kept, a, b.get());
  }
  finish(i.result, unmasked(kept));
}

void Emitter::emit_lanes_integer_unary(const Instruction& i) {
  const int bytes = bytes_of(i.type, i.lanes);
  const bool by8 = wide(i.type);
  const Xmm a = vector_of(i.a, 0), to = vector_result(i.result, 2);
  switch (i.op) {
    case Opcode::kNegate: {
      const Xmm zero = scratch(1, bytes);
      vxorps(zero, zero, zero);
      by8 ? vpsubq(to, zero, a) : vpsubd(to, zero, a);
      break;
    }
    case Opcode::kAbs:
      if (!signed_integer(i.type)) {
        if (to.getIdx() != a.getIdx()) vmovaps(to, a);
      } else {
        by8 ? vpabsq(to, a) : vpabsd(to, a);
      }
      break;
    case Opcode::kNot:
      vxorps(to, a, lanes_constant(0xffffffffu, 4, bytes));
      break;
    default:
      throw Xbyak::Error(Xbyak::ERR_BAD_PARAMETER);
  }
  normalize_lanes(i.type, to);
  finish(i.result, to);
}

/// By a constant, of 4 or 8 bytes.
void Emitter::rotate_lanes(const Instruction& i) {
  const auto by = static_cast<std::uint8_t>(info(i.b).bits % (wide(i.type) ? 64 : 32));
  const Xmm a = vector_of(i.a, 0), to = vector_result(i.result, 2);
  wide(i.type) ? vprolq(to, a, by) : vprold(to, a, by);
  finish(i.result, to);
}

// The bits that are shifted in depend on the op, not on the sign of the type.
void Emitter::shift_lanes_right(const Instruction& i, const Xmm& to, const Xmm& a,
                                const Operand& b) {
  const bool logical = i.op == Opcode::kShiftRightLogical;
  const bool narrow = width_of(i.type) < 4;
  if (narrow && logical == signed_integer(i.type)) {
    const Xmm build = scratch(1, bytes_of(i.type, i.lanes));
    vmovaps(build, a);
    normalize_lanes(width_of(i.type) == 1 ? (logical ? Type::kU8 : Type::kS8)
                                          : (logical ? Type::kU16 : Type::kS16),
                    build);
    logical ? vpsrlvd(to, build, b) : vpsravd(to, build, b);
  } else if (wide(i.type)) {
    logical ? vpsrlvq(to, a, b) : vpsravq(to, a, b);
  } else {
    logical ? vpsrlvd(to, a, b) : vpsravd(to, a, b);
  }
}

void Emitter::emit_lanes_pred(const Instruction& i) {
  Opcode op = i.op;
  if (op == Opcode::kAdd || op == Opcode::kMax) op = Opcode::kOr;
  if (op == Opcode::kMultiply || op == Opcode::kMin) op = Opcode::kAnd;
  if (!avx512()) {
    const int bytes = bytes_of(Type::kPred, i.lanes);
    const Xmm a = vector_of(i.a, 0);
    const Xmm to = vector_result(i.result, 2);
    if (op == Opcode::kNot) {
      vxorps(to, a, lanes_constant(0xffffffffu, 4, bytes));
    } else {
      const Source b = source(i.b);
      op == Opcode::kAnd  ? vandps(to, a, b.get())
      : op == Opcode::kOr ? vorps(to, a, b.get())
                          : vxorps(to, a, b.get());
    }
    return finish(i.result, to);
  }
  const Opmask a = mask_of(i.a, 6);
  const Opmask to = mask_result(i.result);
  if (op == Opcode::kNot) {
    knotw(to, a);
  } else {
    const Opmask b = mask_of(i.b, 7);
    op == Opcode::kAnd ? kandw(to, a, b) : op == Opcode::kOr ? korw(to, a, b) : kxorw(to, a, b);
  }
  finish(i.result, to);
}

// AVX2: of comparisons of 8-byte lanes, the lower half of each lane.
void Emitter::narrow_mask(const Xmm& to, const Xmm& from) {
  if (from.getBit() == 128) {
    vshufps(to, from, from, 0x08);
  } else {
    vextractf128(scratch(1), as_ymm(from), 1);
    vshufps(to, Xmm(from.getIdx()), scratch(1), 0x88);
  }
}

void Emitter::compare_preds(const Instruction& i) {
  // a < b is b and not a.
  if (avx512()) {
    const Opmask a = mask_of(i.a, 6), b = mask_of(i.b, 7);
    const Opmask to = k7;
    switch (i.op) {
      case Opcode::kEqual:
        kxnorw(to, a, b);
        break;
      case Opcode::kNotEqual:
        kxorw(to, a, b);
        break;
      case Opcode::kLess:
        kandnw(to, a, b);
        break;
      case Opcode::kGreater:
        kandnw(to, b, a);
        break;
      case Opcode::kLessEqual:
        kandnw(to, b, a);
        knotw(to, to);
        break;
      default:
        kandnw(to, a, b);
        knotw(to, to);
    }
    return finish(i.result, to);
  }
  const int bytes = bytes_of(Type::kPred, i.lanes);
  const Xmm a = vector_of(i.a, 0), b = vector_of(i.b, 1);
  const Xmm to = scratch(2, bytes);
  bool inverted = false;
  switch (i.op) {
    case Opcode::kEqual:
      inverted = true;
      [[fallthrough]];
    case Opcode::kNotEqual:
      vxorps(to, a, b);
      break;
    case Opcode::kGreaterEqual:
      inverted = true;
      [[fallthrough]];
    case Opcode::kLess:
      vandnps(to, a, b);
      break;
    default:
      inverted = i.op == Opcode::kLessEqual;
      vandnps(to, b, a);
  }
  if (inverted) vxorps(to, to, lanes_constant(0xffffffffu, 4, bytes));
  finish(i.result, to);
}

void Emitter::emit_lanes_compare(const Instruction& i) {
  if (i.from == Type::kPred) return compare_preds(i);
  const int bytes = bytes_of(i.from, i.lanes);
  const bool by8 = wide(i.from), is_signed = signed_integer(i.from);
  const Xmm a = vector_of(i.a, 0);
  if (avx512()) {
    const Source b = source(i.b);
    const std::uint8_t inverted = i.inverted ? 4 : 0;  // this bit of the immediates inverts them
    const Opmask result = mask_result(i.result);
    const Opmask to = i.mask != 0 ? Opmask(result | mask_of(i.mask, 6)) : result;
    if (floating(i.from)) {
      const std::uint8_t how = float_predicate(i.op) ^ inverted;
      by8 ? vcmppd(to, a, b.get(), how) : vcmpps(to, a, b.get(), how);
    } else {
      const std::uint8_t how = integer_predicate(i.op) ^ inverted;
      if (by8) {
        is_signed ? vpcmpq(to, a, b.get(), how) : vpcmpuq(to, a, b.get(), how);
      } else {
        is_signed ? vpcmpd(to, a, b.get(), how) : vpcmpud(to, a, b.get(), how);
      }
    }
    return finish(i.result, result);
  }
  const Xmm build = scratch(2, bytes);
  if (floating(i.from)) {
    const Source b = source(i.b);
    const std::uint8_t how = float_predicate(i.op);
    by8 ? vcmppd(build, a, b.get(), how) : vcmpps(build, a, b.get(), how);
  } else {
    Xmm x = a, y = vector_of(i.b, 1);
    const bool only_equality = i.op == Opcode::kEqual || i.op == Opcode::kNotEqual;
    if (!only_equality && (i.from == Type::kU32 || i.from == Type::kU64)) {
      // Signed comparisons order unsigned numbers once their sign bits are flipped.
      const Address sign = by8 ? pooled(1ull << 63, 8, bytes) : pooled(1u << 31, 4, bytes);
      vxorps(scratch(0, bytes), x, sign);
      vxorps(scratch(1, bytes), y, sign);
      x = scratch(0, bytes), y = scratch(1, bytes);
    }
    bool inverted = false;
    switch (i.op) {
      case Opcode::kNotEqual:
        inverted = true;
        [[fallthrough]];
      case Opcode::kEqual:
        by8 ? vpcmpeqq(build, x, y) : vpcmpeqd(build, x, y);
        break;
      case Opcode::kLessEqual:
        inverted = true;
        [[fallthrough]];
      case Opcode::kGreater:
        by8 ? vpcmpgtq(build, x, y) : vpcmpgtd(build, x, y);
        break;
      default:
        inverted = i.op == Opcode::kGreaterEqual;
        by8 ? vpcmpgtq(build, y, x) : vpcmpgtd(build, y, x);
    }
    if (inverted) vxorps(build, build, lanes_constant(0xffffffffu, 4, bytes));
  }
  if (by8) {
    narrow_mask(scratch(0), build);
    return finish(i.result, scratch(0));
  }
  finish(i.result, build);
}

void Emitter::emit_lanes_select(const Instruction& i) {
  if (i.type == Type::kPred) {
    if (avx512()) {
      // c ^ (a & (b ^ c)): each operand is read before the next one needs its scratch register.
      kxorw(k6, mask_of(i.b, 6), mask_of(i.c, 7));
      kandw(k6, k6, mask_of(i.a, 7));
      kxorw(k7, k6, mask_of(i.c, 7));
      return finish(i.result, k7);
    }
  } else if (avx512()) {
    const Opmask k = mask_of(i.a, 6);
    const Xmm c = vector_of(i.c, 0);
    const Source b = source(i.b);
    const Xmm to = vector_result(i.result, 2);
    wide(i.type) ? vblendmpd(to | k, c, b.get()) : vblendmps(to | k, c, b.get());
    return finish(i.result, to);
  }
  const int bytes = bytes_of(i.type, i.lanes);
  Xmm mask = vector_of(i.a, 2);
  if (wide(i.type)) {
    vpmovsxdq(scratch(2, bytes), Xmm(mask.getIdx()));
    mask = scratch(2, bytes);
  }
  const Xmm c = vector_of(i.c, 0), b = vector_of(i.b, 1);
  const Xmm to = vector_result(i.result, 0);
  wide(i.type) ? vblendvpd(to, c, b, mask) : vblendvps(to, c, b, mask);
  finish(i.result, to);
}

// The rare lanes whose arguments have no inline code: one call handles them.
void Emitter::emit_lanes_math_call(const Instruction& i) {
  const int bytes = bytes_of(i.type, i.lanes);
  const std::size_t call_number = next_call_;
  Label* some = new_label();
  Label* done = new_label();
  if (i.c != 0) {
    if (avx512()) {
      const Opmask k = mask_of(i.c, 6);
      kortestw(k, k);
    } else {
      const Xmm x = vector_of(i.c, 0);
      vtestps(x, x);
    }
    jnz(*some);
    const Xmm to = vector_result(i.result, 0);
    vxorps(to, to, to);
    finish(i.result, to);
  } else {
    jmp(*some);
  }
  L(*done);
  rare_.push_back([this, i, bytes, call_number, some, done] {
    L(*some);
    if (i.c == 0) {
      mov(eax, (1u << i.lanes) - 1);
    } else if (avx512()) {
      kmovw(eax, mask_of(i.c, 6));
      and_(eax, (1u << i.lanes) - 1);
    } else {
      vmovmskps(eax, vector_of(i.c, 0));
    }
    mov(ptr[rsp + (call_area_ + 192)], rax);
    vmovups(ptr[rsp + call_area_], vector_of(i.a, 0));
    if (i.b != 0) vmovups(ptr[rsp + (call_area_ + 64)], vector_of(i.b, 0));
    save_registers(call_number);
    mov(rdi, i.bits);
    lea(rsi, ptr[rsp + call_area_]);
    mov(rdx, ptr[rsp + (call_area_ + 192)]);
    call_function(lanes_function(i.type, i.b != 0));
    restore_registers(call_number);
    vmovups(scratch(0, bytes), ptr[rsp + (call_area_ + 128)]);
    finish(i.result, scratch(0, bytes));
    jmp(*done);
  });
}

}  // namespace rondo::native_code::x86

#endif
