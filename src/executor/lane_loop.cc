// Loops that are interchanged with their lanes: the lanes around a loop, their carries and their
// results.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "executor/element_code.h"
#include "executor/loop_parts.h"
#include "executor/lowerer.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "lower/opcodes.h"

namespace rondo::executor {

bool Lowerer::begin_lanes(const Interchange& form, Nest* items) {
  OpenLanes open{lower::kNone, form.lanes, constructs_.size(), form.nest, {}, {}};
  if (form.lanes == 1) {
    open.index = builder_.index(0);
  } else if (form.nest.empty()) {
    const std::optional<Value> lane =
        items ? items->begin_lanes()
              : builder_.program().lanes[builder_.begin_lanes(builder_.index(form.lanes))].index;
    if (!lane) return false;
    open.index = *lane;
  } else {
    const Shape& shape = form.nest.shape;
    std::int64_t left = shape.elements();  // of the axes that follow
    for (std::size_t axis = 0; axis < shape.size(); axis++) {
      const std::int64_t size = shape[static_cast<std::int64_t>(axis)];
      if (size == 1) {
        open.along.push_back(builder_.index(0));
      } else if (size == left) {
        open.index = builder_.program().lanes[builder_.begin_lanes(builder_.index(size))].index;
        open.along.push_back(open.index);
      } else {
        const std::int64_t rows = axis == form.nest.axis_of_rows() ? form.nest.rows : 1;
        const std::uint32_t loop = builder_.begin_for(
            builder_.index(0), builder_.index(size / rows), 1, {}, lower::kNoLoop, size / rows);
        lower::For& made = builder_.program().fors[loop];
        made.independent = true;
        open.fors.push_back(loop);
        open.along.push_back(builder_.multiply(made.index, builder_.index(rows)));
      }
      left /= size;
    }
    if (items) items->at({}, open.along);
  }
  lanes_ = std::move(open);
  return true;
}

void Lowerer::end_lanes() {
  const OpenLanes closed = *std::exchange(lanes_, std::nullopt);
  if (closed.count == 1) return;
  builder_.end_lanes();
  if (closed.fors.empty()) return;
  for (std::size_t i = closed.fors.size(); i-- > 0;) builder_.end_for({});
  lower::Program& program = builder_.program();
  lower::Lanes& lanes = program.lanes.back();
  lanes.trips_later = !lanes.loops.empty();
  program.fors[closed.fors[0]].lane_loops = lanes.loops;
}

std::vector<lower::Address> Lowerer::rows_of_lane(lower::Address first,
                                                  std::span<const std::int64_t> strides,
                                                  std::int64_t width) const {
  for (std::size_t i = 0; i < strides.size(); i++) {
    if (lanes_->nest.shape[static_cast<std::int64_t>(i)] != 1)
      first.terms.push_back({lanes_->along[i], strides[i] * width});
  }
  std::vector<lower::Address> rows(static_cast<std::size_t>(lanes_->nest.rows), first);
  const std::int64_t row = strides[lanes_->nest.axis_of_rows()] * width;
  for (std::size_t i = 0; i < rows.size(); i++)
    rows[i].offset += static_cast<std::int64_t>(i) * row;
  return rows;
}

std::vector<lower::Address> Lowerer::lane_addresses(Value pointer, const TensorType& type,
                                                    const LaneValue& as) {
  const std::int64_t width = byte_width(type.dtype);
  const auto strides = row_major(type.shape);
  std::vector<lower::Address> addresses;
  if (as == LaneValue{LaneValue::Kind::kLane, -1}) {
    if (lanes_->nest.empty()) return {{pointer, 0, {{lanes_->index, width}}}};
    const lower::Address first{pointer, 0, {}};
    return rows_of_lane(first, std::span(strides).last(lanes_->along.size()), width);
  }
  for_each_of_lane(type.shape, as.axis, [&](std::span<const std::int64_t> index) {
    lower::Address& address = addresses.emplace_back();
    address.base = pointer;
    for (std::size_t i = 0; i < index.size(); i++) address.offset += index[i] * strides[i] * width;
    if (as.axis < 0) return;
    address.terms.push_back({lanes_->index, strides[static_cast<std::size_t>(as.axis)] * width});
  });
  return addresses;
}

Element Lowerer::lane_elements(const Place& from, const TensorType& type, const LaneValue& as) {
  if (from.in_registers()) return from.element;
  Element elements;
  if (!from.element.empty()) {
    for (std::int64_t i = lane_rules().count(type, as); i-- > 0;)
      elements.insert(elements.end(), from.element.begin(), from.element.end());
    return elements;
  }
  for (lower::Address& at : lane_addresses(from.pointer, type, as)) {
    const Element element = builder_.load_element(type.dtype, std::move(at));
    elements.insert(elements.end(), element.begin(), element.end());
  }
  return elements;
}

Place Lowerer::lane_place(Scope& scope, const Tensor& value) {
  const Place& from = place(scope, value);
  if (from.in_registers()) return from;
  const LaneValue as = *lane_rules().in_registers(value.type(), from.lane);
  return of_lane(lane_elements(from, value.type(), as), as);
}

/// For an array that has one element for each lane.
Shape Lowerer::shape_of_lanes(const Node& loop, const Interchange& form) {
  if (!form.nest.empty()) return form.nest.shape;
  for (const TensorType& type : loop.types) {
    if (type.elements() == form.lanes) return type.shape;
  }
  return {form.lanes};
}

Lowerer::LaneItems Lowerer::lane_items(Nest& nest, const Node* node, const Interchange& form) {
  LaneItems items;
  // A fused operand may read an array that is updated in the lanes.
  if (updates_any(form.operands) || form.nest.rows > 1) return items;
  Scope& scope = scopes_.back();
  const Shape shape = shape_of_lanes(*node, form);
  const std::span<const Tensor> operands = LoopParts(*node).operands;
  for (std::size_t i = 0; i < operands.size(); i++) {
    const Tensor& operand = operands[i];
    if (place(scope, operand).kind == Place::Kind::kInlined &&
        form.operands[i].kind == LaneValue::Kind::kLane && operand.shape() == shape)
      items[scope.plan->value(operand)] = nest.add(operand, nest.index());
  }
  return items;
}

void Lowerer::put_in_memory(Construct& construct, const Interchange& form, const LaneItems& items) {
  Scope& scope = scopes_.back();
  const std::span<const Tensor> operands = LoopParts(*construct.node).operands;
  for (std::size_t i = 0; i < construct.arguments.size(); i++) {
    const Tensor& operand = operands[i];
    Place& argument = construct.arguments[i];
    if (argument.kind != Place::Kind::kInlined || has_states(form.operands[i])) continue;
    // A loop-invariant buffer is read at indices other than the lane's, even if it is also a lane's
    // first value.
    const bool of_lane = form.operands[i].kind == LaneValue::Kind::kLane;
    if (of_lane && items.contains(scope.plan->value(operand))) continue;
    argument.kind = Place::Kind::kArray;
    argument.storage = -1;
    argument.pointer = in_memory(scope, operand, construct.lanes.made);
  }
}

namespace {

/// Whether lanes that update an array by parts access so much of it that transposing it, before the
/// loop and after it, costs less than strided access.
bool gains_by_lanes_last(const Node& loop, std::size_t carry, std::int64_t axis) {
  const TensorType& type = loop.types[carry];
  const auto layout = ir::region_layout(&loop);
  if (axis < 0 || !layout || !layout->trip_count) return false;
  std::int64_t behind = 1;
  for (std::int64_t i = axis + 1; i < type.rank(); i++) behind *= type.shape[i];
  if (behind == 1) return false;
  const LoopParts parts(loop);
  absl::flat_hash_set<ir::ValueKey> states{parts.parameter(carry)};
  std::int64_t accesses = 0;
  for (const Node* node : parts.body.body()) {
    const bool is_one = std::any_of(node->operands.begin(), node->operands.end(),
                                    [&](const Tensor& value) { return states.contains(value); });
    if (!is_one) continue;
    accesses++;
    if (node->types.size() == 1 && node->type() == type) states.insert(Tensor::of(node));
  }
  // Threshold: What the two transpositions cost, in accesses to each element of a lane; they must
  // save as many strided accesses. Not measured.
  constexpr std::int64_t kCopies = 3;
  const std::int64_t elements = type.elements() / type.shape[axis];
  return accesses * std::min(*layout->trip_count, elements * kCopies) >= kCopies * elements;
}

}  // namespace

Place Lowerer::with_lanes_last(Scope& scope, const Tensor& array, std::int64_t axis) {
  const TensorType& type = array.type();
  absl::InlinedVector<std::int64_t, 4> sizes(type.shape.dims().begin(), type.shape.dims().end());
  std::rotate(sizes.begin() + axis, sizes.begin() + axis + 1, sizes.end());
  Place to = new_array(type);
  Nest nest(builder_, *scope.plan, scope.places, sizes);
  const std::uint32_t item = nest.add_with_axis_last(array, axis);
  nest.store(item, to.pointer, nest.dense(Shape(sizes), byte_width(type.dtype)));
  to.packed_axis = axis;
  to.writable = false;
  return to;
}

void Lowerer::leave_lanes_last(Scope& scope, const Construct& construct, std::size_t carry) {
  const Place& from = construct.arguments[carry];
  const Place& to = construct.results[carry];
  const std::uint32_t value = construct.first_value + static_cast<std::uint32_t>(carry);
  if (to.kind == Place::Kind::kArray) {
    scope.places[value] = from;
    write_array(scope, Tensor::of(construct.node, static_cast<std::uint32_t>(carry)), false, to);
  }
  scope.places[value] = to;
  release(from);
}

bool Lowerer::take_results(Construct& construct, const Step& step, std::uint32_t at,
                           const Interchange& form) {
  Scope& scope = scopes_.back();
  const Node* node = step.node;
  const LoopParts parts(*node);
  const std::vector<bool> once = ir::given_once(parts.operands);
  bool asks_for_singles = false;
  for (std::uint32_t i = 0; i < node->types.size(); i++) {
    const bool is_asked_for = scope.plan->uses(step.first_value + i) != 0;
    if (form.operands[i].kind == LaneValue::Kind::kTape) {
      Place& tape = construct.arguments[i] = carried_tape(scope, node, i, once[i], at);
      construct.results[i] = tape;
      tape.writable = false;
      tape.lane = form.operands[i];
      continue;
    }
    if (form.operands[i].kind == LaneValue::Kind::kCarried &&
        gains_by_lanes_last(*node, i, form.operands[i].axis)) {
      Place& array = construct.arguments[i] =
          with_lanes_last(scope, parts.operands[i], form.operands[i].axis);
      array.lane = form.operands[i];
      if (is_asked_for) construct.results[i] = destination(scope, node, i);
    } else if (form.operands[i].kind == LaneValue::Kind::kCarried) {
      Place& array = construct.arguments[i] =
          carried_memory(scope, step, i, at, {once[i], true, false});
      construct.results[i] = array;
      array.writable = false;
      array.lane = form.operands[i];
    } else if (is_asked_for) {
      if (is_scalar(node->types[i]))
        asks_for_singles = form.lanes > 1;
      else
        construct.results[i] = destination(scope, node, i);
    }
  }
  for (std::size_t i = node->types.size(); i < parts.operands.size(); i++) {
    if (form.operands[i].kind != LaneValue::Kind::kTape) continue;
    Place& tape = construct.arguments[i] =
        tape_place(scope, parts.operands[i], tapes_.at(parts.parameter(i)), construct.lanes.made);
    tape.writable = false;
    tape.lane = form.operands[i];
  }
  return asks_for_singles;
}

absl::InlinedVector<Value, 8> Lowerer::take_lane(Construct& construct, const Interchange& form,
                                                 const Nest& nest, const LaneItems& items) {
  const Node* node = construct.node;
  const std::span<const Tensor> operands = LoopParts(*node).operands;
  const std::size_t carries = node->types.size();
  absl::InlinedVector<Value, 8> init;
  for (std::size_t i = 0; i < construct.arguments.size(); i++) {
    const Tensor& operand = operands[i];
    Place& argument = construct.arguments[i];
    const LaneValue& as = form.operands[i];
    const bool is_carried_array = i < carries && !is_scalar(operand.type());
    if (argument.kind == Place::Kind::kInlined)
      argument = of_lane(nest.element(items.at(scopes_.back().plan->value(operand))), as);
    else if (as.kind == LaneValue::Kind::kLane ||
             (is_carried_array && as.kind == LaneValue::Kind::kUniform))
      argument = of_lane(lane_elements(argument, operand.type(), as), as);
    if (i < carries) init.insert(init.end(), argument.element.begin(), argument.element.end());
  }
  return init;
}

void Lowerer::open_lanes(const Step& step, std::uint32_t at, const Interchange& form) {
  const Node* node = step.node;
  Scope& scope = scopes_.back();
  Construct construct(node, step.first_value);
  construct.results.resize(node->types.size());
  construct.count = count_of(scope, *node);
  for (const Tensor& operand : LoopParts(*node).operands)
    construct.arguments.emplace_back(place(scope, operand)).writable = false;
  Nest nest(builder_, *scope.plan, scope.places, shape_of_lanes(*node, form).dims());
  LaneItems items = lane_items(nest, node, form);
  put_in_memory(construct, form, items);
  const bool asks_for_singles = take_results(construct, step, at, form);
  if (items.empty() || !begin_lanes(form, &nest)) {
    items.clear();
    put_in_memory(construct, form, items);
    begin_lanes(form);
  }
  absl::InlinedVector<Value, 8> init = take_lane(construct, form, nest, items);
  construct.lanes.asks_for_singles = asks_for_singles;
  if (asks_for_singles && !construct.count)
    construct.lanes.trips = init.emplace_back(builder_.index(0));
  const std::uint32_t info = begin_loop(node, construct.count);
  enter_lane_loop(std::move(construct), init, info);
}

void Lowerer::enter_lane_loop(Construct construct, std::span<const Value> init,
                              std::uint32_t reported, bool has_condition) {
  begin_trips(construct, init, reported);
  if (lanes_->count == 1) describe_state(builder_.program().loops[reported], construct);
  if (construct.lanes.trips != lower::kNone)
    construct.lanes.trips = builder_.program().whiles[construct.loop].carries.back().param;
  constructs_.push_back(std::move(construct));
  if (constructs_.back().count) return enter_lane_body(constructs_.back(), lower::kNone);
  if (!has_condition) {
    builder_.test(within_chunk(constructs_.back()));
    return enter_lane_body(constructs_.back(), lower::kNone);
  }
  const Function condition = constructs_.back().node->regions[0];
  enter(Scope::Role::kCondition, condition);
  bind(scopes_.back(), constructs_.back().arguments);
}

void Lowerer::enter_lane_body(Construct& construct, Value predicate) {
  const Node* node = construct.node;
  std::vector<Place> arguments = body_arguments(construct);
  const auto known = predicate == lower::kNone ? std::vector<std::pair<Value, bool>>()
                                               : builder_.assume(predicate, true);
  for (const auto& [value, truth] : known) {
    for (Place& argument : arguments) {
      if (argument.in_registers())
        std::replace(argument.element.begin(), argument.element.end(), value, builder_.pred(truth));
    }
  }
  if (node->op->construct.lane_loop) {
    arguments.insert(arguments.begin(),
                     of_lane({builder_.pred(true)}, {LaneValue::Kind::kLane, 0}));
  }
  enter(Scope::Role::kBody, LoopParts(*node).body);
  bind(scopes_.back(), arguments);
}

void Lowerer::close_lanes(Construct& construct) {
  const Node* node = construct.node;
  const std::vector<lower::Carry> carried = carries_of(construct);
  Scope& outer = scopes_.back();
  const bool is_chunk = construct.lanes.is_chunk;  // and more may follow
  std::size_t at = 0;
  for (std::size_t i = 0; i < node->types.size(); i++) {
    const Place& argument = construct.arguments[i];
    Element last;
    for (std::size_t part = 0; argument.in_registers() && part < argument.element.size(); part++)
      last.push_back(carried[at++].result);
    const bool is_asked_for = construct.results[i].kind == Place::Kind::kArray;
    Place& result = outer.places[construct.first_value + i];
    if (!is_chunk) result = construct.results[i];
    if (lanes_->count == 1 && argument.in_registers() && is_scalar(node->types[i]))
      result = single(last);
    if (!is_asked_for || !argument.in_registers()) continue;
    const std::size_t parts = is_complex(node->types[i].dtype) ? 2 : 1;
    std::span<const Value> left(last);
    for (const lower::Address& to :
         lane_addresses(construct.results[i].pointer, node->types[i], argument.lane)) {
      builder_.store_element(left.first(parts), to);
      left = left.subspan(parts);
    }
  }
  if (is_chunk) return close_chunk(construct, construct.count ? lower::kNone : carried[at].result);
  Value trips = lower::kNone;
  if (construct.lanes.asks_for_singles)
    trips = construct.count
                ? construct.count->trips
                : builder_.reduce(lower::Opcode::kMax, builder_.index(0), carried[at].result);
  end_lanes();
  if (trips != lower::kNone) {
    const std::span<const Tensor> operands = LoopParts(*node).operands;
    std::vector<Element> last = last_singles(
        construct, trips,
        [&](std::size_t i) -> const Element& { return place(outer, operands[i]).element; });
    for (std::size_t i = 0, k = 0; i < node->types.size(); i++) {
      if (is_scalar(node->types[i]))
        outer.places[construct.first_value + i] = single(std::move(last[k++]));
    }
  }
  for (std::size_t i = 0; i < node->types.size(); i++) {
    if (construct.arguments[i].packed_axis >= 0 && !construct.arguments[i].in_registers())
      leave_lanes_last(outer, construct, i);
  }
  for (const Place& place : construct.lanes.made) release(place);
  end_step(outer, outer.next - 1);
}

std::vector<Element> Lowerer::last_singles(const Construct& construct, Value trips,
                                           absl::FunctionRef<const Element&(std::size_t)> before) {
  const Node* node = construct.node;
  const LoopParts parts(*node);
  std::vector<std::size_t> singles;
  std::vector<Value> init;
  for (std::size_t i = 0; i < node->types.size(); i++) {
    if (!is_scalar(node->types[i])) continue;
    singles.push_back(i);
    init.insert(init.end(), before(i).begin(), before(i).end());
  }
  if (singles.empty()) return {};
  const std::vector<std::string> names = parts.body.param_names();
  const std::uint32_t loop = builder_.begin_for(builder_.index(0), trips, 1, init);
  // None of them depends on values that differ by lane.
  std::vector<Element> arguments(parts.before + parts.operands.size());
  if (construct.count)
    arguments[0] = {index_after(*construct.count, builder_.program().fors[loop].index)};
  std::size_t next = 0;
  for (std::size_t i = 0; i < parts.operands.size(); i++) {
    if (!is_scalar(parts.operands[i].type())) continue;
    Element& element = arguments[parts.before + i] = before(i);
    if (i >= node->types.size()) continue;
    for (Value& part : element) part = builder_.program().fors[loop].carries[next++].param;
    note_element(names[parts.before + i], parts.operands[i].type(), element);
  }
  const auto other = [&](const Node& inner, std::span<const Element>) -> std::vector<Element> {
    throw InternalError("a single element of a loop over lanes has no code", inner.location());
  };
  std::vector<Value> after;
  for (const Element& element : region_elements(builder_, parts.body, arguments, singles, other))
    after.insert(after.end(), element.begin(), element.end());
  builder_.end_for(after);
  next = 0;
  std::vector<Element> last;
  for (const std::size_t i : singles) {
    Element& element = last.emplace_back(before(i));
    for (Value& part : element) part = builder_.program().fors[loop].carries[next++].result;
  }
  return last;
}

}  // namespace rondo::executor
