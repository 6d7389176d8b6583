// Scatters: updates of an array at the places in an array of indices, as loops over the updates
// with the combiner written into them.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "executor/element_code.h"
#include "executor/lowerer.h"
#include "ir/loop_nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

/// What a loop reads: an array in memory, or the value that all its elements have.
struct Source {
  const TensorType& type;
  Value pointer = lower::kNone;
  Element element;
};

Element element_at(Builder& b, const Source& from, lower::Address at) {
  if (!from.element.empty()) return from.element;
  at.base = from.pointer;
  return b.load_element(from.type.dtype, std::move(at));
}

/// The index in an array that the map gives for these indices; along `axis` of the rank of the
/// indices it is `component`.
lower::Address mapped(const ir::AccessMap& map, const TensorType& type,
                      std::span<const Value> index, std::int64_t component) {
  lower::Address at;
  const auto strides = row_major(type.shape);
  for (std::size_t i = 0; i < map.size(); i++) {
    const ir::AxisRead& read = map[i];
    const std::int64_t stride = strides[i] * byte_width(type.dtype);
    at.offset += read.start * stride;
    if (read.axis == static_cast<std::int64_t>(index.size()))
      at.offset += component * read.step * stride;
    else if (read.axis >= 0 && index[static_cast<std::size_t>(read.axis)] != lower::kNone)
      at.terms.push_back({index[static_cast<std::size_t>(read.axis)], read.step * stride});
  }
  return at;
}

/// The loops of a scatter: those over the updates, in order, and those over the elements of an
/// update that is in bounds, which have distinct places.
class ScatterLoops {
 public:
  ScatterLoops(Builder& builder, const Node& node)
      : b_(builder),
        places_(ir::loops_as<ir::Scatter>(node)->places),
        type_(node.type()),
        updates_(node.operand_type(2)),
        index_(updates_.shape.size(), lower::kNone),
        counts_(updates_.shape.size(), false) {
    for (const ir::AxisRead& read : places_.indices) {
      if (read.axis < updates_.rank()) counts_[static_cast<std::size_t>(read.axis)] = true;
    }
    for (std::int64_t axis = 0; axis < updates_.rank(); axis++) {
      if (!counts(axis) && updates_.shape[axis] != 1) last_ = axis;
    }
    in_lanes_ = last_ >= 0 && updates_.shape[last_] >= kLeastLanes;
  }

  /// All of them; `indices` says where an update begins.
  void open(const Source& indices) {
    for (std::int64_t axis = 0; axis < updates_.rank(); axis++) {
      if (counts(axis)) begin(axis);
    }
    outer_ = loops_.size();
    const Value fits = read_starts(indices);
    // Code that never runs also addresses the array.
    if (b_.known(fits) == std::uint64_t{0}) starts_.clear();
    all_fit_ = b_.known(fits) == std::uint64_t{1};
    if (!all_fit_) b_.begin_if(fits);
    for (std::int64_t axis = 0; axis < updates_.rank(); axis++) {
      if (!counts(axis) && !(in_lanes_ && axis == last_)) begin(axis);
    }
    if (in_lanes_) {
      index_[static_cast<std::size_t>(last_)] =
          b_.program().lanes[b_.begin_lanes(b_.index(updates_.shape[last_]))].index;
    }
  }
  /// Inside all loops: the address of the element in the array at `array`.
  lower::Address place(Value array) const {
    lower::Address at = mapped(places_.table, type_, index_, 0);
    at.base = array;
    at.terms.insert(at.terms.end(), starts_.begin(), starts_.end());
    return at;
  }
  /// Its index in the updates.
  lower::Address place_in_updates() const {
    lower::Address at;
    const auto strides = row_major(updates_.shape);
    for (std::size_t i = 0; i < index_.size(); i++) {
      if (index_[i] == lower::kNone) continue;
      at.terms.push_back({index_[i], strides[i] * byte_width(updates_.dtype)});
    }
    return at;
  }
  void close() {
    if (in_lanes_) b_.end_lanes();
    for (std::size_t i = loops_.size(); i-- > outer_;) b_.end_for({});
    if (!all_fit_) {
      b_.begin_else();
      (void)b_.end_if({}, {});
    }
    // Threshold: Work of one scalar update between two polls. Not measured.
    constexpr std::int64_t kWork = 4;
    let_poll(b_, loops_, in_lanes_ ? updates_.shape[last_] : kWork);
    for (std::size_t i = outer_; i-- > 0;) b_.end_for({});
  }

