#include "lower/passes/pointers.h"

#include <algorithm>
#include <cstddef>

namespace rondo::lower {

namespace {

/// Threshold: Pointers that a loop exchanges and that are compared with one another: compile time
/// against loops that are vectorized. Not measured.
constexpr std::size_t kMostExchanged = 32;

}  // namespace

std::vector<std::int64_t> bytes_behind(const Program& p) {
  std::vector<std::int64_t> bytes(p.types.size(), 0);
  const auto carried = [&](const std::vector<Carry>& carries) {
    for (const Carry& carry : carries) bytes[carry.param] = bytes[carry.result] = bytes[carry.init];
  };
  for (const Op& op : p.code) {
    switch (op.code) {
      case Opcode::kBase:
        bytes[op.result] = p.buffers[op.bits].bytes;
        break;
      case Opcode::kView:
        bytes[op.result] = p.views[op.bits].bytes;
        break;
      case Opcode::kTapeRead:
      case Opcode::kTapeWrite:
        bytes[op.result] = p.tapes[op.bits & 0xffffffffu].row_bytes;
        break;
      case Opcode::kFor:
        carried(p.fors[op.bits].carries);
        break;
      case Opcode::kRepeat:
        carried(p.whiles[op.bits].carries);
        break;
      case Opcode::kEndIf:
        for (const If::Result& result : p.ifs[op.bits].results)
          bytes[result.result] = std::min(bytes[result.then], bytes[result.otherwise]);
        break;
      default:
        break;
    }
  }
  return bytes;
}

Pointers::Pointers(const Program& program) : program_(program) {
  // Until loops carry nothing new.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Op& op : program_.code) changed |= find_roots(op);
  }
  for (const Op& op : program_.code) {
    if (op.code == Opcode::kFor) note_exchanges(program_.fors[op.bits].carries);
    if (op.code == Opcode::kRepeat) note_exchanges(program_.whiles[op.bits].carries);
  }
}

/// Whether there are new ones.
bool Pointers::find_roots(const Op& op) {
  switch (op.code) {
    case Opcode::kBase:
      roots_[op.result] = {static_cast<std::uint32_t>(op.bits)};
      return false;
    case Opcode::kTapeRead:
    case Opcode::kTapeWrite:
      roots_[op.result] = {
          static_cast<std::uint32_t>(program_.buffers.size() + (op.bits & 0xffffffffu))};
      return false;
    case Opcode::kView:
      return add(op.result, program_.addresses[program_.views[op.bits].address].base);
    case Opcode::kFor:
      return begin(program_.fors[op.bits].carries);
    case Opcode::kRepeat:
      return begin(program_.whiles[op.bits].carries);
    case Opcode::kEndFor:
      return end(program_.fors[op.bits].carries);
    case Opcode::kEndRepeat:
      return end(program_.whiles[op.bits].carries);
    case Opcode::kEndIf: {
      bool changed = false;
      for (const If::Result& result : program_.ifs[op.bits].results) {
        changed |= add(result.result, result.then);
        changed |= add(result.result, result.otherwise);
      }
      return changed;
    }
    default:
      return false;
  }
}

/// False if `to` has all roots of `from`.
bool Pointers::add(Value to, Value from) {
  if (program_.types[from] != Type::kPointer) return false;
  const Roots more = roots_[from];
  Roots& roots = roots_[to];
  bool changed = false;
  for (const std::uint32_t root : more) {
    const auto place = std::lower_bound(roots.begin(), roots.end(), root);
    if (place != roots.end() && *place == root) continue;
    roots.insert(place, root);
    changed = true;
  }
  return changed;
}

bool Pointers::begin(const std::vector<Carry>& carries) {
  bool changed = false;
  for (const Carry& c : carries) changed |= add(c.param, c.init);
  return changed;
}

bool Pointers::end(const std::vector<Carry>& carries) {
  bool changed = false;
  for (const Carry& c : carries) {
    changed |= add(c.param, c.next);
    changed |= add(c.result, c.param);
  }
  return changed;
}

void Pointers::note_exchanges(const std::vector<Carry>& carries) {
  std::vector<Value> params, next, init;
  for (const Carry& c : carries) {
    if (c.type != Type::kPointer) continue;
    params.push_back(c.param);
    next.push_back(c.next);
    init.push_back(c.init);
  }
  std::sort(params.begin(), params.end());
  std::sort(next.begin(), next.end());
  if (params != next || params.size() > kMostExchanged) return;
  for (std::size_t i = 0; i < init.size(); i++) {
    for (std::size_t j = 0; j < i; j++) {
      if (may_overlap(init[i], init[j])) return;
    }
  }
  for (const Carry& c : carries) {
    if (c.type != Type::kPointer) continue;
    exchanged_[c.param] = exchanges_;
    exchanged_[c.result] = exchanges_ + 1;
  }
  exchanges_ += 2;
}

bool Pointers::overlap(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return true;
  if (std::max(a, b) >= program_.buffers.size()) return false;
  const Buffer &x = program_.buffers[a], &y = program_.buffers[b];
  return x.storage == Storage::kArena && y.storage == Storage::kArena &&
         x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
}

bool Pointers::may_overlap(Value a, Value b) const {
  if (a == b) return true;
  const auto of_a = exchanged_.find(a), of_b = exchanged_.find(b);
  if (of_a != exchanged_.end() && of_b != exchanged_.end() && of_a->second == of_b->second)
    return false;
  const auto x = roots_.find(a), y = roots_.find(b);
  if (x == roots_.end() || y == roots_.end()) return true;
  return std::any_of(x->second.begin(), x->second.end(), [&](std::uint32_t root) {
    return std::any_of(y->second.begin(), y->second.end(),
                       [&](std::uint32_t other) { return overlap(root, other); });
  });
}

}  // namespace rondo::lower
