#include "executor/lane_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "executor/lowerer.h"
#include "executor/region_plan.h"
#include "ir/element.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "lower/opcodes.h"
#include "passes/expand.h"

namespace rondo::executor {

std::optional<Function> with_lane_loops(const Function& function) {
  const auto has_one = [](const Function& region) {
    return std::any_of(region.body().begin(), region.body().end(),
                       [](const Node* node) { return node->op->lane_loop != nullptr; });
  };
  const std::vector<Function> regions = ir::regions_inside_out(function);
  if (std::none_of(regions.begin(), regions.end(), has_one)) return std::nullopt;
  return passes::expand(function,
                        [](const Node& node) { return node.op->lane_loop && lane_form(node); });
}

namespace {

/// Whether a region reads elements of a parameter at other places than the lane's.
bool is_read_elsewhere(const Function& region, const Tensor& parameter) {
  return std::any_of(region.body().begin(), region.body().end(), [&](const Node* node) {
    return form_of(*node) == Form::kRead && node->operands[0].same_as(parameter);
  });
}

}  // namespace

Element Lowerer::load_lane(Value pointer, DType dtype) {
  const Type part = lower::type_of(dtype);
  const auto at = [&](std::int64_t offset) {
    return lower::Address{pointer, offset, {{lanes_->index, byte_width(dtype)}}};
  };
  Element element{builder_.load(part, at(0))};
  if (is_complex(dtype)) element.push_back(builder_.load(part, at(lower::width(part))));
  return element;
}

Element Lowerer::lane_element(Scope& scope, const Tensor& value) {
  const Place& from = place(scope, value);
  return from.in_registers() ? from.element : load_lane(from.pointer, value.dtype());
}

void Lowerer::open_lanes(const Step& step, const LaneForm& form) {
  const Node* node = step.node;
  Scope& scope = scopes_.back();
  const std::size_t carries = node->types.size();
  const std::size_t before = node->op->lane_loop ? 1 : 0;  // the preds of the lanes that run
  Construct construct;
  construct.node = node;
  construct.first_value = step.first_value;
  construct.carried.resize(carries);
  construct.results.resize(carries);
  bool asks_for_singles = false;
  for (std::uint32_t i = 0; i < carries; i++) {
    if (scope.plan->uses(step.first_value + i) == 0) continue;
    if (is_single(node->types[i]))
      asks_for_singles = true;
    else
      construct.results[i] = destination(scope, node, i);
  }
  const auto first_array = std::find_if(node->types.begin(), node->types.end(),
                                        [](const TensorType& type) { return !is_single(type); });
  const auto is_by_lane = [&](std::size_t i) {
    return node->operand_type(i).elements() == form.lanes &&
           (i < carries ||
            (!is_read_elsewhere(node->regions[0], node->regions[0].parameters()[i]) &&
             !is_read_elsewhere(node->regions[1], node->regions[1].parameters()[i + before])));
  };
  // What is in line is computed in the lanes, where it goes along with them.
  Nest nest(builder_, *scope.plan, scope.places, first_array->shape.dims());
  absl::flat_hash_map<std::uint32_t, std::uint32_t> items;
  for (std::size_t i = 0; i < node->operands.size(); i++) {
    const Tensor& operand = node->operands[i];
    if (place(scope, operand).kind != Place::Kind::kInLine) continue;
    if (is_by_lane(i) && operand.shape() == first_array->shape)
      items[scope.plan->value(operand)] = nest.add(operand, nest.index());
  }
  std::vector<Place> arguments(node->operands.size());
  const auto put_in_memory = [&](bool all) {
    for (std::size_t i = 0; i < node->operands.size(); i++) {
      const Tensor& operand = node->operands[i];
      arguments[i] = place(scope, operand);
      arguments[i].writable = false;
      if (arguments[i].kind != Place::Kind::kInLine) continue;
      if (!all && items.contains(scope.plan->value(operand))) continue;
      arguments[i].kind = Place::Kind::kArray;
      arguments[i].storage = -1;
      arguments[i].pointer = in_memory(scope, operand, construct.made);
    }
  };
  put_in_memory(false);
  std::optional<Value> lane = nest.begin_lanes();
  if (!lane) {
    put_in_memory(true);
    items.clear();
    lane = builder_.program().lanes[builder_.begin_lanes(builder_.index(form.lanes))].index;
  }
  lanes_ = OpenLanes{*lane, constructs_.size()};
  std::vector<Value> init;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    const Tensor& operand = node->operands[i];
    const auto item = items.find(scope.plan->value(operand));
    if (arguments[i].kind == Place::Kind::kInLine)
      arguments[i] = of_lane(nest.element(item->second));
    else if (arguments[i].kind == Place::Kind::kArray && is_by_lane(i))
      arguments[i] = of_lane(load_lane(arguments[i].pointer, operand.dtype()));
    if (i < carries)
      init.insert(init.end(), arguments[i].element.begin(), arguments[i].element.end());
  }
  if (asks_for_singles) init.push_back(builder_.index(0));
  const std::uint32_t info = loop_info(node);
  loops_.push_back(info);
  construct.loop = builder_.begin_while(init, info);
  std::size_t next = 0;
  const auto param = [&] {
    return builder_.program().whiles[construct.loop].carries[next++].param;
  };
  for (std::size_t i = 0; i < carries; i++) {
    for (Value& part : arguments[i].element) part = param();
  }
  if (asks_for_singles) construct.trips = param();
  construct.arguments = std::move(arguments);
  constructs_.push_back(std::move(construct));
  enter(Scope::Role::kCondition, node->regions[0]);
  bind(scopes_.back(), constructs_.back().arguments);
}

