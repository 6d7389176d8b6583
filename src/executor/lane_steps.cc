// Steps of loops that are interchanged with their lanes: the elements of one lane, in registers.
#include <utility>

#include "executor/element_code.h"
#include "executor/lowerer.h"
#include "ir/element.h"
#include "ir/loop_nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

using Kind = LaneValue::Kind;

void Lowerer::lane_step(Scope& scope, const Step& step) {
  const Node* node = step.node;
  const TensorType& type = node->type();
  Place& result = scope.places[step.first_value];
  const Strategy form = strategy_of(*node);
  const auto share = [&](Place& to, const Tensor& from) {
    to = place(scope, from);
    if (to.kind == Place::Kind::kArray || to.kind == Place::Kind::kTape) retain(to);
  };
  if (form == Strategy::kConstant) {
    result = constant(node);
    return;
  }
  if (form == Strategy::kForward) {
    for (std::uint32_t i = 0; i < node->types.size(); i++)
      share(scope.places[step.first_value + i], node->operands[i]);
    return;
  }
  absl::InlinedVector<LaneValue, 4> operands;
  for (const Tensor& operand : node->operands) {
    const Place& from = place(scope, operand);
    operands.push_back(from.kind == Place::Kind::kSingle ? LaneValue{Kind::kUniform, -1}
                                                         : from.lane);
  }
  const std::optional<LaneValue> as = lane_rules().result(*node, operands);
  if (!as) {
    // Whether any lane, or all, say so: for this lane its own value decides (interchange).
    const ir::Reduction reduction = *ir::loops_as<ir::Reduction>(*node);
    result = single({builder_.binary(reduction.combine, place(scope, node->operands[1]).element[0],
                                     lane_place(scope, node->operands[0]).element[0])});
    return;
  }
  if (as->kind == Kind::kView) {
    result.kind = Place::Kind::kInlined;
    result.lane = *as;
    return;
  }
  if (as->kind == Kind::kInvariant) {
    share(result, node->operands[0]);
    if (type.dtype != node->operand_type(0).dtype) result.element.clear();
    return;
  }
  if (as->kind == Kind::kCarried) {
    lane_update(scope, node, *as);
    share(result,
          node->operands[static_cast<std::size_t>(ir::loops_as<ir::InsertionMap>(*node)->kept)]);
    result.element.clear();
    return;
  }
  if (as->kind == Kind::kTape) {
    lane_tape_write(scope, node);
    share(result, node->operands[0]);
    return;
  }
  Element made;
  if (form == Strategy::kTapeRead)
    made = lane_row(scope, node);
  else if (form == Strategy::kWrite)
    made = lane_parts(scope, node, *as);
  else if (form == Strategy::kElement && lane_rules().count(type, *as) == 1)
    made = lane_code(scope, node, *as);
  else if (form == Strategy::kAlias)
    made = lane_bytes(scope, node, *as);
  else
    made = lane_nest(scope, node, *as);
  result = is_scalar(type) ? single(std::move(made)) : of_lane(std::move(made), *as);
}

void Lowerer::lane_tape_write(Scope& scope, const Node* node) {
  const Tensor& row = node->operands[1];
  const Place from = lane_place(scope, row);
  const Value number = lane_place(scope, node->operands[2]).element[0];
  const Value to = tape_row(place(scope, node->operands[0]), number, true);
  const std::size_t width = is_complex(row.dtype()) ? 2 : 1;
  std::span<const Value> left(from.element);
  for (lower::Address& at : lane_addresses(to, row.type(), {Kind::kUniform, -1})) {
    builder_.store_element(left.first(width), std::move(at));
    left = left.subspan(width);
  }
}

Element Lowerer::lane_row(Scope& scope, const Node* node) {
  const Value number = lane_place(scope, node->operands[1]).element[0];
  Place row;
  row.kind = Place::Kind::kArray;
  row.pointer = tape_row(place(scope, node->operands[0]), number, false);
  return lane_elements(row, node->type(), {Kind::kUniform, -1});
}

Element Lowerer::lane_code(Scope& scope, const Node* node, const LaneValue& as) {
  absl::InlinedVector<Element, 3> operands;
  for (const Tensor& operand : node->operands)
    operands.push_back(lane_elements(place(scope, operand), operand.type(), as));
  const auto index = [&](std::int64_t axis) {
    if (node->type().shape[axis] == 1) return builder_.index(0);
    if (lanes_->nest.empty()) return lanes_->index;
    return lanes_
        ->along[static_cast<std::size_t>(axis - node->type().rank() + lanes_->nest.shape.rank())];
  };
  return element_of(*node, builder_, operands, index);
}

Element Lowerer::lane_bytes(Scope& scope, const Node* node, const LaneValue& as) {
  const Tensor& from = node->operands[0];
  Element elements = lane_elements(place(scope, from), from.type(), as);
  if (is_complex(from.dtype())) return elements;
  for (Value& element : elements)
    element = builder_.bitcast(element, lower::type_of(node->type().dtype));
  return elements;
}

