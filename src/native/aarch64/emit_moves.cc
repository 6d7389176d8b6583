// The values that loops and branches pass on.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

namespace rondo::native_code::aarch64 {

void Emitter::move_one(Unit to, Unit from) {
  const bool to_register = place_of(to).kind == Place::Kind::kRegister;
  if (class_of(to) == RegisterClass::kVector) {
    if (!to_register || in_register(from)) return finish(to, vector_of(from, 0));
    const VRegister v = vector_result(to, 0);
    if (is_constant(from)) return load_constant(v, from);
    Ldr(v.GetSizeInBytes() == 16 ? v.Q() : v.D(), stack(place_of(from).offset));
    return;
  }
  if (!to_register || in_register(from)) return finish(to, general(from, 0));
  const Register r = general_result(to);
  if (is_constant(from)) {
    Mov(r, register_bits(info(from).type, info(from).bits));
  } else {
    Ldr(r, stack(place_of(from).offset));
  }
}

void Emitter::save_to_scratch(Unit u) {
  if (class_of(u) == RegisterClass::kVector) {
    const VRegister from = vector_of(u, 2);
    return move_vector(scratch_vector(2), from, u);
  }
  const Register from = general(u, 2);
  if (!from.Is(scratch(2))) Mov(scratch(2), from);
}

void Emitter::move_from_scratch(Unit to, Unit like) {
  if (class_of(like) == RegisterClass::kVector) return finish(to, scratch_vector(2));
  finish(to, scratch(2));
}

}  // namespace rondo::native_code::aarch64

#endif
