#include "c/memory.h"

#include <algorithm>
#include <numeric>

#include "fmt/format.h"
#include "lower/opcodes.h"
#include "rondo/error.h"

namespace rondo::c {

using lower::Opcode;
using lower::Program;
using lower::Storage;
using lower::Type;
using lower::Value;

Memory::Memory(const Program& program, const std::vector<Type>& arguments,
               const std::vector<Type>& results)
    : program_(program),
      parents_(program.types.size() + program.buffers.size()),
      groups_(parents_.size()),
      used_(program.buffers.size(), false) {
  std::iota(parents_.begin(), parents_.end(), 0u);
  for (std::uint32_t i = 0; i < program.buffers.size(); i++) {
    const lower::Buffer& buffer = program.buffers[i];
    if (buffer.storage == Storage::kArgument) fixed(i, arguments[buffer.index]);
    if (buffer.storage == Storage::kResult) fixed(i, results[buffer.index]);
    if (buffer.storage == Storage::kConstant)
      fixed(i, lower::type_of(program.constants[buffer.index].dtype()));
  }
  find_groups();
  lay_out();
}

std::uint32_t Memory::root(std::uint32_t item) {
  while (parents_[item] != item) item = parents_[item] = parents_[parents_[item]];
  return item;
}

void Memory::join(std::uint32_t a, std::uint32_t b) {
  a = root(a);
  b = root(b);
  if (a == b) return;
  Group &to = groups_[a], &from = groups_[b];
  // The type of an argument, a result or a constant was there first.
  if (to.type == Type::kPointer) to.type = from.type;
  to.written = to.written || from.written;
  parents_[b] = a;
}

void Memory::fixed(std::uint32_t buffer, Type type) {
  groups_[program_.types.size() + buffer].type = type;
}

void Memory::accessed(Value pointer, Type type, bool writes) {
  Group& group = groups_[root(pointer)];
  group.written = group.written || writes;
  if (group.type == Type::kPointer) group.type = type;
  if (lower::width(group.type) == lower::width(type)) return;
  throw TraceError(fmt::format(
      "C source: an array of {} is read or written as {}, elements of another width\n  Compute the "
      "value from its elements in place of bitcast_convert.",
      lower::type_name(group.type), lower::type_name(type)));
}

void Memory::find_groups() {
  const auto base = [&](std::uint64_t address) { return program_.addresses[address].base; };
  for (const lower::Op& op : program_.code) {
    if (op.code == Opcode::kBase) {
      used_[op.bits] = true;
      join(static_cast<std::uint32_t>(program_.types.size() + op.bits), op.result);
    } else if (op.code == Opcode::kView) {
      join(base(program_.views[op.bits].address), op.result);
    }
  }
  const auto carries = [&](const std::vector<lower::Carry>& all) {
    for (const lower::Carry& carry : all) {
      if (carry.type != Type::kPointer) continue;
      join(carry.init, carry.param);
      join(carry.init, carry.next);
      join(carry.init, carry.result);
    }
  };
  for (const lower::For& loop : program_.fors) carries(loop.carries);
  for (const lower::While& loop : program_.whiles) carries(loop.carries);
  for (const lower::If& branch : program_.ifs) {
    for (const lower::If::Result& result : branch.results) {
      if (result.type != Type::kPointer) continue;
      join(result.then, result.result);
      join(result.otherwise, result.result);
    }
  }
  for (const lower::Op& op : program_.code) {
    if (op.code == Opcode::kSelect && op.type == Type::kPointer) {
      join(op.b, op.c);
      join(op.b, op.result);
    }
  }
  for (const lower::Op& op : program_.code) {
    if (op.code == Opcode::kLoad) accessed(base(op.bits), op.type, false);
    if (op.code == Opcode::kStore) accessed(base(op.bits), op.type, true);
  }
  spread_by_copies();
  for (Group& group : groups_)
    if (group.type == Type::kPointer) group.type = Type::kU8;
  for (std::uint32_t item = 0; item < parents_.size(); item++) parents_[item] = root(item);
}

/// Copies say nothing of types: what is only copied has that of the other place.
void Memory::spread_by_copies() {
  absl::flat_hash_map<std::uint32_t, std::vector<std::uint32_t>> others;
  std::vector<std::uint32_t> known;
  for (const lower::Op& op : program_.code) {
    if (op.code != Opcode::kCopy) continue;
    const lower::Copy& copy = program_.copies[op.bits];
    const std::uint32_t from = root(program_.addresses[copy.from].base),
                        to = root(program_.addresses[copy.to].base);
    groups_[to].written = true;
    others[from].push_back(to);
    others[to].push_back(from);
  }
  for (const auto& [group, neighbors] : others)
    if (groups_[group].type != Type::kPointer) known.push_back(group);
  std::sort(known.begin(), known.end());
  while (!known.empty()) {
    const std::uint32_t group = known.back();
    known.pop_back();
    for (const std::uint32_t other : others[group]) {
      if (groups_[other].type != Type::kPointer) continue;
      groups_[other].type = groups_[group].type;
      known.push_back(other);
    }
  }
}

void Memory::lay_out() {
  struct Part {
    std::uint32_t buffer;
    std::int64_t begin, end;
    Type type;
  };
  std::vector<Part> parts;
  for (std::uint32_t i = 0; i < program_.buffers.size(); i++) {
    const lower::Buffer& buffer = program_.buffers[i];
    if (buffer.storage != Storage::kArena || !used_[i]) continue;
    const Type type = groups_[parents_[program_.types.size() + i]].type;
    parts.push_back(
        {i, buffer.offset, buffer.offset + std::max(buffer.bytes, lower::width(type)), type});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::pair(-lower::width(a.type), a.type) < std::pair(-lower::width(b.type), b.type) ||
           (a.type == b.type && a.begin < b.begin);
  });
  std::int64_t begin = 0, end = 0;  // of the member
  for (const Part& part : parts) {
    if (members_.empty() || members_.back().type != part.type || part.begin >= end) {
      members_.push_back({"", part.type, 0});
      begin = part.begin;
      end = part.end;
    }
    end = std::max(end, part.end);
    const std::int64_t width = lower::width(part.type);
    members_.back().count = (end - begin) / width;
    places_[part.buffer] = {members_.size() - 1, (part.begin - begin) / width};
  }
  for (std::size_t i = 0; i < members_.size(); i++) members_[i].name = fmt::format("a{}", i);
}

Type Memory::element(Value pointer) const { return groups_[parents_[pointer]].type; }

bool Memory::is_const(Value pointer) const { return !groups_[parents_[pointer]].written; }

std::int64_t Memory::workspace_bytes() const {
  // The widest elements come first, so there is no padding but at the end.
  std::int64_t bytes = 0, widest = 1;
  for (const Member& member : members_) {
    bytes += member.count * lower::width(member.type);
    widest = std::max(widest, lower::width(member.type));
  }
  return (bytes + widest - 1) / widest * widest;
}

}  // namespace rondo::c
