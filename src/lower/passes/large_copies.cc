#include "lower/passes/large_copies.h"

#include <utility>
#include <vector>

#include "lower/op_writer.h"
#include "lower/opcodes.h"

namespace rondo::lower {

namespace {

/// The widest integer type in which the size can be copied, each element at a multiple of its
/// width.
Type type_of_copy(const Copy& copy, const Address& from, const Address& to) {
  std::int64_t all = copy.bytes | from.offset | to.offset;
  for (const Address* address : {&from, &to}) {
    for (const Address::Term& term : address->terms) all |= term.stride;
  }
  for (const Type type : {Type::kU64, Type::kU32, Type::kU16}) {
    if (all % width(type) == 0) return type;
  }
  return Type::kU8;
}

}  // namespace

Program with_copies_in_lanes(const Program& program, std::int64_t least_bytes) {
  Program made = program;
  std::vector<Op> before, code;
  OpWriter outside(made, before), here(made, code);
  for (const Op& op : program.code) {
    if (op.code != Opcode::kCopy || program.copies[op.bits].bytes < least_bytes) {
      code.push_back(op);
      continue;
    }
    const Copy& copy = program.copies[op.bits];
    Address from = program.addresses[copy.from], to = program.addresses[copy.to];
    const Type type = type_of_copy(copy, from, to);
    const std::int64_t count = copy.bytes / width(type);
    const Value lane = new_value(made, Type::kS64);
    const std::uint64_t entry = made.lanes.size();
    made.lanes.push_back({lane, outside.index(count), count, {}, true, {}});
    from.terms.push_back({lane, width(type)});
    to.terms.push_back({lane, width(type)});
    here.with_entry(Opcode::kLanes, entry);
    here.store(here.load(type, from), to);
    here.with_entry(Opcode::kEndLanes, entry);
  }
  before.insert(before.end(), code.begin(), code.end());
  made.code = std::move(before);
  return made;
}

}  // namespace rondo::lower
