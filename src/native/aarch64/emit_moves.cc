// The values that loops and branches pass on.
#include "native/aarch64/emitter.h"
#include "native/parallel_moves.h"

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

void Emitter::move_all(std::vector<Move> moves) {
  const auto key = [&](Unit u) { return is_constant(u) ? 0 : place_key(place_of(u), class_of(u)); };
  std::erase_if(moves, [&](const Move& m) {
    return m.to == 0 || ranges_.bundle_of[m.to] == 0 ||
           (!is_constant(m.from) && key(m.to) == key(m.from));
  });
  if (moves.empty()) return;
  if (moves.size() == 1) return move_one(moves[0].to, moves[0].from);
  std::vector<ParallelMove> places;
  for (const Move& m : moves) places.push_back({key(m.to), key(m.from)});
  move_in_parallel(
      places, [&](std::size_t m) { move_one(moves[m].to, moves[m].from); },
      [&](std::size_t m) { save_to_scratch(moves[m].to); },
      [&](std::size_t m) { move_from_scratch(moves[m].to, moves[m].from); });
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
