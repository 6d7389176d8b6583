#include "executor/lowering.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "executor/arena.h"
#include "executor/nest.h"
#include "executor/place.h"
#include "executor/region_plan.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "lower/builder.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

using ir::Node;
using lower::Element;
using lower::Type;
using lower::Value;

/// Memory that values share: it is free when none of them is alive.
struct Storage {
  struct Piece {
    std::int64_t offset, bytes;
  };
  absl::InlinedVector<Piece, 1> pieces;  // in the arena; none: a result's memory
  std::uint32_t values = 0;
  std::uint32_t pins = 0;  // loops that are open and carry it
};

/// The memory of a carried array: where the value is, and where its next one may be written.
struct CarriedArray {
  std::int32_t storage = -1;
  Value now = lower::kNone;
  Value spare = lower::kNone;  // none where the next value is made in place
  std::uint32_t values = 0;    // that share the memory when the loop begins
};

struct Scope {
  enum class Role : std::uint8_t { kEntry, kCondition, kBody, kBranch } role = Role::kEntry;
  Function function;
  std::unique_ptr<RegionPlan> plan;
  std::vector<Place> places;
  std::uint32_t next = 0;
  /// Where an array is to be written, if it is free then: a result's memory, the spare of a carry.
  absl::flat_hash_map<std::uint32_t, Place> destinations;
};

/// A while or conditional that is being written, as a statement of the scope below.
struct Construct {
  const Node* node = nullptr;
  std::uint32_t first_value = 0;
  std::uint32_t loop = 0;             // in the builder's table of whiles, or ifs
  std::vector<Place> arguments;       // of the regions
  std::vector<CarriedArray> carried;  // of each carry that is an array
  std::size_t branch = 0;
  std::vector<std::uint32_t> ifs;  // open, of a conditional
  std::vector<Place> results;      // of a conditional: arrays that the branches write
  std::vector<std::vector<Value>> branch_values;
  Value selector = lower::kNone;
};

class Lowering {
 public:
  explicit Lowering(const MakeKernel& make_kernel) : make_kernel_(make_kernel) {}

  lower::Program run(const Function& function) {
    enter(Scope::Role::kEntry, function);
    open_entry();
    while (!scopes_.empty()) {
      Scope& scope = scopes_.back();
      if (scope.next == scope.plan->steps().size())
        close();
      else
        step(scope, scope.next++);
    }
    lower::Program program = builder_.finish();
    program.constants = std::move(constants_);
    program.arena_bytes = arena_.size();
    return program;
  }

 private:
  // Places and memory.

  Place& place(Scope& scope, const Tensor& value) { return scope.places[scope.plan->value(value)]; }

  std::int32_t new_storage() {
    storages_.emplace_back();
    return static_cast<std::int32_t>(storages_.size() - 1);
  }

  Value arena_place(std::int32_t storage, std::int64_t bytes) {
    const std::int64_t offset = arena_.allocate(bytes);
    storages_[static_cast<std::size_t>(storage)].pieces.push_back({offset, bytes});
    return builder_.buffer({lower::Storage::kArena, 0, offset, bytes});
  }

  /// Memory of its own for an array.
  Place new_array(const TensorType& type) {
    Place made;
    made.kind = Place::Kind::kArray;
    made.writable = true;
    made.storage = new_storage();
    made.pointer = arena_place(made.storage, type.bytes());
    hold(made);
    return made;
  }

  void hold(const Place& place) {
    if (place.storage >= 0) storages_[static_cast<std::size_t>(place.storage)].values++;
  }
  void let_go(const Place& place) {
    if (place.kind != Place::Kind::kArray || place.storage < 0) return;
    Storage& storage = storages_[static_cast<std::size_t>(place.storage)];
    if (--storage.values > 0 || storage.pins > 0) return;
    for (const Storage::Piece& piece : storage.pieces) arena_.release(piece.offset, piece.bytes);
    storage.pieces.clear();
  }

  /// The array may be overwritten by step `at`, which reads it for the last time.
  bool dies(Scope& scope, const Tensor& value, std::uint32_t at) {
    const Place& from = place(scope, value);
    return from.kind == Place::Kind::kArray && from.writable && from.storage >= 0 &&
           scope.plan->last_use(scope.plan->value(value)) == at &&
           storages_[static_cast<std::size_t>(from.storage)].values == 1;
  }

  /// Where result `i` of the node is to be written.
  Place destination(Scope& scope, const Node* node, std::uint32_t i) {
    const auto found = scope.destinations.find(scope.plan->value(Tensor::of(node, i)));
    if (found != scope.destinations.end()) {
      Place made = found->second;
      scope.destinations.erase(found);
      made.writable = true;
      hold(made);
      return made;
    }
    return new_array(node->types[i]);
  }

