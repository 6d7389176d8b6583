#include "lower/passes/split_lanes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/op_writer.h"
#include "lower/opcodes.h"
#include "lower/passes/affine.h"
#include "lower/passes/copy_ops.h"
#include "lower/passes/dead_code.h"
#include "lower/passes/entries.h"
#include "lower/passes/ranges.h"

namespace rondo::lower {

namespace {

/// Sums of uniform values, factors and lanes below these bounds do not overflow 64 bits.
constexpr std::int64_t kLargestValue = std::int64_t{1} << 40, kLargestFactor = 1 << 12;

/// lane_factor * lane + the sum of the rest, which is uniform.
struct LaneForm {
  std::int64_t lane_factor = 0;
  Affine rest;

  [[nodiscard]] bool add(const LaneForm& other, std::int64_t factor) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(other.lane_factor, factor, &product) &&
           !__builtin_add_overflow(lane_factor, product, &lane_factor) &&
           rest.add(other.rest, factor);
  }
  bool is_small() const {
    return std::abs(lane_factor) <= kLargestFactor && std::abs(rest.constant) <= kLargestValue &&
           std::all_of(rest.terms.begin(), rest.terms.end(), [](const Address::Term& term) {
             return std::abs(term.stride) <= kLargestFactor;
           });
  }
};

/// An index of an address, which is the form in lanes where all conditions of the split hold.
struct SplitIndex {
  std::size_t op;  // the load or store
  Value index;
  LaneForm form;
};

struct Split {
  std::size_t begin = 0, end = 0;  // the ops that open and close the lanes
  std::vector<SplitIndex> indices;
  std::vector<LaneForm> conditions;  // each is at least 0, with a lane factor of -1, 0 or 1
};

class SplitFinder {
 public:
  explicit SplitFinder(const Program& program)
      : program_(program),
        ranges_(program),
        maker_(program.types.size(), nullptr),
        lanes_of_(program.types.size(), 0) {
    for (const Op& op : program.code) {
      if (op.result != kNone) maker_[op.result] = &op;
    }
  }

  std::vector<Split> run() {
    Split split;  // of the lanes that the walk is in
    ranges_.walk([&](std::size_t at) {
      if (at >= split.end) {
        if (!split.indices.empty()) found_.push_back(std::move(split));
        split = {};
        if (program_.code[at].code == Opcode::kLanes) split = begin(at);
      } else {
        consider(at, split);
      }
    });
    return std::move(found_);
  }

 private:
  /// The lanes that begin at an op, if they may be split; else none.
  Split begin(std::size_t at) {
    const Lanes& lanes = program_.lanes[program_.code[at].bits];
    if (!lanes.reductions.empty() || lanes.ascending || !lanes.loops.empty()) return {};
    number_++;
    lane_ = lanes.index;
    last_lane_ = lanes.known_count.value_or(kLargestValue) - 1;
    lanes_of_[lane_] = number_;
    std::size_t end = at + 1;
    for (; program_.code[end].code < Opcode::kFor; end++) {
      if (const Value made = program_.code[end].result; made != kNone) lanes_of_[made] = number_;
    }
    return program_.code[end].code == Opcode::kEndLanes ? Split{at, end, {}, {}} : Split();
  }

  void consider(std::size_t at, Split& split) const {
    const Op& op = program_.code[at];
    if (op.code != Opcode::kLoad && op.code != Opcode::kStore) return;
    for (const Address::Term& term : program_.addresses[op.bits].terms) {
      if (term.index == lane_ || !is_inside(term.index)) continue;
      std::vector<LaneForm> conditions = split.conditions;
      const std::optional<LaneForm> form = form_of(term.index, conditions, 0);
      if (!form || std::abs(form->lane_factor) != 1) continue;
      split.indices.push_back({at, term.index, *form});
      split.conditions = std::move(conditions);
    }
  }

  bool is_inside(Value value) const { return lanes_of_[value] == number_; }

