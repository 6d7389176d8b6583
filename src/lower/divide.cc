#include "lower/divide.h"

#include <algorithm>
#include <utility>

#include "lower/opcodes.h"

namespace rondo::lower {

namespace {

/// The positions of the only kLanes of a program and of its end; nothing where pieces of it could
/// not run at once.
std::optional<std::pair<std::size_t, std::size_t>> only_lanes(const Program& program) {
  std::optional<std::size_t> begin, end;
  for (std::size_t at = 0; at < program.code.size(); at++) {
    const Opcode code = program.code[at].code;
    if (code == Opcode::kCall || code == Opcode::kCopy) return std::nullopt;
    if (code == Opcode::kLanes) {
      if (begin) return std::nullopt;
      begin = at;
    } else if (code == Opcode::kEndLanes) {
      end = at;
    } else if ((!begin || end) && (code == Opcode::kStore || code >= Opcode::kFor)) {
      return std::nullopt;
    }
  }
  if (!end) return std::nullopt;
  return std::pair(*begin, *end);
}

}  // namespace

std::optional<Divided> divided(const Program& program, std::uint32_t arguments) {
  if (program.lanes.size() != 1 || program.arena_bytes != 0 || !program.tapes.empty())
    return std::nullopt;
  const Lanes& whole = program.lanes[0];
  const auto place = only_lanes(program);
  if (!place || !whole.known_count || !whole.reductions.empty()) return std::nullopt;
  const auto [begin, end] = *place;
  Divided made;
  made.piece_argument = arguments;
  made.lanes = *whole.known_count;
  // Of a loop nobody knows the trips.
  constexpr std::int64_t kTrips = 16;
  const auto ops = static_cast<std::int64_t>(end - begin);
  made.work = made.lanes * ops * (whole.loops.empty() ? 1 : kTrips);

  Program& p = made.program = program;
  const auto define = [&](Type type) {
    p.types.push_back(type);
    return static_cast<Value>(p.types.size() - 1);
  };
  const auto address = [&](Value pointer, std::int64_t offset) {
    Address& to = p.addresses.emplace_back();
    to.base = pointer;
    to.offset = offset;
    return p.addresses.size() - 1;
  };
  const Value piece = define(Type::kPointer), first = define(Type::kS64),
              count = define(Type::kS64);
  std::vector<Op> code{
      {Opcode::kBase, Type::kPointer, Type::kPred, piece, kNone, kNone, kNone, p.buffers.size()},
      {Opcode::kLoad, Type::kS64, Type::kS64, first, kNone, kNone, kNone, address(piece, 0)},
      {Opcode::kLoad, Type::kS64, Type::kS64, count, kNone, kNone, kNone, address(piece, 8)}};
  p.buffers.push_back({Storage::kArgument, arguments, 0, 16});
  p.lanes[0].count = count;
  p.lanes[0].known_count.reset();
  // The lane in the whole program, where its number is asked for.
  const Value index = whole.index;
  const auto reads_index = [&](const Op& op) {
    return op.code < Opcode::kFor && (op.a == index || op.b == index || op.c == index);
  };
  Value lane = kNone;
  for (std::size_t at = 0; at < p.code.size(); at++) {
    Op op = p.code[at];
    if (at == begin) {
      code.push_back(op);
      if (std::any_of(p.code.begin(), p.code.end(), reads_index)) {
        lane = define(Type::kS64);
        code.push_back({Opcode::kAdd, Type::kS64, Type::kS64, lane, index, first, kNone, 0});
      }
      continue;
    }
    if (reads_index(op)) {
      for (Value* operand : {&op.a, &op.b, &op.c}) {
        if (*operand == index) *operand = lane;
      }
    }
    if (op.code == Opcode::kLoad || op.code == Opcode::kStore) {
      std::int64_t stride = 0;
      for (const Address::Term& term : p.addresses[op.bits].terms)
        stride += term.index == index ? term.stride : 0;
      if (stride != 0) {
        p.addresses.push_back(p.addresses[op.bits]);
        p.addresses.back().terms.push_back({first, stride});
        op.bits = p.addresses.size() - 1;
      }
    }
    code.push_back(op);
  }
  // Carries may begin with the number of the lane, or become it.
  const auto uses_index = [&](const std::vector<Carry>& carries) {
    return std::any_of(carries.begin(), carries.end(),
                       [&](const Carry& c) { return c.init == index || c.next == index; });
  };
  for (const While& loop : p.whiles) {
    if (uses_index(loop.carries)) return std::nullopt;
  }
  for (const For& loop : p.fors) {
    if (uses_index(loop.carries) || loop.lower == index || loop.upper == index) return std::nullopt;
  }
  for (const If& branch : p.ifs) {
    for (const If::Result& result : branch.results) {
      if (result.then == index || result.otherwise == index) return std::nullopt;
    }
  }
  p.code = std::move(code);
  return made;
}

}  // namespace rondo::lower
