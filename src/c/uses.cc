// How often each value is read, and in which block.
#include <utility>

#include "c/writer.h"
#include "lower/reads.h"

namespace rondo::c {

using lower::Carry;
using lower::kNone;
using lower::Op;
using lower::Opcode;
using lower::Value;

namespace {

bool begins_block(Opcode code) {
  return code == Opcode::kFor || code == Opcode::kLanes || code == Opcode::kRepeat ||
         code == Opcode::kIf;
}

/// Which values are needed: those that ops with effects read, and what these are computed from. A
/// carry is needed if it is read, other than for the next trip of a carry that is not.
class Needed {
 public:
  explicit Needed(const lower::Program& program)
      : program_(program), needed_(program.types.size(), false), behind_(program.types.size()) {
    for (const Op& op : program.code) visit(op);
    while (!open_.empty()) {
      const Value value = open_.back();
      open_.pop_back();
      for (const Value from : behind_[value]) need(from);
    }
  }
  bool operator()(Value value) const { return needed_[value]; }
  bool operator()(const Carry& carry) const {
    return needed_[carry.param] || needed_[carry.result];
  }

 private:
  void need(Value value) {
    if (value == kNone || needed_[value]) return;
    needed_[value] = true;
    open_.push_back(value);
  }
  void carries(const std::vector<Carry>& all) {
    for (const Carry& carry : all) {
      for (const Value value : {carry.param, carry.result})
        behind_[value] = {carry.init, carry.next};
    }
  }
  void visit(const Op& op) {
    if (op.code < Opcode::kFor) {
      return lower::for_each_read(program_, op, [&](Value value) {
        if (op.result == kNone)
          need(value);
        else if (value != kNone)
          behind_[op.result].push_back(value);
      });
    }
    switch (op.code) {
      case Opcode::kFor:
        need(program_.fors[op.bits].lower);
        need(program_.fors[op.bits].upper);
        return carries(program_.fors[op.bits].carries);
      case Opcode::kRepeat:
        return carries(program_.whiles[op.bits].carries);
      case Opcode::kTest:
        return need(op.a);
      case Opcode::kLanes:
        need(program_.lanes[op.bits].count);
        for (const auto& sum : program_.lanes[op.bits].reductions)
          behind_[sum.result] = {sum.init, sum.value};
        return;
      case Opcode::kIf:
        need(program_.ifs[op.bits].predicate);
        for (const auto& result : program_.ifs[op.bits].results)
          behind_[result.result] = {result.then, result.otherwise};
        return;
      default:
        return;
    }
  }

  const lower::Program& program_;
  std::vector<bool> needed_;
  std::vector<absl::InlinedVector<Value, 3>> behind_;  // what a value is computed from
  std::vector<Value> open_;
};

}  // namespace

void Writer::count_uses() {
  const Needed needed(program_);
  std::vector<std::uint32_t> blocks{0};
  std::uint32_t last = 0;
  const auto read = [&](Value value) {
    if (value == kNone) return;
    values_[value].uses++;
    values_[value].block = blocks.back();
  };
  const auto carries = [&](const Op& op, bool begins) {
    const bool is_for = op.code == Opcode::kFor || op.code == Opcode::kEndFor;
    for (const Carry& carry :
         is_for ? program_.fors[op.bits].carries : program_.whiles[op.bits].carries)
      if (needed(carry)) read(begins ? carry.init : carry.next);
  };
  const auto sums = [&](const Op& op, bool begins) {
    for (const auto& sum : program_.lanes[op.bits].reductions)
      if (needed(sum.result)) read(begins ? sum.init : sum.value);
  };
  const auto results = [&](const Op& op, bool then) {
    for (const auto& result : program_.ifs[op.bits].results)
      if (needed(result.result)) read(then ? result.then : result.otherwise);
  };
  const auto control = [&](const Op& op) {
    switch (op.code) {
      case Opcode::kFor:
        read(program_.fors[op.bits].lower);
        read(program_.fors[op.bits].upper);
        return carries(op, true);
      case Opcode::kRepeat:
        return carries(op, true);
      case Opcode::kEndFor:
      case Opcode::kEndRepeat:
        return carries(op, false);
      case Opcode::kTest:
        return read(op.a);
      case Opcode::kLanes:
        read(program_.lanes[op.bits].count);
        return sums(op, true);
      case Opcode::kEndLanes:
        return sums(op, false);
      case Opcode::kIf:
        return read(program_.ifs[op.bits].predicate);
      default:  // kElse, kEndIf
        return results(op, op.code == Opcode::kElse);
    }
  };
  for (const Op& op : program_.code) {
    if (op.code >= Opcode::kFor) {
      control(op);
      if (op.code == Opcode::kTest) continue;
      if (!begins_block(op.code)) blocks.pop_back();
      if (begins_block(op.code) || op.code == Opcode::kElse) blocks.push_back(++last);
      continue;
    }
    if (op.result == kNone || needed(op.result)) lower::for_each_read(program_, op, read);
  }
}

}  // namespace rondo::c
