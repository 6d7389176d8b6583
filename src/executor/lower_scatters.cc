// Updates of an array at places that an array of indices names: loops over the updates, whose
// combiner is written into them.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "executor/element_code.h"
#include "executor/lowerer.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

/// What a loop reads: an array in memory, or the value that all its elements have.
struct Source {
  const TensorType& type;
  Value pointer = lower::kNone;
  Element element;
};

Element element_at(lower::Builder& b, const Source& from, lower::Address at) {
  if (!from.element.empty()) return from.element;
  at.base = from.pointer;
  return b.load_element(from.type.dtype, std::move(at));
}

/// The place in an array of what the map says of these indices; along `axis` of the rank of the
/// indices it is `component`.
lower::Address mapped(const ir::ReadMap& map, const TensorType& type, std::span<const Value> index,
                      std::int64_t component) {
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

}  // namespace

void Lowerer::scatter(Scope& scope, const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  const ir::ElementGather places = *node->op->scatter(*node);
  const TensorType &type = node->type(), &updates = node->operand_type(2);
  may_end_inside();
  std::vector<Place> made;
  const Tensor& kept = node->operands[0];
  const bool once = !node->operands[1].same_as(kept) && !node->operands[2].same_as(kept);
  const auto source = [&](std::size_t i) {
    Source from{node->operand_type(i), lower::kNone, place(scope, node->operands[i]).element};
    if (from.element.empty()) from.pointer = in_memory(scope, node->operands[i], made);
    return from;
  };
  const Source indices = source(1), values = source(2);
  const Place result = updated(scope, step, kept, once, at, made);

  // One update after the other; the elements of one fall on different places.
  lower::Builder& b = builder_;
  std::vector<Value> index(updates.shape.size(), lower::kNone);
  std::vector<std::uint32_t> loops;
  const auto begin = [&](std::int64_t axis) {
    const std::int64_t size = updates.shape[axis];
    if (size == 1) return;
    loops.push_back(b.begin_for(b.index(0), b.index(size), 1, {}, lower::kNoLoop, size));
    index[static_cast<std::size_t>(axis)] = b.program().fors[loops.back()].index;
  };
  std::vector<bool> counts(updates.shape.size(), false);  // updates, not elements of one
  for (const ir::AxisRead& read : places.indices) {
    if (read.axis < updates.rank()) counts[static_cast<std::size_t>(read.axis)] = true;
  }
  for (std::int64_t axis = 0; axis < updates.rank(); axis++) {
    if (counts[static_cast<std::size_t>(axis)]) begin(axis);
  }
  lower::Address starts;
  Value fits = b.pred(true);
  const auto strides = row_major(type.shape);
  for (std::size_t i = 0; i < places.components.size(); i++) {
    const auto [axis, room] = places.components[i];
    const lower::Address from =
        mapped(places.indices, indices.type, index, static_cast<std::int64_t>(i));
    const Value start = b.convert(element_at(b, indices, from)[0], Type::kS64);
    // A negative one is a large one.
    fits = b.bit_and(fits, b.less_equal(b.bitcast(start, Type::kU64),
                                        b.constant(Type::kU64, static_cast<std::uint64_t>(room))));
    starts.terms.push_back(
        {start, strides[static_cast<std::size_t>(axis)] * byte_width(type.dtype)});
  }
  // Code that never runs addresses the array as well.
  if (b.known(fits) == std::uint64_t{0}) starts.terms.clear();
  const bool all_fit = b.known(fits) == std::uint64_t{1};
  if (!all_fit) b.begin_if(fits);
  const std::size_t outer = loops.size();
  std::int64_t last = updates.rank();  // that takes several elements of an update
  while (last-- > 0) {
    if (!counts[static_cast<std::size_t>(last)] && updates.shape[last] != 1) break;
  }
  const bool in_lanes = last >= 0 && updates.shape[last] >= kLeastLanes;
  for (std::int64_t axis = 0; axis < updates.rank(); axis++) {
    if (!counts[static_cast<std::size_t>(axis)] && !(in_lanes && axis == last)) begin(axis);
  }
  if (in_lanes) {
    index[static_cast<std::size_t>(last)] =
        b.program().lanes[b.begin_lanes(b.index(updates.shape[last]))].index;
  }

  lower::Address to = mapped(places.table, type, index, 0);
  to.terms.insert(to.terms.end(), starts.terms.begin(), starts.terms.end());
  lower::Address of_value;
  const auto value_strides = row_major(updates.shape);
  for (std::size_t i = 0; i < index.size(); i++) {
    if (index[i] == lower::kNone) continue;
    of_value.terms.push_back({index[i], value_strides[i] * byte_width(updates.dtype)});
  }
  const Element value = element_at(b, values, std::move(of_value));
  const Function& region = node->regions[0];
  Element combined = value;
  if (!region.outputs()[0].same_as(region.parameters()[1])) {
    const Element arguments[] = {element_at(b, {type, result.pointer, {}}, to), value};
    const std::size_t outputs[] = {0};
    combined = region_elements(
        b, region, arguments, outputs,
        [&](const Node& other, std::span<const Element>) -> std::vector<Element> {
          throw InternalError("a combiner that is no element code", other.location());
        })[0];
  }
  to.base = result.pointer;
  b.store_element(combined, std::move(to));

  if (in_lanes) b.end_lanes();
  for (std::size_t i = loops.size(); i-- > outer;) b.end_for({});
  if (!all_fit) {
    b.begin_else();
    (void)b.end_if({}, {});
  }
  constexpr std::int64_t kWork = 4;
  let_poll(b, loops, in_lanes ? updates.shape[last] : kWork);
  for (std::size_t i = outer; i-- > 0;) b.end_for({});
  scope.places[step.first_value] = result;
  for (const Place& temporary : made) let_go(temporary);
}

}  // namespace rondo::executor