  /// None if the value is no such sum. Adds what has to hold for it.
  std::optional<LaneForm> form_of(Value value, std::vector<LaneForm>& conditions, int depth) const {
    // Threshold: Depth of arithmetic that is followed, as for other sums (lower/passes/affine.cc):
    // compile time against indices that are understood. Not measured.
    constexpr int kDeepest = 12;
    const Range known = ranges_.of(value);
    if (value == lane_) return LaneForm{1, {}};
    if (known.low == known.high) return checked(LaneForm{0, {known.low, {}}});
    if (!is_inside(value)) {
      const bool fits = is_followed(program_.types[value]) && known.low >= -kLargestValue &&
                        known.high <= kLargestValue;
      return fits ? std::optional(LaneForm{0, {0, {{value, 1}}}}) : std::nullopt;
    }
    const Op* const op = maker_[value];
    if (op == nullptr || depth == kDeepest || !is_followed(op->type)) return std::nullopt;
    switch (op->code) {
      case Opcode::kConvert:
        if (!is_followed(op->from)) return std::nullopt;
        return bounded(*op, form_of(op->a, conditions, depth + 1), conditions);
      case Opcode::kAdd:
        return bounded(*op, sum_of(*op, 1, conditions, depth + 1), conditions);
      case Opcode::kSubtract:
        return bounded(*op, sum_of(*op, -1, conditions, depth + 1), conditions);
      case Opcode::kMin:
      case Opcode::kMax:
        return clamped(*op, conditions, depth + 1);
      default:
        return std::nullopt;
    }
  }

  static std::optional<LaneForm> checked(LaneForm form) {
    return form.is_small() ? std::optional(std::move(form)) : std::nullopt;
  }

  std::optional<LaneForm> sum_of(const Op& op, std::int64_t factor,
                                 std::vector<LaneForm>& conditions, int depth) const {
    std::optional<LaneForm> a = form_of(op.a, conditions, depth);
    const std::optional<LaneForm> b = a ? form_of(op.b, conditions, depth) : std::nullopt;
    if (!b || !a->add(*b, factor)) return std::nullopt;
    return checked(*std::move(a));
  }

  /// The form of an op's result where that does not wrap.
  std::optional<LaneForm> bounded(const Op& op, std::optional<LaneForm> form,
                                  std::vector<LaneForm>& conditions) const {
    const Range of_b = op.b == kNone ? Range() : ranges_.of(op.b);
    if (!form || width(op.type) == 8 || computed(op, ranges_.of(op.a), of_b, Range())) return form;
    const Range all = range_of(op.type);
    LaneForm above = *form, below;
    above.rest.constant -= all.low;
    if (!below.add(*form, -1)) return std::nullopt;
    below.rest.constant += all.high;
    if (!add_condition(above, conditions) || !add_condition(below, conditions)) return std::nullopt;
    return form;
  }

  /// The operand of a minimum or maximum that differs by lane, where it is the result.
  std::optional<LaneForm> clamped(const Op& op, std::vector<LaneForm>& conditions,
                                  int depth) const {
    const std::optional<LaneForm> a = form_of(op.a, conditions, depth);
    const std::optional<LaneForm> b = a ? form_of(op.b, conditions, depth) : std::nullopt;
    if (!b || (a->lane_factor == 0) == (b->lane_factor == 0)) return std::nullopt;
    const LaneForm& varies = a->lane_factor != 0 ? *a : *b;
    const LaneForm& bound = a->lane_factor != 0 ? *b : *a;
    const std::int64_t sign = op.code == Opcode::kMax ? 1 : -1;
    LaneForm distance;
    if (!distance.add(varies, sign) || !distance.add(bound, -sign) ||
        !add_condition(distance, conditions))
      return std::nullopt;
    return varies;
  }

