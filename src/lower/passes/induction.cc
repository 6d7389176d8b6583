#include "lower/passes/induction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lower/op_writer.h"
#include "lower/opcodes.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

/// param, param + step, … or param, param - step, …
struct Counter {
  Carry carry;
  Value step;
  Opcode moves;  // kAdd or kSubtract
};

/// Threshold: Ops from a value that a trip leaves back to the loop's index, which are computed
/// again after the loop: their cost there against a carry in each trip. Not measured.
constexpr int kMostFromIndex = 4;

class Counters {
 public:
  explicit Counters(Program& program)
      : program_(program),
        maker_(program.types.size()),
        defined_(program.types.size(), 0),
        reads_(program.types.size(), 0) {}

  void run() {
    for (std::size_t at = 0; at < program_.code.size(); at++) define(at);
    for_each_read(std::as_const(program_), [&](Value value) { reads_[value]++; });
    for (const LoopInfo& loop : program_.loops) {
      for (const CarriedLeaf& leaf : loop.state) {
        for (const Value part : leaf.parts) reads_[part]++;
      }
    }
    bool in_lanes = false;
    std::vector<std::vector<Counter>> open;
    std::size_t position = 0;
    for (const Op& op : std::exchange(program_.code, {})) {
      const std::size_t at = position++;
      if (op.code == Opcode::kLanes || op.code == Opcode::kEndLanes)
        in_lanes = op.code == Opcode::kLanes;
      if (op.code == Opcode::kEndFor) {
        if (!open.back().empty()) keep_state(program_.fors[op.bits], open.back());
        program_.code.push_back(op);
        for (const Counter& counter : open.back())
          move(counter, counter.carry.init, program_.fors[op.bits].upper, counter.carry.result);
        open.pop_back();
        for (const Carry& carry : left_.back()) compute_last(program_.fors[op.bits], carry);
        left_.pop_back();
        continue;
      }
      program_.code.push_back(op);
      if (op.code != Opcode::kFor) continue;
      left_.push_back(in_lanes ? std::vector<Carry>() : last_values(program_.fors[op.bits], at));
      open.push_back(in_lanes ? std::vector<Counter>() : counters(program_.fors[op.bits], at));
      for (const Counter& counter : open.back())
        move(counter, counter.carry.init, program_.fors[op.bits].index, counter.carry.param);
    }
  }

 private:
  void define(std::size_t at) {
    const Op& op = program_.code[at];
    const auto note = [&](Value value) {
      if (value != kNone) defined_[value] = at;
    };
    note(op.result);
    if (op.result != kNone) maker_[op.result] = op;
    const auto params = [&](const std::vector<Carry>& carries) {
      for (const Carry& carry : carries) note(carry.param);
    };
    const auto results = [&](const std::vector<Carry>& carries) {
      for (const Carry& carry : carries) note(carry.result);
    };
    switch (op.code) {
      case Opcode::kFor:
        note(program_.fors[op.bits].index);
        return params(program_.fors[op.bits].carries);
      case Opcode::kRepeat:
        return params(program_.whiles[op.bits].carries);
      case Opcode::kEndFor:
        return results(program_.fors[op.bits].carries);
      case Opcode::kEndRepeat:
        return results(program_.whiles[op.bits].carries);
      case Opcode::kEndLanes:
        for (const Lanes::Reduction& reduction : program_.lanes[op.bits].reductions)
          note(reduction.result);
        return;
      case Opcode::kEndIf:
        for (const If::Result& result : program_.ifs[op.bits].results) note(result.result);
        return;
      default:
        return;
    }
  }

  bool is_constant(Value value, std::uint64_t bits) const {
    const Op& op = maker_[value];
    return op.result != kNone && op.code == Opcode::kConstant && op.bits == bits;
  }

  /// Those of the loop that begins at `begin`, which no longer carries them.
  std::vector<Counter> counters(For& loop, std::size_t begin) {
    std::vector<Counter> found;
    if (loop.step != 1 || !is_constant(loop.lower, 0)) return found;
    const auto last = std::remove_if(loop.carries.begin(), loop.carries.end(), [&](const Carry& c) {
      const Op& next = maker_[c.next];
      if (!is_integer(c.type) || next.result == kNone) return false;
      const std::optional<CounterStep> by = counter_step(next, c.param);
      if (!by || defined_[by->step] >= begin) return false;
      found.push_back({c, by->step, next.code});
      return true;
    });
    loop.carries.erase(last, loop.carries.end());
    return found;
  }

