// Reductions by a region: what it combines is written into the loops.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "executor/element_code.h"
#include "executor/lowerer.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

struct FoldedAxis {
  std::int64_t size;
  std::int64_t stride;     // of the operands, in elements
  std::int64_t of_result;  // the same of the results; 0 where it vanishes
  Value index = lower::kNone;
};

/// The parts of all elements, one behind the other, and back.
std::vector<Value> parts_of(std::span<const Element> elements) {
  std::vector<Value> parts;
  for (const Element& element : elements) parts.insert(parts.end(), element.begin(), element.end());
  return parts;
}
void set_parts(std::vector<Element>& elements, const std::vector<lower::Carry>& carries,
               Value lower::Carry::*part) {
  std::size_t next = 0;
  for (Element& element : elements) {
    for (Value& value : element) value = carries[next++].*part;
  }
}

}  // namespace

void Lowerer::fold(Scope& scope, const Step& step) {
  const Node* node = step.node;
  const std::size_t count = node->types.size();
  const bool is_one = is_single(node->type());
  may_end_inside();
  std::vector<Place> made;
  std::vector<Value> pointers;
  std::vector<Element> totals;
  for (std::size_t i = 0; i < count; i++) {
    pointers.push_back(in_memory(scope, node->operands[i], made));
    totals.push_back(place(scope, node->operands[count + i]).element);
  }
  std::vector<Place> results;
  for (std::uint32_t i = 0; i < count && !is_one; i++)
    results.push_back(destination(scope, node, i));

  // Axes that stay are the outer loops.
  std::vector<FoldedAxis> kept, combined;
  const Shape &from = node->operand_type(0).shape, &to = node->type().shape;
  const auto strides = row_major(from), result_strides = row_major(to);
  const std::vector<std::int64_t> vanishing = node->op->fold(*node);
  for (std::int64_t axis = 0, left = 0; axis < from.rank(); axis++) {
    const bool vanishes = std::find(vanishing.begin(), vanishing.end(), axis) != vanishing.end();
    const std::int64_t of_result = vanishes ? 0 : result_strides[static_cast<std::size_t>(left++)];
    if (from[axis] != 1) {
      (vanishes ? combined : kept)
          .push_back({from[axis], strides[static_cast<std::size_t>(axis)], of_result});
    }
  }
  lower::Builder& b = builder_;
  const auto begin = [&](FoldedAxis& axis, std::span<const Value> carries) {
    const std::uint32_t loop =
        b.begin_for(b.index(0), b.index(axis.size), 1, carries, lower::kNoLoop, axis.size);
    axis.index = b.program().fors[loop].index;
    return loop;
  };
  const bool in_lanes = !kept.empty() && kept.back().size >= kLeastLanes;
  std::vector<std::uint32_t> outer, inner;
  for (std::size_t i = 0; i < kept.size(); i++) {
    if (in_lanes && i + 1 == kept.size())
      kept[i].index = b.program().lanes[b.begin_lanes(b.index(kept[i].size))].index;
    else
      b.program().fors[outer.emplace_back(begin(kept[i], {}))].independent = true;
  }
  for (FoldedAxis& axis : combined) {
    inner.push_back(begin(axis, parts_of(totals)));
    set_parts(totals, b.program().fors[inner.back()].carries, &lower::Carry::param);
  }
  std::vector<Element> arguments = totals;
  for (std::size_t i = 0; i < count; i++) {
    const DType dtype = node->operand_type(i).dtype;
    lower::Address at{pointers[i], 0, {}};
    for (const auto& axes : {kept, combined}) {
      for (const FoldedAxis& axis : axes)
        at.terms.push_back({axis.index, axis.stride * byte_width(dtype)});
    }
    const Type part = lower::type_of(dtype);
    Element& element = arguments.emplace_back();
    element.push_back(b.load(part, at));
    at.offset += lower::width(part);
    if (is_complex(dtype)) element.push_back(b.load(part, std::move(at)));
  }
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < count; i++) outputs.push_back(i);
  totals =
      region_elements(b, node->regions[0], arguments, outputs,
                      [&](const Node& other, std::span<const Element>) -> std::vector<Element> {
                        throw InternalError("a combiner that is no element code", other.location());
                      });
  for (std::size_t i = inner.size(); i-- > 0;) {
    b.end_for(parts_of(totals));
    set_parts(totals, b.program().fors[inner[i]].carries, &lower::Carry::result);
  }
  constexpr std::int64_t kWorkOfLane = 4, kLanesAtOnce = 16;
  const std::int64_t work = let_poll(b, inner, in_lanes ? kWorkOfLane * kLanesAtOnce : kWorkOfLane);
  let_poll(b, outer, work);

  for (std::size_t i = 0; i < results.size(); i++) {
    const std::int64_t width = byte_width(node->types[i].dtype);
    lower::Address at{results[i].pointer, 0, {}};
    for (const FoldedAxis& axis : kept) at.terms.push_back({axis.index, axis.of_result * width});
    for (const Value part : totals[i]) {
      b.store(part, at);
      at.offset += lower::width(b.type(part));
    }
  }
  for (std::size_t i = kept.size(); i-- > 0;) {
    if (in_lanes && i + 1 == kept.size())
      b.end_lanes();
    else
      b.end_for({});
  }
  for (std::size_t i = 0; i < count; i++)
    scope.places[step.first_value + i] = is_one ? single(std::move(totals[i])) : results[i];
  for (const Place& temporary : made) let_go(temporary);
}

}  // namespace rondo::executor
