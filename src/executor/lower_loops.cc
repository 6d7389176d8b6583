// Loops: where their carries are stored from trip to trip.
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/buffered_updates.h"
#include "executor/loop_parts.h"
#include "executor/lowerer.h"
#include "ir/function_data.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

/// Of each carry, whether its next value is the value of another one, or the other way round.
std::vector<bool> change_hands(const Node& loop) {
  const LoopParts parts(loop);
  absl::flat_hash_map<ir::ValueKey, std::size_t> carries;  // by their parameters
  for (std::size_t i = 0; i < loop.types.size(); i++) carries.emplace(parts.parameter(i), i);
  std::vector<bool> change(loop.types.size(), false);
  for (std::size_t i = 0; i < loop.types.size(); i++) {
    const auto other = carries.find(parts.body.outputs()[i]);
    if (other == carries.end() || other->second == i) continue;
    change[i] = change[other->second] = true;
  }
  return change;
}

}  // namespace

std::uint32_t Lowerer::begin_loop(const Node* node, const std::optional<Count>& count) {
  std::optional<lower::LoopInfo> info = loop_info(node, count);
  if (!info) {
    loops_.push_back(innermost_loop());
    return lower::kNoLoop;
  }
  builder_.program().loops.push_back(*std::move(info));
  loops_.push_back(static_cast<std::uint32_t>(builder_.program().loops.size() - 1));
  return loops_.back();
}

std::optional<lower::LoopInfo> Lowerer::loop_info(const Node* node,
                                                  const std::optional<Count>& count) {
  lower::LoopInfo info;
  info.outer = innermost_loop();
  if (node->op->construct.lane_loop) {
    const ir::LaneLoop loop = node->op->construct.lane_loop(*node);
    if (loop.predicated) return std::nullopt;
    info.name = loop.name;
    info.at = node->location();
    info.max_trip_count = loop.max_trip_count;
    info.promised = loop.promised;
    info.in_lanes = lanes_.has_value();
    info.polls = options_.has_limits || (!lanes_ && options_.keeps_states);
    return info;
  }
  const ir::RegionLayout layout = *ir::region_layout(node);
  info.name = layout.name;
  info.at = node->location();
  info.trip_count = layout.trip_count;
  if (!layout.ends_by_itself) info.max_trip_count = layout.max_trip_count;
  info.promised = layout.promised;
  info.bodies = layout.source.bodies;
  info.in_lanes = lanes_ && lanes_->count > 1;
  info.polls = options_.has_limits || (!info.in_lanes && options_.keeps_states);
  if (count && !info.trip_count && !info.in_lanes && info.polls) info.trips = count->trips;
  note_inner_safepoint();
  return info;
}

void Lowerer::note_inner_safepoint() {
  if (options_.keeps_states && !loops_.empty() && loops_.front() != lower::kNoLoop)
    builder_.program().loops[loops_.front()].ends_inside = true;
}

void Lowerer::describe_state(lower::LoopInfo& info, const Construct& construct) {
  if (!options_.keeps_states || info.outer != lower::kNoLoop) return;
  const Node* node = construct.node;
  const bool is_lane_loop = static_cast<bool>(node->op->construct.lane_loop);
  const ir::LoopSource source = is_lane_loop ? ir::LoopSource() : ir::region_layout(node)->source;
  const LoopParts parts(*node);
  const std::vector<std::string> names = parts.body.param_names();
  const std::size_t carries = construct.carried.size();
  const std::size_t begin = std::min(static_cast<std::size_t>(source.first), carries);
  const std::size_t end =
      source.count ? std::min(begin + static_cast<std::size_t>(*source.count), carries) : carries;
  for (std::size_t i = begin; i < end; i++) {
    const Place& now = construct.arguments[i];
    if (now.kind == Place::Kind::kTape) continue;
    lower::CarriedLeaf& leaf = info.state.emplace_back();
    leaf.name = names[parts.before + i];
    leaf.type = node->types[i];
    if (now.in_registers())
      leaf.parts.assign(now.element.begin(), now.element.end());
    else
      leaf.parts.push_back(now.pointer);
  }
}

