#include "lower/clamps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

/// From `low` to `high`, both among them. Values of u64 are not followed: theirs is always whole.
struct Range {
  std::int64_t low = INT64_MIN, high = INT64_MAX;
  bool contains(const Range& other) const { return low <= other.low && other.high <= high; }
};

Range range_of(Type type) {
  if (type == Type::kPred) return {0, 1};
  if (!is_integer(type) || width(type) == 8) return {};
  const int bits = static_cast<int>(8 * width(type));
  if (type >= Type::kU8) return {0, (std::int64_t{1} << bits) - 1};
  return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}
bool is_followed(Type type) {
  return type == Type::kPred || (is_integer(type) && type != Type::kU64);
}

std::optional<Range> sum(const Range& a, const Range& b) {
  Range to;
  if (__builtin_add_overflow(a.low, b.low, &to.low) ||
      __builtin_add_overflow(a.high, b.high, &to.high))
    return std::nullopt;
  return to;
}

std::optional<Range> difference(const Range& a, const Range& b) {
  Range to;
  if (__builtin_sub_overflow(a.low, b.high, &to.low) ||
      __builtin_sub_overflow(a.high, b.low, &to.high))
    return std::nullopt;
  return to;
}

/// Of factors that are not negative.
std::optional<Range> product(const Range& a, const Range& b) {
  Range to;
  if (a.low < 0 || b.low < 0 || __builtin_mul_overflow(a.low, b.low, &to.low) ||
      __builtin_mul_overflow(a.high, b.high, &to.high))
    return std::nullopt;
  return to;
}

