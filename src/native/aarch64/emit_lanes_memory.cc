// Loads and stores of lanes, which are adjacent.
#include "native/aarch64/emitter.h"
#include "native/lane_streams.h"

#if defined(RONDO_HAVE_VIXL)

namespace rondo::native_code::aarch64 {

namespace vixl_ = vixl::aarch64;

/// The part of the register that has so many bytes: 2, 4, 8 or 16.
Emitter::VRegister Emitter::part(const VRegister& v, int bytes) {
  return bytes == 16 ? v.Q() : bytes == 8 ? v.D() : bytes == 4 ? v.S() : v.H();
}

void Emitter::emit_lanes_load(const Instruction& i) {
  const int width = width_of(i.type), bytes = width * i.lanes;
  const MemOperand from = address_of(i, bytes);
  if (i.streams) {
    const Register base = from.GetBaseRegister();
    if (!from.IsImmediateOffset())
      Add(scratch(3), base,
          Operand(from.GetRegisterOffset(), from.GetShift(), from.GetShiftAmount()));
    Prfm(vixl_::PLDL1STRM, from.IsImmediateOffset()
                               ? MemOperand(base, from.GetOffset() + kPrefetched)
                               : MemOperand(scratch(3), kPrefetched));
  }
  const VRegister to = vector_result(i.result, 0);
  Ldr(part(to, bytes), from);
  if (width == 1) {
    i.type == Type::kS8 ? Sxtl(to.V8H(), to.V8B()) : Uxtl(to.V8H(), to.V8B());
    i.type == Type::kS8 ? Sxtl(to.V4S(), to.V4H()) : Uxtl(to.V4S(), to.V4H());
    if (i.type == Type::kPred) Cmtst(to, to, to);
  } else if (i.type == Type::kF16) {
    Fcvtl(to.V4S(), to.V4H());
  } else if (i.type == Type::kBF16) {
    Shll(to.V4S(), to.V4H(), 16);
  } else if (width == 2) {
    i.type == Type::kS16 ? Sxtl(to.V4S(), to.V4H()) : Uxtl(to.V4S(), to.V4H());
  }
  finish(i.result, to);
}

void Emitter::emit_lanes_store(const Instruction& i) {
  const int width = width_of(i.type), bytes = width * i.lanes;
  const MemOperand to = address_of(i, bytes);
  VRegister a = vector_of(i.a, 0);
  const VRegister t = scratch_vector(1);
  if (i.type == Type::kF16) {
    Fcvtn(t.V4H(), a.V4S());
  } else if (i.type == Type::kBF16) {
    Shrn(t.V4H(), a.V4S(), 16);
  } else if (width < 4) {
    if (i.type == Type::kPred) {
      Ushr(t.V4S(), a.V4S(), 31);
      a = t;
    }
    Xtn(t.V4H(), a.V4S());
    if (width == 1) Xtn(t.V8B(), t.V8H());
  }
  Str(part(width < 4 ? t : a, bytes), to);
}

}  // namespace rondo::native_code::aarch64

#endif