  /// False if the condition is none that lanes can be split by.
  bool add_condition(const LaneForm& form, std::vector<LaneForm>& conditions) const {
    if (std::abs(form.lane_factor) > 1 || !form.is_small()) return false;
    if (form.rest.terms.empty()) {
      const std::int64_t last = form.lane_factor < 0 ? last_lane_ : 0;
      if (form.rest.constant >= last) return true;
      if (form.lane_factor == 0) return false;
    }
    const auto same =
        std::find_if(conditions.begin(), conditions.end(), [&](const LaneForm& other) {
          return other.lane_factor == form.lane_factor && other.rest.has_terms_of(form.rest);
        });
    if (same == conditions.end())
      conditions.push_back(form);
    else
      same->rest.constant = std::min(same->rest.constant, form.rest.constant);
    return true;
  }

  const Program& program_;
  Ranges ranges_;
  std::vector<const Op*> maker_;
  std::vector<std::uint32_t> lanes_of_;  // the number of the lanes that a value is defined in
  std::uint32_t number_ = 0;             // of the lanes that are considered
  Value lane_ = kNone;
  std::int64_t last_lane_ = 0;
  std::vector<Split> found_;
};

class SplitWriter {
 public:
  explicit SplitWriter(const Program& program) : program_(program), made_(program) {}

  Program write(const std::vector<Split>& splits) {
    std::size_t at = 0;
    for (const Split& split : splits) {
      copy_until(at, split.begin);
      write(split);
      at = split.end + 1;
    }
    copy_until(at, program_.code.size());
    made_.code = std::move(code_);
    return std::move(made_);
  }

 private:
  void copy_until(std::size_t begin, std::size_t end) {
    const auto first = program_.code.begin();
    code_.insert(code_.end(), first + static_cast<std::ptrdiff_t>(begin),
                 first + static_cast<std::ptrdiff_t>(end));
  }

  Value sum(Value a, Value b) { return here_.binary(Opcode::kAdd, Type::kS64, a, b); }
  Value difference(Value a, Value b) { return here_.binary(Opcode::kSubtract, Type::kS64, a, b); }
  Value product(Value a, Value b) { return here_.binary(Opcode::kMultiply, Type::kS64, a, b); }
  Value least(Value a, Value b) { return here_.binary(Opcode::kMin, Type::kS64, a, b); }
  Value largest(Value a, Value b) { return here_.binary(Opcode::kMax, Type::kS64, a, b); }

  /// A uniform value as s64.
  Value wide(Value value) {
    if (program_.types[value] == Type::kS64) return value;
    Value& made = wide_[value];
    if (made == kNone) {
      made = new_value(made_, Type::kS64);
      code_.push_back(
          {Opcode::kConvert, Type::kS64, program_.types[value], made, value, kNone, kNone, 0});
    }
    return made;
  }

  Value value_of(const Affine& form) {
    Value value = here_.index(form.constant);
    for (const auto& [index, factor] : form.terms)
      value = sum(value, product(wide(index), here_.index(factor)));
    return value;
  }

  void write(const Split& split) {
    wide_.clear();
    const Lanes& lanes = program_.lanes[program_.code[split.begin].bits];
    const Value none = here_.index(0), one = here_.index(1);
    Value first = none, end = lanes.count;
    bool has_first = false, has_last = false;  // lanes beside those between
    for (const LaneForm& condition : split.conditions) {
      const Value rest = value_of(condition.rest);
      switch (condition.lane_factor) {
        case 1:
          first = largest(first, difference(none, rest));
          has_first = true;
          break;
        case -1:
          end = least(end, sum(rest, one));
          has_last = true;
          break;
        default:  // all lanes, or none
          end = least(end, product(least(largest(sum(rest, one), none), one), lanes.count));
          has_last = true;
      }
    }
    first = least(first, lanes.count);
    end = largest(end, first);
    write_lanes(split, first, end, true);
    if (has_first && has_last) {
      const auto entry = static_cast<std::uint64_t>(made_.fors.size());
      const Value side = new_value(made_, Type::kS64);
      For sides{};
      sides.index = side;
      sides.lower = none;
      sides.upper = here_.index(2);
      sides.trips = 2;
      const Value after = difference(lanes.count, first);
      made_.fors.push_back(std::move(sides));
      here_.with_entry(Opcode::kFor, entry);
      const Value begin = product(side, end);
      const Value limit = least(sum(first, product(side, after)), lanes.count);
      write_lanes(split, begin, limit, false);
      here_.with_entry(Opcode::kEndFor, entry);
    } else if (has_first) {
      write_lanes(split, none, first, false);
    } else if (has_last) {
      write_lanes(split, end, lanes.count, false);
    }
  }

