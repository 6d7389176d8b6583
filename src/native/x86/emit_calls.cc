// Calls of C++ functions.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include <bit>
#include <cstddef>

#include "lower/run_tapes.h"
#include "native/called_functions.h"

namespace rondo::native_code::x86 {

using lower::RunFrame;
using lower::Status;
using lower::TapeRows;

namespace {

const Xbyak::Reg64 kRunFrame(kFrameRegister);

}  // namespace

void Emitter::save_registers(std::size_t call_number) {
  for (std::uint32_t bundle : allocation_.saved[call_number]) {
    const int number = allocation_.places[bundle].number;
    const Address to = stack(allocation_.save_offsets[bundle]);
    switch (ranges_.bundles[bundle].register_class) {
      case RegisterClass::kGeneral:
        mov(to, Reg64(number));
        break;
      case RegisterClass::kVector:
        if (const int bytes = ranges_.bundles[bundle].bytes; bytes > 8) {
          vmovups(to, vector(number, bytes));
        } else {
          vmovsd(to, Xmm(number));
        }
        break;
      case RegisterClass::kMask:
        kmovw(to, Opmask(number));
    }
  }
}

void Emitter::restore_registers(std::size_t call_number) {
  for (std::uint32_t bundle : allocation_.saved[call_number]) {
    const int number = allocation_.places[bundle].number;
    const Address from = stack(allocation_.save_offsets[bundle]);
    switch (ranges_.bundles[bundle].register_class) {
      case RegisterClass::kGeneral:
        mov(Reg64(number), from);
        break;
      case RegisterClass::kVector:
        if (const int bytes = ranges_.bundles[bundle].bytes; bytes > 8) {
          vmovups(vector(number, bytes), from);
        } else {
          vmovsd(Xmm(number), from);
        }
        break;
      case RegisterClass::kMask:
        kmovw(Opmask(number), from);
    }
  }
}

void Emitter::call_indirect(const Operand& function) {
  // The frame is a multiple of 64 bytes below an address that was rounded down to one.
  call(function);
}

void Emitter::call_function(const void* function) {
  if (uses_wide_registers_) vzeroupper();
  mov(rax, reinterpret_cast<std::uint64_t>(function));
  call_indirect(rax);
}

void Emitter::call_on_vectors(const void* function, const Instruction& i) {
  save_registers(next_call_);
  // Either operand may be in the register that the other must go to.
  if (i.b != 0) move_vector(scratch(1), vector_of(i.b, 1), 1);
  move_vector(xmm0, vector_of(i.a, 0), 1);
  if (i.b != 0) vmovaps(xmm1, scratch(1));
  call_function(function);
  vmovaps(scratch(0), xmm0);
  restore_registers(next_call_);
  finish(i.result, scratch(0));
}

void Emitter::emit_math_call(const Instruction& i) {
  if (i.lanes > 1) return emit_lanes_math_call(i);
  const void* function = reinterpret_cast<const void*>(i.bits);
  if (i.c == 0) return call_on_vectors(function, i);
  Label skip, done;
  const Reg64 predicate = general(i.c, 0);
  test(predicate.cvt32(), predicate.cvt32());
  jz(skip);
  call_on_vectors(function, i);
  jmp(done);
  L(skip);
  const Xmm to = vector_result(i.result, 0);
  vxorps(to, to, to);
  finish(i.result, to);
  L(done);
}

void Emitter::leave_if_false(Status status) {
  Label* failure = new_label();
  test(al, al);
  jz(*failure);
  rare_.push_back([this, failure, status] {
    L(*failure);
    mov(eax, static_cast<std::uint32_t>(status));
    jmp(leave_);
  });
}

void Emitter::emit_kernel_call(const Instruction& i) {
  const MachineCall& kernel_call = code_.calls[i.bits];
  save_registers(next_call_);
  for (std::size_t p = 0; p < kernel_call.pointers.size(); p++)
    mov(ptr[rsp + (pointers_offset_ + 8 * p)], general(kernel_call.pointers[p], 0));
  mov(rdi, reinterpret_cast<std::uint64_t>(kernel_call.kernel));
  lea(rsi, ptr[rsp + pointers_offset_]);
  mov(rdx, kRunFrame);
  call_function(reinterpret_cast<const void*>(&run_kernel));
  restore_registers(next_call_);
  leave_if_false(Status::kKernelFailed);
}

void Emitter::emit_tape_row(const Instruction& i) {
  constexpr std::uint64_t kMostScale = 8;
  const auto tape = static_cast<std::uint32_t>(i.bits);
  const auto row_bytes = static_cast<std::uint64_t>(code_.tapes[tape].row_bytes);
  Label* missing = new_label();
  Label* found = new_label();
  mov(rax, ptr[kRunFrame + offsetof(RunFrame, rows)]);
  const Reg64 row = general(i.a, 1);
  cmp(row, ptr[rax + (tape * sizeof(TapeRows) + offsetof(TapeRows, count))]);
  jae(*missing);  // also a negative one
  mov(rax, ptr[rax + (tape * sizeof(TapeRows) + offsetof(TapeRows, first))]);
  if (row_bytes <= kMostScale && std::has_single_bit(row_bytes)) {
    lea(rax, ptr[rax + row * static_cast<int>(row_bytes)]);
  } else if (row_bytes == static_cast<std::uint64_t>(static_cast<std::int32_t>(row_bytes))) {
    imul(rdx, row, static_cast<int>(row_bytes));
    add(rax, rdx);
  } else {
    mov(rdx, row_bytes);
    imul(rdx, row);
    add(rax, rdx);
  }
  L(*found);
  finish(i.result, rax);
  rare_.push_back([this, missing, found, call = next_call_, i] {
    L(*missing);
    const std::uint64_t loop = i.bits >> 32;
    if (i.b != 0) store_trips(i.b, loop);
    save_registers(call);
    const Reg64 number = general(i.a, 2);
    if (number.getIdx() != rdx.getIdx()) mov(rdx, number);
    mov(rdi, kRunFrame);
    mov(rsi, i.bits);
    mov(ecx, i.op == lower::Opcode::kTapeWrite);
    call_function(reinterpret_cast<const void*>(&lower::RunTapes::missing_row));
    restore_registers(call);
    test(rax, rax);
    jnz(*found);
    mov(eax, static_cast<std::uint32_t>(Status::kTapeFailed));
    jmp(leave_);
  });
}

void Emitter::emit_tape_set(const Instruction& i) {
  save_registers(next_call_);
  mov(rdi, kRunFrame);
  mov(rsi, reinterpret_cast<std::uint64_t>(&code_.tape_sets[i.bits]));
  call_function(reinterpret_cast<const void*>(&lower::RunTapes::set));
  restore_registers(next_call_);
  leave_if_false(Status::kTapeFailed);
}

}  // namespace rondo::native_code::x86

#endif