  void copy(Value from, Value to, std::int64_t bytes) {
    if (from != to && bytes > 0) builder_.copy({from, 0, {}}, {to, 0, {}}, bytes);
  }

  Element load_single(Value pointer, DType dtype) {
    const Type type = lower::type_of(dtype);
    Element element{builder_.load(type, {pointer, 0, {}})};
    if (is_complex(dtype))
      element.push_back(builder_.load(type, {pointer, lower::width(type), {}}));
    return element;
  }
  void store_single(const Element& element, Value pointer) {
    std::int64_t offset = 0;
    for (const Value part : element) {
      builder_.store(part, {pointer, offset, {}});
      offset += lower::width(builder_.type(part));
    }
  }

  static Place single(Element element) {
    Place made;
    made.kind = Place::Kind::kSingle;
    made.element = std::move(element);
    return made;
  }

  /// An array in memory, at step `at` of its scope, of what may be in line or a single value. A
  /// place that was made for it is in `made`, to be let go of after the step.
  Value in_memory(Scope& scope, const Tensor& value, std::vector<Place>& made) {
    const Place& from = place(scope, value);
    if (from.kind == Place::Kind::kArray) return from.pointer;
    Place copy = new_array(value.type());
    if (from.kind == Place::Kind::kSingle)
      store_single(from.element, copy.pointer);
    else
      write_array(scope, value, false, copy);
    made.push_back(copy);
    return copy.pointer;
  }

  /// The loops of one array.
  void write_array(Scope& scope, const Tensor& value, bool root, const Place& to) {
    const Shape& shape = value.shape();
    if (shape.elements() == 0) return;
    Nest nest(builder_, *scope.plan, scope.places, shape.dims());
    const std::uint32_t item = nest.add(value, nest.index(), root);
    nest.store(item, to.pointer, nest.dense(shape, byte_width(value.dtype())));
  }

  // Scopes.

  Scope& enter(Scope::Role role, const Function& function) {
    Scope& scope = scopes_.emplace_back();
    scope.role = role;
    scope.function = function;
    scope.plan = std::make_unique<RegionPlan>(function);
    scope.places.resize(scope.plan->values());
    return scope;
  }

  void open_entry() {
    Scope& scope = scopes_.back();
    const auto& parameters = scope.function.parameters();
    for (std::uint32_t i = 0; i < parameters.size(); i++) {
      const TensorType& type = parameters[i].type();
      const Value pointer = builder_.buffer({lower::Storage::kArgument, i, 0, type.bytes()});
      if (is_single(type)) {
        scope.places[i] = single(load_single(pointer, type.dtype));
      } else {
        scope.places[i].kind = Place::Kind::kArray;
        scope.places[i].pointer = pointer;
      }
    }
    const auto& outputs = scope.function.outputs();
    for (std::uint32_t i = 0; i < outputs.size(); i++) {
      const TensorType& type = outputs[i].type();
      Place to;
      to.kind = Place::Kind::kArray;
      to.pointer = builder_.buffer({lower::Storage::kResult, i, 0, type.bytes()});
      to.storage = new_storage();
      result_places_.push_back(to);
      if (!is_single(type)) scope.destinations.try_emplace(scope.plan->value(outputs[i]), to);
    }
  }

  void close() {
    switch (scopes_.back().role) {
      case Scope::Role::kEntry:
        close_entry();
        break;
      case Scope::Role::kCondition:
        close_condition();
        break;
      case Scope::Role::kBody:
        close_body();
        break;
      case Scope::Role::kBranch:
        close_branch();
        break;
    }
  }

  void close_entry() {
    Scope& scope = scopes_.back();
    const auto& outputs = scope.function.outputs();
    for (std::uint32_t i = 0; i < outputs.size(); i++) {
      const Place& from = place(scope, outputs[i]);
      const Value to = result_places_[i].pointer;
      if (from.kind == Place::Kind::kSingle)
        store_single(from.element, to);
      else
        copy(from.pointer, to, outputs[i].type().bytes());
    }
    scopes_.pop_back();
  }

  // Nodes.

  void step(Scope& scope, std::uint32_t at) {
    const Step& step = scope.plan->steps()[at];
    const Node* node = step.node;
    Place& result = scope.places[step.first_value];
    switch (step.form) {
      case Form::kConstant:
        result = constant(node);
        break;
      case Form::kElement:
      case Form::kRead:
        if (step.in_line)
          result.kind = Place::Kind::kInLine;
        else if (is_single(node->type()))
          result = single(single_element(scope, node));
        else
          elements(scope, step, at);
        break;
      case Form::kWrite:
        put_together(scope, step, at);
        break;
      case Form::kReduction:
        reduction(scope, step);
        break;
      case Form::kAlias:
        alias(scope, step);
        break;
      case Form::kLoop:
        return open_while(step, at);
      case Form::kBranch:
        return open_conditional(step);
      case Form::kKernel:
        call(scope, step);
        break;
    }
    end_step(scope, at);
  }

