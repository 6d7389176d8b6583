// Quotients and remainders by constants.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

#include "lower/opcodes.h"
#include "native/reciprocals.h"

namespace rondo::native_code::x86 {

using lower::Opcode;

// Granlund and Montgomery, "Division by invariant integers using multiplication" (1994), section 4
// and 5. The dividend is in rcx, in 64 bits; the quotient goes to rdx.
void Emitter::divide_unsigned(std::uint64_t by) {
  const int log = log2_above(by);
  const std::uint64_t power = log == 64 ? 0 : std::uint64_t{1} << log;
  mov(rax, scaled_quotient(power - by, by) + 1);
  mul(rcx);
  mov(rax, rcx);
  sub(rax, rdx);
  shr(rax, 1);
  add(rdx, rax);
  if (log > 1) shr(rdx, log - 1);
}

void Emitter::divide_signed(std::int64_t by) {
  const std::uint64_t size =
      by < 0 ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
  const int log = log2_above(size);
  mov(rax, scaled_quotient(std::uint64_t{1} << (log - 1), size) + 1);
  imul(rcx);
  add(rdx, rcx);
  if (log > 1) sar(rdx, log - 1);
  mov(rax, rcx);
  shr(rax, 63);
  add(rdx, rax);
  if (by < 0) neg(rdx);
}

bool Emitter::emit_division_by_constant(const Instruction& i) {
  const bool by8 = wide(i.type), is_signed = signed_integer(i.type);
  const std::uint64_t bits = register_bits(i.type, info(i.b).bits);
  const std::int64_t by = by8 || !is_signed
                              ? static_cast<std::int64_t>(bits)
                              : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
  const std::uint64_t size =
      is_signed && by < 0 ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
  if (size < 2) return false;
  const Reg64 a = general(i.a, 1);
  if (is_signed && !by8) {
    movsxd(rcx, a.cvt32());
  } else if (a.getIdx() != rcx.getIdx()) {
    mov(rcx, a);
  }
  // A 32-bit dividend times the divisor's reciprocal, rounded up to 64 bits, has an error less than
  // the distance to the next quotient.
  if (by8) {
    is_signed ? divide_signed(by) : divide_unsigned(size);
  } else if (!is_signed) {
    mov(rax, scaled_quotient(1, size) + 1);
    mul(rcx);
  } else if (size == 2) {
    divide_signed(by);
  } else {
    mov(rax, scaled_quotient(1, size) + 1);
    imul(rcx);
    mov(rax, rcx);
    shr(rax, 63);
    add(rdx, rax);
    if (by < 0) neg(rdx);
  }
  const Reg64 to = general_result(i.result);
  if (i.op == Opcode::kDivide) {
    by8 ? mov(to, rdx) : mov(to.cvt32(), edx);
  } else if (by8) {
    if (by == static_cast<std::int32_t>(by)) {
      imul(rdx, rdx, static_cast<int>(by));
    } else {
      mov(rax, bits);
      imul(rdx, rax);
    }
    mov(to, rcx);
    sub(to, rdx);
  } else {
    imul(edx, edx, static_cast<int>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))));
    mov(to.cvt32(), ecx);
    sub(to.cvt32(), edx);
  }
  normalize(i.type, to);
  finish(i.result, to);
  return true;
}

}  // namespace rondo::native_code::x86

#endif