  /// The lanes from `first` to before `limit`; `between`: in which the indices are as their forms.
  void write_lanes(const Split& split, Value first, Value limit, bool between) {
    const auto entry = static_cast<std::uint64_t>(made_.lanes.size());
    Lanes part = program_.lanes[program_.code[split.begin].bits];
    const Value lane = new_value(made_, Type::kS64), number = new_value(made_, Type::kS64);
    const LaneNumber numbers{part.index, number, first, lane};
    part.index = lane;
    part.count = difference(limit, first);
    part.known_count.reset();
    part.first = first;
    part.limit = limit;
    made_.lanes.push_back(std::move(part));
    std::vector<Op> body;
    const auto same = [](Value value) { return value; };
    OpCopier copier(program_, made_, body, code_, same);
    copier.set_lane(numbers);
    auto index = split.indices.begin();
    for (std::size_t at = split.begin + 1; at < split.end; at++) {
      copier.copy(at, at + 1);
      for (; between && index != split.indices.end() && index->op == at; ++index)
        replace(made_.addresses[body.back().bits], copier.value(index->index), index->form, lane,
                first);
    }
    here_.with_entry(Opcode::kLanes, entry);
    if (copier.reads_number())
      code_.push_back({Opcode::kAdd, Type::kS64, Type::kS64, number, first, lane, kNone, 0});
    code_.insert(code_.end(), body.begin(), body.end());
    here_.with_entry(Opcode::kEndLanes, entry);
  }

  void replace(Address& address, Value index, const LaneForm& form, Value lane, Value first) {
    const auto term = std::find_if(address.terms.begin(), address.terms.end(),
                                   [&](const Address::Term& t) { return t.index == index; });
    if (term == address.terms.end()) return;  // replaced: the index is there twice
    const std::int64_t stride = term->stride;
    address.terms.erase(term);
    address.terms.push_back({lane, form.lane_factor * stride});
    address.terms.push_back({first, form.lane_factor * stride});
    for (const auto& [value, factor] : form.rest.terms)
      address.terms.push_back({wide(value), factor * stride});
    address.offset += form.rest.constant * stride;
  }

  const Program& program_;
  Program made_;
  std::vector<Op> code_;
  OpWriter here_{made_, code_};
  absl::flat_hash_map<Value, Value> wide_;
};

/// Whether lanes compute where they load or store.
bool computes_places(const Program& program) {
  std::vector<bool> is_inside(program.types.size(), false);
  bool in_lanes = false;
  return std::any_of(program.code.begin(), program.code.end(), [&](const Op& op) {
    if (op.code == Opcode::kLanes || op.code == Opcode::kEndLanes) in_lanes = !in_lanes;
    if (!in_lanes) return false;
    if (op.result != kNone) is_inside[op.result] = true;
    if (op.code != Opcode::kLoad && op.code != Opcode::kStore) return false;
    const auto& terms = program.addresses[op.bits].terms;
    return std::any_of(terms.begin(), terms.end(),
                       [&](const Address::Term& term) { return is_inside[term.index]; });
  });
}

}  // namespace

std::optional<Program> with_lanes_split(const Program& program) {
  if (!computes_places(program)) return std::nullopt;
  const std::vector<Split> splits = SplitFinder(program).run();
  if (splits.empty()) return std::nullopt;
  Program made = SplitWriter(program).write(splits);
  drop_unused_entries(made, made.lanes, Opcode::kLanes, Opcode::kEndLanes);
  remove_dead_code(made);
  return made;
}

}  // namespace rondo::lower