  /// Lets go of what step `at` read last.
  void end_step(Scope& scope, std::uint32_t at) {
    for (const std::uint32_t* value = scope.plan->ending_begin(at);
         value != scope.plan->ending_end(at); value++)
      let_go(scope.places[*value]);
  }

  Place constant(const Node* node) {
    const Literal& value = node->attrs<ir::ConstantAttributes>().value;
    const TensorType& type = value.type();
    if (is_single(type)) {
      Element element;
      const Type part = lower::type_of(type.dtype);
      for (std::int64_t at = 0; at < type.bytes(); at += lower::width(part)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, value.bytes() + at, static_cast<std::size_t>(lower::width(part)));
        element.push_back(builder_.constant(part, bits));
      }
      return single(std::move(element));
    }
    Place made;
    made.kind = Place::Kind::kArray;
    auto [found, is_new] = constant_pointers_.try_emplace(node, lower::kNone);
    if (is_new) {
      found->second =
          builder_.buffer({lower::Storage::kConstant, static_cast<std::uint32_t>(constants_.size()),
                           0, type.bytes()});
      constants_.push_back(value);
    }
    made.pointer = found->second;
    return made;
  }

  Element single_element(Scope& scope, const Node* node) {
    const auto is_single_operand = [&](const Tensor& operand) {
      return place(scope, operand).kind == Place::Kind::kSingle;
    };
    if (node->op->element && !node->operands.empty() &&
        std::all_of(node->operands.begin(), node->operands.end(), is_single_operand)) {
      absl::InlinedVector<Element, 3> operands;
      for (const Tensor& operand : node->operands)
        operands.push_back(place(scope, operand).element);
      const auto index = [&](std::int64_t) { return builder_.index(0); };
      return node->op->element({*node, builder_, operands, index});
    }
    Nest nest(builder_, *scope.plan, scope.places, node->type().shape.dims());
    return nest.single(nest.add(Tensor::of(node), nest.index(), true));
  }

  void elements(Scope& scope, const Step& step, std::uint32_t at) {
    const Node* node = step.node;
    const TensorType& type = node->type();
    Nest nest(builder_, *scope.plan, scope.places, type.shape.dims());
    const Linear to = nest.dense(type.shape, byte_width(type.dtype));
    if (type.elements() == 0) {
      scope.places[step.first_value] = destination(scope, node, 0);
      return;
    }
    const std::uint32_t item = nest.add(Tensor::of(node), nest.index(), true);
    Place result;
    if (!scope.destinations.contains(step.first_value))
      result = overwritten(scope, nest, to, type, at);
    if (result.kind == Place::Kind::kNone) result = destination(scope, node, 0);
    nest.store(item, result.pointer, to);
    scope.places[step.first_value] = result;
  }

  /// The memory of an array that dies here, and of which each element is read where the result's
  /// is written.
  Place overwritten(Scope& scope, const Nest& nest, const Linear& to, const TensorType& type,
                    std::uint32_t at) {
    for (const std::uint32_t* value = scope.plan->ending_begin(at);
         value != scope.plan->ending_end(at); value++) {
      const Place& from = scope.places[*value];
      if (from.kind != Place::Kind::kArray || !from.writable || from.storage < 0) continue;
      if (storages_[static_cast<std::size_t>(from.storage)].values != 1) continue;
      if (!nest.reads(from.storage) || nest.reads_elsewhere(from.storage, to)) continue;
      if (array_bytes(scope, *value) != type.bytes()) continue;
      Place made = from;
      hold(made);
      return made;
    }
    return {};
  }

  std::int64_t array_bytes(Scope& scope, std::uint32_t value) const {
    const auto& parameters = scope.function.parameters();
    if (value < parameters.size()) return parameters[value].type().bytes();
    const auto& steps = scope.plan->steps();
    auto step = std::upper_bound(
        steps.begin(), steps.end(), value,
        [](std::uint32_t number, const Step& s) { return number < s.first_value; });
    --step;
    return step->node->types[value - step->first_value].bytes();
  }

  void put_together(Scope& scope, const Step& step, std::uint32_t at) {
    const Node* node = step.node;
    const TensorType& type = node->type();
    const ir::WriteMap map = node->op->write(*node);
    std::vector<Place> made;
    Place result;
    const bool one = is_single(type);
    std::vector<Value> part_memory(map.parts.size(), lower::kNone);
    if (map.kept >= 0) {
      const Tensor& kept = node->operands[static_cast<std::size_t>(map.kept)];
      const bool in_place = !one && dies(scope, kept, at);
      if (in_place) {
        result = place(scope, kept);
        hold(result);
        if (const auto to = scope.destinations.find(step.first_value);
            to != scope.destinations.end() && to->second.pointer != result.pointer)
          scope.destinations.erase(to);
        // A part that is computed from the array at other places must be computed first.
        for (std::size_t i = 0; i < map.parts.size(); i++) {
          const Tensor& part = node->operands[static_cast<std::size_t>(map.parts[i].operand)];
          if (place(scope, part).kind == Place::Kind::kSingle) continue;
          if (part_reads_elsewhere(scope, node, map.parts[i], type, result))
            part_memory[i] = array_of_part(scope, part, made);
        }
      } else {
        result = destination(scope, node, 0);
        const Value from = in_memory(scope, kept, made);
        copy(from, result.pointer, type.bytes());
      }
    } else {
      result = destination(scope, node, 0);
    }
    if (map.fill >= 0) fill(scope, node, map, type, result);
    for (std::size_t i = 0; i < map.parts.size(); i++)
      write_part(scope, node, map.parts[i], type, result, part_memory[i]);
    for (const Place& temporary : made) let_go(temporary);
    if (one) {
      scope.places[step.first_value] = single(load_single(result.pointer, type.dtype));
      let_go(result);
    } else {
      scope.places[step.first_value] = result;
    }
  }

  Value array_of_part(Scope& scope, const Tensor& part, std::vector<Place>& made) {
    Place copy_of = new_array(part.type());
    const Place& from = place(scope, part);
    if (from.kind == Place::Kind::kArray)
      copy(from.pointer, copy_of.pointer, part.type().bytes());
    else
      write_array(scope, part, false, copy_of);
    made.push_back(copy_of);
    return copy_of.pointer;
  }

  /// Sizes of the loops of a part.
  static absl::InlinedVector<std::int64_t, 4> counts(const ir::Part& part) {
    absl::InlinedVector<std::int64_t, 4> sizes;
    for (const ir::AxisWrite& axis : part.axes) sizes.push_back(axis.count);
    return sizes;
  }

  /// Where the elements of a part go, in bytes.
  Linear part_place(Scope& scope, const Node* node, const ir::Part& part, const TensorType& type) {
    Linear to;
    const auto strides = row_major(type.shape);
    for (std::size_t i = 0; i < part.axes.size(); i++) {
      const ir::AxisWrite& axis = part.axes[i];
      const std::int64_t stride = strides[i] * byte_width(type.dtype);
      to.offset += axis.start * stride;
      to.coefficients.push_back(axis.count <= 1 ? 0 : axis.step * stride);
      if (axis.dynamic >= 0) {
        const Place& start = place(scope, node->operands[static_cast<std::size_t>(axis.dynamic)]);
        to.dynamic.push_back({clamped_start(builder_, start.element[0], axis.room), stride});
      }
    }
    return to;
  }

  std::uint32_t part_item(Nest& nest, const Node* node, const ir::Part& part) {
    absl::InlinedVector<std::int64_t, 4> first;
    for (const ir::AxisWrite& axis : part.axes) first.push_back(axis.first);
    return nest.add(node->operands[static_cast<std::size_t>(part.operand)], nest.index(first));
  }

  bool part_reads_elsewhere(Scope& scope, const Node* node, const ir::Part& part,
                            const TensorType& type, const Place& result) {
    const auto sizes = counts(part);
    Nest nest(builder_, *scope.plan, scope.places, sizes);
    part_item(nest, node, part);
    return nest.reads_elsewhere(result.storage, part_place(scope, node, part, type));
  }

  void write_part(Scope& scope, const Node* node, const ir::Part& part, const TensorType& type,
                  const Place& result, Value memory) {
    const auto sizes = counts(part);
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
    const Linear to = part_place(scope, node, part, type);
    const Tensor& operand = node->operands[static_cast<std::size_t>(part.operand)];
    Nest nest(builder_, *scope.plan, scope.places, sizes);
    if (memory != lower::kNone) {
      // It is whole, and lies row by row.
      const std::uint32_t value = scope.plan->value(operand);
      Place whole;
      whole.kind = Place::Kind::kArray;
      whole.pointer = memory;
      std::swap(scope.places[value], whole);
      nest.store(part_item(nest, node, part), result.pointer, to);
      std::swap(scope.places[value], whole);
      return;
    }
    nest.store(part_item(nest, node, part), result.pointer, to);
  }

  void fill(Scope& scope, const Node* node, const ir::WriteMap& map, const TensorType& type,
            const Place& result) {
    const Element& value = place(scope, node->operands[static_cast<std::size_t>(map.fill)]).element;
    if (type.elements() == 0) return;
    const std::uint32_t lanes = builder_.begin_lanes(builder_.index(type.elements()));
    const Value index = builder_.program().lanes[lanes].index;
    std::int64_t offset = 0;
    for (const Value part : value) {
      builder_.store(part, {result.pointer, offset, {{index, byte_width(type.dtype)}}});
      offset += lower::width(builder_.type(part));
    }
    builder_.end_lanes();
  }

  void reduction(Scope& scope, const Step& step) {
    const Node* node = step.node;
    const TensorType &type = node->type(), &from = node->operand_type(0);
    const ir::ElementReduction reduction = *node->op->reduction(*node);
    const Element init = place(scope, node->operands[1]).element;
    const Type result_type = lower::type_of(type.dtype);
    std::vector<bool> reduced(from.shape.size(), false);
    for (const std::int64_t axis : reduction.axes) reduced[static_cast<std::size_t>(axis)] = true;
    // A result's axes are the operand's without those that vanish.
    Linear to;
    to.coefficients.assign(from.shape.size(), 0);
    const auto strides = row_major(type.shape);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < from.shape.size(); i++) {
      if (reduced[i]) continue;
      const std::int64_t stride = strides[kept++] * byte_width(type.dtype);
      to.coefficients[i] = from.shape[static_cast<std::int64_t>(i)] <= 1 ? 0 : stride;
    }
    Place result;
    Value one = lower::kNone;
    const bool is_one = is_single(type);
    if (!is_one) result = destination(scope, node, 0);
    const auto write = [&](const Tensor& operand) {
      Nest nest(builder_, *scope.plan, scope.places, from.shape.dims());
      const std::uint32_t item = nest.add(operand, nest.index());
      return nest.reduce(item, reduction, reduced, init[0], result_type, result.pointer, to,
                         is_one ? &one : nullptr);
    };
    if (type.elements() != 0 && !write(node->operands[0])) {
      std::vector<Place> made;
      const std::uint32_t value = scope.plan->value(node->operands[0]);
      Place array;
      array.kind = Place::Kind::kArray;
      array.pointer = array_of_part(scope, node->operands[0], made);
      std::swap(scope.places[value], array);
      if (!write(node->operands[0]))
        throw InternalError("an array has no order of its own", node->location());
      std::swap(scope.places[value], array);
      for (const Place& temporary : made) let_go(temporary);
    }
    scope.places[step.first_value] = is_one ? single({one}) : result;
  }

  void alias(Scope& scope, const Step& step) {
    const Node* node = step.node;
    const Place& from = place(scope, node->operands[0]);
    Place& result = scope.places[step.first_value];
    if (from.kind == Place::Kind::kArray) {
      if (is_single(node->type())) {
        result = single(load_single(from.pointer, node->type().dtype));
      } else {
        result = from;
        hold(result);
      }
      return;
    }
    const Type type = lower::type_of(node->type().dtype);
    if (is_single(node->type()) && from.element.size() == 1) {
      result = single({builder_.bitcast(from.element[0], type)});
    } else if (is_single(node->type()) && node->type().dtype == node->operand_type(0).dtype) {
      result = from;
    } else {
      result = new_array(node->operand_type(0));
      store_single(from.element, result.pointer);
      if (is_single(node->type())) {
        const Place memory = result;
        result = single(load_single(memory.pointer, node->type().dtype));
        let_go(memory);
      }
    }
  }

  void call(Scope& scope, const Step& step) {
    const Node* node = step.node;
    lower::Call call;
    call.name = node->op->name;
    call.kernel = make_kernel_(*node, loops_.empty() ? lower::kNoLoop : loops_.back());
    std::vector<Place> made;
    for (const Tensor& operand : node->operands)
      call.pointers.push_back(in_memory(scope, operand, made));
    std::vector<Place> results;
    for (std::uint32_t i = 0; i < node->types.size(); i++) {
      results.push_back(destination(scope, node, i));
      call.pointers.push_back(results.back().pointer);
    }
    builder_.call(std::move(call));
    for (std::uint32_t i = 0; i < node->types.size(); i++) {
      Place& result = scope.places[step.first_value + i];
      if (is_single(node->types[i])) {
        result = single(load_single(results[i].pointer, node->types[i].dtype));
        made.push_back(results[i]);
      } else {
        result = results[i];
      }
    }
    for (const Place& temporary : made) let_go(temporary);
  }

  // While.

  std::uint32_t loop_info(const Node* node) {
    const ir::RegionLayout layout = *ir::region_layout(node);
    lower::LoopInfo info;
    info.name = layout.name;
    info.at = node->location();
    info.trip_count = layout.trip_count;
    if (!layout.ends_by_itself) info.max_trip_count = layout.max_trip_count;
    info.promised = layout.promised;
    info.outer = loops_.empty() ? lower::kNoLoop : loops_.back();
    builder_.program().loops.push_back(std::move(info));
    return static_cast<std::uint32_t>(builder_.program().loops.size() - 1);
  }

  /// Whether the body makes a carried array out of itself, by writing parts of it only: then it
  /// needs no second place.
  static bool stays_in_place(const Function& body, std::size_t carry) {
    const Tensor& parameter = body.parameters()[carry];
    Tensor value = body.outputs()[carry];
    const auto outputs = [&](const Tensor& t) {
      return std::count_if(body.outputs().begin(), body.outputs().end(),
                           [&](const Tensor& output) { return output.same_as(t); });
    };
    if (outputs(value) != 1) return false;
    for (int length = 0; length < 64; length++) {
      if (value.same_as(parameter)) return true;
      const Node* node = value.node();
      if (ir::is_parameter(node) || ir::is_constant(node) || outputs(parameter) != 0) return false;
      if (node->op->kind == ir::OpKind::kOrdinary && form_of(*node) == Form::kWrite) {
        const ir::WriteMap map = node->op->write(*node);
        if (map.kept < 0) return false;
        value = node->operands[static_cast<std::size_t>(map.kept)];
      } else {
        return false;
      }
    }
    return false;
  }

  /// The first value of a carried array, where the loop carries it.
  void begin_with(Scope& scope, const Tensor& value, const Place& now) {
    const Place& from = place(scope, value);
    if (from.kind == Place::Kind::kInLine)
      write_array(scope, value, false, now);
    else
      copy(from.pointer, now.pointer, value.type().bytes());
  }

  void open_while(const Step& step, std::uint32_t at) {
    const Node* node = step.node;
    const std::size_t carries = ir::region_layout(node)->carries;
    Scope& scope = scopes_.back();
    Construct construct;
    construct.node = node;
    construct.first_value = step.first_value;
    construct.carried.resize(carries);
    std::vector<Value> init;
    for (std::size_t i = 0; i < node->operands.size(); i++) {
      const Tensor& operand = node->operands[i];
      const Place from = place(scope, operand);
      Place argument = from;
      argument.writable = false;
      if (i < carries && from.kind == Place::Kind::kSingle) {
        init.insert(init.end(), from.element.begin(), from.element.end());
      } else if (i < carries) {
        CarriedArray& array = construct.carried[i];
        const bool in_place = stays_in_place(node->regions[1], i);
        const std::uint32_t result = step.first_value + static_cast<std::uint32_t>(i);
        const bool once = std::count_if(node->operands.begin(), node->operands.end(),
                                        [&](const Tensor& t) { return t.same_as(operand); }) == 1;
        Place now;
        const auto to = scope.destinations.find(result);
        if (in_place && to != scope.destinations.end()) {
          now = destination(scope, node, static_cast<std::uint32_t>(i));
          begin_with(scope, operand, now);
        } else if (once && dies(scope, operand, at)) {
          // The loop takes it over.
          now = from;
          place(scope, operand).storage = -1;
        } else {
          now = new_array(operand.type());
          begin_with(scope, operand, now);
        }
        scope.destinations.erase(result);
        array.storage = now.storage;
        array.now = now.pointer;
        Storage& storage = storages_[static_cast<std::size_t>(now.storage)];
        array.values = storage.values;
        storage.pins++;
        if (!in_place) {
          array.spare = arena_place(now.storage, operand.type().bytes());
          init.push_back(array.now);
          init.push_back(array.spare);
        }
        argument = now;
      }
      construct.arguments.push_back(std::move(argument));
    }
    const std::uint32_t info = loop_info(node);
    loops_.push_back(info);
    construct.loop = builder_.begin_while(init, info);
    // In the loop the carries are its parameters.
    std::size_t next = 0;
    const auto param = [&] {
      return builder_.program().whiles[construct.loop].carries[next++].param;
    };
    for (std::size_t i = 0; i < carries; i++) {
      if (construct.arguments[i].kind == Place::Kind::kSingle) {
        for (Value& part : construct.arguments[i].element) part = param();
      } else if (construct.carried[i].spare != lower::kNone) {
        construct.arguments[i].pointer = construct.carried[i].now = param();
        construct.carried[i].spare = param();
      }
    }
    const Function condition = node->regions[0];
    std::vector<Place> arguments = construct.arguments;
    for (Place& argument : arguments) argument.writable = false;
    constructs_.push_back(std::move(construct));
    enter(Scope::Role::kCondition, condition);
    bind(scopes_.back(), arguments);
  }

  /// Gives the parameters of a region their places. They are held once more, so that a region does
  /// not let go of what is around it.
  void bind(Scope& scope, const std::vector<Place>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); i++) {
      scope.places[i] = arguments[i];
      if (!arguments[i].writable) hold(arguments[i]);
    }
  }

  void close_condition() {
    Scope& scope = scopes_.back();
    const Value predicate = place(scope, scope.function.outputs()[0]).element[0];
    release_parameters(scope);
    scopes_.pop_back();
    Construct& construct = constructs_.back();
    builder_.test(predicate);
    const Function body = construct.node->regions[1];
    enter(Scope::Role::kBody, body);
    Scope& inner = scopes_.back();
    bind(inner, construct.arguments);
    // Next values are written where they are needed.
    for (std::size_t i = 0; i < construct.carried.size(); i++) {
      const CarriedArray& array = construct.carried[i];
      if (array.spare == lower::kNone) continue;
      const Tensor& output = body.outputs()[i];
      if (ir::is_parameter(output.node()) || ir::is_constant(output.node())) continue;
      Place to;
      to.kind = Place::Kind::kArray;
      to.storage = new_storage();
      to.pointer = array.spare;
      inner.destinations.try_emplace(inner.plan->value(output), to);
    }
  }

  /// Lets go of the parameters that live until the end of their region, or that nobody reads.
  void release_parameters(Scope& scope) {
    for (std::uint32_t i = 0; i < scope.function.parameters().size(); i++) {
      if (scope.plan->last_use(i) == kAtEnd && !scope.places[i].writable) let_go(scope.places[i]);
    }
  }

  void close_body() {
    Scope& scope = scopes_.back();
    Construct construct = std::move(constructs_.back());
    constructs_.pop_back();
    const Function body = scope.function;
    std::vector<Value> next;
    // First to the spares, which nothing is read from; then to places that stay.
    for (std::size_t i = 0; i < construct.carried.size(); i++) {
      const Tensor& output = body.outputs()[i];
      const Place& from = place(scope, output);
      const CarriedArray& array = construct.carried[i];
      if (from.kind == Place::Kind::kSingle) {
        next.insert(next.end(), from.element.begin(), from.element.end());
      } else if (array.spare != lower::kNone) {
        const bool stays = from.pointer == array.now;
        if (!stays) copy(from.pointer, array.spare, output.type().bytes());
        next.push_back(stays ? array.now : array.spare);
        next.push_back(stays ? array.spare : array.now);
      }
    }
    for (std::size_t i = 0; i < construct.carried.size(); i++) {
      const CarriedArray& array = construct.carried[i];
      if (array.storage >= 0 && array.spare == lower::kNone)
        copy(place(scope, body.outputs()[i]).pointer, array.now, body.outputs()[i].type().bytes());
    }
    for (std::size_t i = 0; i < body.outputs().size(); i++) {
      // What the body made and returns is dead now; carried memory stays.
      const Tensor& output = body.outputs()[i];
      const std::uint32_t value = scope.plan->value(output);
      const bool first = std::find_if(body.outputs().begin(),
                                      body.outputs().begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const Tensor& t) { return t.same_as(output); }) ==
                         body.outputs().begin() + static_cast<std::ptrdiff_t>(i);
      if (first && !ir::is_parameter(output.node()))
        let_go_of_output(scope.places[value], construct);
    }
    release_parameters(scope);
    scopes_.pop_back();
    builder_.end_while(next);
    loops_.pop_back();
    Scope& outer = scopes_.back();
    const auto& carried = builder_.program().whiles[construct.loop].carries;
    std::size_t at = 0;
    for (std::size_t i = 0; i < construct.carried.size(); i++) {
      Place& result = outer.places[construct.first_value + i];
      if (construct.arguments[i].kind == Place::Kind::kSingle) {
        result = construct.arguments[i];
        for (Value& part : result.element) part = carried[at++].result;
        continue;
      }
      result = construct.arguments[i];
      result.writable = true;
      Storage& storage = storages_[static_cast<std::size_t>(result.storage)];
      storage.values = construct.carried[i].values;
      storage.pins--;
      if (construct.carried[i].spare != lower::kNone) {
        result.pointer = carried[at].result;
        at += 2;
      }
    }
    end_step(outer, outer.next - 1);
  }

  void let_go_of_output(const Place& place, const Construct& construct) {
    for (const CarriedArray& array : construct.carried) {
      if (array.storage == place.storage && place.storage >= 0) return;
    }
    let_go(place);
  }

  // Conditionals.

  void open_conditional(const Step& step) {
    const Node* node = step.node;
    Scope& scope = scopes_.back();
    Construct construct;
    construct.node = node;
    construct.first_value = step.first_value;
    construct.selector = place(scope, node->operands[0]).element[0];
    for (std::size_t i = 1; i < node->operands.size(); i++) {
      Place argument = place(scope, node->operands[i]);
      argument.writable = false;
      construct.arguments.push_back(std::move(argument));
    }
    for (std::uint32_t i = 0; i < node->types.size(); i++) {
      Place result;
      if (!is_single(node->types[i])) result = destination(scope, node, i);
      construct.results.push_back(result);
    }
    construct.branch_values.resize(node->regions.size());
    constructs_.push_back(std::move(construct));
    open_branch();
  }

  /// One after the other: `if (selector is k) branch k else …`; the last one is for all the rest.
  void open_branch() {
    Construct& construct = constructs_.back();
    const std::size_t branch = construct.branch, count = construct.node->regions.size();
    if (branch + 1 < count) {
      const Value selector = construct.selector;
      const Value chosen =
          builder_.type(selector) == Type::kPred
              ? selector
              : builder_.equal(selector, builder_.number(builder_.type(selector),
                                                         static_cast<double>(branch)));
      construct.ifs.push_back(builder_.begin_if(chosen));
    }
    const std::vector<Place> arguments = construct.arguments;
    const std::vector<Place> results = construct.results;
    enter(Scope::Role::kBranch, construct.node->regions[branch]);
    Scope& scope = scopes_.back();
    bind(scope, arguments);
    const auto& outputs = scope.function.outputs();
    for (std::size_t i = 0; i < results.size(); i++) {
      if (results[i].kind != Place::Kind::kArray) continue;
      Place to = results[i];
      to.writable = false;
      scope.destinations.try_emplace(scope.plan->value(outputs[i]), to);
    }
  }

  void close_branch() {
    Scope& scope = scopes_.back();
    Construct& construct = constructs_.back();
    const auto& outputs = scope.function.outputs();
    std::vector<Value>& values = construct.branch_values[construct.branch];
    for (std::size_t i = 0; i < outputs.size(); i++) {
      const Place& from = place(scope, outputs[i]);
      if (from.kind == Place::Kind::kSingle)
        values.insert(values.end(), from.element.begin(), from.element.end());
      else
        copy(from.pointer, construct.results[i].pointer, outputs[i].type().bytes());
    }
    absl::InlinedVector<std::uint32_t, 4> seen;
    for (const Tensor& output : outputs) {
      const std::uint32_t value = scope.plan->value(output);
      if (ir::is_parameter(output.node()) ||
          std::find(seen.begin(), seen.end(), value) != seen.end())
        continue;
      seen.push_back(value);
      let_go(scope.places[value]);
    }
    release_parameters(scope);
    scopes_.pop_back();
    construct.branch++;
    if (construct.branch < construct.node->regions.size()) {
      builder_.begin_else();
      return open_branch();
    }
    std::vector<Value> chosen = construct.branch_values.back();
    for (std::size_t branch = construct.ifs.size(); branch-- > 0;)
      chosen = builder_.end_if(construct.branch_values[branch], chosen);
    Scope& outer = scopes_.back();
    std::size_t at = 0;
    for (std::size_t i = 0; i < construct.results.size(); i++) {
      Place& result = outer.places[construct.first_value + i];
      const TensorType& type = construct.node->types[i];
      if (is_single(type)) {
        Element element{chosen[at++]};
        if (is_complex(type.dtype)) element.push_back(chosen[at++]);
        result = single(std::move(element));
      } else {
        result = construct.results[i];
      }
    }
    constructs_.pop_back();
    end_step(outer, outer.next - 1);
  }

  const MakeKernel& make_kernel_;
  lower::Builder builder_;
  Arena arena_;
  std::vector<Storage> storages_;
  std::vector<Literal> constants_;
  absl::flat_hash_map<const Node*, Value> constant_pointers_;
  std::vector<Place> result_places_;
  std::deque<Scope> scopes_;
  std::vector<Construct> constructs_;
  std::vector<std::uint32_t> loops_;  // that are open
};

}  // namespace

std::string why_not_lowered(const Function& function) {
  for (const Function& region : ir::regions_inside_out(function)) {
    for (const Node* node : region.body()) {
      if (node->op->grows)
        return fmt::format("{} at {}: its result grows while the program runs", node->op->name,
                           node->location().str());
    }
  }
  return {};
}

lower::Program lower_function(const Function& function, const MakeKernel& make_kernel) {
  return Lowering(make_kernel).run(function);
}

}  // namespace rondo::executor