  /// Carries that no trip reads, and that follow from the loop's index: it no longer carries them.
  std::vector<Carry> last_values(For& loop, std::size_t begin) {
    std::vector<Carry> found;
    if (loop.step != 1 || !is_constant(loop.lower, 0)) return found;
    const auto last = std::remove_if(loop.carries.begin(), loop.carries.end(), [&](const Carry& c) {
      if (reads_[c.param] != 0 || !is_integer(c.type)) return false;
      if (!follows(c.next, loop.index, begin, 0)) return false;
      found.push_back(c);
      return true;
    });
    loop.carries.erase(last, loop.carries.end());
    return found;
  }

  bool follows(Value value, Value index, std::size_t begin, int depth) const {
    if (value == index || value == kNone || defined_[value] < begin) return true;
    const Op& op = maker_[value];
    if (op.result == kNone || depth == kMostFromIndex || !is_integer(op.type)) return false;
    const bool cheap = (op.code == Opcode::kConvert && is_integer(op.from)) ||
                       op.code == Opcode::kAdd || op.code == Opcode::kSubtract ||
                       op.code == Opcode::kMultiply;
    return cheap && follows(op.a, index, begin, depth + 1) &&
           follows(op.b, index, begin, depth + 1);
  }

  /// After a loop: what its last trip leaves.
  void compute_last(const For& loop, const Carry& carry) {
    OpWriter writer(program_, program_.code);
    const Value last = writer.binary(Opcode::kSubtract, Type::kS64, loop.upper, writer.index(1));
    const auto again = [&](Value value, const auto& self) -> Value {
      if (value == loop.index) return last;
      if (value == kNone || !is_inside(value, loop.index)) return value;
      Op op = maker_[value];
      op.a = self(op.a, self);
      op.b = self(op.b, self);
      op.result = new_value(program_, op.type);
      program_.code.push_back(op);
      return op.result;
    };
    const Value left = again(carry.next, again);
    const Value any = new_value(program_, Type::kPred);
    program_.code.push_back(
        {Opcode::kLess, Type::kPred, Type::kS64, any, loop.lower, loop.upper, kNone, 0});
    program_.code.push_back(
        {Opcode::kSelect, carry.type, carry.type, carry.result, any, left, carry.init, 0});
  }
  /// Whether a value is computed in the loop with this index.
  bool is_inside(Value value, Value index) const {
    return maker_[value].result != kNone && defined_[value] > defined_[index];
  }

  /// Writes `result`: the counter after so many trips.
  void move(const Counter& counter, Value init, Value trips, Value result) {
    const Type type = counter.carry.type;
    const auto emit = [&](Opcode code, Type from, Value a, Value b, Value to) {
      if (to == kNone) to = new_value(program_, type);
      program_.code.push_back({code, type, from, to, a, b, kNone, 0});
      return to;
    };
    Value distance = trips;
    if (type != Type::kS64) distance = emit(Opcode::kConvert, Type::kS64, trips, kNone, kNone);
    if (!is_constant(counter.step, 1))
      distance = emit(Opcode::kMultiply, type, distance, counter.step, kNone);
    emit(counter.moves, type, init, distance, result);
  }

  /// Where a run may report them, they are carried beside.
  void keep_state(For& loop, const std::vector<Counter>& counters) {
    if (loop.loop == kNoLoop) return;
    for (const Counter& counter : counters) {
      Carry carry = counter.carry;
      carry.param = kNone;
      for (CarriedLeaf& leaf : program_.loops[loop.loop].state) {
        for (Value& part : leaf.parts) {
          if (part != counter.carry.param) continue;
          if (carry.param == kNone) carry.param = new_value(program_, carry.type);
          part = carry.param;
        }
      }
      if (carry.param == kNone) continue;
      carry.next = new_value(program_, carry.type);
      carry.result = new_value(program_, carry.type);
      program_.code.push_back(
          {counter.moves, carry.type, carry.type, carry.next, carry.param, counter.step, kNone, 0});
      loop.carries.push_back(carry);
    }
  }

  Program& program_;
  std::vector<Op> maker_;             // of a value; without a result if no op makes it
  std::vector<std::size_t> defined_;  // where a value is
  std::vector<std::size_t> reads_;    // of each value, also by states of loops
  std::vector<std::vector<Carry>> left_;
};

}  // namespace

std::optional<CounterStep> counter_step(const Op& next, Value param) {
  const bool adds = next.code == Opcode::kAdd;
  if (!adds && next.code != Opcode::kSubtract) return std::nullopt;
  if (next.a == param) return CounterStep{next.b, !adds};
  if (adds && next.b == param) return CounterStep{next.a, false};
  return std::nullopt;
}

void remove_counters(Program& program) {
  const bool any = std::any_of(program.fors.begin(), program.fors.end(),
                               [](const For& loop) { return !loop.carries.empty(); });
  if (any) Counters(program).run();
}

}  // namespace rondo::lower
