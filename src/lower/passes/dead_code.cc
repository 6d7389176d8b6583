#include "lower/passes/dead_code.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lower/reads.h"

namespace rondo::lower {

namespace {

/// Whether an op has no effect beside its result.
bool only_computes(const Op& op) { return op.result != kNone && op.code < Opcode::kStore; }

}  // namespace

void remove_dead_code(Program& program) {
  constexpr std::size_t kNowhere = SIZE_MAX;
  std::vector<std::uint32_t> reads(program.types.size(), 0);
  std::vector<std::size_t> maker(program.types.size(), kNowhere);
  const auto read = [&](Value value) { reads[value]++; };
  for_each_read(std::as_const(program), read);
  for (const LoopInfo& loop : program.loops) {
    read(loop.trips);
    for (const CarriedLeaf& leaf : loop.state) {
      for (const Value part : leaf.parts) read(part);
    }
  }
  std::vector<std::size_t> dead;
  for (std::size_t at = 0; at < program.code.size(); at++) {
    const Op& op = program.code[at];
    if (!only_computes(op)) continue;
    maker[op.result] = at;
    if (reads[op.result] == 0) dead.push_back(at);
  }
  if (dead.empty()) return;
  std::vector<bool> gone(program.code.size(), false);
  while (!dead.empty()) {
    const std::size_t at = dead.back();
    dead.pop_back();
    gone[at] = true;
    for_each_read(std::as_const(program), std::as_const(program.code[at]), [&](Value value) {
      if (value != kNone && --reads[value] == 0 && maker[value] != kNowhere)
        dead.push_back(maker[value]);
    });
  }
  std::size_t kept = 0;
  for (std::size_t at = 0; at < gone.size(); at++) {
    if (!gone[at]) program.code[kept++] = program.code[at];
  }
  program.code.resize(kept);
}

}  // namespace rondo::lower