Element Lowerer::lane_nest(Scope& scope, const Node* node, const LaneValue& as) {
  const Shape& shape = node->type().shape;
  if (as == LaneValue{Kind::kLane, -1}) {
    if (lanes_->nest.empty()) return place(scope, node->operands[0]).element;  // broadcast
    Nest nest(builder_, *scope.plan, scope.places, shape.dims());
    absl::InlinedVector<std::uint32_t, 8> items;
    const std::size_t before = shape.size() - lanes_->along.size();  // axes of one element
    absl::InlinedVector<std::int64_t, 4> first(shape.size(), 0);
    std::int64_t& row = first[before + lanes_->nest.axis_of_rows()];
    for (; row < lanes_->nest.rows; row++)
      items.push_back(nest.add(Tensor::of(node), nest.index(first), true));
    absl::InlinedVector<Value, 4> along(before, lower::kNone);
    along.insert(along.end(), lanes_->along.begin(), lanes_->along.end());
    return nest.at(items, along);
  }
  absl::InlinedVector<std::int64_t, 4> sizes(shape.size(), 1);
  if (as.axis >= 0) sizes[static_cast<std::size_t>(as.axis)] = lanes_->count;
  Nest nest(builder_, *scope.plan, scope.places, sizes);
  std::vector<std::uint32_t> items;
  for_each_of_lane(shape, as.axis, [&](std::span<const std::int64_t> first) {
    items.push_back(nest.add(Tensor::of(node), nest.index(first), true));
  });
  return nest.at(items, absl::InlinedVector<Value, 4>(shape.size(), lanes_->index));
}

Element Lowerer::lane_parts(Scope& scope, const Node* node, const LaneValue& as) {
  const TensorType& type = node->type();
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(*node);
  const std::size_t width = is_complex(type.dtype) ? 2 : 1;
  const auto elements = [&](int operand) {
    const Tensor& value = node->operands[static_cast<std::size_t>(operand)];
    return lane_elements(place(scope, value), value.type(), as);
  };
  Element made(static_cast<std::size_t>(lane_rules().count(type, as)) * width, lower::kNone);
  if (map.kept >= 0) made = elements(map.kept);
  for (std::size_t i = 0; map.fill >= 0 && i < made.size(); i++)
    made[i] = place(scope, node->operands[static_cast<std::size_t>(map.fill)]).element[i % width];
  for (const ir::Part& part : map.parts) {
    const Element from = elements(part.operand);
    const Shape& shape = node->operand_type(static_cast<std::size_t>(part.operand)).shape;
    absl::InlinedVector<Value, 4> starts;
    for (const ir::AxisWrite& axis : part.axes) {
      starts.push_back(
          axis.dynamic < 0
              ? builder_.index(0)
              : clamped_start(
                    builder_,
                    place(scope, node->operands[static_cast<std::size_t>(axis.dynamic)]).element[0],
                    axis.room));
    }
    for_each_in_part(part, as.axis, [&](std::span<const std::int64_t> of_part) {
      absl::InlinedVector<std::int64_t, 4> source(of_part.begin(), of_part.end());
      for (std::size_t i = 0; i < source.size(); i++) source[i] += part.axes[i].first;
      const auto number = static_cast<std::size_t>(number_in_lane(shape, as.axis, source)) * width;
      // Where the element may be written; most positions are known not to match.
      for_each_of_lane(type.shape, as.axis, [&](std::span<const std::int64_t> to) {
        Value goes_here = builder_.pred(true);
        for (std::size_t i = 0; i < to.size(); i++) {
          if (static_cast<std::int64_t>(i) == as.axis) continue;
          const ir::AxisWrite& axis = part.axes[i];
          const Value start = builder_.index(to[i] - axis.start - axis.step * of_part[i]);
          goes_here = builder_.bit_and(goes_here, builder_.equal(starts[i], start));
        }
        const auto at = static_cast<std::size_t>(number_in_lane(type.shape, as.axis, to)) * width;
        for (std::size_t i = 0; i < width; i++) {
          const bool is_first = made[at + i] == lower::kNone;
          if (is_first && builder_.known(goes_here) == std::uint64_t{0}) continue;
          made[at + i] = is_first ? from[number + i]
                                  : builder_.select(goes_here, from[number + i], made[at + i]);
        }
      });
    });
  }
  return made;
}

void Lowerer::lane_update(Scope& scope, const Node* node, const LaneValue& array) {
  const TensorType& type = node->type();
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(*node);
  const Place& kept = place(scope, node->operands[static_cast<std::size_t>(map.kept)]);
  const Value pointer = kept.pointer;
  const std::int64_t last_axis = kept.packed_axis;
  const std::size_t width = is_complex(type.dtype) ? 2 : 1;
  for (const ir::Part& part : map.parts) {
    const Tensor& operand = node->operands[static_cast<std::size_t>(part.operand)];
    const LaneValue as{lanes_->count == 1 ? Kind::kUniform : Kind::kLane, array.axis};
    const Element from = lane_elements(place(scope, operand), operand.type(), as);
    const Linear to = part_place(scope, node, part, type, last_axis);
    if (!lanes_->nest.empty()) {
      lower::Address first{pointer, to.offset, {}};
      for (const auto& [value, stride] : to.dynamic) first.terms.push_back({value, stride});
      std::span<const Value> left(from);
      const auto strides = std::span(to.coefficients).last(lanes_->along.size());
      for (lower::Address& row : rows_of_lane(std::move(first), strides, 1)) {
        builder_.store_element(left.first(width), std::move(row));
        left = left.subspan(width);
      }
      continue;
    }
    for_each_in_part(part, array.axis, [&](std::span<const std::int64_t> of_part) {
      lower::Address address{pointer, to.offset, {}};
      for (const auto& [value, stride] : to.dynamic) address.terms.push_back({value, stride});
      absl::InlinedVector<std::int64_t, 4> source(of_part.begin(), of_part.end());
      for (std::size_t i = 0; i < source.size(); i++) {
        source[i] += part.axes[i].first;
        address.offset += of_part[i] * to.coefficients[i];
      }
      if (array.axis >= 0) {
        address.terms.push_back(
            {lanes_->index, to.coefficients[static_cast<std::size_t>(array.axis)]});
      }
      const auto number =
          static_cast<std::size_t>(number_in_lane(operand.shape(), array.axis, source)) * width;
      builder_.store_element(std::span<const Value>(from).subspan(number, width),
                             std::move(address));
    });
  }
}

}  // namespace rondo::executor