void Lowerer::begin_with(Scope& scope, const Tensor& value, const Place& now) {
  const Place& from = place(scope, value);
  if (value.node()->op->structure.unset) return;
  if (from.kind == Place::Kind::kInlined)
    write_array(scope, value, false, now);
  else
    copy(from.pointer, now.pointer, value.type().bytes());
}

Place Lowerer::carried_memory(Scope& scope, const Step& step, std::size_t i, std::uint32_t at,
                              const CarryUse& use) {
  const Node* node = step.node;
  const Tensor& operand = LoopParts(*node).operands[i];
  const std::uint32_t result = step.first_value + static_cast<std::uint32_t>(i);
  Place now;
  const auto to = scope.destinations.find(result);
  const bool has_destination = use.in_place && to != scope.destinations.end();
  // The producer of the operand may have written it there (write_result_in).
  if (has_destination && place(scope, operand).pointer != to->second.pointer) {
    now = destination(scope, node, static_cast<std::uint32_t>(i));
    begin_with(scope, operand, now);
  } else if (use.once && is_last_use(scope, operand, at)) {
    // The loop reuses its memory.
    now = place(scope, operand);
    now.element.clear();
    place(scope, operand).storage = -1;
  } else {
    now.kind = Place::Kind::kArray;
    now.writable = true;
    now.storage = new_storage();
    now.pointer = carry_place(scope, now.storage, step, i, at, use);
    retain(now);
    begin_with(scope, operand, now);
  }
  scope.destinations.erase(result);
  return now;
}

std::vector<lower::Carry>& Lowerer::carries_of(const Construct& construct) {
  lower::Program& program = builder_.program();
  return construct.is_for ? program.fors[construct.loop].carries
                          : program.whiles[construct.loop].carries;
}

void Lowerer::take_parameters(Construct& construct) {
  std::size_t next = 0;
  const auto param = [&] { return carries_of(construct)[next++].param; };
  for (std::size_t i = 0; i < construct.carried.size(); i++) {
    if (construct.arguments[i].in_registers()) {
      for (Value& part : construct.arguments[i].element) part = param();
    } else if (construct.carried[i].double_buffer != lower::kNone) {
      construct.arguments[i].pointer = construct.carried[i].now = param();
      construct.carried[i].double_buffer = param();
    }
  }
  note_carries(construct);
}

void Lowerer::note_element(std::string_view name, const TensorType& type, const Element& element) {
  if (!options_.variables) return;
  const bool is_complex = element.size() == 2;
  for (std::size_t part = 0; part < element.size(); part++) {
    const char* const suffix = !is_complex ? "" : part == 0 ? "_re" : "_im";
    builder_.program().variables.push_back({std::string(name) + suffix,
                                            lower::Variable::Kind::kElement, innermost_loop(),
                                            element[part], type});
  }
}

void Lowerer::note_carries(const Construct& construct) {
  if (!options_.variables) return;
  using Kind = lower::Variable::Kind;
  const LoopParts parts(*construct.node);
  const std::vector<std::string> names = parts.body.param_names();
  std::vector<lower::Variable>& variables = builder_.program().variables;
  for (std::size_t i = 0; i < construct.carried.size(); i++) {
    const Place& now = construct.arguments[i];
    const std::string& name = names[parts.before + i];
    const TensorType& type = parts.operands[i].type();
    if (now.kind == Place::Kind::kTape) continue;
    if (now.in_registers()) {
      note_element(name, type, now.element);
      continue;
    }
    variables.push_back({name, Kind::kArray, innermost_loop(), now.pointer, type});
    const Value spare = construct.carried[i].double_buffer;
    if (spare != lower::kNone)
      variables.push_back({name + "_next", Kind::kSpare, innermost_loop(), spare, type});
  }
}

