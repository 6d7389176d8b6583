// Loads and stores of lanes.
#include <algorithm>
#include <cstdint>

#include "native/lane_streams.h"
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

namespace rondo::native_code::x86 {

// Lanes that are not adjacent: AVX-512's gathers and scatters, which clear their mask.
void Emitter::gather_or_scatter(const Instruction& i) {
  const MachineAddress& address = code_.addresses[i.bits];
  const bool by8 = wide(i.type), loads = i.kind == Kind::kLoad;
  const int bytes = bytes_of(i.type, i.lanes);
  // The address register first: computing it may use the register of the mask's bits.
  const Address at = address_of(i);
  lea(rcx, at);
  if (i.mask != 0) {
    const Opmask mask = mask_of(i.mask, 7);
    if (mask.getIdx() != k7.getIdx()) kmovw(k7, mask);
  } else {
    mov(eax, (1u << i.lanes) - 1);
    kmovw(k7, eax);
  }
  Xmm index = scratch(1, bytes_of(Type::kS32, i.lanes));
  bool wide_index = false;
  int scale = 1;
  if (address.lane_index == 0) {
    vmovups(index, lane_numbers(4, bytes_of(Type::kS32, i.lanes), address.lane_stride));
  } else {
    const Type type = info(address.lane_index).type;
    const int index_bytes = bytes_of(type, i.lanes);
    wide_index = wide(type);
    index = vector_of(address.lane_index, 1);
    if (address.lane_stride == 2 || address.lane_stride == 4 || address.lane_stride == 8) {
      scale = static_cast<int>(address.lane_stride);
    } else if (address.lane_stride != 1) {
      const auto factor = static_cast<std::uint64_t>(address.lane_stride);
      const Xmm scaled = scratch(1, index_bytes);
      const Address factors = lanes_constant(factor, wide_index ? 8 : 4, index_bytes);
      wide_index ? vpmullq(scaled, index, factors) : vpmulld(scaled, index, factors);
      index = scaled;
    }
  }
  const auto place = ptr[rcx + index * scale];
  if (loads) {
    const Xmm to = scratch(0, bytes);
    vxorps(to, to, to);
    if (wide_index) {
      by8 ? vpgatherqq(to | k7, place) : vpgatherqd(to | k7, place);
    } else {
      by8 ? vpgatherdq(to | k7, place) : vpgatherdd(to | k7, place);
    }
    return finish(i.result, to);
  }
  const Xmm a = vector_of(i.a, 0);
  if (wide_index) {
    by8 ? vpscatterqq(place | k7, a) : vpscatterqd(place | k7, a);
  } else {
    by8 ? vpscatterdq(place | k7, a) : vpscatterdd(place | k7, a);
  }
}

/// All lanes, with a stride of two to eight elements.
bool Emitter::has_few_gaps(const Instruction& i) const {
  // Threshold: Strides of up to this many elements load whole vectors and permute them, larger ones
  // gather. Not measured alone; nbody in bench/anchors runs it (bench/README.md).
  constexpr std::int64_t kMostStride = 8;
  const MachineAddress& address = code_.addresses[i.bits];
  if (!avx512() || address.lane_index != 0 || i.mask != 0) return false;
  const std::int64_t width = width_of(i.type);
  return width >= 4 && i.type != Type::kPred && i.lanes * width >= 32 &&
         address.lane_stride % width == 0 && address.lane_stride >= 2 * width &&
         address.lane_stride <= std::min<std::int64_t>(i.lanes, kMostStride) * width;
}

// Whole vectors of the elements between the first lane and the last, from which the lanes are
// permuted: a gather takes several steps for each lane.
void Emitter::load_with_gaps(const Instruction& i) {
  const bool by8 = wide(i.type);
  const int width = width_of(i.type), lanes = i.lanes, bytes = lanes * width;
  const int stride = static_cast<int>(code_.addresses[i.bits].lane_stride) / width;
  lea(rcx, address_of(i));
  const Xmm to = vector_result(i.result, 0);
  const Xmm which = scratch(1, bytes), last = scratch(2, bytes);
  vmovups(to, ptr[rcx]);
  for (int vector = 1; vector < stride; vector++) {
    // Picks the lanes among the elements of this vector; the other lanes stay.
    const auto element = [&](int lane) -> std::int64_t {
      const int at = lane * stride - vector * lanes;
      return at >= 0 ? lanes + at % lanes : vector == 1 ? lane * stride : lane;
    };
    const auto key = std::uint64_t{1} << 32 | static_cast<std::uint64_t>(stride * 16 + vector);
    vmovups(which, lane_table(width, bytes, key, element));
    const Address from = ptr[rcx + static_cast<std::size_t>(vector * bytes)];
    if (vector + 1 < stride) {
      by8 ? vpermt2pd(to, which, from) : vpermt2ps(to, which, from);
      continue;
    }
    mov(eax, (1u << (lanes - stride + 1)) - 1);
    kmovd(k7, eax);
    by8 ? vmovupd(last | k7 | T_z, from) : vmovups(last | k7 | T_z, from);
    by8 ? vpermt2pd(to, which, last) : vpermt2ps(to, which, last);
  }
  finish(i.result, to);
}

void Emitter::prefetch(const Address& from) {
  const Xbyak::RegExp ahead = from.getRegExp() + kPrefetched;
  const auto displacement = static_cast<std::int64_t>(ahead.getDisp());
  if (displacement == static_cast<std::int32_t>(displacement)) prefetcht0(ptr[ahead]);
}

/// A mask has 16 bits. With fewer lanes the bits after them may be set, as ops that invert a mask
/// leave them, and an instruction on 16 bytes would read or write there.
static bool has_exact_mask(const Instruction& i) { return i.mask == 0 || i.lanes == 16; }

/// 4, 8 or 16 bytes; zeros after them.
void Emitter::load_bytes(const Xmm& to, const Address& from, int bytes) {
  if (bytes == 16) {
    vmovups(to, from);
  } else if (bytes == 8) {
    vmovq(to, from);
  } else {
    vmovd(to, from);
  }
}

/// 4, 8 or 16 bytes.
void Emitter::store_bytes(const Address& to, const Xmm& x, int bytes) {
  if (bytes == 16) {
    vmovups(to, x);
  } else if (bytes == 8) {
    vmovq(to, x);
  } else {
    vmovd(to, x);
  }
}

void Emitter::emit_lanes_load(const Instruction& i) {
  const MachineAddress& address = code_.addresses[i.bits];
  if (has_few_gaps(i)) return load_with_gaps(i);
  if (address.lane_index != 0 || address.lane_stride != width_of(i.type))
    return gather_or_scatter(i);
  const int bytes = bytes_of(i.type, i.lanes);
  const Address from = address_of(i);
  if (i.streams) prefetch(from);
  // A masked load does not touch memory of the lanes that it excludes.
  auto masked = [&](const Xmm& to) -> Xmm {
    return i.mask != 0 ? Xmm(to | mask_of(i.mask, 7) | T_z) : to;
  };
  if (i.type == Type::kPred) {
    if (avx512() && has_exact_mask(i)) {
      const Xmm x = scratch(0);
      if (i.mask != 0) {
        vmovdqu8(masked(x), from);
      } else {
        load_bytes(x, from, i.lanes);
      }
      const Opmask to = mask_result(i.result);
      vptestmb(to, x, x);
      return finish(i.result, to);
    }
    const Xmm x = scratch(0, bytes);
    vpmovzxbd(masked(x), from);
    if (avx512()) {
      const Opmask to = mask_result(i.result);
      vptestmd(to, x, x);
      return finish(i.result, to);
    }
    vxorps(scratch(1, bytes), scratch(1, bytes), scratch(1, bytes));
    vpcmpgtd(x, x, scratch(1, bytes));
    return finish(i.result, x);
  }
  const Xmm to = vector_result(i.result, 0);
  switch (i.type) {
    case Type::kS8:
      vpmovsxbd(masked(to), from);
      break;
    case Type::kU8:
      vpmovzxbd(masked(to), from);
      break;
    case Type::kS16:
      vpmovsxwd(masked(to), from);
      break;
    case Type::kU16:
      vpmovzxwd(masked(to), from);
      break;
    case Type::kF16:
      vcvtph2ps(masked(to), from);
      break;
    case Type::kBF16:
      vpmovzxwd(masked(to), from);
      vpslld(to, to, 16);
      break;
    default:
      if (wide(i.type)) {
        vmovupd(masked(to), from);
      } else {
        vmovups(masked(to), from);
      }
  }
  finish(i.result, to);
}

/// In pieces of powers of two, the widest first.
void Emitter::store_first(const Address& to, Xmm x, int bytes) {
  const int whole = static_cast<int>(x.getBit()) / 8;
  lea(rax, to);
  std::size_t at = 0;
  for (int piece = 32; piece >= 4; piece /= 2) {
    if ((bytes & piece) == 0) continue;
    const Address place = ptr[rax + at];
    piece == 32 ? vmovups(place, vector(x.getIdx(), 32))
                : store_bytes(place, Xmm(x.getIdx()), piece);
    at += static_cast<std::size_t>(piece);
    if (bytes % piece == 0) return;
    const Xmm rest = scratch(1, whole);
    valignd(rest, x, x, static_cast<std::uint8_t>(piece / 4));
    x = rest;
  }
  if ((bytes & 2) != 0) vpextrw(ptr[rax + at], Xmm(x.getIdx()), 0);
  if ((bytes & 1) != 0) vpextrb(ptr[rax + at + (bytes & 2)], Xmm(x.getIdx()), bytes & 2);
}

// The instruction faults on unaligned vectors, and the caller's memory need not be aligned.
void Emitter::store_past_caches(const Address& to, const Xmm& x, int bytes) {
  Label unaligned, end;
  lea(rax, to);
  test(al, static_cast<std::uint32_t>(bytes - 1));
  jnz(unaligned);
  vmovntps(ptr[rax], x);
  jmp(end);
  L(unaligned);
  vmovups(ptr[rax], x);
  L(end);
}

void Emitter::emit_lanes_store(const Instruction& i) {
  const MachineAddress& address = code_.addresses[i.bits];
  if (address.lane_index != 0 || address.lane_stride != width_of(i.type))
    return gather_or_scatter(i);
  const int bytes = bytes_of(i.type, i.lanes);
  const int width = width_of(i.type);
  // The value first: a constant mask takes the register that an address is computed in.
  Xmm x = scratch(0, bytes);
  if (i.type != Type::kPred) {
    x = vector_of(i.a, 0);
  } else if (avx512() && has_exact_mask(i)) {
    x = scratch(0);
    const Opmask k = mask_of(i.a, 6);
    vmovdqu8(x | k | T_z, pooled(0x0101010101010101, 8, 16));
    const Address to = address_of(i);
    if (i.first != 0) return store_first(to, x, i.first);
    return i.mask != 0 ? vmovdqu8(to | mask_of(i.mask, 7), x) : store_bytes(to, x, i.lanes);
  } else if (avx512()) {
    const Opmask k = mask_of(i.a, 6);
    vbroadcastss(x | k | T_z, pooled(1, 4, 4));
  } else {
    vandps(x, vector_of(i.a, 0), pooled(1, 4, bytes));
  }
  Address to = address_of(i);
  if (i.streams && width >= 4) return store_past_caches(to, x, bytes);
  if (i.mask != 0 && i.first == 0) to = to | mask_of(i.mask, 7);
  if (i.first != 0 && width >= 4) return store_first(to, x, width * i.first);
  if (width == 8) return vmovupd(to, x);
  if (width == 4) return vmovups(to, x);
  const Xmm t = scratch(1, bytes), packed = scratch(1, std::max(16, bytes * width / 4));
  if (i.type == Type::kF16) {
    if (i.first == 0) return vcvtps2ph(to, x, 0);
    vcvtps2ph(packed, x, 0);
    return store_first(to, packed, width * i.first);
  }
  if (i.type == Type::kBF16) {
    vpsrld(t, x, 16);
    x = t;
  }
  if (i.first != 0) {
    width == 1 ? vpmovdb(packed, x) : vpmovdw(packed, x);
    return store_first(to, packed, width * i.first);
  }
  if (avx512()) {
    width == 1 ? vpmovdb(to, x) : vpmovdw(to, x);
    return;
  }
  // The values fit, so packing with saturation keeps them.
  const bool is_signed = signed_integer(i.type);
  const Xmm low(scratch(1).getIdx()), high(scratch(2).getIdx());
  if (bytes == 32) {
    vextracti128(high, as_ymm(x), 1);
  } else {
    vmovaps(high, x);
  }
  is_signed ? vpackssdw(low, Xmm(x.getIdx()), high) : vpackusdw(low, Xmm(x.getIdx()), high);
  if (width == 1) is_signed ? vpacksswb(low, low, low) : vpackuswb(low, low, low);
  store_bytes(to, low, width * i.lanes);
}

}  // namespace rondo::native_code::x86

#endif
