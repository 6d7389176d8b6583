// Concatenations and padding that are fused into the loops that read them (index-set splitting): a
// nest is split where one of their parts ends, and reads one part in each box.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/names.h"
#include "executor/region_plan.h"

namespace rondo::executor {

namespace {

/// Threshold: Elements that a nest computes, as code, in all of its boxes: code size against memory
/// for the concatenation. A stencil with its boundary has 9 boxes in two dimensions, 27 in three.
/// Set by stencils/shallow_water in bench/workloads, whose step takes 1.9 times as long with 4096.
constexpr std::size_t kMostCode = 8192;

/// Along one axis of a value: start + step * index along an axis of the nest.
struct Along {
  std::int64_t axis = -1, start = 0, step = 0;
  bool moves = false;  // and something that is known at run time
  bool operator==(const Along&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Along& along) {
    return H::combine(std::move(h), along.axis, along.start, along.step, along.moves);
  }
};
using Index = std::vector<Along>;

/// The index of the nest's axis from which on positions are on the other side of `cut`, between
/// cut - 1 and cut.
std::int64_t first_from(const Along& along, std::int64_t cut) {
  const std::int64_t step = along.step < 0 ? -along.step : along.step;
  const std::int64_t distance = along.step > 0 ? cut - along.start : along.start - cut;
  const std::int64_t at = distance / step;
  if (along.step > 0) return at + (distance % step > 0 ? 1 : 0);
  return distance < 0 ? 0 : at + 1;
}

/// Starts of empty parts may be any numbers.
bool is_empty(const ir::Part& part) {
  return std::ranges::any_of(part.axes, [](const ir::AxisWrite& axis) { return axis.count == 0; });
}

/// A value in the loops of another one.
struct Read {
  Tensor value;
  Index index;
};

/// The nest that computes a value: all that is fused into it, and where it has to be split.
class Splits {
 public:
  Splits(const RegionPlan& plan, std::span<const std::int64_t> sizes)
      : plan_(plan), sizes_(sizes.begin(), sizes.end()), cuts_(sizes.size()) {}

  /// `root`: the value is computed here although it is not fused.
  void add(const Tensor& value, std::span<const std::int64_t> first, bool root) {
    Index index;
    for (std::size_t i = 0; i < sizes_.size(); i++)
      index.push_back({static_cast<std::int64_t>(i), first[i], 1});
    enter({value, std::move(index)}, root);
    while (!open_.empty()) {
      const Read read = std::move(open_.back());
      open_.pop_back();
      enter(read, false);
    }
  }

  /// A concatenation that is read here but computed before.
  struct Candidate {
    const Node* node = nullptr;
    std::uint32_t reads = 0;
    std::vector<Index> indices;  // of these
    bool moves = false;          // a read is at a position that is known at run time
    bool repeats = false;        // an element is read more than once
  };
  const std::vector<Candidate>& candidates() const { return candidates_; }

  /// Splits the nest so that the candidate can be fused into it as well. False, and nothing is
  /// split, if that takes too much code.
  bool split_for(const Candidate& candidate) {
    std::vector<std::vector<std::int64_t>> cuts = cuts_;
    for (const Index& index : candidate.indices) cut(*candidate.node, index, cuts);
    // Each read of it, and of its parts.
    const std::size_t more = candidate.indices.size() * (1 + candidate.node->operands.size());
    std::size_t code = known_.size() + more_ + more;
    for (const std::vector<std::int64_t>& axis : cuts) {
      code *= axis.size() + 1;
      if (code > kMostCode) return false;
    }
    cuts_ = std::move(cuts);
    more_ += more;
    return true;
  }

  std::vector<Box> boxes() const {
    std::vector<Box> boxes{{}};
    for (std::size_t axis = 0; axis < sizes_.size(); axis++) {
      std::vector<std::int64_t> ends = cuts_[axis];
      std::sort(ends.begin(), ends.end());
      ends.push_back(sizes_[axis]);
      std::vector<Box> longer;
      for (const Box& box : boxes) {
        std::int64_t first = 0;
        for (const std::int64_t end : ends) {
          Box& next = longer.emplace_back(box);
          next.first.push_back(first);
          next.sizes.push_back(end - first);
          first = end;
        }
      }
      boxes = std::move(longer);
    }
    return boxes;
  }

