#include "lower/passes/lane_indices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "lower/op_writer.h"
#include "lower/opcodes.h"
#include "lower/passes/dead_code.h"
#include "lower/passes/ranges.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

/// Threshold: Depth of arithmetic that is done again in 32 bits: compile time against shorter
/// indices. Not measured.
constexpr int kDeepestShort = 8;

bool is_access(const Op& op) { return op.code == Opcode::kLoad || op.code == Opcode::kStore; }

/// For each value, whether it depends on the lane that its lanes are at.
std::vector<bool> values_by_lane(const Program& program) {
  std::vector<bool> varies(program.types.size(), false);
  const auto mark = [&](Value value) {
    const bool is_new = !varies[value];
    varies[value] = true;
    return is_new;
  };
  const auto read_by = [&](const Op& op) {
    bool any = false;
    for_each_read(program, op, [&](Value value) { any = any || varies[value]; });
    return any;
  };
  for (std::size_t begin = 0; begin < program.code.size(); begin++) {
    if (program.code[begin].code != Opcode::kLanes) continue;
    mark(program.lanes[program.code[begin].bits].index);
    // What a trip hands to the next one is seen when the ops are visited again.
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t at = begin + 1; program.code[at].code != Opcode::kEndLanes; at++) {
        const Op& op = program.code[at];
        const auto carried = [&](const std::vector<Carry>& carries) {
          for (const Carry& carry : carries) {
            if (!varies[carry.init] && !varies[carry.next]) continue;
            changes = mark(carry.param) || changes;
            changes = mark(carry.result) || changes;
          }
        };
        if (op.code == Opcode::kFor) carried(program.fors[op.bits].carries);
        if (op.code == Opcode::kRepeat) {
          // A lane that has ended keeps what it has.
          const While& loop = program.whiles[op.bits];
          carried(loop.carries);
          if (!varies[loop.predicate]) continue;
          for (const Carry& carry : loop.carries) {
            changes = mark(carry.param) || changes;
            changes = mark(carry.result) || changes;
          }
        }
        if (op.code == Opcode::kIf) {
          for (const If::Result& result : program.ifs[op.bits].results) {
            if (varies[result.then] || varies[result.otherwise])
              changes = mark(result.result) || changes;
          }
        }
        if (op.result != kNone && read_by(op)) changes = mark(op.result) || changes;
      }
    }
  }
  varies[kNone] = false;
  return varies;
}

class LaneIndices {
 public:
  LaneIndices(Program& program, std::vector<bool> varies)
      : program_(program),
        varies_(std::move(varies)),
        ranges_(program),
        maker_(program.types.size(), nullptr) {
    for (const Op& op : program.code) {
      if (op.result != kNone) maker_[op.result] = &op;
    }
  }

  void run() {
    std::vector<Op> code;
    code.reserve(program_.code.size());
    code_ = &code;
    std::optional<OpWriter> writer;
    writer_ = &writer.emplace(program_, code);
    ranges_.walk([&](std::size_t at) {
      Op op = program_.code[at];
      if (op.code == Opcode::kLanes) lanes_ = &program_.lanes[op.bits];
      if (op.code == Opcode::kEndLanes) lanes_ = nullptr;
      // Ops of one branch or trip may not be used in another.
      if (op.code >= Opcode::kFor) short_.clear();
      if (lanes_ != nullptr && is_access(op)) op.bits = rewritten(op.bits);
      code.push_back(op);
    });
    program_.code = std::move(code);
  }

 private:
  using Terms = absl::InlinedVector<Address::Term, 3>;

  /// The address itself, or one of the same place with one index by lane.
  std::uint64_t rewritten(std::uint64_t number) {
    const Address address = program_.addresses[number];
    Address made{address.base, address.offset, {}};
    Terms by_lane;
    for (const Address::Term& term : address.terms)
      (varies_[term.index] ? by_lane : made.terms).push_back(term);
    const bool is_of_lanes =
        std::all_of(by_lane.begin(), by_lane.end(),
                    [&](const Address::Term& term) { return term.index == lanes_->index; });
    if (is_of_lanes) return number;
    made.terms.push_back(sum_of(by_lane));
    program_.addresses.push_back(std::move(made));
    return program_.addresses.size() - 1;
  }

  /// One index, and its stride: a power of two that vectors of indices are scaled by.
  Address::Term sum_of(const Terms& terms) {
    constexpr std::int64_t kMostScaled = 8;
    std::int64_t stride = kMostScaled;
    for (const Address::Term& term : terms) stride = std::gcd(stride, term.stride);
    const bool is_short = fits(terms, stride);
    const Type type = is_short ? Type::kS32 : Type::kS64;
    Value sum = kNone;
    for (const Address::Term& term : terms) {
      Value part = is_short ? shortened(term.index) : converted(term.index, type);
      const std::int64_t factor = term.stride / stride;
      if (factor != 1)
        part = writer_->binary(Opcode::kMultiply, type, part, constant(type, factor));
      sum = sum == kNone ? part : writer_->binary(Opcode::kAdd, type, sum, part);
    }
    return {converted(sum, Type::kS64), stride};
  }

