// Loads, stores, copies and the addresses of buffers.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include <bit>
#include <cstddef>

namespace rondo::native_code::aarch64 {

using lower::RunFrame;
namespace vixl_ = vixl::aarch64;

// [base, #offset], or [base, index, lsl #n] with the n of the access's size. Other terms are added
// to the base, the last one in `last`.
Emitter::MemOperand Emitter::address_of(const Instruction& i, int bytes, const Register& last) {
  const MachineAddress& address = code_.addresses[i.bits];
  std::int64_t offset = address.offset;
  std::vector<MachineAddress::Term> terms;
  for (const MachineAddress::Term& term : address.terms) {
    if (is_constant(term.index)) {
      offset += static_cast<std::int64_t>(info(term.index).bits) * term.stride;
    } else {
      terms.push_back(term);
    }
  }
  Register base = general(address.base, 2);
  for (std::size_t t = 0; t < terms.size(); t++) {
    const Register index = general(terms[t].index, 1);
    const auto stride = static_cast<std::uint64_t>(terms[t].stride);
    const bool is_last = t + 1 == terms.size(), is_power = std::has_single_bit(stride);
    const bool is_scale = stride == 1 || stride == static_cast<std::uint64_t>(bytes);
    const Register sum = is_last ? last : scratch(0);
    if (is_last && offset == 0 && is_scale)
      return MemOperand(base, index, vixl_::LSL, static_cast<unsigned>(std::countr_zero(stride)));
    if (is_power) {
      Add(sum, base, Operand(index, vixl_::LSL, static_cast<unsigned>(std::countr_zero(stride))));
    } else {
      // The first base may be in scratch register 2, a later one is in 0.
      const Register factor = base.Is(scratch(0)) ? scratch(2) : scratch(0);
      Mov(factor, stride);
      Madd(sum, index, factor, base);
    }
    base = sum;
  }
  return MemOperand(base, offset);
}

void Emitter::emit_address(const Instruction& i) {
  const Register to = general_result(i.result);
  const MemOperand at = address_of(i, 1, to);
  if (at.IsImmediateOffset()) {
    if (!to.Is(at.GetBaseRegister()) || at.GetOffset() != 0)
      Add(to, at.GetBaseRegister(), at.GetOffset());
  } else {
    Add(to, at.GetBaseRegister(), at.GetRegisterOffset());
  }
  finish(i.result, to);
}

void Emitter::emit_load(const Instruction& i) {
  if (i.lanes > 1) return emit_lanes_load(i);
  const MemOperand from = address_of(i, width_of(i.type));
  if (floating(i.type)) {
    const VRegister to = vector_result(i.result, 0);
    if (!half_float(i.type)) {
      Ldr(to, from);
    } else {
      Ldr(to.H(), from);
      i.type == Type::kF16 ? Fcvt(to.S(), to.H()) : Shl(to.V2S(), to.V2S(), 16);
    }
    return finish(i.result, to);
  }
  const Register to = general_result(i.result);
  switch (i.type) {
    case Type::kPred:
    case Type::kU8:
      Ldrb(to.W(), from);
      break;
    case Type::kS8:
      Ldrsb(to.W(), from);
      break;
    case Type::kU16:
      Ldrh(to.W(), from);
      break;
    case Type::kS16:
      Ldrsh(to.W(), from);
      break;
    default:
      Ldr(sized(i.type, to), from);
  }
  finish(i.result, to);
}

void Emitter::emit_store(const Instruction& i) {
  if (i.lanes > 1) return emit_lanes_store(i);
  const MemOperand to = address_of(i, width_of(i.type));
  if (floating(i.type)) {
    const VRegister a = vector_of(i.a, 0);
    if (!half_float(i.type)) return Str(a, to);
    const VRegister narrow = scratch_vector(1);
    i.type == Type::kF16 ? Fcvt(narrow.H(), a.S()) : Ushr(narrow.V2S(), a.V2S(), 16);
    return Str(narrow.H(), to);
  }
  const bool is_zero = is_constant(i.a) && info(i.a).bits == 0;
  const Register a = is_zero ? Register(vixl_::xzr) : general(i.a, 3);
  switch (width_of(i.type)) {
    case 1:
      return Strb(a.W(), to);
    case 2:
      return Strh(a.W(), to);
    default:
      return Str(sized(i.type, a), to);
  }
}

void Emitter::emit_base(const Instruction& i) {
  const lower::Buffer& buffer = code_.buffers[i.bits];
  const Register to = general_result(i.result);
  if (buffer.storage == lower::Storage::kArena) {
    Ldr(to, run_frame(offsetof(RunFrame, arena)));
    if (buffer.offset != 0) Add(to, to, buffer.offset);
  } else if (buffer.storage == lower::Storage::kFrame) {
    Mov(to, general_register(kFrameRegister));
  } else {
    const std::size_t table =
        buffer.storage == lower::Storage::kArgument ? offsetof(RunFrame, arguments)
        : buffer.storage == lower::Storage::kResult ? offsetof(RunFrame, results)
                                                    : offsetof(RunFrame, constants);
    Ldr(to, run_frame(table));
    Ldr(to, MemOperand(to, static_cast<std::int64_t>(buffer.index * sizeof(void*))));
  }
  finish(i.result, to);
}

void Emitter::emit_copy(const Instruction& i) {
  // Threshold: Copies of up to this many bytes are unrolled, larger ones a loop. Not measured.
  constexpr std::uint64_t kMostInline = 256;
  constexpr std::int64_t kPair = 32;
  const VRegister low = scratch_vector(0).Q(), high = scratch_vector(1).Q();
  Register from = general(i.a, 0), to = general(i.b, 2);
  std::uint64_t left = i.bits;
  if (left > kMostInline) {
    if (!from.Is(scratch(0))) Mov(scratch(0), from);
    if (!to.Is(scratch(2))) Mov(scratch(2), to);
    from = scratch(0), to = scratch(2);
    Label next;
    Mov(scratch(1), left / kPair);
    left %= kPair;
    Bind(&next);
    Ldp(low, high, MemOperand(from, kPair, vixl_::PostIndex));
    Stp(low, high, MemOperand(to, kPair, vixl_::PostIndex));
    Subs(scratch(1), scratch(1), 1);
    B(&next, vixl_::ne);
  }
  std::int64_t at = 0;
  const auto move = [&](const auto& through, std::uint64_t bytes) {
    for (; left >= bytes; left -= bytes, at += static_cast<std::int64_t>(bytes)) {
      Ldr(through, MemOperand(from, at));
      Str(through, MemOperand(to, at));
    }
  };
  for (; left >= kPair; left -= kPair, at += kPair) {
    Ldp(low, high, MemOperand(from, at));
    Stp(low, high, MemOperand(to, at));
  }
  move(low, 16);
  move(low.D(), 8);
  move(low.S(), 4);
  move(low.H(), 2);
  move(low.B(), 1);
}

}  // namespace rondo::native_code::aarch64

#endif