 private:
  void enter(const Read& read, bool root) {
    const Step* step = plan_.step_of(read.value);
    if (!step || read.value.type().elements() <= 1) return;
    const Node& node = *step->node;
    if (root ? step->form == Strategy::kWrite : !step->inlined) {
      if (step->form == Strategy::kWrite) note(node, read.index);
      return;
    }
    if (!known_.emplace(plan_.value(read.value), read.index).second) return;
    if (step->form == Strategy::kElement) {
      for (const Tensor& operand : node.operands) open_.push_back({operand, read.index});
    } else if (step->form == Strategy::kRead) {
      open_.push_back({node.operands[0], through(read_map(node), read.index)});
    } else if (step->form == Strategy::kGather) {
      const ir::Gather gather = *ir::loops_as<ir::Gather>(node);
      for (std::size_t i = 0; i < gather.components.size(); i++)
        open_.push_back(
            {node.operands[1], through(gather.indices, read.index, static_cast<std::int64_t>(i))});
    } else if (step->form == Strategy::kWrite) {
      cut(node, read.index, cuts_);
      const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
      for (const ir::Part& part : map.parts) {
        if (is_empty(part)) continue;
        Index index = read.index;
        for (std::size_t i = 0; i < index.size(); i++)
          index[i].start += part.axes[i].first - part.axes[i].start;
        open_.push_back({node.operands[static_cast<std::size_t>(part.operand)], std::move(index)});
      }
    }
  }

  void note(const Node& node, const Index& index) {
    const auto [number, is_new] = numbers_.try_emplace(&node, candidates_.size());
    if (is_new) candidates_.emplace_back().node = &node;
    Candidate& candidate = candidates_[number->second];
    candidate.reads++;
    std::vector<bool> moving(sizes_.size());
    for (const Along& along : index) {
      if (along.moves) candidate.moves = true;
      if (along.axis >= 0 && along.step != 0) moving[static_cast<std::size_t>(along.axis)] = true;
    }
    for (std::size_t i = 0; i < sizes_.size(); i++)
      if (sizes_[i] > 1 && !moving[i]) candidate.repeats = true;
    if (std::ranges::find(candidate.indices, index) != candidate.indices.end()) return;
    if (!candidate.indices.empty()) candidate.repeats = true;
    candidate.indices.push_back(index);
  }

  /// `component`: the place along an axis behind those of the index.
  static Index through(const ir::AccessMap& map, const Index& index, std::int64_t component = 0) {
    Index made;
    for (const ir::AxisRead& read : map) {
      Along along{.start = read.start, .moves = read.moves()};
      if (read.axis >= static_cast<std::int64_t>(index.size())) {
        along.start += component * read.step;
      } else if (read.axis >= 0) {
        const Along& from = index[static_cast<std::size_t>(read.axis)];
        along.axis = from.axis;
        along.start += from.start * read.step;
        along.step = from.step * read.step;
        along.moves = along.moves || from.moves;
      }
      made.push_back(along);
    }
    return made;
  }

  void cut(const Node& node, const Index& index,
           std::vector<std::vector<std::int64_t>>& cuts) const {
    const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
    for (const ir::Part& part : map.parts) {
      if (is_empty(part)) continue;
      for (std::size_t i = 0; i < index.size(); i++) {
        const Along& along = index[i];
        if (along.axis < 0 || along.step == 0) continue;
        const auto axis = static_cast<std::size_t>(along.axis);
        for (const std::int64_t end :
             {part.axes[i].start, part.axes[i].start + part.axes[i].count}) {
          const std::int64_t at = first_from(along, end);
          if (at > 0 && at < sizes_[axis] && std::ranges::find(cuts[axis], at) == cuts[axis].end())
            cuts[axis].push_back(at);
        }
      }
    }
  }

