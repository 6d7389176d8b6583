#include "native/combine_min_max.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "native/live_ranges.h"

namespace rondo::native_code {

namespace {

using lower::Opcode;

constexpr std::uint32_t kNotMade = 0xffffffffu;

/// Where each unit is written, if a computation is its only definition.
std::vector<std::uint32_t> makers(const MachineCode& code) {
  std::vector<std::uint32_t> made(code.units.size(), kNotMade);
  std::vector<bool> written(code.units.size(), false);
  for (std::size_t at = 0; at < code.code.size(); at++) {
    const Instruction& i = code.code[at];
    for_each_write(code, i, [&](Unit u) {
      const bool is_first = !written[u] && i.kind == Kind::kCompute;
      made[u] = is_first ? static_cast<std::uint32_t>(at) : kNotMade;
      written[u] = true;
    });
  }
  return made;
}

/// The select by a comparison of the same two floats; false if there is none.
bool is_extreme(Instruction& i, const Instruction& comparison) {
  const bool less = comparison.op == Opcode::kLess, greater = comparison.op == Opcode::kGreater;
  if ((!less && !greater) || comparison.from != i.type || comparison.lanes != i.lanes ||
      comparison.mask != 0)
    return false;
  const bool same = comparison.a == i.b && comparison.b == i.c;
  const bool swapped = comparison.a == i.c && comparison.b == i.b;
  if (!same && !swapped) return false;
  i.op = less == same ? Opcode::kMin : Opcode::kMax;
  i.a = i.b;
  i.b = i.c;
  i.c = 0;
  i.bits = kSelects;
  return true;
}

void drop_unread(MachineCode& code) {
  std::vector<std::uint32_t> reads(code.units.size());
  for (const Instruction& i : code.code) for_each_read(code, i, [&](Unit u, bool) { reads[u]++; });
  for (std::size_t at = code.code.size(); at-- > 0;) {
    Instruction& i = code.code[at];
    if (i.kind == Kind::kEndIf) {
      std::erase_if(code.branches[i.bits].results, [&](const MachineBranch::Result& result) {
        if (reads[result.result] != 0) return false;
        reads[result.then]--;
        reads[result.otherwise]--;
        return true;
      });
    } else if (i.kind == Kind::kCompute && i.result != 0 && reads[i.result] == 0) {
      for_each_read(code, i, [&](Unit u, bool) { reads[u]--; });
      i.kind = Kind::kNop;
    }
  }
  std::erase_if(code.code, [](const Instruction& i) { return i.kind == Kind::kNop; });
}

}  // namespace

void combine_min_max(MachineCode& code, const Target& target) {
  // Without selects there is nothing to combine, and no dead code.
  const auto chooses = [](const Instruction& i) {
    return i.kind == Kind::kCompute &&
           (i.op == Opcode::kSelect || i.op == Opcode::kMin || i.op == Opcode::kMax);
  };
  if (std::none_of(code.code.begin(), code.code.end(), chooses)) return;
  const std::vector<std::uint32_t> made = makers(code);
  for (Instruction& i : code.code) {
    if (!target.fused.extremes || i.kind != Kind::kCompute || i.op != Opcode::kSelect ||
        !floating(i.type) || i.mask != 0)
      continue;
    const std::uint32_t at = code.units[i.a].constant ? kNotMade : made[i.a];
    if (at != kNotMade) is_extreme(i, code.code[at]);
  }
  drop_unread(code);
}

}  // namespace rondo::native_code
