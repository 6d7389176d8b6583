#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include <cstring>
#include <utility>

namespace rondo::native_code::x86 {

using lower::Opcode;

Emitter::Emitter(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
                 const Target& target, std::uint8_t* buffer, std::size_t bytes)
    : CodeGenerator(bytes, buffer),
      EmitterBase(code, ranges, allocation, target),
      bytes_(bytes),
      buffer_(buffer),
      pool_at_(kPoolBytes(bytes)) {
  setDefaultJmpNEAR(true);
  // Padding between constants is part of the code, and two codes are compared byte by byte.
  std::memset(buffer_, 0, entry());
  for (const Instruction& i : code.code) {
    if (i.lanes > 1) uses_wide_registers_ = true;
  }
}

Emitter::Xmm Emitter::vector(int number, int bytes) {
  if (bytes <= 16) return Xmm(number);
  if (bytes == 32) return Xbyak::Ymm(number);
  return Xbyak::Zmm(number);
}

// Constants are written downwards from the function's entry.
Emitter::Address Emitter::pooled(std::uint64_t bits, int width, int repeat, bool broadcast) {
  if (width == 4) bits &= 0xffffffffu;
  auto [entry, is_new] = pool_.try_emplace({bits, width << 8 | repeat});
  if (is_new) {
    const std::size_t size = static_cast<std::size_t>(std::max(width, repeat));
    if (pool_at_ < size + 64) throw Xbyak::Error(Xbyak::ERR_CODE_IS_TOO_BIG);
    pool_at_ = (pool_at_ - size) / size * size;
    for (std::size_t at = 0; at < size; at += static_cast<std::size_t>(width))
      std::memcpy(buffer_ + pool_at_ + at, &bits, static_cast<std::size_t>(width));
    entry->second = pool_at_;
  }
  const void* address = buffer_ + entry->second;
  if (broadcast) return ptr_b[rip + address];
  return ptr[rip + address];
}

Emitter::Address Emitter::lanes_constant(std::uint64_t bits, int width, int bytes) {
  if (avx512()) return pooled(bits, width, width, true);
  return pooled(bits, width, bytes);
}

void Emitter::load_immediate(const Reg64& to, std::uint64_t bits) {
  if (bits == 0) {
    xor_(to.cvt32(), to.cvt32());
  } else if (bits <= 0xffffffffu) {
    mov(to.cvt32(), static_cast<std::uint32_t>(bits));
  } else {
    mov(to, bits);
  }
}

Emitter::Reg64 Emitter::general(Unit u, int scratch_number) {
  constexpr int numbers[] = {Operand::RAX, Operand::RCX, Operand::RDX};
  const Reg64 scratch(numbers[scratch_number]);
  if (is_constant(u)) {
    load_immediate(scratch, register_bits(info(u).type, info(u).bits));
    return scratch;
  }
  const Place& place = place_of(u);
  if (place.kind == Place::Kind::kRegister) return Reg64(place.number);
  mov(scratch, stack(place.offset));
  return scratch;
}

Emitter::Reg64 Emitter::general_result(Unit u) const {
  const Place& place = place_of(u);
  return place.kind == Place::Kind::kRegister ? Reg64(place.number) : rax;
}

void Emitter::finish(Unit u, const Reg64& value) {
  const Place& place = place_of(u);
  if (place.kind == Place::Kind::kStack) {
    mov(stack(place.offset), value);
  } else if (place.number != value.getIdx()) {
    mov(Reg64(place.number), value);
  }
}

Emitter::Xmm Emitter::vector_of(Unit u, int scratch_number) {
  const int bytes = bytes_of(info(u).type, info(u).lanes);
  if (!is_constant(u) && place_of(u).kind == Place::Kind::kRegister)
    return vector(place_of(u).number, bytes);
  const Xmm to = scratch(scratch_number, bytes);
  if (is_constant(u)) {
    load_constant(to, u);
  } else {
    move_vector(to, source(u).get(), info(u).lanes);
  }
  return to;
}

void Emitter::load_constant(const Xmm& to, Unit u) {
  const UnitInfo& unit = info(u);
  const std::uint64_t bits = unit.type == Type::kPred ? (unit.bits != 0 ? 0xffffffffu : 0u)
                                                      : register_bits(unit.type, unit.bits);
  if (bits == 0) {
    vxorps(to, to, to);
  } else if (unit.lanes == 1) {
    wide(unit.type) ? vmovsd(to, pooled(bits, 8, 8)) : vmovss(to, pooled(bits, 4, 4));
  } else if (!wide(unit.type)) {
    vbroadcastss(to, pooled(bits, 4, 4));
  } else if (to.getBit() == 128) {
    vmovddup(to, pooled(bits, 8, 8));
  } else {
    vbroadcastsd(as_ymm(to), pooled(bits, 8, 8));
  }
}

Emitter::Source Emitter::source(Unit u) {
  Source out;
  const UnitInfo& unit = info(u);
  const int bytes = bytes_of(unit.type, unit.lanes);
  if (unit.constant) {
    out.in_memory = true;
    const int width = wide(unit.type) ? 8 : 4;
    const std::uint64_t bits = unit.type == Type::kPred && unit.lanes > 1
                                   ? (unit.bits != 0 ? 0xffffffffu : 0u)
                                   : register_bits(unit.type, unit.bits);
    out.memory = unit.lanes == 1 ? pooled(bits, width, width) : lanes_constant(bits, width, bytes);
  } else if (place_of(u).kind == Place::Kind::kStack) {
    out.in_memory = true;
    out.memory = stack(place_of(u).offset);
  } else {
    out.reg = vector(place_of(u).number, bytes);
  }
  return out;
}

Emitter::Xmm Emitter::vector_result(Unit u, int scratch_number) const {
  const int bytes = bytes_of(info(u).type, info(u).lanes);
  const Place& place = place_of(u);
  return place.kind == Place::Kind::kRegister ? vector(place.number, bytes)
                                              : scratch(scratch_number, bytes);
}

void Emitter::finish(Unit u, const Xmm& value) {
  const Place& place = place_of(u);
  if (place.kind == Place::Kind::kStack) {
    if (info(u).lanes > 1) {
      vmovups(stack(place.offset), value);
    } else {
      vmovsd(stack(place.offset), value);
    }
  } else if (place.number != value.getIdx()) {
    move_vector(vector(place.number, bytes_of(info(u).type, info(u).lanes)), value, info(u).lanes);
  }
}

void Emitter::move_vector(const Xmm& to, const Operand& from, int lanes) {
  if (from.isMEM()) {
    if (lanes > 1) {
      vmovups(to, from);
    } else {
      vmovsd(to, static_cast<const Address&>(from));
    }
  } else if (to.getIdx() != from.getIdx()) {
    vmovaps(to, from);
  }
}

Emitter::Opmask Emitter::mask_of(Unit u, int scratch_number) {
  const Opmask to(scratch_number);
  if (is_constant(u)) {
    // Bits after the lanes stay clear: the test whether any lane is set reads all bits.
    mov(eax, info(u).bits == 0 ? 0 : (1u << info(u).lanes) - 1);
    kmovd(to, eax);
    return to;
  }
  if (place_of(u).kind == Place::Kind::kRegister) return Opmask(place_of(u).number);
  kmovw(to, stack(place_of(u).offset));
  return to;
}

Emitter::Opmask Emitter::mask_result(Unit u) const {
  const Place& place = place_of(u);
  return Opmask(place.kind == Place::Kind::kRegister ? place.number : 7);
}

void Emitter::finish(Unit u, const Opmask& value) {
  const Place& place = place_of(u);
  if (place.kind == Place::Kind::kStack) {
    kmovw(stack(place.offset), value);
  } else if (place.number != value.getIdx()) {
    kmovw(Opmask(place.number), value);
  }
}

void Emitter::emit() {
  setSize(entry());
  emit_all();
}

void Emitter::begin_instruction(const Instruction& i) {
  if (i.kind != Kind::kCompute || i.op != Opcode::kSelect || i.lanes != 1 ||
      i.bits == lower::kAwaited)
    selecting_ = 0;
}

void Emitter::emit_stack_slot(const Instruction& i) {
  const Reg64 to = general_result(i.result);
  lea(to, ptr[rsp + (area_offset_ + static_cast<std::uint32_t>(i.bits))]);
  finish(i.result, to);
}

void Emitter::emit_address(const Instruction& i) {
  const Reg64 to = general_result(i.result);
  lea(to, address_of(i));
  finish(i.result, to);
}

}  // namespace rondo::native_code::x86

#endif
