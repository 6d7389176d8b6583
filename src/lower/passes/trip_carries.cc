#include "lower/passes/trip_carries.h"

#include "lower/opcodes.h"
#include "lower/passes/induction.h"
#include "lower/reads.h"
#include "lower/reduction_order.h"

namespace rondo::lower {

namespace {

/// Combinations in a trip that one carry may go through; the walk over them recurses.
constexpr int kMostCombinations = 64;

class Carries {
 public:
  Carries(const Program& program, const For& loop, const TripValues& values)
      : program_(program), loop_(loop), values_(values) {
    for (std::size_t i = 0; i < loop.carries.size(); i++)
      depends_.emplace(loop.carries[i].param, i);
  }

  std::optional<std::vector<TripCarry>> run(const std::vector<Op>& trip) {
    std::vector<TripCarry> found(loop_.carries.size());
    for (std::size_t i = 0; i < found.size(); i++) {
      const Carry& carry = loop_.carries[i];
      if (carry.type == Type::kPointer) return std::nullopt;
      if (carry.next != carry.param && !is_induction(carry, found[i])) {
        found[i].kind = TripCarry::Kind::kReduction;
        continue;
      }
      depends_.erase(carry.param);
    }
    for (const Op& op : trip) find_dependence(op);
    for (std::size_t i = 0; i < found.size(); i++) {
      if (found[i].kind != TripCarry::Kind::kReduction) continue;
      carry_ = i;
      combine_.reset();
      reads_.clear();
      const Carry& carry = loop_.carries[i];
      if (!combines(carry.next, 0) || !combine_ || !is_in_any_order(*combine_, carry.type))
        return std::nullopt;
      const auto reads = values_.reads.find(carry.param);
      if (reads != values_.reads.end() && reads->second != reads_[carry.param]) return std::nullopt;
      found[i].combine = *combine_;
      for (const auto& [value, count] : reads_) found[i].combined.insert(value);
    }
    return found;
  }

 private:
  static constexpr std::size_t kSeveral = SIZE_MAX;

  bool is_invariant(Value value) const { return value != loop_.index && !values_.changes(value); }

  bool is_induction(const Carry& carry, TripCarry& found) const {
    const auto next = values_.makers.find(carry.next);
    if (next == values_.makers.end() || !is_integer(carry.type)) return false;
    const std::optional<CounterStep> by = counter_step(*next->second, carry.param);
    if (!by || !is_invariant(by->step)) return false;
    found.kind = TripCarry::Kind::kInduction;
    found.step = by->step;
    found.subtracts = by->subtracts;
    return true;
  }

  /// The carry that a value depends on, if there is one.
  void find_dependence(const Op& op) {
    std::optional<std::size_t> carry;
    const auto join = [&](Value value) {
      const auto found = depends_.find(value);
      if (found == depends_.end()) return;
      carry = carry && *carry != found->second ? kSeveral : found->second;
    };
    for_each_read(program_, op, join);
    if (carry && op.result != kNone) depends_[op.result] = *carry;
  }

  bool depends(Value value) const { return depends_.contains(value); }

  /// Whether a value is the carry, or a combination of it, or a choice of such.
  bool combines(Value value, int depth) {
    if (depth > kMostCombinations) return false;
    const Carry& carry = loop_.carries[carry_];
    reads_[value]++;
    if (value == carry.param) return true;
    const auto made = values_.makers.find(value);
    const auto reads = values_.reads.find(value);
    if (made == values_.makers.end() || reads == values_.reads.end() || reads->second != 1)
      return false;
    const Op& op = *made->second;
    if (op.code == Opcode::kSelect)
      return !depends(op.a) && combines(op.b, depth + 1) && combines(op.c, depth + 1);
    if (!info(op.code).combines || op.type != carry.type || (combine_ && *combine_ != op.code))
      return false;
    combine_ = op.code;
    if (depends(op.a) == depends(op.b)) return false;
    return combines(depends(op.a) ? op.a : op.b, depth + 1);
  }

  const Program& program_;
  const For& loop_;
  const TripValues& values_;
  absl::flat_hash_map<Value, std::size_t> depends_;
  std::size_t carry_ = 0;
  std::optional<Opcode> combine_;
  absl::flat_hash_map<Value, std::size_t> reads_;
};

}  // namespace

TripValues trip_values(const Program& program, const For& loop, const std::vector<Op>& trip) {
  TripValues values;
  const auto read = [&](Value value) { values.reads[value]++; };
  for (const Op& op : trip) {
    if (op.result != kNone) values.makers.emplace(op.result, &op);
    for_each_read(program, op, read);
    if (op.code != Opcode::kFor) continue;
    values.indices.insert(program.fors[op.bits].index);
    for (const Carry& carry : program.fors[op.bits].carries) {
      values.carried.insert(carry.param);
      values.carried.insert(carry.result);
    }
  }
  for (const Carry& carry : loop.carries) {
    values.carried.insert(carry.param);
    read(carry.next);
  }
  return values;
}

std::optional<std::vector<TripCarry>> trip_carries(const Program& program, const For& loop,
                                                   const std::vector<Op>& trip,
                                                   const TripValues& values) {
  return Carries(program, loop, values).run(trip);
}

Value contribution(const Carry& carry, const TripCarry& reduction, const TripValues& values,
                   Value identity, absl::FunctionRef<Value(Opcode, Value, Value, Value)> emit) {
  const auto write = [&](Value value, const auto& self) -> Value {
    if (value == carry.param) return identity;
    const Op& op = *values.makers.find(value)->second;
    if (op.code == Opcode::kSelect) {
      const Value then = self(op.b, self), otherwise = self(op.c, self);
      return emit(Opcode::kSelect, op.a, then, otherwise);
    }
    const bool first = reduction.combined.contains(op.a);
    const Value inner = self(first ? op.a : op.b, self), other = first ? op.b : op.a;
    return inner == identity ? other : emit(op.code, inner, other, kNone);
  };
  return write(carry.next, write);
}

}  // namespace rondo::lower