  const RegionPlan& plan_;
  absl::InlinedVector<std::int64_t, 4> sizes_;
  std::vector<std::vector<std::int64_t>> cuts_;  // of each axis
  std::vector<Read> open_;
  absl::flat_hash_set<std::pair<std::uint32_t, Index>> known_;
  std::size_t more_ = 0;  // reads that the nest has with the candidates for which it was split
  std::vector<Candidate> candidates_;  // in the order in which they are found
  absl::flat_hash_map<const Node*, std::size_t> numbers_;
};

/// Whether a step of strategy kWrite puts parts at fixed places, beside constants at most: a
/// concatenation, padding.
bool has_pieces(const Node& node) {
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
  if (map.kept >= 0 || node.type().elements() <= 1) return false;
  return std::ranges::all_of(map.parts, [](const ir::Part& part) {
    return std::ranges::all_of(part.axes, [](const ir::AxisWrite& axis) {
      return axis.dynamic < 0 && (axis.step == 1 || axis.count <= 1);
    });
  });
}

/// Whether the parts are columns of the same rows: where they are read they are one loop as well.
bool has_columns(const Node& node) {
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
  const auto& first = map.parts[0].axes;
  return std::ranges::all_of(map.parts, [&](const ir::Part& part) {
    for (std::size_t i = 0; i < first.size(); i++) {
      if (part.axes[i].count != 1 && part.axes[i].start != first[i].start) return false;
    }
    return true;
  });
}

}  // namespace

std::vector<Box> RegionPlan::boxes(const Tensor& value, bool root,
                                   std::span<const std::int64_t> first,
                                   std::span<const std::int64_t> sizes) const {
  if (!has_fused_pieces_) {
    Box whole;
    whole.first.resize(sizes.size(), 0);
    whole.sizes.assign(sizes.begin(), sizes.end());
    return {std::move(whole)};
  }
  Splits splits(*this, sizes);
  splits.add(value, first, root);
  return splits.boxes();
}

/// For each value the only step in whose loops it is read, through values that are fused there;
/// kManySteps if there are several, or if it is a result.
std::vector<std::uint32_t> RegionPlan::reading_steps(const Function& region) const {
  constexpr std::uint32_t kNone = kNoPlace;
  std::vector<std::uint32_t> reading(values_, kNone);
  for (const Tensor& result : region.outputs()) reading[value(result)] = kManySteps;
  for (std::uint32_t at = static_cast<std::uint32_t>(steps_.size()); at-- > 0;) {
    const Step& step = steps_[at];
    const std::uint32_t reader = step.inlined ? reading[step.first_value] : at;
    for (const Tensor& operand : step.node->operands) {
      std::uint32_t& known = reading[value(operand)];
      known = known == kNone || known == reader ? reader : kManySteps;
    }
  }
  return reading;
}

/// Whether the loops of a step compute what they read, beside loads.
bool RegionPlan::computes_parts(const Step& step) const {
  for (const Tensor& operand : step.node->operands) {
    const Step* from = step_of(operand);
    while (from && from->inlined && from->form == Strategy::kRead)
      from = step_of(from->node->operands[0]);
    if (from && from->inlined) return true;
  }
  return false;
}

/// A concatenation is fused into the loops of one step that computes an array, or a part of one,
/// if all of its uses are there.
void RegionPlan::fuse_pieces(const Function& region) {
  absl::flat_hash_set<const Node*> pieces;
  for (const Step& step : steps_) {
    if (step.form == Strategy::kWrite && has_pieces(*step.node) &&
        (!step.joint || has_columns(*step.node)))
      pieces.insert(step.node);
  }
  if (pieces.empty()) return;
  const std::vector<std::uint32_t> reading = reading_steps(region);
  const auto only_reader = [&](std::uint32_t value) {
    std::uint32_t reader = reading[value];
    while (reader < steps_.size() && steps_[reader].inlined)
      reader = reading[steps_[reader].first_value];
    return reader;
  };
  std::uint32_t root_step = 0;
  const auto fuse_into = [&](const Tensor& value, bool root, std::span<const std::int64_t> first,
                             std::span<const std::int64_t> sizes) {
    // Again for concatenations that those are made of.
    for (bool more = true; more;) {
      more = false;
      Splits splits(*this, sizes);
      splits.add(value, first, root);
      for (const Splits::Candidate& candidate : splits.candidates()) {
        Step& step = steps_[numbers_.get(candidate.node).step_plus_one - 1];
        if (!pieces.contains(candidate.node) || candidate.moves ||
            only_reader(step.first_value) != root_step ||
            candidate.reads != uses_[step.first_value] ||
            (candidate.repeats && computes_parts(step)) || !splits.split_for(candidate))
          continue;
        step.inlined = more = has_fused_pieces_ = true;
      }
    }
  };
  for (; root_step < steps_.size(); root_step++) {
    const Step& step = steps_[root_step];
    const Node& node = *step.node;
    if (step.inlined || step.joint) continue;
    if (step.form == Strategy::kElement || step.form == Strategy::kRead ||
        step.form == Strategy::kGather) {
      const absl::InlinedVector<std::int64_t, 4> first(node.type().shape.size(), 0);
      fuse_into(Tensor::of(&node), true, first, node.type().shape.dims());
    } else if (step.form == Strategy::kWrite) {
      const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
      for (const ir::Part& part : map.parts) {
        if (is_empty(part)) continue;
        absl::InlinedVector<std::int64_t, 4> first, sizes;
        for (const ir::AxisWrite& axis : part.axes) {
          first.push_back(axis.first);
          sizes.push_back(axis.count);
        }
        fuse_into(node.operands[static_cast<std::size_t>(part.operand)], false, first, sizes);
      }
    }
  }
}

}  // namespace rondo::executor
