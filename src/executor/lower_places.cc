// Memory: which values share it, when it is released, and where results go.
#include "executor/lowerer.h"
#include "lower/opcodes.h"

namespace rondo::executor {

Value Lowerer::arena_place(std::int32_t storage, std::int64_t bytes) {
  const std::int64_t offset = arena_.allocate(bytes);
  storages_[static_cast<std::size_t>(storage)].pieces.push_back({offset, bytes});
  return builder_.buffer({lower::Storage::kArena, 0, offset, bytes});
}

Value Lowerer::carry_place(const Scope& scope, std::int32_t storage, const Step& step,
                           std::size_t i, std::uint32_t at, const CarryUse& use) {
  const std::int64_t bytes = step.node->types[i].bytes();
  const std::uint32_t value = step.first_value + static_cast<std::uint32_t>(i);
  const bool is_free_after = scope.plan->uses(value) == 0 && !use.changes_hands;
  if (scope.role == Scope::Role::kEntry && is_free_after) {
    const auto& outputs = scope.function.outputs();
    for (std::uint32_t result = 0; result < outputs.size(); result++) {
      const bool later = first_writer_[result] && first_writer_[result] > &scope.plan->steps()[at];
      // A single element may be written in the place of an operand (ir::RegionCall).
      const TensorType& type = outputs[result].type();
      if (!later || borrowed_[result] || is_scalar(type) || type.bytes() < bytes) continue;
      if (options_.typed_memory && type.dtype != step.node->types[i].dtype) continue;
      borrowed_[result] = true;
      storages_[static_cast<std::size_t>(storage)].pieces.push_back(
          {0, bytes, static_cast<std::int32_t>(result)});
      return builder_.buffer({lower::Storage::kResult, result, 0, bytes});
    }
  }
  return arena_place(storage, bytes);
}

Place Lowerer::new_array(const TensorType& type) {
  Place made;
  made.kind = Place::Kind::kArray;
  made.writable = true;
  made.storage = new_storage();
  made.pointer = arena_place(made.storage, type.bytes());
  retain(made);
  return made;
}

void Lowerer::retain(const Place& place) {
  if (place.storage >= 0) storages_[static_cast<std::size_t>(place.storage)].values++;
}

void Lowerer::release(const Place& place) {
  if (place.storage < 0) return;
  Storage& storage = storages_[static_cast<std::size_t>(place.storage)];
  if (--storage.values > 0 || storage.open_loops > 0) return;
  // In a loop the next trip uses its memory again.
  if (storage.tape != lower::kNoTape && loops_.empty())
    builder_.set_tape({storage.tape, lower::kNoTape, true, lower::kNoLoop});
  for (const Storage::Piece& piece : storage.pieces) {
    if (piece.result >= 0)
      borrowed_[static_cast<std::size_t>(piece.result)] = false;
    else
      arena_.release(piece.offset, piece.bytes);
  }
  storage.pieces.clear();
}

bool Lowerer::is_last_use(Scope& scope, const Tensor& value, std::uint32_t at) {
  const Place& from = place(scope, value);
  return (from.kind == Place::Kind::kArray || from.kind == Place::Kind::kTape) && from.writable &&
         from.storage >= 0 && scope.plan->last_use(scope.plan->value(value)) == at &&
         storages_[static_cast<std::size_t>(from.storage)].values == 1;
}

Place Lowerer::destination(Scope& scope, const Node* node, std::uint32_t i) {
  const auto found = scope.destinations.find(scope.plan->value(Tensor::of(node, i)));
  if (found != scope.destinations.end()) {
    Place made = found->second;
    scope.destinations.erase(found);
    made.writable = true;
    retain(made);
    return made;
  }
  return new_array(node->types[i]);
}

void Lowerer::copy(Value from, Value to, std::int64_t bytes) {
  if (from != to && bytes > 0) builder_.copy({from, 0, {}}, {to, 0, {}}, bytes);
}

Value Lowerer::in_memory(Scope& scope, const Tensor& value, std::vector<Place>& made) {
  const Place& from = place(scope, value);
  if (from.kind == Place::Kind::kArray) return from.pointer;
  Place copy = new_array(value.type());
  if (from.kind == Place::Kind::kSingle)
    builder_.store_element(from.element, {copy.pointer, 0, {}});
  else
    write_array(scope, value, false, copy);
  made.push_back(copy);
  return copy.pointer;
}

void Lowerer::write_array(Scope& scope, const Tensor& value, bool root, const Place& memory) {
  const Shape& shape = value.shape();
  if (shape.elements() == 0) return;
  const Linear to = Nest(builder_, *scope.plan, scope.places, shape.dims())
                        .dense(shape, byte_width(value.dtype()));
  const absl::InlinedVector<std::int64_t, 4> first(shape.size(), 0);
  for (BoxNest& box : in_boxes(scope, value, root, first, shape.dims(), to))
    box.nest.store(box.sinks, memory.pointer);
}

}  // namespace rondo::executor