void Lowerer::note_index(const Construct& construct, Value index) {
  if (!options_.variables) return;
  // The loop's own index is known in the whole trip, where it is the user's.
  const Count& count = *construct.count;
  const bool is_same = count.step == 1 && builder_.known(count.first) == std::uint64_t{0};
  if (is_same) index = builder_.program().fors[construct.loop].index;
  builder_.program().variables.push_back({LoopParts(*construct.node).body.param_names()[0],
                                          lower::Variable::Kind::kIndex,
                                          innermost_loop(),
                                          index,
                                          {DType::kS64, {}}});
}

std::optional<Count> Lowerer::count_of(Scope& scope, const Node& node) {
  if (!LoopParts(node).counts) return std::nullopt;
  const ir::Induction induction = *ir::induction_of(node);
  const auto bound = [&](std::size_t operand) {
    return lanes_ ? lane_place(scope, node.operands[operand]).element[0]
                  : place(scope, node.operands[operand]).element[0];
  };
  Count count{bound(0), induction.step, lower::kNone};
  if (count.step == 1) count.limit = builder_.convert(bound(1), Type::kS64);
  if (induction.trips) {
    count.trips = builder_.index(*induction.trips);
    return count;
  }
  Value low = count.first, high = bound(1);
  if (count.step < 0) std::swap(low, high);
  // As 64 bits without sign, in which no distance overflows.
  const auto wide = [&](Value value) {
    return builder_.convert(builder_.convert(value, Type::kS64), Type::kU64);
  };
  Value trips = builder_.subtract(wide(high), wide(low));
  const auto step = static_cast<std::uint64_t>(count.step < 0 ? -count.step : count.step);
  if (step != 1) {
    const Value one = builder_.constant(Type::kU64, 1);
    trips = builder_.add(builder_.binary(lower::Opcode::kDivide, builder_.subtract(trips, one),
                                         builder_.constant(Type::kU64, step)),
                         one);
  }
  trips = builder_.convert(trips, Type::kS64);
  if (step == 1 && lower::width(builder_.type(low)) == 8) {
    // More trips than any run completes.
    const Value most = builder_.index(std::numeric_limits<std::int64_t>::max());
    trips = builder_.select(builder_.less(trips, builder_.index(0)), most, trips);
  }
  count.trips = builder_.select(builder_.less(low, high), trips, builder_.index(0));
  return count;
}

Value Lowerer::index_after(const Count& count, Value trips) {
  // As bits: a narrower index wraps in the same way.
  const Value first = builder_.convert(count.first, Type::kS64);
  const Value index =
      count.step == -1 ? builder_.subtract(first, trips)
                       : builder_.add(first, builder_.multiply(trips, builder_.index(count.step)));
  return builder_.convert(index, builder_.type(count.first));
}

void Lowerer::begin_trips(Construct& construct, std::span<const Value> init, std::uint32_t info) {
  if (construct.count) {
    construct.is_for = true;
    const Value trips = construct.count->trips;
    std::optional<std::int64_t> known;
    if (const auto bits = builder_.known(trips)) known = static_cast<std::int64_t>(*bits);
    const Value first = builder_.convert(construct.count->first, Type::kS64);
    construct.loop = builder_.begin_for(builder_.index(0), trips, 1, init, info, known);
    if (construct.count->limit != lower::kNone) {
      lower::For& loop = builder_.program().fors[construct.loop];
      loop.first = first;
      loop.limit = construct.count->limit;
    }
  } else {
    construct.loop = builder_.begin_while(init, info);
    builder_.program().whiles[construct.loop].predicated = stands_for_branch(*construct.node);
  }
  take_parameters(construct);
}

std::vector<Place> Lowerer::body_arguments(const Construct& construct) {
  std::vector<Place> arguments = construct.arguments;
  if (construct.count) {
    const Value index = builder_.program().fors[construct.loop].index;
    arguments.insert(arguments.begin(), single({index_after(*construct.count, index)}));
  }
  return arguments;
}

bool Lowerer::may_be_in_place(const Node& loop, std::size_t carry) const {
  const LoopParts parts(loop);
  return in_place_->parameter_of(parts.body, carry) ==
         static_cast<std::int32_t>(parts.before + carry);
}

