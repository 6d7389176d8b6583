// The values that loops and branches pass on.
#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

namespace rondo::native_code::x86 {

void Emitter::move_one(Unit to, Unit from) {
  switch (class_of(to)) {
    case RegisterClass::kGeneral: {
      if (place_of(to).kind == Place::Kind::kRegister) {
        const Reg64 r(place_of(to).number);
        if (is_constant(from))
          return load_immediate(r, register_bits(info(from).type, info(from).bits));
        const Place& place = place_of(from);
        if (place.kind == Place::Kind::kStack) return mov(r, stack(place.offset));
        if (place.number != r.getIdx()) mov(r, Reg64(place.number));
        return;
      }
      return finish(to, general(from, 0));
    }
    case RegisterClass::kVector: {
      if (place_of(to).kind == Place::Kind::kRegister) {
        const Xmm x = vector(place_of(to).number, bytes_of(info(to).type, info(to).lanes));
        if (is_constant(from)) return load_constant(x, from);
        return move_vector(x, source(from).get(), info(from).lanes);
      }
      return finish(to, vector_of(from, 0));
    }
    case RegisterClass::kMask:
      return finish(to, mask_of(from, 7));
  }
}

void Emitter::save_to_scratch(Unit u) {
  switch (class_of(u)) {
    case RegisterClass::kGeneral:
      mov(rdx, general(u, 2));
      return;
    case RegisterClass::kVector: {
      const Xmm x = scratch(2, bytes_of(info(u).type, info(u).lanes));
      return move_vector(x, source(u).get(), info(u).lanes);
    }
    case RegisterClass::kMask:
      kmovw(k6, mask_of(u, 6));
  }
}

void Emitter::move_from_scratch(Unit to, Unit like) {
  switch (class_of(like)) {
    case RegisterClass::kGeneral:
      return finish(to, rdx);
    case RegisterClass::kVector:
      return finish(to, scratch(2, bytes_of(info(like).type, info(like).lanes)));
    case RegisterClass::kMask:
      return finish(to, k6);
  }
}

}  // namespace rondo::native_code::x86

#endif
