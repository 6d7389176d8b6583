// The tables of a program's constructs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lower/program.h"

namespace rondo::lower {

/// Leaves in a table the entries of the ops that are in the program, which open with `first` and
/// close with `last`, in the order of the ops.
template <class Entry>
void drop_unused_entries(Program& program, std::vector<Entry>& table, Opcode first, Opcode last) {
  std::vector<Entry> left;
  std::vector<std::uint64_t> open;
  for (Op& op : program.code) {
    if (op.code < first || op.code > last) continue;
    if (op.code == first) {
      open.push_back(left.size());
      left.push_back(std::move(table[op.bits]));
    }
    op.bits = open.back();
    if (op.code == last) open.pop_back();
  }
  table = std::move(left);
}

}  // namespace rondo::lower
