// Tapes: arrays that grow by rows while the program runs.
#include <utility>

#include "executor/loop_parts.h"
#include "executor/lowerer.h"
#include "ir/loop_nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

Place Lowerer::new_tape(const TensorType& row, std::string_view loop) {
  Place made;
  made.kind = Place::Kind::kTape;
  made.writable = true;
  made.storage = new_storage();
  storages_.back().tape = builder_.tape({row.bytes(), loop});
  retain(made);
  return made;
}

Value Lowerer::tape_row(const Place& tape, Value number, bool writes) {
  return builder_.tape_row(tape_of(tape), builder_.convert(number, Type::kS64), writes,
                           innermost_loop());
}

void Lowerer::write_row(Scope& scope, const Tensor& row, Value pointer) {
  const Place& from = place(scope, row);
  if (from.kind == Place::Kind::kSingle)
    return builder_.store_element(from.element, {pointer, 0, {}});
  if (from.kind == Place::Kind::kArray) return copy(from.pointer, pointer, row.type().bytes());
  Place to;
  to.kind = Place::Kind::kArray;
  to.pointer = pointer;
  write_array(scope, row, false, to);
}

void Lowerer::assign_tape(const Place& tape, Scope& scope, const Tensor& value) {
  const Place& from = place(scope, value);
  const std::uint32_t to = tape_of(tape);
  if (from.kind == Place::Kind::kTape) {
    if (tape_of(from) == to) return;
    return builder_.set_tape({to, tape_of(from), false, innermost_loop()});
  }
  builder_.set_tape({to, lower::kNoTape, false, innermost_loop()});
  write_row(scope, value, tape_row(tape, builder_.index(0), true));
}

Place Lowerer::tape_place(Scope& scope, const Tensor& value, std::string_view loop,
                          std::vector<Place>& made) {
  if (place(scope, value).kind == Place::Kind::kTape) return place(scope, value);
  Place tape = new_tape(value.type(), loop);
  assign_tape(tape, scope, value);
  made.push_back(tape);
  return tape;
}

void Lowerer::tape_read(Scope& scope, const Step& step) {
  const Node* node = step.node;
  const TensorType& type = node->type();
  std::vector<Place> made;
  const Tensor& tape = node->operands[0];
  const Place from = tape_place(scope, tape, ir::loops_as<ir::TapeAccess>(*node)->loop, made);
  const Value row = tape_row(from, place(scope, node->operands[1]).element[0], false);
  Place& result = scope.places[step.first_value];
  const bool is_wanted_elsewhere = scope.destinations.contains(step.first_value);
  if (is_scalar(type)) {
    result = single(builder_.load_element(type.dtype, {row, 0, {}}));
  } else if (made.empty() && !is_wanted_elsewhere &&
             scope.plan->is_only_read(scope.plan->value(tape))) {
    // The row in place: nothing writes the tape while the region runs.
    result.kind = Place::Kind::kArray;
    result.writable = false;
    result.storage = from.storage;
    result.pointer = row;
    result.element.clear();
    retain(result);
  } else {
    const Place to = destination(scope, node, 0);
    copy(row, to.pointer, type.bytes());
    scope.places[step.first_value] = to;
  }
  for (const Place& temporary : made) release(temporary);
}

void Lowerer::tape_write(Scope& scope, const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  const Tensor &before = node->operands[0], &row = node->operands[1];
  Place result;
  if (place(scope, before).kind == Place::Kind::kTape && is_last_use(scope, before, at)) {
    result = place(scope, before);
    retain(result);
  } else {
    result = new_tape(node->type(), ir::loops_as<ir::TapeAccess>(*node)->loop);
    assign_tape(result, scope, before);
  }
  const Value pointer = tape_row(result, place(scope, node->operands[2]).element[0], true);
  write_row(scope, row, pointer);
  scope.places[step.first_value] = result;
}

Place Lowerer::carried_tape(Scope& scope, const Node* node, std::size_t carry, bool once,
                            std::uint32_t at) {
  const Tensor& operand = LoopParts(*node).operands[carry];
  Place from = place(scope, operand);
  if (from.kind == Place::Kind::kTape && once && is_last_use(scope, operand, at)) {
    place(scope, operand).storage = -1;
    return from;
  }
  Place now =
      new_tape(operand.type(), tapes_.at(Tensor::of(node, static_cast<std::uint32_t>(carry))));
  assign_tape(now, scope, operand);
  return now;
}

void Lowerer::close_tapes(Scope& scope, Construct& construct) {
  const auto& outputs = scope.function.outputs();
  // Those that are not written in place may be permuted: all of them are saved elsewhere first.
  std::vector<std::pair<Place, Place>> moved;
  for (std::size_t i = 0; i < construct.carried.size(); i++) {
    const Place& now = construct.arguments[i];
    if (now.kind != Place::Kind::kTape) continue;
    const Place& from = place(scope, outputs[i]);
    if (from.kind == Place::Kind::kTape && tape_of(from) == tape_of(now)) continue;
    const Place next = new_tape(outputs[i].type(), builder_.program().tapes[tape_of(now)].loop);
    assign_tape(next, scope, outputs[i]);
    moved.emplace_back(now, next);
  }
  for (const auto& [now, next] : moved) {
    builder_.set_tape({tape_of(now), tape_of(next), false, innermost_loop()});
    release(next);
  }
}

}  // namespace rondo::executor
