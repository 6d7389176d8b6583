#include "lower/passes/clamps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/opcodes.h"
#include "lower/passes/entries.h"
#include "lower/passes/ranges.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

class Clamps {
 public:
  explicit Clamps(Program& program)
      : program_(program),
        ranges_(program),
        gone_(program.code.size(), false),
        ends_(program.code.size(), 0),
        same_(program.types.size()),
        conversions_(program.types.size(), nullptr) {
    for (Value v = 0; v < same_.size(); v++) same_[v] = v;
    std::vector<std::size_t> sides;
    for (std::size_t at = 0; at < program.code.size(); at++) {
      const Opcode code = program.code[at].code;
      if (code == Opcode::kElse || code == Opcode::kEndIf) ends_[sides.back()] = at;
      if (code == Opcode::kEndIf) sides.pop_back();
      if (code == Opcode::kIf) sides.push_back(at);
      if (code == Opcode::kElse) sides.back() = at;
    }
  }

  void run() {
    bool any = false;
    ranges_.walk([&](std::size_t at) {
      if (!gone_[at] && visit(at)) gone_[at] = true;
      any = any || gone_[at];
    });
    if (!any) return;
    program_.types.insert(program_.types.end(), added_.begin(), added_.end());
    std::vector<Op> code;
    code.reserve(program_.code.size() + 2 * wrapped_.size());
    for (std::size_t at = 0; at < gone_.size(); at++) {
      if (const auto found = wrapped_.find(at); found != wrapped_.end())
        code.insert(code.end(), found->second.begin(), found->second.end());
      if (!gone_[at]) code.push_back(program_.code[at]);
    }
    program_.code = std::move(code);
    if (!program_.ifs.empty())
      drop_unused_entries(program_, program_.ifs, Opcode::kIf, Opcode::kEndIf);
    const auto replace = [&](Value& value) { value = same_[value]; };
    for_each_read(program_, replace);
    for (For& loop : program_.fors) {
      replace(loop.first);
      replace(loop.limit);
    }
    for (Lanes& lanes : program_.lanes) {
      replace(lanes.first);
      replace(lanes.limit);
    }
    for (LoopInfo& loop : program_.loops) {
      replace(loop.trips);
      for (CarriedLeaf& leaf : loop.state)
        std::for_each(leaf.parts.begin(), leaf.parts.end(), replace);
    }
  }

 private:
  /// True if the op is redundant.
  bool visit(std::size_t at) {
    const Op& op = program_.code[at];
    if (op.code == Opcode::kIf) return takes_one_side(at);
    if (op.code == Opcode::kElse) return open_.back().has_value();
    if (op.code == Opcode::kEndIf) return ends_one_side(op);
    if (op.result == kNone) return false;
    if (op.code == Opcode::kSelect) return chooses(op);
    if (!is_followed(op.type)) return false;
    switch (op.code) {
      case Opcode::kMin:
      case Opcode::kMax:
        return extreme(op);
      case Opcode::kConvert:
        return is_known_wider(at);
      case Opcode::kRemainder:
        return wraps(at);
      case Opcode::kAdd:
        return is_zero(op.b) ? is(op, op.a) : is_zero(op.a) && is(op, op.b);
      case Opcode::kSubtract:
        return is_zero(op.b) && is(op, op.a);
      case Opcode::kAnd:
        return op.type == Type::kPred && leaves(op, true);
      case Opcode::kOr:
        return op.type == Type::kPred && leaves(op, false);
      default:
        return false;
    }
  }