const Node* Lowerer::buffered_update(const Node& loop, std::size_t carry) {
  if (!may_be_in_place(loop, carry)) return nullptr;
  const auto [found, is_new] = buffered_updates_.try_emplace(&loop);
  if (is_new) found->second = first_buffered_updates(loop);
  return found->second[carry];
}

bool Lowerer::is_in_place(const Node& loop, std::size_t carry) {
  return may_be_in_place(loop, carry) && !buffered_update(loop, carry);
}

void Lowerer::open_loop(const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  const LoopParts parts(*node);
  const std::size_t carries = node->types.size();
  Scope& scope = scopes_.back();
  Construct construct(node, step.first_value);
  construct.count = count_of(scope, *node);
  const std::vector<bool> once = ir::given_once(parts.operands), changing = change_hands(*node);
  std::vector<Value> init;
  for (std::size_t i = 0; i < parts.operands.size(); i++) {
    const Tensor& operand = parts.operands[i];
    const Place from = place(scope, operand);
    Place argument = from;
    argument.writable = false;
    if (i < carries && is_tape(Tensor::of(node, static_cast<std::uint32_t>(i)))) {
      argument = carried_tape(scope, node, i, once[i], at);
      CarriedArray& tape = construct.carried[i];
      tape.storage = argument.storage;
      tape.values = storages_[static_cast<std::size_t>(tape.storage)].values;
      storages_[static_cast<std::size_t>(tape.storage)].open_loops++;
    } else if (i < carries && (lanes_ || from.in_registers())) {
      if (lanes_) argument = lane_place(scope, operand);
      init.insert(init.end(), argument.element.begin(), argument.element.end());
    } else if (i < carries) {
      CarriedArray& array = construct.carried[i];
      const CarryUse use{once[i], is_in_place(*node, i), changing[i]};
      const Place now = carried_memory(scope, step, i, at, use);
      array.storage = now.storage;
      array.now = now.pointer;
      Storage& storage = storages_[static_cast<std::size_t>(now.storage)];
      array.values = storage.values;
      storage.open_loops++;
      if (!use.in_place) {
        array.double_buffer = carry_place(scope, now.storage, step, i, at, use);
        if (buffered_update(*node, i)) copy(array.now, array.double_buffer, node->types[i].bytes());
        init.push_back(array.now);
        init.push_back(array.double_buffer);
      }
      argument = now;
    }
    construct.arguments.push_back(std::move(argument));
  }
  pack_factors(scope, construct, carries);
  const std::uint32_t info = begin_loop(node, construct.count);
  begin_trips(construct, init, info);
  if (info != lower::kNoLoop) describe_state(builder_.program().loops[info], construct);
  if (construct.count) {
    constructs_.push_back(std::move(construct));
    return lanes_ ? enter_lane_body(constructs_.back(), lower::kNone)
                  : enter_body(constructs_.back());
  }
  const Function condition = *parts.condition;
  std::vector<Place> arguments = construct.arguments;
  for (Place& argument : arguments) argument.writable = false;
  constructs_.push_back(std::move(construct));
  enter(Scope::Role::kCondition, condition);
  bind(scopes_.back(), arguments);
}

void Lowerer::close_condition() {
  Scope& scope = scopes_.back();
  Value predicate = place(scope, scope.function.outputs()[0]).element[0];
  release_parameters(scope);
  scopes_.pop_back();
  Construct& construct = constructs_.back();
  if (construct.chunked.going_on && lanes_)
    predicate = builder_.bit_and(predicate, builder_.load(Type::kPred, going_on(construct)));
  if (construct.chunked.form && lanes_) predicate = any_lane(predicate);
  builder_.test(construct.chunked.most_trips == lower::kNone
                    ? predicate
                    : builder_.bit_and(predicate, within_chunk(construct)));
  if (lanes_) return enter_lane_body(construct, predicate);
  if (construct.chunked.form) return open_chunk();
  enter_body(construct);
}

