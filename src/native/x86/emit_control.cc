// Loops, branches, and trip reports.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include <algorithm>
#include <cstddef>

namespace rondo::native_code::x86 {

using lower::Opcode;
using lower::RunFrame;
using lower::Status;

namespace {

/// The negated comparison of integers.
Opcode opposite(Opcode op) {
  constexpr Opcode kOpposites[] = {Opcode::kNotEqual, Opcode::kEqual,     Opcode::kGreaterEqual,
                                   Opcode::kGreater,  Opcode::kLessEqual, Opcode::kLess};
  return kOpposites[static_cast<int>(op) - static_cast<int>(Opcode::kEqual)];
}

const Xbyak::Reg64 kFrame(kFrameRegister);

}  // namespace

void Emitter::note_frame(const Reg64& base, std::uint32_t saved,
                         std::optional<std::uint32_t> in_memory_at) {
  frame_.rows.push_back({here(), static_cast<std::uint8_t>(base.getIdx()), in_memory_at.has_value(),
                         in_memory_at.value_or(0), 8 * (saved + 1), saved});
}

void Emitter::emit_prologue() {
  std::uint32_t saved = 0;
  const auto save = [&](const Reg64& r) {
    push(r);
    frame_.registers.push_back(static_cast<std::uint8_t>(r.getIdx()));
    note_frame(rsp, ++saved);
  };
  note_frame(rsp, 0);
  for (int r = 0; r < 16; r++) {
    if (allocation_.used_callee_saved >> r & 1) save(Reg64(r));
  }
  save(kFrame);
  mov(kFrame, rdi);
  area_offset_ = allocation_.stack_bytes;
  std::size_t pointers = 0;
  for (const MachineCall& call : code_.calls) pointers = std::max(pointers, call.pointers.size());
  pointers_offset_ = area_offset_ + static_cast<std::uint32_t>((code_.area_bytes + 63) / 64 * 64);
  call_area_ = pointers_offset_ + static_cast<std::uint32_t>((8 * pointers + 63) / 64 * 64);
  const bool calls_in_lanes = std::any_of(code_.code.begin(), code_.code.end(), [](const auto& i) {
    return i.kind == Kind::kMathCall && i.lanes > 1;
  });
  const std::size_t used = call_area_ + (calls_in_lanes ? 256 : 0);
  if (used == 0 && ranges_.calls.empty()) return;
  frame_bytes_ = (used + 8 + 63) / 64 * 64;
  mov(rax, rsp);
  note_frame(rax, saved);
  // Each page is touched in turn, so that a stack overflow faults at its guard page.
  constexpr std::uint32_t kPage = 4096;
  if (frame_bytes_ >= kPage) {
    Label next;
    mov(ecx, static_cast<std::uint32_t>(frame_bytes_ / kPage));
    L(next);
    sub(rsp, kPage);
    test(qword[rsp], rsp);
    dec(ecx);
    jnz(next);
  }
  sub(rsp, static_cast<std::uint32_t>(frame_bytes_ % kPage));
  and_(rsp, ~63u);
  mov(ptr[rsp + (frame_bytes_ - 8)], rax);
  note_frame(rsp, saved, static_cast<std::uint32_t>(frame_bytes_ - 8));
}

void Emitter::emit_epilogue() {
  xor_(eax, eax);
  L(leave_);
  if (uses_wide_registers_) vzeroupper();
  const FrameLayout::Row inside = frame_.rows.back();
  auto saved = inside.saved;
  if (frame_bytes_ != 0) {
    mov(rsp, ptr[rsp + (frame_bytes_ - 8)]);
    note_frame(rsp, saved);
  }
  const auto restore = [&](const Reg64& r) {
    pop(r);
    note_frame(rsp, --saved);
  };
  restore(kFrame);
  for (int r = 15; r >= 0; r--) {
    if (allocation_.used_callee_saved >> r & 1) restore(Reg64(r));
  }
  ret();
  frame_.rows.push_back(inside);  // of rare paths
  frame_.rows.back().offset = here();
}

void Emitter::jump_where(bool holds, Unit predicate, std::size_t position, Label& target) {
  if (is_constant(predicate)) {
    if ((info(predicate).bits != 0) == holds) jmp(target);
    return;
  }
  if (info(predicate).lanes > 1) {
    if (class_of(predicate) == RegisterClass::kMask) {
      const Opmask k = mask_of(predicate, 6);
      kortestw(k, k);
    } else {
      const Xmm x = vector_of(predicate, 0);
      vtestps(x, x);
    }
    return holds ? jnz(target) : jz(target);
  }
  if (position == 0 || !is_fused(position - 1)) {
    const Reg64 r = general(predicate, 0);
    test(r.cvt32(), r.cvt32());
    return holds ? jnz(target) : jz(target);
  }
  const Instruction& i = code_.code[position - 1];
  if (floating(i.from)) return jump_by_floats(i, holds, target);
  compare_integers(i);
  jump_by_integers(holds ? i.op : opposite(i.op), signed_integer(i.from), target);
}

void Emitter::jump_by_floats(const Instruction& comparison, bool holds, Label& target) {
  compare_floats(comparison);
  Label unordered;
  switch (comparison.op) {
    case Opcode::kEqual:
    case Opcode::kNotEqual:
      if ((comparison.op == Opcode::kEqual) == holds) {
        jp(unordered);
        je(target);
        return L(unordered);
      }
      jne(target);
      return jp(target);
    case Opcode::kLess:
    case Opcode::kGreater:
      return holds ? ja(target) : jbe(target);
    default:
      return holds ? jae(target) : jb(target);
  }
}

void Emitter::jump_by_integers(Opcode op, bool is_signed, Label& target) {
  switch (op) {
    case Opcode::kEqual:
      return je(target);
    case Opcode::kNotEqual:
      return jne(target);
    case Opcode::kLess:
      return is_signed ? jl(target) : jb(target);
    case Opcode::kLessEqual:
      return is_signed ? jle(target) : jbe(target);
    case Opcode::kGreater:
      return is_signed ? jg(target) : ja(target);
    default:
      return is_signed ? jge(target) : jae(target);
  }
}

void Emitter::compare_index(const MachineLoop& loop) {
  const Reg64 index = general(loop.index, 0);
  if (is_constant(loop.upper)) {
    const auto bound = static_cast<std::int64_t>(info(loop.upper).bits);
    if (bound == static_cast<std::int32_t>(bound)) {
      cmp(index, static_cast<std::uint32_t>(bound));
      return;
    }
  } else if (place_of(loop.upper).kind == Place::Kind::kStack) {
    cmp(index, stack(place_of(loop.upper).offset));
    return;
  }
  cmp(index, general(loop.upper, 1));
}

void Emitter::bind_head(Label& head) {
  align(16);
  L(head);
}

void Emitter::jump_by_index(const MachineLoop& loop, bool is_below, Label& target) {
  compare_index(loop);
  is_below ? jl(target) : jge(target);
}

void Emitter::advance_index(const MachineLoop& loop) {
  const Place& place = place_of(loop.index);
  const bool immediate = loop.step == static_cast<std::int32_t>(loop.step);
  if (!immediate) mov(rcx, static_cast<std::uint64_t>(loop.step));
  if (place.kind == Place::Kind::kRegister) {
    const Reg64 index(place.number);
    immediate ? add(index, static_cast<std::uint32_t>(loop.step)) : add(index, rcx);
  } else {
    const Address index = qword[rsp + place.offset];
    immediate ? add(index, static_cast<std::uint32_t>(loop.step)) : add(index, rcx);
  }
}

void Emitter::emit_trips_begin(const Instruction& i) {
  report_begin(i);
  const Reg64 to = general_result(i.result);
  xor_(to.cvt32(), to.cvt32());
  finish(i.result, to);
  if (!i.visible) return;
  mov(rdx, ptr[kFrame + offsetof(RunFrame, trips)]);
  mov(qword[rdx + i.bits * 8], 0);
}

/// Stores what a loop reports when it begins.
void Emitter::report_begin(const Instruction& i) {
  if (code_.loop_reports[i.bits].ends_inside) {
    mov(eax, ptr[kFrame + offsetof(RunFrame, keeps_state)]);
    mov(ptr[kFrame + offsetof(RunFrame, outer_poll)], eax);
  }
  if (i.a == 0) return;
  Label untold;
  mov(rdx, ptr[kFrame + offsetof(RunFrame, trips_to_come)]);
  test(rdx, rdx);
  jz(untold);
  store_bits(rdx, i.bits * 8, i.a);
  L(untold);
}

/// The bits of a scalar as in its register.
void Emitter::store_bits(const Reg64& base, std::uint64_t offset, Unit value) {
  const Type type = info(value).type;
  if (!floating(type) || is_constant(value))
    mov(ptr[base + offset], general(value, 1));
  else if (type == Type::kF64)
    vmovsd(ptr[base + offset], vector_of(value, 0));
  else
    vmovss(ptr[base + offset], vector_of(value, 0));
}

/// Stores the state of the loop, if the frame requests it.
void Emitter::store_state(std::uint64_t loop) {
  const std::vector<Unit>& state = code_.loop_reports[loop].state;
  if (state.empty()) return;
  Label unasked;
  mov(rdx, ptr[kFrame + offsetof(RunFrame, state)]);
  test(rdx, rdx);
  jz(unasked, T_NEAR);
  for (std::size_t k = 0; k < state.size(); k++) store_bits(rdx, k * 8, state[k]);
  L(unasked);
}

void Emitter::store_trips(Unit counter, std::uint64_t loop) {
  mov(rdx, ptr[kFrame + offsetof(RunFrame, trips)]);
  mov(ptr[rdx + loop * 8], general(counter, 0));
}

void Emitter::leave_with(Status status, std::uint64_t loop) {
  mov(dword[kFrame + offsetof(RunFrame, failed_loop)], static_cast<std::uint32_t>(loop));
  mov(eax, static_cast<std::uint32_t>(status));
  jmp(leave_);
}

void Emitter::emit_trip(const Instruction& i) {
  const std::uint64_t loop = i.bits;
  const Unit counter = i.a;
  const bool in_register = place_of(counter).kind == Place::Kind::kRegister;
  if (i.b != 0) {
    const Reg64 to = in_register ? Reg64(place_of(counter).number) : rcx;
    lea(to, ptr[general(i.b, 0) + 1]);
    if (!in_register) mov(qword[rsp + place_of(counter).offset], to);
  } else if (in_register) {
    inc(Reg64(place_of(counter).number));
  } else {
    inc(qword[rsp + place_of(counter).offset]);
  }
  if (i.visible) store_trips(counter, loop);
  const Reg64 count = general(counter, 0);
  if (const std::int64_t most = code_.loop_reports[loop].most_trips; most != INT64_MAX) {
    mov(rcx, static_cast<std::uint64_t>(most));
    cmp(count, rcx);
    jg(leaving(Status::kBrokenPromise, counter, loop));
  }
  if (!code_.loop_reports[loop].polls) return;
  cmp(count, ptr[kFrame + offsetof(RunFrame, max_iterations)]);
  jg(leaving(Status::kTooManyTrips, counter, loop));
  emit_poll(i);
}

void Emitter::emit_poll(const Instruction& i) {
  Label* raised = new_label();
  Label* resume = new_label();
  const bool inside = i.kind == Kind::kPoll;
  if (!inside && code_.loop_reports[i.bits].ends_inside) {
    cmp(dword[kFrame + offsetof(RunFrame, outer_poll)], 0);
  } else {
    mov(rax, ptr[kFrame + offsetof(RunFrame, poll)]);
    cmp(dword[rax], 0);
  }
  jne(*raised);
  L(*resume);
  rare_.push_back([this, raised, resume, inside, call = next_call_, counter = i.a, loop = i.bits] {
    L(*raised);
    if (!inside) {
      store_trips(counter, loop);
      store_state(loop);
    }
    save_registers(call);
    mov(rdi, kFrame);
    mov(esi, inside ? lower::kNoLoop : static_cast<std::uint32_t>(loop));
    if (uses_wide_registers_) vzeroupper();
    call_indirect(ptr[kFrame + offsetof(RunFrame, at_safepoint)]);
    restore_registers(call);
    test(al, al);
    jnz(*resume);
    leave_with(inside && loop != lower::kNoLoop ? Status::kPolledInside : Status::kPolled, loop);
  });
}

void Emitter::emit_trips_end(const Instruction& i) {
  if (i.visible) store_trips(i.a, i.bits);
  if (!code_.loop_reports[i.bits].in_lanes) {
    mov(rdx, ptr[kFrame + offsetof(RunFrame, total_trips)]);
    add(ptr[rdx + i.bits * 8], general(i.a, 0));
    if (i.b != 0) sub(ptr[rdx + i.bits * 8], general(i.b, 0));
    return;
  }
  Label uncounted;
  mov(rdx, ptr[kFrame + offsetof(RunFrame, lane_trips)]);
  test(rdx, rdx);
  jz(uncounted);
  add(ptr[rdx + i.bits * 16], general(i.a, 0));
  L(uncounted);
}

/// For a loop over lanes, the trips of the block that makes most count.
void Emitter::emit_lane_trips(const Instruction& i) {
  Label uncounted;
  mov(rdx, ptr[kFrame + offsetof(RunFrame, lane_trips)]);
  test(rdx, rdx);
  jz(uncounted);
  const std::uint64_t block = i.bits * 16, most = block + 8;
  if (i.kind == Kind::kBlockTrips) {
    mov(rax, ptr[rdx + block]);
    mov(qword[rdx + block], 0);
    cmp(rax, ptr[rdx + most]);
    jle(uncounted);
    mov(ptr[rdx + most], rax);
  } else {
    mov(rax, ptr[rdx + most]);
    mov(qword[rdx + most], 0);
    mov(rdx, ptr[kFrame + offsetof(RunFrame, total_trips)]);
    add(ptr[rdx + i.bits * 8], rax);
  }
  L(uncounted);
}

}  // namespace rondo::native_code::x86

#endif