 private:
  /// Whether the axis numbers updates, and not elements of one.
  bool counts(std::int64_t axis) const { return counts_[static_cast<std::size_t>(axis)]; }

  void begin(std::int64_t axis) {
    const std::int64_t size = updates_.shape[axis];
    if (size == 1) return;
    loops_.push_back(b_.begin_for(b_.index(0), b_.index(size), 1, {}, lower::kNoLoop, size));
    index_[static_cast<std::size_t>(axis)] = b_.program().fors[loops_.back()].index;
  }

  /// The start of the update. Gives a pred: whether it is in bounds.
  Value read_starts(const Source& indices) {
    Value fits = b_.pred(true);
    const auto strides = row_major(type_.shape);
    for (std::size_t i = 0; i < places_.components.size(); i++) {
      const auto [axis, room] = places_.components[i];
      const lower::Address from =
          mapped(places_.indices, indices.type, index_, static_cast<std::int64_t>(i));
      const Value start = b_.convert(element_at(b_, indices, from)[0], Type::kS64);
      // As unsigned, a negative one is large.
      const Value most = b_.constant(Type::kU64, static_cast<std::uint64_t>(room));
      fits = b_.bit_and(fits, b_.less_equal(b_.bitcast(start, Type::kU64), most));
      starts_.push_back({start, strides[static_cast<std::size_t>(axis)] * byte_width(type_.dtype)});
    }
    return fits;
  }

  Builder& b_;
  ir::Gather places_;
  const TensorType &type_, &updates_;
  std::vector<Value> index_;  // along each axis of the updates; none if that has one element
  std::vector<bool> counts_;
  std::int64_t last_ = -1;  // the last axis that takes several elements of an update
  bool in_lanes_ = false;   // the vectorized one
  std::vector<std::uint32_t> loops_;
  std::size_t outer_ = 0;  // of them, those over updates
  absl::InlinedVector<lower::Address::Term, 3> starts_;
  bool all_fit_ = false;  // known before the run
};

/// The combiner's result for the element at `place` and one of an update.
Element combined(Builder& b, const Node& node, const lower::Address& place, const Element& update) {
  const Function& region = node.regions[0];
  if (region.outputs()[0].same_as(region.parameters()[1])) return update;
  const Element arguments[] = {b.load_element(node.type().dtype, place), update};
  const std::size_t outputs[] = {0};
  const auto other = [](const Node& inner, std::span<const Element>) -> std::vector<Element> {
    throw InternalError("a combiner that is no element code", inner.location());
  };
  return region_elements(b, region, arguments, outputs, other)[0];
}

}  // namespace

void Lowerer::scatter(Scope& scope, const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  note_inner_safepoint();
  std::vector<Place> made;
  const auto source = [&](std::size_t i) {
    Source from{node->operand_type(i), lower::kNone, place(scope, node->operands[i]).element};
    if (from.element.empty()) from.pointer = in_memory(scope, node->operands[i], made);
    return from;
  };
  const Source indices = source(1), updates = source(2);
  const Tensor& kept = node->operands[0];
  const bool once = !node->operands[1].same_as(kept) && !node->operands[2].same_as(kept);
  const Place result = updated(scope, step, kept, once, at, made);
  ScatterLoops loops(builder_, *node);
  loops.open(indices);
  const lower::Address to = loops.place(result.pointer);
  const Element update = element_at(builder_, updates, loops.place_in_updates());
  builder_.store_element(combined(builder_, *node, to, update), to);
  loops.close();
  scope.places[step.first_value] = result;
  for (const Place& temporary : made) release(temporary);
}

}  // namespace rondo::executor
