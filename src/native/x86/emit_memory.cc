// Loads, stores, copies and the addresses of buffers.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include <bit>
#include <cstddef>
#include <optional>

namespace rondo::native_code::x86 {

using lower::RunFrame;

namespace {

bool is_scale(std::int64_t stride) {
  return stride == 1 || stride == 2 || stride == 4 || stride == 8;
}
bool fits_displacement(std::int64_t offset) { return offset == static_cast<std::int32_t>(offset); }

}  // namespace

// Clobbers rax, and rdx if the base is in memory.
std::optional<Emitter::Address> Emitter::address_by_stack_index(const MachineAddress& address,
                                                                std::int64_t offset) {
  const MachineAddress::Term* only = nullptr;
  for (const MachineAddress::Term& term : address.terms) {
    if (is_constant(term.index)) continue;
    if (only != nullptr) return std::nullopt;
    only = &term;
  }
  if (only == nullptr || !is_scale(only->stride) || !fits_displacement(offset) ||
      place_of(only->index).kind != Place::Kind::kStack)
    return std::nullopt;
  mov(rax, stack(place_of(only->index).offset));
  return ptr[general(address.base, 2) + rax * static_cast<int>(only->stride) +
             static_cast<std::size_t>(offset)];
}

void Emitter::add_to_rax(const Reg64& r, bool& in_rax) {
  in_rax ? add(rax, r) : mov(rax, r);
  in_rax = true;
}

void Emitter::add_to_rax(const MachineAddress::Term& term, bool& in_rax) {
  const Reg64 index = general(term.index, 1);
  const auto stride = static_cast<std::uint64_t>(term.stride);
  if (!fits_displacement(term.stride)) {
    mov(rdx, stride);
    imul(rdx, index);
    return add_to_rax(rdx, in_rax);
  }
  if (in_rax && is_scale(term.stride)) {
    lea(rax, ptr[rax + index * static_cast<int>(term.stride)]);
    return;
  }
  if (stride == 1) return add_to_rax(index, in_rax);
  const Reg64 to = in_rax ? rcx : rax;
  if (std::has_single_bit(stride)) {
    if (to.getIdx() != index.getIdx()) mov(to, index);
    shl(to, std::countr_zero(stride));
  } else {
    imul(to, index, static_cast<int>(term.stride));
  }
  if (in_rax) add(rax, rcx);
  in_rax = true;
}

// May clobber rax and rcx, and rdx if the base or an index is in memory.
Emitter::Address Emitter::address_of(const Instruction& i) {
  const MachineAddress& address = code_.addresses[i.bits];
  std::int64_t offset = address.offset;
  for (const MachineAddress::Term& term : address.terms) {
    if (is_constant(term.index))
      offset += static_cast<std::int64_t>(info(term.index).bits) * term.stride;
  }
  if (const auto found = address_by_stack_index(address, offset)) return *found;
  const MachineAddress::Term* scaled = nullptr;  // the one term that the addressing mode can hold
  bool in_rax = false;
  for (const MachineAddress::Term& term : address.terms) {
    if (is_constant(term.index)) continue;
    if (scaled == nullptr && is_scale(term.stride) &&
        place_of(term.index).kind == Place::Kind::kRegister)
      scaled = &term;
    else
      add_to_rax(term, in_rax);
  }
  if (!fits_displacement(offset)) {
    mov(rcx, static_cast<std::uint64_t>(offset));
    add_to_rax(rcx, in_rax);
    offset = 0;
  }
  Reg64 base = general(address.base, 2);
  if (in_rax) {
    add(rax, base);
    base = rax;
  }
  const auto displacement = static_cast<std::size_t>(offset);  // the assembler's type of offsets
  if (scaled == nullptr) return ptr[base + displacement];
  return ptr[base + Reg64(place_of(scaled->index).number) * static_cast<int>(scaled->stride) +
             displacement];
}

void Emitter::emit_load(const Instruction& i) {
  if (i.lanes > 1) return emit_lanes_load(i);
  const Address from = address_of(i);
  if (floating(i.type)) {
    const Xmm to = vector_result(i.result, 0);
    switch (i.type) {
      case Type::kF64:
        vmovsd(to, from);
        break;
      case Type::kF32:
        vmovss(to, from);
        break;
      default:
        movzx(eax, word[from.getRegExp()]);
        if (i.type == Type::kBF16) shl(eax, 16);
        vmovd(to, eax);
        if (i.type == Type::kF16) vcvtph2ps(to, to);
    }
    return finish(i.result, to);
  }
  const Reg64 to = general_result(i.result);
  switch (i.type) {
    case Type::kPred:
    case Type::kU8:
      movzx(to.cvt32(), byte[from.getRegExp()]);
      break;
    case Type::kS8:
      movsx(to.cvt32(), byte[from.getRegExp()]);
      break;
    case Type::kU16:
      movzx(to.cvt32(), word[from.getRegExp()]);
      break;
    case Type::kS16:
      movsx(to.cvt32(), word[from.getRegExp()]);
      break;
    case Type::kS32:
    case Type::kU32:
      mov(to.cvt32(), from);
      break;
    default:
      mov(to, from);
  }
  finish(i.result, to);
}

void Emitter::emit_store(const Instruction& i) {
  if (i.lanes > 1) return emit_lanes_store(i);
  const Address to = address_of(i);
  if (floating(i.type)) {
    const Xmm a = vector_of(i.a, 0);
    switch (i.type) {
      case Type::kF64:
        return vmovsd(to, a);
      case Type::kF32:
        return vmovss(to, a);
      case Type::kF16:
        vcvtps2ph(scratch(1), a, 0);
        vmovd(ecx, scratch(1));
        return mov(word[to.getRegExp()], cx);
      default:
        vmovd(ecx, a);
        shr(ecx, 16);
        return mov(word[to.getRegExp()], cx);
    }
  }
  const Reg64 a = general(i.a, 1);
  switch (width_of(i.type)) {
    case 1:
      return mov(byte[to.getRegExp()], a.cvt8());
    case 2:
      return mov(word[to.getRegExp()], a.cvt16());
    case 4:
      return mov(dword[to.getRegExp()], a.cvt32());
    default:
      return mov(qword[to.getRegExp()], a);
  }
}

void Emitter::emit_base(const Instruction& i) {
  const lower::Buffer& buffer = code_.buffers[i.bits];
  const Reg64 to = general_result(i.result);
  const Reg64 frame(kFrameRegister);
  if (buffer.storage == lower::Storage::kArena) {
    mov(to, ptr[frame + offsetof(RunFrame, arena)]);
    if (buffer.offset != 0) {
      if (!fits_displacement(buffer.offset)) {
        mov(rcx, static_cast<std::uint64_t>(buffer.offset));
        add(to, rcx);
      } else {
        add(to, static_cast<std::uint32_t>(buffer.offset));
      }
    }
  } else if (buffer.storage == lower::Storage::kFrame) {
    mov(to, frame);
  } else {
    const std::size_t table =
        buffer.storage == lower::Storage::kArgument ? offsetof(RunFrame, arguments)
        : buffer.storage == lower::Storage::kResult ? offsetof(RunFrame, results)
                                                    : offsetof(RunFrame, constants);
    mov(to, ptr[frame + table]);
    mov(to, ptr[to + buffer.index * sizeof(void*)]);
  }
  finish(i.result, to);
}

// The last bytes are moved in an access that overlaps those before them.
void Emitter::copy_in_loop(const Instruction& i) {
  const Reg64 from = general(i.a, 0), to = general(i.b, 2);
  const int bytes = avx512() ? 64 : 32;
  const auto width = static_cast<std::size_t>(bytes);
  const std::uint64_t left = i.bits % (2 * width);
  uses_wide_registers_ = true;
  const auto move = [&](const Xbyak::RegExp& source, const Xbyak::RegExp& destination, int number) {
    vmovups(scratch(number, bytes), ptr[source]);
    vmovups(ptr[destination], scratch(number, bytes));
  };
  Label next;
  xor_(ecx, ecx);
  L(next);
  move(from + rcx, to + rcx, 0);
  move(from + rcx + width, to + rcx + width, 1);
  add(rcx, static_cast<std::uint32_t>(2 * width));
  cmp(rcx, static_cast<std::uint32_t>(i.bits - left));
  jb(next);
  if (left > width) move(from + (i.bits - 2 * width), to + (i.bits - 2 * width), 0);
  if (left > 0) move(from + (i.bits - width), to + (i.bits - width), 1);
}

// Small copies use vector registers, large ones rep movsb, which starts slowly.
void Emitter::emit_copy(const Instruction& i) {
  // Threshold: Copies of up to kMostInline bytes are unrolled, up to kMostInLoop a vector loop,
  // larger ones rep movsb, which starts slowly. Not measured.
  constexpr std::uint64_t kMostInline = 256, kMostInLoop = 4096;
  if (i.bits > kMostInline && i.bits <= kMostInLoop) return copy_in_loop(i);
  // The operands are in a and b, as pointers to the first bytes.
  if (i.bits > kMostInline) {
    // rsi and rdi may hold values.
    const Reg64 from = general(i.a, 0);
    if (from.getIdx() != rax.getIdx()) mov(rax, from);
    const Reg64 to = general(i.b, 2);
    if (to.getIdx() != rdx.getIdx()) mov(rdx, to);
    vmovq(scratch(0), rsi);
    vmovq(scratch(1), rdi);
    mov(rsi, rax);
    mov(rdi, rdx);
    mov(rcx, i.bits);
    rep();
    movsb();
    vmovq(rsi, scratch(0));
    vmovq(rdi, scratch(1));
    return;
  }
  const Reg64 from = general(i.a, 0), to = general(i.b, 2);
  std::size_t at = 0, left = i.bits;
  for (; left >= 32; left -= 32, at += 32) {
    const Xmm t = scratch(0, 32);
    vmovups(t, ptr[from + at]);
    vmovups(ptr[to + at], t);
    uses_wide_registers_ = true;
  }
  for (; left >= 16; left -= 16, at += 16) {
    vmovups(scratch(0), ptr[from + at]);
    vmovups(ptr[to + at], scratch(0));
  }
  for (; left >= 8; left -= 8, at += 8) {
    mov(rcx, ptr[from + at]);
    mov(ptr[to + at], rcx);
  }
  for (; left >= 4; left -= 4, at += 4) {
    mov(ecx, ptr[from + at]);
    mov(ptr[to + at], ecx);
  }
  for (; left > 0; left--, at++) {
    mov(cl, ptr[from + at]);
    mov(ptr[to + at], cl);
  }
}

}  // namespace rondo::native_code::x86

#endif