void Lowerer::enter_lane_body(Construct& construct, Value predicate) {
  const Node* node = construct.node;
  std::vector<Place> arguments = construct.arguments;
  for (const auto& [value, truth] : builder_.assume(predicate, true)) {
    for (Place& argument : arguments) {
      if (argument.in_registers() && argument.element[0] == value)
        argument.element[0] = builder_.pred(truth);
    }
  }
  if (node->op->lane_loop) arguments.insert(arguments.begin(), of_lane({builder_.pred(true)}));
  enter(Scope::Role::kBody, node->regions[1]);
  bind(scopes_.back(), arguments);
}

void Lowerer::close_lanes(Construct& construct) {
  const Node* node = construct.node;
  const auto& carried = builder_.program().whiles[construct.loop].carries;
  Scope& outer = scopes_.back();
  std::size_t at = 0;
  for (std::size_t i = 0; i < node->types.size(); i++) {
    std::int64_t offset = 0;
    for (std::size_t part = 0; part < construct.arguments[i].element.size(); part++) {
      const Value last = carried[at++].result;
      if (construct.results[i].kind != Place::Kind::kArray) continue;
      builder_.store(last, {construct.results[i].pointer,
                            offset,
                            {{lanes_->index, byte_width(node->types[i].dtype)}}});
      offset += lower::width(builder_.type(last));
    }
    outer.places[construct.first_value + i] = construct.results[i];
  }
  Value trips = lower::kNone;
  if (construct.trips != lower::kNone)
    trips = builder_.reduce(lower::Opcode::kMax, builder_.index(0), carried[at].result);
  builder_.end_lanes();
  lanes_.reset();
  if (trips != lower::kNone) last_singles(construct, trips);
  for (const Place& place : construct.made) let_go(place);
  end_step(outer, outer.next - 1);
}