  /// A branch of which one side is never taken, if that has no loops and branches: the other side
  /// is in its place.
  bool takes_one_side(std::size_t at) {
    std::optional<bool>& taken =
        open_.emplace_back(known(program_.ifs[program_.code[at].bits].predicate));
    if (!taken) return false;
    const std::size_t begin = *taken ? ends_[at] : at, end = ends_[begin];
    for (std::size_t other = begin + 1; other < end; other++) {
      if (program_.code[other].code < Opcode::kFor) continue;
      taken.reset();
      return false;
    }
    std::fill(gone_.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
              gone_.begin() + static_cast<std::ptrdiff_t>(end), true);
    return true;
  }
  bool ends_one_side(const Op& op) {
    const std::optional<bool> taken = open_.back();
    open_.pop_back();
    if (!taken) return false;
    for (const If::Result& result : program_.ifs[op.bits].results)
      same_[result.result] = same_[*taken ? result.then : result.otherwise];
    return true;
  }

  bool is_zero(Value value) const { return ranges_.of(value) == Range{0, 0}; }
  bool is(const Op& op, Value operand) {
    same_[op.result] = same_[operand];
    return true;
  }

  std::optional<bool> known(Value pred) const {
    const Range range = ranges_.of(pred);
    return range.low == range.high ? std::optional(range.low != 0) : std::nullopt;
  }
  /// A select between values of which it always takes one.
  bool chooses(const Op& op) {
    const auto predicate = known(op.a);
    return predicate && is(op, *predicate ? op.b : op.c);
  }
  /// A combination of preds of which one is always `neutral`.
  bool leaves(const Op& op, bool neutral) {
    return known(op.a) == neutral ? is(op, op.b) : known(op.b) == neutral && is(op, op.a);
  }

  /// Replaces a value that was narrowed without a change and widened again.
  bool is_known_wider(std::size_t at) {
    const Op& op = program_.code[at];
    if (!is_followed(op.from)) return false;
    const Op* const narrower = conversions_[same_[op.a]];
    if (narrower != nullptr && narrower->from == op.type &&
        range_of(op.from).contains(ranges_.of(narrower->a)))
      return is(op, narrower->a);
    conversions_[op.result] = &op;
    return false;
  }

  bool extreme(const Op& op) {
    const bool is_min = op.code == Opcode::kMin;
    const Range a = ranges_.of(op.a), b = ranges_.of(op.b);
    if (is_min ? a.high <= b.low : a.low >= b.high) return is(op, op.a);
    return (is_min ? b.high <= a.low : b.low >= a.high) && is(op, op.b);
  }

  /// A remainder of a value less than the divisor, or less than twice the divisor: the index after
  /// the last one of a ring buffer is the first.
  bool wraps(std::size_t at) {
    const Op op = program_.code[at];
    const Range a = ranges_.of(op.a), b = ranges_.of(op.b);
    if (b.low != b.high || b.low <= 0 || a.low < 0) return false;
    if (a.high < b.low) return is(op, op.a);
    if (a.high - b.low >= b.low) return false;
    const auto define = [&](Type type) {
      added_.push_back(type);
      same_.push_back(static_cast<Value>(same_.size()));
      conversions_.push_back(nullptr);
      return same_.back();
    };
    const Value less = define(op.type), wrapped = define(Type::kPred);
    const Type type = op.type;
    wrapped_[at] = {Op{Opcode::kSubtract, type, type, less, op.a, op.b, kNone, 0},
                    Op{Opcode::kGreaterEqual, Type::kPred, type, wrapped, op.a, op.b, kNone, 0},
                    Op{Opcode::kSelect, type, type, op.result, wrapped, less, op.a, 0}};
    return true;
  }

  Program& program_;
  Ranges ranges_;
  std::vector<bool> gone_;                 // ops that the program does without
  std::vector<std::size_t> ends_;          // where the side of a branch that begins at an op ends
  std::vector<std::optional<bool>> open_;  // branches: the side that is always taken
  std::vector<Value> same_;                // what replaces each value
  std::vector<const Op*> conversions_;     // of an integer, that give each value
  std::vector<Type> added_;                // of values that are not emitted yet
  absl::flat_hash_map<std::size_t, std::array<Op, 3>> wrapped_;  // instead of a remainder
};

}  // namespace

void remove_clamps(Program& program) { Clamps(program).run(); }

}  // namespace rondo::lower