  /// Whether all indices have 32 bits, and their multiples and the sums of these too.
  bool fits(const Terms& terms, std::int64_t stride) const {
    Range sum{0, 0};
    for (const Address::Term& term : terms) {
      if (!can_be_short(term.index, 0)) return false;
      const std::int64_t factor = term.stride / stride;
      const Range range = range_of_index(term.index);
      Range part;
      if (__builtin_mul_overflow(range.low, factor, &part.low) ||
          __builtin_mul_overflow(range.high, factor, &part.high))
        return false;
      if (factor < 0) std::swap(part.low, part.high);
      if (__builtin_add_overflow(sum.low, part.low, &sum.low) ||
          __builtin_add_overflow(sum.high, part.high, &sum.high))
        return false;
      if (factor != static_cast<std::int32_t>(factor) || !is_short(part) || !is_short(sum))
        return false;
    }
    return true;
  }

  static bool is_short(const Range& range) { return range_of(Type::kS32).contains(range); }

  Range range_of_index(Value value) const {
    if (value != lanes_->index) return ranges_.of(value);
    const std::int64_t count = ranges_.of(lanes_->count).high;
    return {0, std::max<std::int64_t>(count, 1) - 1};
  }

  /// Whether a value can be computed in 32 bits.
  bool can_be_short(Value value, int depth) const {
    const Type type = program_.types[value];
    if (type != Type::kS64)
      return is_followed(type) && range_of(Type::kS32).contains(range_of(type));
    if (!is_short(range_of_index(value))) return false;
    if (value == lanes_->index) return true;
    const Op* const op = maker_[value];
    if (op == nullptr || depth == kDeepestShort) return false;
    switch (op->code) {
      case Opcode::kConstant:
        return true;
      case Opcode::kConvert:
        return can_be_short(op->a, depth + 1);
      case Opcode::kAdd:
      case Opcode::kSubtract:
      case Opcode::kMultiply:
      case Opcode::kMin:
      case Opcode::kMax:
        return can_be_short(op->a, depth + 1) && can_be_short(op->b, depth + 1);
      default:
        return false;
    }
  }

  /// The value as an s32.
  Value shortened(Value value) {
    if (program_.types[value] != Type::kS64 || value == lanes_->index)
      return converted(value, Type::kS32);
    if (const auto found = short_.find(value); found != short_.end()) return found->second;
    const Op op = *maker_[value];
    Value result = kNone;
    if (op.code == Opcode::kConstant) {
      result = constant(Type::kS32, static_cast<std::int64_t>(op.bits));
    } else if (op.code == Opcode::kConvert) {
      result = shortened(op.a);
    } else {
      const Value a = shortened(op.a), b = shortened(op.b);
      result = writer_->binary(op.code, Type::kS32, a, b);
    }
    return short_[value] = result;
  }

  Value constant(Type type, std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return writer_->constant(type, type == Type::kS32 ? bits & 0xffffffffu : bits);
  }

  Value converted(Value value, Type to) {
    const Type from = program_.types[value];
    if (from == to) return value;
    const Value result = new_value(program_, to);
    code_->push_back({Opcode::kConvert, to, from, result, value, kNone, kNone, 0});
    return result;
  }

  Program& program_;
  std::vector<bool> varies_;
  Ranges ranges_;
  std::vector<const Op*> maker_;
  const Lanes* lanes_ = nullptr;
  absl::flat_hash_map<Value, Value> short_;
  std::vector<Op>* code_ = nullptr;
  OpWriter* writer_ = nullptr;
};

/// Whether an access has an index by lane that is not that of the lanes alone.
bool has_lane_indices(const Program& program, const std::vector<bool>& varies) {
  const Lanes* lanes = nullptr;
  for (const Op& op : program.code) {
    if (op.code == Opcode::kLanes) lanes = &program.lanes[op.bits];
    if (op.code == Opcode::kEndLanes) lanes = nullptr;
    if (lanes == nullptr || !is_access(op)) continue;
    const auto& terms = program.addresses[op.bits].terms;
    if (std::any_of(terms.begin(), terms.end(), [&](const Address::Term& term) {
          return varies[term.index] && term.index != lanes->index;
        }))
      return true;
  }
  return false;
}

}  // namespace

void combine_lane_indices(Program& program) {
  if (program.lanes.empty()) return;
  std::vector<bool> varies = values_by_lane(program);
  if (!has_lane_indices(program, varies)) return;
  LaneIndices(program, std::move(varies)).run();
  remove_dead_code(program);
}

}  // namespace rondo::lower
