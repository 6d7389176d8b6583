#include "bytecode/lanes.h"

#include <algorithm>

#include "lower/opcodes.h"

namespace rondo::bytecode {

using lower::kNone;
using lower::Op;
using lower::Opcode;
using lower::Value;

std::vector<std::size_t> lower_ends(const lower::Program& program) {
  std::vector<std::size_t> ends(program.code.size(), 0), open;
  for (std::size_t at = 0; at < program.code.size(); at++) {
    switch (program.code[at].code) {
      case Opcode::kFor:
      case Opcode::kLanes:
      case Opcode::kRepeat:
      case Opcode::kIf:
        open.push_back(at);
        break;
      case Opcode::kEndFor:
      case Opcode::kEndLanes:
      case Opcode::kEndRepeat:
      case Opcode::kEndIf:
        if (open.empty()) throw InternalError("a lower program closes what it did not open");
        ends[open.back()] = at;
        open.pop_back();
        break;
      default:
        break;
    }
  }
  if (!open.empty()) throw InternalError("a lower program ends inside a loop or a branch");
  return ends;
}

void LaneValues::define(Value value, std::size_t at, bool varying) {
  defined_[value] = at;
  last_.try_emplace(value, at);
  if (varying) varying_.insert(value);
}

/// A read of a value as one per lane.
void LaneValues::read(Value value, std::size_t at) {
  if (value == kNone) return;
  if (value == index_) {
    reads_index_ = true;
  } else if (!varying_.contains(value)) {
    if (spread_.insert(value).second && !defined_.contains(value)) at_entry_.push_back(value);
  }
  const auto found = defined_.find(value);
  const std::size_t defined = found == defined_.end() ? begin_ : found->second;
  // Inside a loop that began after the value was made, it is read again on the next trip.
  for (const auto& [begin, end] : loops_) {
    if (begin > defined) {
      at = end;
      break;
    }
  }
  // A value that is broadcast at the entry must last from block to block.
  std::size_t& last = last_[value];
  last = std::max(last, defined == begin_ ? static_cast<std::size_t>(-1) : at);
}

LaneValues::LaneValues(const lower::Program& program, std::size_t begin, std::size_t end,
                       const std::vector<std::size_t>& ends)
    : begin_(begin) {
  const lower::Lanes& lanes = program.lanes[program.code[begin].bits];
  index_ = lanes.index;
  define(index_, begin, true);
  const auto carries_in = [&](const std::vector<lower::Carry>& carries, std::size_t at) {
    for (const lower::Carry& carry : carries) read(carry.init, at);
    loops_.push_back({at, ends[at]});
    // The parameter is written at the end of each trip.
    for (const lower::Carry& carry : carries) {
      define(carry.param, at, true);
      last_[carry.param] = ends[at];
    }
  };
  const auto carries_out = [&](const std::vector<lower::Carry>& carries, std::size_t at) {
    for (const lower::Carry& carry : carries) read(carry.next, at);
    loops_.pop_back();
    for (const lower::Carry& carry : carries) define(carry.result, at, true);
  };
  for (std::size_t at = begin + 1; at < end; at++) {
    const Op& op = program.code[at];
    switch (op.code) {
      case Opcode::kFor:
        if (varies(program.fors[op.bits].upper)) read(program.fors[op.bits].upper, at);
        carries_in(program.fors[op.bits].carries, at);
        define(program.fors[op.bits].index, at, false);
        break;
      case Opcode::kEndFor:
        carries_out(program.fors[op.bits].carries, at);
        break;
      case Opcode::kRepeat:
        carries_in(program.whiles[op.bits].carries, at);
        break;
      case Opcode::kTest:
        read(op.a, at);
        break;
      case Opcode::kEndRepeat:
        carries_out(program.whiles[op.bits].carries, at);
        break;
      case Opcode::kIf:
        if (varies(program.ifs[op.bits].predicate)) read(program.ifs[op.bits].predicate, at);
        break;
      case Opcode::kElse:
        for (const auto& result : program.ifs[op.bits].results) {
          read(result.then, at);
          define(result.result, at, true);
        }
        break;
      case Opcode::kEndIf:
        for (const auto& result : program.ifs[op.bits].results) read(result.otherwise, at);
        break;
      case Opcode::kLoad:
      case Opcode::kStore: {
        const lower::Address& address = program.addresses[op.bits];
        const auto by_lane = [&](const lower::Address::Term& term) {
          return varying_.contains(term.index);
        };
        const bool varying = op.code == Opcode::kStore ||
                             std::any_of(address.terms.begin(), address.terms.end(), by_lane);
        for (const lower::Address::Term& term : address.terms) {
          if (term.index != index_ && by_lane(term)) read(term.index, at);
        }
        if (op.code == Opcode::kStore)
          read(op.a, at);
        else
          define(op.result, at, varying);
        break;
      }
      default: {
        const bool varying =
            varying_.contains(op.a) || varying_.contains(op.b) || varying_.contains(op.c);
        if (varying) {
          read(op.a, at);
          read(op.b, at);
          read(op.c, at);
        }
        define(op.result, at, varying);
      }
    }
  }
  for (const lower::Lanes::Reduction& reduction : lanes.reductions) read(reduction.value, end);
  std::sort(at_entry_.begin(), at_entry_.end());
}

}  // namespace rondo::bytecode
