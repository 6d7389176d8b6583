#include "lower/passes/straight_line.h"

namespace rondo::lower {

namespace {

/// Threshold: Ops in branches that lanes may compute in vain: more than a vector of eight lanes
/// gains by. Not measured.
constexpr std::size_t kMostInBranches = 64;

}  // namespace

bool StraightLine::write(std::size_t begin, std::size_t end) {
  std::size_t in_branches = 0;
  for (std::size_t at = begin; at < end; at++) {
    if (!masks_.empty() && ++in_branches > kMostInBranches) return false;
    if (!add(program_.code[at])) return false;
  }
  return true;
}

Value StraightLine::emit(Opcode code, Type type, Value a, Value b, Value c, std::uint64_t bits) {
  const Value result = new_value_(type);
  ops_.push_back({code, type, type, result, a, b, c, bits});
  return result;
}

bool StraightLine::add(const Op& op) {
  const Value around = masks_.empty() ? kNone : masks_.back();
  const auto within = [&](Value predicate) {
    return around == kNone ? predicate : emit(Opcode::kAnd, Type::kPred, around, predicate);
  };
  switch (op.code) {
    case Opcode::kIf:
      for (const If::Result& result : program_.ifs[op.bits].results) {
        if (result.type == Type::kPointer) return false;
      }
      masks_.push_back(within(program_.ifs[op.bits].predicate));
      return true;
    case Opcode::kElse: {
      masks_.pop_back();
      const Value outer = masks_.empty() ? kNone : masks_.back();
      const Value other = emit(Opcode::kNot, Type::kPred, program_.ifs[op.bits].predicate);
      masks_.push_back(outer == kNone ? other : emit(Opcode::kAnd, Type::kPred, outer, other));
      return true;
    }
    case Opcode::kEndIf:
      masks_.pop_back();
      choose(program_.ifs[op.bits]);
      return true;
    case Opcode::kLoad:
      if (around != kNone && !is_inside_(program_.addresses[op.bits], op.type)) return false;
      break;
    case Opcode::kStore: {
      if (around == kNone) break;
      const Type type = program_.types[op.a];
      if (!is_inside_(program_.addresses[op.bits], type)) return false;
      const Value before = emit(Opcode::kLoad, type, kNone, kNone, kNone, op.bits);
      Op store = op;
      store.a = emit(Opcode::kSelect, type, around, op.a, before);
      ops_.push_back(store);
      return true;
    }
    case Opcode::kFor:
    case Opcode::kEndFor:
      if (around != kNone) return false;
      break;
    case Opcode::kMathCall: {
      Op call = op;
      if (around != kNone) call.c = op.c == kNone ? around : within(op.c);
      ops_.push_back(call);
      return true;
    }
    default:
      if (op.code >= Opcode::kBase) return false;
  }
  ops_.push_back(op);
  return true;
}

void StraightLine::choose(const If& branches) {
  for (const If::Result& result : branches.results)
    ops_.push_back({Opcode::kSelect, result.type, result.type, result.result, branches.predicate,
                    result.then, result.otherwise, 0});
}

}  // namespace rondo::lower