void Lowerer::enter_body(const Construct& construct) {
  const Function body = LoopParts(*construct.node).body;
  const std::vector<Place> arguments = body_arguments(construct);
  if (construct.count) note_index(construct, arguments[0].element[0]);
  enter(Scope::Role::kBody, body);
  Scope& inner = scopes_.back();
  bind(inner, arguments);
  // Next values are written to their final place.
  for (std::size_t i = 0; i < construct.carried.size(); i++) {
    const CarriedArray& array = construct.carried[i];
    if (array.double_buffer == lower::kNone) continue;  // in place, or a tape
    const Tensor& output = body.outputs()[i];
    if (ir::is_parameter(output.node()) || ir::is_constant(output.node())) continue;
    Place to;
    to.kind = Place::Kind::kArray;
    to.storage = new_storage();
    to.pointer = array.double_buffer;
    if (const Node* update = buffered_update(*construct.node, i)) {
      const std::uint32_t value = inner.plan->value(Tensor::of(update));
      inner.destinations.try_emplace(value, to);
      inner.buffered_updates.insert(value);
      continue;
    }
    inner.destinations.try_emplace(inner.plan->value(output), to);
    // Or where the value is now, if each element is read where the next one is written.
    inner.own_memory.try_emplace(inner.plan->value(output), construct.arguments[i].pointer);
  }
}

void Lowerer::take_memory(Construct& construct) {
  std::vector<CarriedArray>& carried = construct.carried;
  const LoopParts parts(*construct.node);
  const auto& outputs = parts.body.outputs();
  absl::flat_hash_map<ir::ValueKey, std::size_t> free;  // parameters
  for (std::size_t i = 0; i < carried.size(); i++)
    if (carried[i].double_buffer != lower::kNone && !outputs[i].same_as(parts.parameter(i)))
      free.emplace(parts.parameter(i), i);
  for (std::size_t i = 0; i < carried.size(); i++) {
    const auto other = free.find(outputs[i]);
    if (carried[i].double_buffer == lower::kNone || other == free.end()) continue;
    carried[i].takes = static_cast<std::int32_t>(other->second);
    carried[other->second].taken_by = static_cast<std::int32_t>(i);
    free.erase(other);
  }
}

/// Where an array's next value is, and where the one after it may be written.
std::pair<Value, Value> Lowerer::next_memory(Scope& scope, const Construct& construct,
                                             std::size_t i) {
  const std::vector<CarriedArray>& carried = construct.carried;
  const auto at = [&](std::int32_t j) -> const CarriedArray& {
    return carried[static_cast<std::size_t>(j)];
  };
  const CarriedArray& array = carried[i];
  if (array.takes >= 0) return {at(array.takes).now, array.double_buffer};
  const Value from = place(scope, scope.function.outputs()[i]).pointer;
  if (from == array.now) return {array.now, array.double_buffer};
  // The first of those that take one another's memory leaves its own to the last.
  std::int32_t first = static_cast<std::int32_t>(i);
  while (at(first).taken_by >= 0) first = at(first).taken_by;
  return {array.double_buffer, at(first).now};
}

std::vector<Value> Lowerer::next_carries(Scope& scope, Construct& construct) {
  const Function& body = scope.function;
  if (!lanes_) take_memory(construct);
  std::vector<Value> next;
  // First to the double buffers, which nothing is read from; then to values in place.
  for (std::size_t i = 0; i < construct.carried.size(); i++) {
    const Tensor& output = body.outputs()[i];
    const Place& from = place(scope, output);
    const CarriedArray& array = construct.carried[i];
    if (construct.arguments[i].kind == Place::Kind::kTape) continue;
    if (lanes_ && !construct.arguments[i].in_registers()) continue;  // updated by each lane
    if (lanes_ || from.kind == Place::Kind::kSingle) {
      const Element element =
          lanes_ ? lane_elements(from, output.type(), construct.arguments[i].lane) : from.element;
      next.insert(next.end(), element.begin(), element.end());
    } else if (array.double_buffer != lower::kNone) {
      const auto [memory, double_buffer] = next_memory(scope, construct, i);
      copy(from.pointer, memory, output.type().bytes());
      next.push_back(memory);
      next.push_back(double_buffer);
    }
  }
  for (std::size_t i = 0; i < construct.carried.size(); i++) {
    const CarriedArray& array = construct.carried[i];
    if (array.storage >= 0 && array.double_buffer == lower::kNone &&
        construct.arguments[i].kind != Place::Kind::kTape)
      copy(place(scope, body.outputs()[i]).pointer, array.now, body.outputs()[i].type().bytes());
  }
  return next;
}