/// By a positive divisor; the sign is the dividend's.
std::optional<Range> remainder(const Range& a, const Range& b) {
  if (b.low <= 0) return std::nullopt;
  return Range{a.low >= 0 ? 0 : 1 - b.high, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
}

std::optional<Range> quotient(const Range& a, const Range& b) {
  if (a.low < 0 || b.low <= 0) return std::nullopt;
  return Range{a.low / b.high, a.high / b.low};
}

/// Of bits, of which one operand has no sign.
std::optional<Range> common_bits(const Range& a, const Range& b) {
  if (a.low < 0 && b.low < 0) return std::nullopt;
  if (a.low < 0 || b.low < 0) return Range{0, a.low < 0 ? b.high : a.high};
  return Range{0, std::min(a.high, b.high)};
}

class Clamps {
 public:
  explicit Clamps(Program& program)
      : program_(program),
        ranges_(program.types.size()),
        same_(program.types.size()),
        maker_(program.types.size(), nullptr) {
    for (Value v = 0; v < same_.size(); v++) {
      ranges_[v] = range_of(program.types[v]);
      same_[v] = v;
    }
    for (const Op& op : program.code) {
      if (op.result != kNone) maker_[op.result] = &op;
    }
  }

  void run() {
    std::vector<bool> gone(program_.code.size(), false);
    bool any = false;
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      gone[at] = visit(at);
      any = any || gone[at];
    }
    if (!any) return;
    std::vector<Op> code;
    code.reserve(program_.code.size() + 2 * wrapped_.size());
    for (std::size_t at = 0; at < gone.size(); at++) {
      if (const auto found = wrapped_.find(at); found != wrapped_.end())
        code.insert(code.end(), found->second.begin(), found->second.end());
      if (!gone[at]) code.push_back(program_.code[at]);
    }
    program_.code = std::move(code);
    const auto replace = [&](Value& value) { value = same_[value]; };
    for_each_read(program_, replace);
    for (LoopInfo& loop : program_.loops) {
      replace(loop.first);
      replace(loop.limit);
      for (CarriedLeaf& leaf : loop.state)
        std::for_each(leaf.parts.begin(), leaf.parts.end(), replace);
    }
  }

 private:
  /// True where the op is not needed.
  bool visit(std::size_t at) {
    const Op& op = program_.code[at];
    switch (op.code) {
      case Opcode::kLanes:
      case Opcode::kEndLanes:
        in_lanes_ = op.code == Opcode::kLanes;
        return false;
      case Opcode::kTest:
        if (!in_lanes_) count(program_.whiles[op.bits]);
        return false;
      case Opcode::kFor: {
        const For& loop = program_.fors[op.bits];
        if (!in_lanes_ && loop.step > 0)
          below(loop.index, ranges_[loop.lower].low, ranges_[loop.upper].high);
        return false;
      }
      case Opcode::kMin:
      case Opcode::kMax:
        return is_followed(op.type) && extreme(op);
      case Opcode::kRemainder:
        if (is_followed(op.type) && wraps(at)) return true;
        [[fallthrough]];
      default:
        if (op.result == kNone || !is_followed(op.type)) return false;
        if (const auto range = computed(op); range && range_of(op.type).contains(*range))
          ranges_[op.result] = *range;
        return false;
    }
  }

  /// `value` is from `low` on and less than `limit`.
  void below(Value value, std::int64_t low, std::int64_t limit) {
    if (limit > low) ranges_[value] = {low, limit - 1};
  }

  bool extreme(const Op& op) {
    const bool is_min = op.code == Opcode::kMin;
    const Range &a = ranges_[op.a], &b = ranges_[op.b];
    const auto is = [&](Value operand) {
      same_[op.result] = same_[operand];
      ranges_[op.result] = ranges_[operand];
      return true;
    };
    if (is_min ? a.high <= b.low : a.low >= b.high) return is(op.a);
    if (is_min ? b.high <= a.low : b.low >= a.high) return is(op.b);
    ranges_[op.result] = is_min ? Range{std::min(a.low, b.low), std::min(a.high, b.high)}
                                : Range{std::max(a.low, b.low), std::max(a.high, b.high)};
    return false;
  }

  /// A remainder of what lies below the divisor, or below twice that: the place after the last of a
  /// ring is its first one.
  bool wraps(std::size_t at) {
    const Op op = program_.code[at];
    const Range a = ranges_[op.a], b = ranges_[op.b];
    if (b.low != b.high || b.low <= 0 || a.low < 0) return false;
    if (a.high < b.low) {
      same_[op.result] = same_[op.a];
      ranges_[op.result] = a;
      return true;
    }
    if (a.high - b.low >= b.low) return false;
    const auto define = [&](Type type) {
      program_.types.push_back(type);
      ranges_.push_back(range_of(type));
      same_.push_back(static_cast<Value>(same_.size()));
      maker_.push_back(nullptr);
      return same_.back();
    };
    const Value less = define(op.type), wrapped = define(Type::kPred);
    const Type type = op.type;
    wrapped_[at] = {Op{Opcode::kSubtract, type, type, less, op.a, op.b, kNone, 0},
                    Op{Opcode::kGreaterEqual, Type::kPred, type, wrapped, op.a, op.b, kNone, 0},
                    Op{Opcode::kSelect, type, type, op.result, wrapped, less, op.a, 0}};
    ranges_[op.result] = {0, b.low - 1};
    return true;
  }

  std::optional<Range> computed(const Op& op) const {
    const Range &a = ranges_[op.a], &b = ranges_[op.b];
    switch (op.code) {
      case Opcode::kConstant:
        return constant(op);
      case Opcode::kConvert:
        if (!is_followed(op.from)) return std::nullopt;
        return a;
      case Opcode::kAdd:
        return sum(a, b);
      case Opcode::kSubtract:
        return difference(a, b);
      case Opcode::kMultiply:
        return product(a, b);
      case Opcode::kDivide:
        return quotient(a, b);
      case Opcode::kRemainder:
        return remainder(a, b);
      case Opcode::kAnd:
        return common_bits(a, b);
      case Opcode::kSelect:
        return Range{std::min(b.low, ranges_[op.c].low), std::max(b.high, ranges_[op.c].high)};
      default:
        return std::nullopt;
    }
  }

  static std::optional<Range> constant(const Op& op) {
    std::int64_t value = 0;
    for_type(op.type, [&]<class T>() {
      if constexpr (std::is_integral_v<T>) value = static_cast<std::int64_t>(from_bits<T>(op.bits));
    });
    return Range{value, value};
  }

  /// From the test to the end of a trip a carry that is compared with a limit lies below it, and
  /// not below what it began with if it grows by a constant.
  void count(const While& loop) {
    for (const Carry& carry : loop.carries) {
      if (!is_followed(carry.type)) continue;
      const std::optional<std::int64_t> limit = upper_limit(loop.predicate, carry.param);
      if (!limit) continue;
      const Range whole = range_of(carry.type);
      const std::optional<std::int64_t> step = grows_by(carry);
      std::int64_t last = 0;  // what ends the loop, at most
      const bool grows =
          step && !__builtin_add_overflow(*limit - 1, *step, &last) && last <= whole.high;
      below(carry.param, grows ? ranges_[carry.init].low : whole.low, *limit);
    }
  }

  /// What `value` is less than where the predicate holds.
  std::optional<std::int64_t> upper_limit(Value predicate, Value value) const {
    const Op* op = maker_[predicate];
    if (op == nullptr || op->code != Opcode::kLess || op->a != value ||
        ranges_[op->b].high == INT64_MIN)
      return std::nullopt;
    return ranges_[op->b].high;
  }

  std::optional<std::int64_t> grows_by(const Carry& carry) const {
    const Op* op = maker_[carry.next];
    if (op == nullptr || op->code != Opcode::kAdd || (op->a != carry.param && op->b != carry.param))
      return std::nullopt;
    const Op* step = maker_[op->a == carry.param ? op->b : op->a];
    if (step == nullptr || step->code != Opcode::kConstant) return std::nullopt;
    const std::int64_t by = ranges_[step->result].low;
    return by > 0 ? std::optional(by) : std::nullopt;
  }

  Program& program_;
  std::vector<Range> ranges_;     // of each value
  std::vector<Value> same_;       // what stands for each value
  std::vector<const Op*> maker_;  // the op that makes a value, if one does
  absl::flat_hash_map<std::size_t, std::array<Op, 3>> wrapped_;  // in place of a remainder
  // What a loop in lanes tells of its index does not hold for lanes that have left it, and still
  // compute.
  bool in_lanes_ = false;
};

}  // namespace

void remove_clamps(Program& program) { Clamps(program).run(); }

}  // namespace rondo::lower
