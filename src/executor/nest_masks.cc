// Loops under a mask: where an array is computed in place and elements keep their value unless a
// mask holds, they run over the part where it may hold.
#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/names.h"
#include "executor/nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

bool is_same(const lower::Address& a, const lower::Address& b) {
  return a.base == b.base && a.offset == b.offset &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const lower::Address::Term& x, const lower::Address::Term& y) {
                      return x.index == y.index && x.stride == y.stride;
                    });
}

/// A predicate in memory that differs along one axis of a nest and says where an element changes.
struct AxisMask {
  Value index;        // of the axis
  lower::Address at;  // of index 0
  std::int64_t stride;
  bool holds;  // the element changes where the predicate is this

  bool is_along_the_same(const AxisMask& other) const {
    return is_same(at, other.at) && stride == other.stride && holds == other.holds;
  }
};

/// The ops of a nest that were just written, from the first of its loops.
class WrittenNest {
 public:
  WrittenNest(Builder& builder, std::size_t first)
      : program_(builder.program()), code_(std::span(program_.code).subspan(first)) {}

  /// The masks without any of which the nest's only store writes what is there.
  std::vector<AxisMask> masks(std::span<const Value> indices) const;

 private:
  const lower::Op* made(Value value) const {
    const auto found = std::find_if(code_.begin(), code_.end(),
                                    [&](const lower::Op& op) { return op.result == value; });
    return found == code_.end() ? nullptr : &*found;
  }
  bool is_inside(Value value) const {
    return made(value) || std::any_of(code_.begin(), code_.end(), [&](const lower::Op& op) {
             return (op.code == Opcode::kFor && program_.fors[op.bits].index == value) ||
                    (op.code == Opcode::kLanes && program_.lanes[op.bits].index == value);
           });
  }
  std::optional<AxisMask> mask(const lower::Op& load, bool holds,
                               std::span<const Value> indices) const;

  const lower::Program& program_;
  std::span<const lower::Op> code_;
};

std::vector<AxisMask> WrittenNest::masks(std::span<const Value> indices) const {
  std::vector<AxisMask> found;
  const auto is_store = [](const lower::Op& op) { return op.code == Opcode::kStore; };
  if (std::count_if(code_.begin(), code_.end(), is_store) != 1) return found;
  const lower::Op& store = *std::find_if(code_.begin(), code_.end(), is_store);
  const lower::Op* const select = made(store.a);
  if (!select || select->code != Opcode::kSelect) return found;
  const auto keeps = [&](Value value) {
    const lower::Op* const load = made(value);
    return load && load->code == Opcode::kLoad &&
           is_same(program_.addresses[load->bits], program_.addresses[store.bits]);
  };
  const bool changes_if = keeps(select->c);
  if (!changes_if && !keeps(select->b)) return found;
  // What must be true, and what must be false, for an element to change.
  std::vector<std::pair<Value, bool>> open{{select->a, changes_if}};
  while (!open.empty()) {
    const auto [value, holds] = open.back();
    open.pop_back();
    const lower::Op* const op = made(value);
    if (!op) continue;
    if (op->code == (holds ? Opcode::kAnd : Opcode::kOr)) {
      open.emplace_back(op->a, holds);
      open.emplace_back(op->b, holds);
    } else if (op->code == Opcode::kNot) {
      open.emplace_back(op->a, !holds);
    } else if (op->code == Opcode::kLoad) {
      if (const auto along = mask(*op, holds, indices)) found.push_back(*along);
    }
  }
  return found;
}

std::optional<AxisMask> WrittenNest::mask(const lower::Op& load, bool holds,
                                          std::span<const Value> indices) const {
  AxisMask found{lower::kNone, program_.addresses[load.bits], 0, holds};
  if (is_inside(found.at.base)) return std::nullopt;
  auto& terms = found.at.terms;
  for (std::size_t i = terms.size(); i-- > 0;) {
    if (std::find(indices.begin(), indices.end(), terms[i].index) != indices.end()) {
      if (found.index != lower::kNone) return std::nullopt;
      found.index = terms[i].index;
      found.stride = terms[i].stride;
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (is_inside(terms[i].index)) {
      return std::nullopt;
    }
  }
  return found.index == lower::kNone ? std::nullopt : std::optional(found);
}

/// The first index at which a mask holds, and the one after the last; of `size` ones.
std::pair<Value, Value> part_of(Builder& b, const AxisMask& mask, std::int64_t size) {
  const Value first_of_none = b.index(size), last_of_none = b.index(0);
  const std::uint32_t lanes = b.begin_lanes(b.index(size));
  const Value index = b.program().lanes[lanes].index;
  lower::Address at = mask.at;
  at.terms.push_back({index, mask.stride});
  Value holds = b.load(Type::kPred, std::move(at));
  if (!mask.holds) holds = b.logical_not(holds);
  const Value first = b.reduce(Opcode::kMin, first_of_none, b.select(holds, index, first_of_none));
  const Value end =
      b.reduce(Opcode::kMax, last_of_none, b.select(holds, b.add(index, b.index(1)), last_of_none));
  b.end_lanes();
  return {first, end};
}

}  // namespace