void Lowerer::close_body() {
  Scope& scope = scopes_.back();
  Construct construct = std::move(constructs_.back());
  constructs_.pop_back();
  const Function body = scope.function;
  std::vector<Value> next = next_carries(scope, construct);
  close_tapes(scope, construct);
  // The results of the body are dead now; carried memory stays.
  absl::flat_hash_set<std::int32_t> carried;
  for (const CarriedArray& array : construct.carried) carried.insert(array.storage);
  absl::flat_hash_set<ir::ValueKey> returned;
  for (const Tensor& output : body.outputs()) {
    if (!returned.insert(output).second || ir::is_parameter(output.node())) continue;
    const Place& place = scope.places[scope.plan->value(output)];
    if (place.storage < 0 || !carried.contains(place.storage)) release(place);
  }
  release_parameters(scope);
  scopes_.pop_back();
  if (construct.lanes.trips != lower::kNone)
    next.push_back(builder_.add(construct.lanes.trips,
                                builder_.number(builder_.type(construct.lanes.trips), 1)));
  if (construct.is_for) {
    builder_.end_for(next);
    const bool independent =
        !lanes_ && next.empty() && ir::region_layout(construct.node)->independent;
    builder_.program().fors[construct.loop].independent = independent;
  } else {
    builder_.end_while(next);
  }
  loops_.pop_back();
  if (lanes_ && lanes_->construct == constructs_.size()) return close_lanes(construct);
  give_results(construct);
}

void Lowerer::join_memory(const Construct& construct) {
  std::vector<Place>& places = scopes_.back().places;
  for (std::size_t i = 0; i < construct.carried.size(); i++) {
    if (construct.carried[i].takes < 0) continue;
    const auto other = static_cast<std::size_t>(construct.carried[i].takes);
    const std::int32_t to = places[construct.first_value + other].storage,
                       from = places[construct.first_value + i].storage;
    if (to == from) continue;
    const std::int32_t joined = new_storage();
    for (const std::int32_t part : {to, from}) {
      Storage& left = storages_[static_cast<std::size_t>(part)];
      Storage& all = storages_[static_cast<std::size_t>(joined)];
      all.values += std::exchange(left.values, 0);
      if (left.open_loops > 0) continue;  // a loop around this one has the memory, and keeps it
      all.pieces.insert(all.pieces.end(), left.pieces.begin(), left.pieces.end());
      left.pieces.clear();
    }
    for (std::size_t j = 0; j < construct.carried.size(); j++) {
      Place& result = places[construct.first_value + j];
      if (result.storage == from || result.storage == to) result.storage = joined;
    }
  }
}

void Lowerer::give_results(const Construct& construct) {
  Scope& outer = scopes_.back();
  const std::vector<lower::Carry> carried = carries_of(construct);
  std::size_t at = 0;
  for (std::size_t i = 0; i < construct.carried.size(); i++) {
    Place& result = outer.places[construct.first_value + i];
    if (construct.arguments[i].in_registers()) {
      result = construct.arguments[i];
      for (Value& part : result.element) part = carried[at++].result;
      continue;
    }
    result = construct.arguments[i];
    result.writable = true;
    Storage& storage = storages_[static_cast<std::size_t>(result.storage)];
    storage.values = construct.carried[i].values;
    storage.open_loops--;
    if (construct.carried[i].double_buffer != lower::kNone) {
      result.pointer = carried[at].result;
      at += 2;
    }
  }
  join_memory(construct);
  for (const Place& packed : construct.products.packed) release(packed);
  for (const Place& made : construct.lanes.made) release(made);
  end_step(outer, outer.next - 1);
}

}  // namespace rondo::executor
