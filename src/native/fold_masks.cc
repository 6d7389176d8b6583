#include "native/fold_masks.h"

#include <vector>

#include "native/live_ranges.h"

namespace rondo::native_code {

namespace {

using lower::Opcode;
using lower::Type;

constexpr std::uint32_t kNowhere = 0xffffffffu;

bool compares(const Instruction& i) {
  return i.kind == Kind::kCompute && i.lanes > 1 && i.op >= Opcode::kEqual &&
         i.op <= Opcode::kGreaterEqual && i.from != Type::kPred;
}

/// One instruction that can keep lanes of its result.
bool can_keep(const Instruction& i) {
  if (i.kind != Kind::kCompute || i.mask != 0 || half_float(i.type)) return false;
  switch (i.op) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
      // Narrow integers are wrapped to their width in a separate step.
      return floating(i.type) || (width_of(i.type) >= 4 && i.type != Type::kPointer);
    case Opcode::kDivide:
      return floating(i.type);
    default:
      return false;
  }
}

}  // namespace

void fold_masks(MachineCode& code) {
  std::vector<std::uint32_t> reads(code.units.size()), made(code.units.size(), kNowhere);
  bool any = false;
  for (std::size_t at = 0; at < code.code.size(); at++) {
    const Instruction& i = code.code[at];
    for_each_read(code, i, [&](Unit u, bool) { reads[u]++; });
    for_each_write(code, i, [&](Unit u) { made[u] = static_cast<std::uint32_t>(at); });
    any |= i.lanes > 1;
  }
  if (!any) return;
  // A constant mask has no defining instruction.
  auto made_before = [&](Unit u, std::uint32_t position) {
    return !code.units[u].constant && made[u] < position;
  };
  auto folded_and = [&](const Instruction& i, Unit mask, Unit comparison) {
    if (reads[comparison] != 1 || made[comparison] == kNowhere) return false;
    Instruction& last = code.code[made[comparison]];
    if (!compares(last) || last.lanes != i.lanes) return false;
    // The first of a chain of comparisons under one another's masks takes it.
    std::uint32_t first = made[comparison];
    while (code.code[first].mask != 0) {
      const Unit before = code.code[first].mask;
      if (reads[before] != 1 || made[before] == kNowhere || !compares(code.code[made[before]]))
        return false;
      first = made[before];
    }
    if (!made_before(mask, first)) return false;
    code.code[first].mask = mask;
    last.result = i.result;
    made[i.result] = made[comparison];
    return true;
  };
  auto folded_select = [&](const Instruction& i) {
    if (i.b == 0 || reads[i.b] != 1 || made[i.b] == kNowhere) return false;
    Instruction& op = code.code[made[i.b]];
    if (op.result != i.b || op.lanes != i.lanes || !can_keep(op)) return false;
    if (!made_before(i.a, made[i.b]) || !made_before(i.c, made[i.b])) return false;
    op.mask = i.a;
    op.c = i.c;
    op.result = i.result;
    made[i.result] = made[i.b];
    return true;
  };
  auto folded_not = [&](const Instruction& i) {
    if (reads[i.a] != 1 || made[i.a] == kNowhere) return false;
    Instruction& comparison = code.code[made[i.a]];
    if (!compares(comparison) || comparison.mask != 0 || comparison.lanes != i.lanes) return false;
    comparison.inverted = !comparison.inverted;
    comparison.result = i.result;
    made[i.result] = made[i.a];
    return true;
  };
  for (std::size_t at = 0; at < code.code.size(); at++) {
    const Instruction i = code.code[at];
    const bool in_lanes = i.kind == Kind::kCompute && i.lanes > 1;
    bool folded = false;
    if (in_lanes && i.op == Opcode::kAnd && i.type == Type::kPred) {
      folded = folded_and(i, i.a, i.b) || folded_and(i, i.b, i.a);
    } else if (in_lanes && i.op == Opcode::kNot && i.type == Type::kPred) {
      folded = folded_not(i);
    } else if (in_lanes && i.op == Opcode::kSelect && i.type != Type::kPred) {
      folded = folded_select(i);
    }
    if (folded) code.code[at].kind = Kind::kNop;
  }
  std::erase_if(code.code, [](const Instruction& i) { return i.kind == Kind::kNop; });
}

}  // namespace rondo::native_code
