// Calls of C++ functions.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include <bit>
#include <cstddef>

#include "lower/run_tapes.h"
#include "native/called_functions.h"

namespace rondo::native_code::aarch64 {

using lower::RunFrame;
using lower::Status;
using lower::TapeRows;
namespace vixl_ = vixl::aarch64;

void Emitter::save_registers(std::size_t call_number) {
  for (const std::uint32_t bundle : allocation_.saved[call_number]) {
    const int number = allocation_.places[bundle].number;
    const MemOperand to = stack(allocation_.save_offsets[bundle]);
    if (ranges_.bundles[bundle].register_class == RegisterClass::kGeneral) {
      Str(general_register(number), to);
    } else {
      const VRegister v = vector_register(number);
      Str(ranges_.bundles[bundle].bytes > 8 ? v.Q() : v.D(), to);
    }
  }
}

void Emitter::restore_registers(std::size_t call_number) {
  for (const std::uint32_t bundle : allocation_.saved[call_number]) {
    const int number = allocation_.places[bundle].number;
    const MemOperand from = stack(allocation_.save_offsets[bundle]);
    if (ranges_.bundles[bundle].register_class == RegisterClass::kGeneral) {
      Ldr(general_register(number), from);
    } else {
      const VRegister v = vector_register(number);
      Ldr(ranges_.bundles[bundle].bytes > 8 ? v.Q() : v.D(), from);
    }
  }
}

void Emitter::call_function(const void* function) {
  Mov(scratch(3), reinterpret_cast<std::uint64_t>(function));
  Blr(scratch(3));
}

void Emitter::call_on_vectors(const void* function, const Instruction& i) {
  save_registers(next_call_);
  // Either operand may be in the register that the other must go to.
  if (i.b != 0) move_vector(scratch_vector(1), vector_of(i.b, 1), i.b);
  move_vector(vixl_::v0, vector_of(i.a, 0), i.a);
  if (i.b != 0) move_vector(vixl_::v1, scratch_vector(1), i.b);
  call_function(function);
  move_vector(scratch_vector(0), vixl_::v0, i.result);
  restore_registers(next_call_);
  finish(i.result, scratch_vector(0));
}

void Emitter::emit_math_call(const Instruction& i) {
  if (i.lanes > 1) return emit_lanes_math_call(i);
  const void* function = reinterpret_cast<const void*>(i.bits);
  if (i.c == 0) return call_on_vectors(function, i);
  Label skip, done;
  Cbz(general(i.c, 0).W(), &skip);
  call_on_vectors(function, i);
  B(&done);
  Bind(&skip);
  const VRegister to = vector_result(i.result, 0);
  load_bits(to, 0);
  finish(i.result, to);
  Bind(&done);
}

void Emitter::leave_if_false(Status status) {
  Label* failure = new_label();
  Tst(scratch(0).W(), 0xff);
  B(failure, vixl_::eq);
  rare_.emplace_back([this, failure, status] {
    Bind(failure);
    Mov(scratch(0).W(), static_cast<std::uint64_t>(status));
    B(&leave_);
  });
}

void Emitter::emit_kernel_call(const Instruction& i) {
  const MachineCall& kernel_call = code_.calls[i.bits];
  save_registers(next_call_);
  for (std::size_t p = 0; p < kernel_call.pointers.size(); p++)
    Str(general(kernel_call.pointers[p], 0),
        stack(pointers_offset_ + static_cast<std::uint32_t>(8 * p)));
  Mov(scratch(0), reinterpret_cast<std::uint64_t>(kernel_call.kernel));
  Add(scratch(1), vixl_::sp, pointers_offset_);
  Mov(scratch(2), general_register(kFrameRegister));
  call_function(reinterpret_cast<const void*>(&run_kernel));
  restore_registers(next_call_);
  leave_if_false(Status::kKernelFailed);
}

void Emitter::emit_tape_row(const Instruction& i) {
  const auto tape = static_cast<std::uint32_t>(i.bits);
  const auto row_bytes = static_cast<std::uint64_t>(code_.tapes[tape].row_bytes);
  const auto rows = static_cast<std::int64_t>(tape * sizeof(TapeRows));
  Label* missing = new_label();
  Label* found = new_label();
  Ldr(scratch(0), run_frame(offsetof(RunFrame, rows)));
  const Register row = general(i.a, 1);
  Ldr(scratch(2), MemOperand(scratch(0), rows + std::int64_t{offsetof(TapeRows, count)}));
  Cmp(row, scratch(2));
  B(missing, vixl_::hs);  // also a negative one
  Ldr(scratch(0), MemOperand(scratch(0), rows + std::int64_t{offsetof(TapeRows, first)}));
  if (std::has_single_bit(row_bytes)) {
    Add(scratch(0), scratch(0),
        Operand(row, vixl_::LSL, static_cast<unsigned>(std::countr_zero(row_bytes))));
  } else {
    Mov(scratch(2), row_bytes);
    Madd(scratch(0), row, scratch(2), scratch(0));
  }
  Bind(found);
  if (i.result != 0) finish(i.result, scratch(0));
  rare_.emplace_back([this, missing, found, call = next_call_, i] {
    Bind(missing);
    const std::uint64_t loop = i.bits >> 32;
    if (i.b != 0) store_trips(i.b, loop);
    save_registers(call);
    const Register number = general(i.a, 2);
    if (!number.Is(scratch(2))) Mov(scratch(2), number);
    Mov(scratch(0), general_register(kFrameRegister));
    Mov(scratch(1), i.bits);
    Mov(vixl_::w3, i.op == lower::Opcode::kTapeWrite ? 1 : 0);
    call_function(reinterpret_cast<const void*>(&lower::RunTapes::missing_row));
    restore_registers(call);
    Cbnz(scratch(0), found);
    Mov(scratch(0).W(), static_cast<std::uint64_t>(Status::kTapeFailed));
    B(&leave_);
  });
}

void Emitter::emit_tape_set(const Instruction& i) {
  save_registers(next_call_);
  Mov(scratch(0), general_register(kFrameRegister));
  Mov(scratch(1), reinterpret_cast<std::uint64_t>(&code_.tape_sets[i.bits]));
  call_function(reinterpret_cast<const void*>(&lower::RunTapes::set));
  restore_registers(next_call_);
  leave_if_false(Status::kTapeFailed);
}

}  // namespace rondo::native_code::aarch64

#endif
