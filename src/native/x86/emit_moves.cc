// Parallel moves: the values that loops and branches pass on.
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

// A place that another move still reads must not be written yet. Once only cycles remain, one value
// goes to scratch.
void Emitter::move_all(std::vector<Move> moves) {
  auto key = [&](Unit u) -> std::uint64_t {
    if (is_constant(u)) return 0;
    const Place& place = place_of(u);
    return place.kind == Place::Kind::kRegister
               ? std::uint64_t{1} << 40 | static_cast<std::uint64_t>(class_of(u)) << 8 |
                     place.number
               : std::uint64_t{2} << 40 | place.offset;
  };
  std::erase_if(moves, [&](const Move& m) {
    return m.to == 0 || ranges_.bundle_of[m.to] == 0 ||
           (!is_constant(m.from) && key(m.to) == key(m.from));
  });
  if (moves.empty()) return;
  if (moves.size() == 1) return move_one(moves[0].to, moves[0].from);
  absl::flat_hash_map<std::uint64_t, int> readers;  // for each place, among the remaining moves
  absl::flat_hash_map<std::uint64_t, std::size_t> writer;
  for (std::size_t m = 0; m < moves.size(); m++) {
    if (const auto from = key(moves[m].from)) readers[from]++;
    writer[key(moves[m].to)] = m;
  }
  std::vector<bool> done(moves.size());
  std::vector<std::size_t> ready;
  for (std::size_t m = 0; m < moves.size(); m++) {
    if (!readers.contains(key(moves[m].to))) ready.push_back(m);
  }
  std::uint64_t in_scratch = 0;
  auto run_ready = [&] {
    while (!ready.empty()) {
      const std::size_t m = ready.back();
      ready.pop_back();
      if (done[m]) continue;
      done[m] = true;
      const auto from = key(moves[m].from);
      if (from != 0 && from == in_scratch) {
        move_from_scratch(moves[m].to, moves[m].from);
      } else {
        move_one(moves[m].to, moves[m].from);
      }
      if (from != 0 && --readers[from] == 0) {
        if (const auto next = writer.find(from); next != writer.end() && !done[next->second])
          ready.push_back(next->second);
      }
    }
  };
  run_ready();
  for (std::size_t m = 0; m < moves.size(); m++) {
    if (done[m]) continue;
    // The place that m writes is read by one other move of its cycle, which now reads it from
    // scratch.
    save_to_scratch(moves[m].to);
    in_scratch = key(moves[m].to);
    ready.push_back(m);
    run_ready();
    in_scratch = 0;
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