void Nest::run_where_masks_hold(std::size_t first, const Axes& axes,
                                std::span<const std::uint32_t> fors) {
  // Threshold: Elements of a loop nest for each one of its masks: looking through a mask costs some
  // ops for an element and the combination of partial results, which has to be little beside what
  // may be left out. Set by matrices/lu_in_place in bench/workloads: 117 to 55 us.
  constexpr std::int64_t kLeastElements = 1024, kElementsOfMask = 16;
  // Threshold: Larger nests may be split over threads, which takes bounds that are known. Not
  // measured; about the least work that is split (executor/runtime/pieces.cc).
  constexpr std::int64_t kMostElements = std::int64_t{1} << 15;
  std::int64_t elements = 1;
  for (const Axis& axis : axes) elements *= axis.size;
  if (elements < kLeastElements || elements > kMostElements) return;
  std::vector<lower::Op>& code = builder_.program().code;
  while (first < code.size() && code[first].code != Opcode::kFor &&
         code[first].code != Opcode::kLanes)
    first++;
  std::vector<Value> indices;
  for (const Axis& axis : axes) indices.push_back(axis.index);
  const std::vector<AxisMask> masks = WrittenNest(builder_, first).masks(indices);
  const auto axis_of = [&](const AxisMask& mask) {
    return static_cast<std::size_t>(std::find(indices.begin(), indices.end(), mask.index) -
                                    indices.begin());
  };
  std::int64_t mask_elements = 0;
  for (const AxisMask& mask : masks) mask_elements += axes[axis_of(mask)].size;
  if (masks.empty() || elements < kElementsOfMask * mask_elements) return;
  std::vector<lower::Op> loops(code.begin() + static_cast<std::ptrdiff_t>(first), code.end());
  code.resize(first);
  std::vector<std::pair<Value, Value>> parts(axes.size(), {lower::kNone, lower::kNone});
  std::vector<std::pair<Value, Value>> of_masks;
  for (const AxisMask& mask : masks) {
    const std::int64_t size = axes[axis_of(mask)].size;
    std::size_t same = 0;
    while (!masks[same].is_along_the_same(mask) || axes[axis_of(masks[same])].size != size) same++;
    of_masks.push_back(same < of_masks.size() ? of_masks[same] : part_of(builder_, mask, size));
    auto& [begin, end] = parts[axis_of(mask)];
    const auto [low, high] = of_masks.back();
    begin = begin == lower::kNone ? low : builder_.max(begin, low);
    end = end == lower::kNone ? high : builder_.min(end, high);
  }
  for (std::size_t i = 0; i < fors.size(); i++) {
    if (parts[i].first == lower::kNone) continue;
    lower::For& loop = builder_.program().fors[fors[i]];
    std::tie(loop.lower, loop.upper) = parts[i];
    loop.trips.reset();
  }
  if (parts.back().first != lower::kNone) narrow_lanes(loops, axes.back(), parts.back());
  code.insert(code.end(), loops.begin(), loops.end());
}

/// Lanes from the first of a part on, in whole vectors; all of them if their index is a number in
/// the elements' code.
void Nest::narrow_lanes(std::span<lower::Op> loops, const Axis& axis,
                        std::pair<Value, Value> part) {
  constexpr std::int64_t kVector = 16;  // the most lanes of a vector
  const auto computes_with_index = [&](const lower::Op& op) {
    return op.a == axis.index || op.b == axis.index || op.c == axis.index;
  };
  if (std::any_of(loops.begin(), loops.end(), computes_with_index)) return;
  Builder& b = builder_;
  const auto down = [&](Value x) { return b.bit_and(x, b.index(-kVector)); };
  const Value first = down(part.first);
  const Value end = b.min(down(b.add(part.second, b.index(kVector - 1))), b.index(axis.size));
  lower::Program& program = b.program();
  for (const lower::Op& op : loops) {
    if (op.code == Opcode::kLanes) {
      program.lanes[op.bits].count = b.max(b.subtract(end, first), b.index(0));
      program.lanes[op.bits].known_count.reset();
    } else if (op.code == Opcode::kLoad || op.code == Opcode::kStore) {
      auto& terms = program.addresses[op.bits].terms;
      const auto along = std::find_if(terms.begin(), terms.end(),
                                      [&](const auto& term) { return term.index == axis.index; });
      if (along != terms.end()) terms.push_back({first, along->stride});
    }
  }
}

}  // namespace rondo::executor