void Lowerer::last_singles(const Construct& construct, Value trips) {
  const Node* node = construct.node;
  const std::size_t before = node->op->lane_loop ? 1 : 0;
  Scope& outer = scopes_.back();
  std::vector<std::size_t> singles;
  std::vector<Value> init;
  for (std::size_t i = 0; i < node->types.size(); i++) {
    if (!is_single(node->types[i])) continue;
    singles.push_back(i);
    const Element& first = place(outer, node->operands[i]).element;
    init.insert(init.end(), first.begin(), first.end());
  }
  const std::uint32_t loop = builder_.begin_for(builder_.index(0), trips, 1, init);
  // Nothing of them is made of what differs by lane.
  std::vector<Element> arguments(before + node->operands.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < node->operands.size(); i++) {
    if (!is_single(node->operand_type(i))) continue;
    Element& element = arguments[before + i] = place(outer, node->operands[i]).element;
    if (i >= node->types.size()) continue;
    for (Value& part : element) part = builder_.program().fors[loop].carries[next++].param;
  }
  const auto other = [&](const Node& inner, std::span<const Element>) -> std::vector<Element> {
    throw InternalError("a single element of a loop over lanes has no code", inner.location());
  };
  std::vector<Value> after;
  for (const Element& element :
       region_elements(builder_, node->regions[1], arguments, singles, other))
    after.insert(after.end(), element.begin(), element.end());
  builder_.end_for(after);
  next = 0;
  for (const std::size_t i : singles) {
    Element element = place(outer, node->operands[i]).element;
    for (Value& part : element) part = builder_.program().fors[loop].carries[next++].result;
    outer.places[construct.first_value + i] = single(std::move(element));
  }
}

void Lowerer::lane_step(Scope& scope, const Step& step) {
  const Node* node = step.node;
  Place& result = scope.places[step.first_value];
  const auto place_of = [&](Element element) {
    return is_single(node->type()) ? single(std::move(element)) : of_lane(std::move(element));
  };
  switch (step.form) {
    case Form::kConstant:
      result = !is_single(node->type()) && equal_elements(*node)
                   ? of_lane(first_element(builder_, *node))
                   : constant(node);
      break;
    case Form::kElement: {
      absl::InlinedVector<Element, 3> operands;
      for (const Tensor& operand : node->operands) operands.push_back(lane_element(scope, operand));
      const auto index = [&](std::int64_t axis) {
        return node->type().shape[axis] == 1 ? builder_.index(0) : lanes_->index;
      };
      result = place_of(node->op->element({*node, builder_, operands, index}));
      break;
    }
    case Form::kRead:
    case Form::kGather: {
      if (step.form == Form::kRead && place(scope, node->operands[0]).in_registers()) {
        result = place_of(place(scope, node->operands[0]).element);
        break;
      }
      Nest nest(builder_, *scope.plan, scope.places, node->type().shape.dims());
      const std::uint32_t item = nest.add(Tensor::of(node), nest.index(), true);
      result = place_of(nest.in_lane(item, lanes_->index));
      break;
    }
    case Form::kAlias: {
      const Element from = lane_element(scope, node->operands[0]);
      result = from.size() != 1
                   ? place_of(from)
                   : place_of({builder_.bitcast(from[0], lower::type_of(node->type().dtype))});
      break;
    }
    case Form::kForward:
      for (std::uint32_t i = 0; i < node->types.size(); i++) {
        scope.places[step.first_value + i] = place(scope, node->operands[i]);
        if (place(scope, node->operands[i]).kind == Place::Kind::kArray)
          hold(place(scope, node->operands[i]));
      }
      break;
    case Form::kReduction:
    case Form::kTerms: {
      // Whether any lane, or all, say so: of this lane it is what itself says (lane_form).
      const ir::ElementReduction reduction = *node->op->reduction(*node);
      result =
          single({builder_.binary(reduction.combine, place(scope, node->operands[1]).element[0],
                                  lane_element(scope, node->operands[0])[0])});
      break;
    }
    default:
      throw InternalError("a loop over lanes has a step that has none", node->location());
  }
}

}  // namespace rondo::executor
