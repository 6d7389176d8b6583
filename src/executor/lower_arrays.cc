// Steps whose result is an array written by loops: of elements, of parts, of a reduction.
#include <algorithm>
#include <utility>

#include "executor/loop_parts.h"
#include "executor/lowerer.h"
#include "executor/runtime/kernels.h"
#include "ir/kernel.h"
#include "ir/loop_nest.h"
#include "lower/opcodes.h"
#include "lower/reduction_order.h"

namespace rondo::executor {

namespace {

/// Whether two boxes are beside one another in each row: of the same rows, and one place along the
/// axes in which they differ.
bool are_columns(const Box& a, const Box& b) {
  for (std::size_t i = 0; i < a.sizes.size(); i++) {
    if (a.sizes[i] != b.sizes[i] || (a.first[i] != b.first[i] && a.sizes[i] != 1)) return false;
  }
  return true;
}

}  // namespace

std::vector<Lowerer::BoxNest> Lowerer::in_boxes(Scope& scope, const Tensor& value, bool root,
                                                std::span<const std::int64_t> first,
                                                std::span<const std::int64_t> sizes,
                                                const Linear& to) {
  std::vector<BoxNest> nests;
  const Box* before = nullptr;
  std::vector<Box> boxes = scope.plan->boxes(value, root, first, sizes);
  for (const Box& box : boxes) {
    const bool joins =
        before != nullptr && nests.back().sinks.size() < kMostParts && are_columns(*before, box);
    if (!joins) nests.push_back({Nest(builder_, *scope.plan, scope.places, box.sizes), {}});
    Linear place = to;
    absl::InlinedVector<std::int64_t, 4> from = box.first;
    for (std::size_t i = 0; i < from.size(); i++) {
      place.offset += from[i] * to.coefficients[i];
      if (box.sizes[i] == 1) place.coefficients[i] = 0;
      from[i] += first[i];
    }
    Nest& nest = nests.back().nest;
    nests.back().sinks.push_back({nest.add(value, nest.index(from), root), std::move(place)});
    before = &box;
  }
  return nests;
}

void Lowerer::elements(Scope& scope, const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  const TensorType& type = node->type();
  if (type.elements() == 0) {
    scope.places[step.first_value] = destination(scope, node, 0);
    return;
  }
  const Linear to = Nest(builder_, *scope.plan, scope.places, type.shape.dims())
                        .dense(type.shape, byte_width(type.dtype));
  const absl::InlinedVector<std::int64_t, 4> first(type.shape.size(), 0);
  std::vector<BoxNest> boxes =
      in_boxes(scope, Tensor::of(node), true, first, type.shape.dims(), to);
  if (boxes.size() == 1 && boxes[0].sinks.size() == 1) {
    const Value view = viewed(scope, boxes[0].nest, boxes[0].sinks[0].item, to, step);
    if (view != lower::kNone) {
      Place& result = scope.places[step.first_value];
      result.kind = Place::Kind::kArray;
      result.pointer = view;
      return;
    }
  }
  Place result = reused_buffer(scope, boxes, step.first_value, at);
  if (result.kind == Place::Kind::kNone) {
    const auto own = scope.own_memory.find(step.first_value);
    if (!scope.destinations.contains(step.first_value))
      result = overwritten(scope, boxes, type, at);
    else if (own != scope.own_memory.end())
      result = overwritten(scope, boxes, type, at, own->second);
  }
  if (result.kind == Place::Kind::kNone) result = destination(scope, node, 0);
  for (BoxNest& box : boxes) box.nest.store(box.sinks, result.pointer);
  // Consumers that read it in loops, including fused ones, use the value and not the memory.
  if (step.form == Strategy::kRead) {
    const Place& from = place(scope, node->operands[0]);
    if (from.kind == Place::Kind::kSingle) result.element = from.element;
  }
  scope.places[step.first_value] = result;
}

/// A consumer that reads an array through an index map needs no copy if the map keeps elements
/// adjacent and the array does not change: arguments, constants, and arrays that a loop reads from
/// outside.
Value Lowerer::viewed(const Scope& scope, const Nest& nest, std::uint32_t item, const Linear& dense,
                      const Step& step) {
  const std::uint32_t value = step.first_value;
  if (step.form != Strategy::kRead || scope.destinations.contains(value) ||
      scope.reused_buffers.contains(value))
    return lower::kNone;
  const auto lying = nest.lying(item, dense);
  if (!lying || (lying->storage >= 0 && !stays(scope, lying->storage))) return lower::kNone;
  return builder_.view(lying->at, step.node->type().bytes());
}

bool Lowerer::stays(const Scope& scope, std::int32_t storage) const {
  if (scope.role != Scope::Role::kBody) return false;
  const Construct& loop = constructs_.back();
  const auto is_it = [storage](const Place& place) { return place.storage == storage; };
  const auto invariants = loop.arguments.begin() + static_cast<std::ptrdiff_t>(loop.carried.size());
  return std::any_of(invariants, loop.arguments.end(), is_it) &&
         std::none_of(loop.arguments.begin(), invariants, is_it);
}

bool Lowerer::reads_elsewhere(std::span<const BoxNest> boxes, std::int32_t storage) {
  return std::ranges::any_of(
      boxes, [&](const BoxNest& box) { return box.nest.reads_elsewhere(storage, box.sinks); });
}

Place Lowerer::reused_buffer(Scope& scope, std::span<const BoxNest> boxes, std::uint32_t value,
                             std::uint32_t at) {
  const auto found = scope.reused_buffers.find(value);
  if (found == scope.reused_buffers.end()) return {};
  const auto& [parameter, memory] = found->second;
  const std::uint32_t last = scope.plan->last_use(parameter);
  if ((last != kNoPlace && last > at) || reads_elsewhere(boxes, memory.storage)) return {};
  Place made = memory;
  made.writable = true;
  retain(made);
  return made;
}

Place Lowerer::overwritten(Scope& scope, std::span<const BoxNest> boxes, const TensorType& type,
                           std::uint32_t at, Value only) {
  for (const std::uint32_t* value = scope.plan->ending_begin(at);
       value != scope.plan->ending_end(at); value++) {
    const Place& from = scope.places[*value];
    if (from.kind != Place::Kind::kArray || !from.writable || from.storage < 0) continue;
    if (only != lower::kNone && from.pointer != only) continue;
    if (storages_[static_cast<std::size_t>(from.storage)].values != 1) continue;
    const bool reads = std::ranges::any_of(
        boxes, [&](const BoxNest& box) { return box.nest.reads(from.storage); });
    if (!reads || reads_elsewhere(boxes, from.storage)) continue;
    if (array_bytes(scope, *value) != type.bytes()) continue;
    Place made = from;
    made.element.clear();
    retain(made);
    return made;
  }
  return {};
}

std::int64_t Lowerer::array_bytes(Scope& scope, std::uint32_t value) const {
  const auto& parameters = scope.function.parameters();
  if (value < parameters.size()) return parameters[value].type().bytes();
  const auto& steps = scope.plan->steps();
  auto step =
      std::upper_bound(steps.begin(), steps.end(), value,
                       [](std::uint32_t number, const Step& s) { return number < s.first_value; });
  --step;
  return step->node->types[value - step->first_value].bytes();
}

void Lowerer::put_together(Scope& scope, const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  const TensorType& type = node->type();
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(*node);
  std::vector<Place> made;
  Place result;
  const bool one = is_scalar(type);
  std::vector<Value> part_memory(map.parts.size(), lower::kNone);
  if (map.kept >= 0) {
    const Tensor& kept = node->operands[static_cast<std::size_t>(map.kept)];
    const bool in_place = !one && is_last_use(scope, kept, at);
    result = updated(scope, step, kept, in_place, at, made);
    if (in_place) {
      // A part that is computed from the array at other indices must be computed first.
      for (std::size_t i = 0; i < map.parts.size(); i++) {
        const Tensor& part = node->operands[static_cast<std::size_t>(map.parts[i].operand)];
        if (place(scope, part).kind == Place::Kind::kSingle) continue;
        if (part_reads_elsewhere(scope, node, map.parts[i], type, result))
          part_memory[i] = array_of_part(scope, part, made);
      }
    }
  } else {
    result = destination(scope, node, 0);
  }
  if (map.fill >= 0) fill(scope, node, map, type, result);
  if (step.joint) {
    write_joint_parts(scope, node, map, result);
  } else {
    for (std::size_t i = 0; i < map.parts.size(); i++)
      write_part(scope, node, map.parts[i], type, result, part_memory[i]);
  }
  for (const Place& temporary : made) release(temporary);
  if (one) {
    scope.places[step.first_value] =
        single(builder_.load_element(type.dtype, {result.pointer, 0, {}}));
    release(result);
  } else {
    scope.places[step.first_value] = result;
  }
}

Place Lowerer::updated(Scope& scope, const Step& step, const Tensor& kept, bool may,
                       std::uint32_t at, std::vector<Place>& made) {
  Place result;
  if (scope.buffered_updates.contains(step.first_value) &&
      scope.destinations.contains(step.first_value))
    return destination(scope, step.node, 0);
  if (may && is_last_use(scope, kept, at)) {
    result = place(scope, kept);
    result.element.clear();
    retain(result);
    if (const auto to = scope.destinations.find(step.first_value);
        to != scope.destinations.end() && to->second.pointer != result.pointer)
      scope.destinations.erase(to);
    return result;
  }
  result = destination(scope, step.node, 0);
  const Value from = in_memory(scope, kept, made);
  copy(from, result.pointer, kept.type().bytes());
  return result;
}

Value Lowerer::array_of_part(Scope& scope, const Tensor& part, std::vector<Place>& made) {
  Place copy_of = new_array(part.type());
  const Place& from = place(scope, part);
  if (from.kind == Place::Kind::kArray)
    copy(from.pointer, copy_of.pointer, part.type().bytes());
  else
    write_array(scope, part, false, copy_of);
  made.push_back(copy_of);
  return copy_of.pointer;
}

absl::InlinedVector<std::int64_t, 4> Lowerer::counts(const ir::Part& part) {
  absl::InlinedVector<std::int64_t, 4> sizes;
  for (const ir::AxisWrite& axis : part.axes) sizes.push_back(axis.count);
  return sizes;
}

Linear Lowerer::part_place(Scope& scope, const Node* node, const ir::Part& part,
                           const TensorType& type, std::int64_t last_axis) {
  Linear to;
  const auto strides = row_major(type.shape, last_axis);
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

std::vector<Lowerer::BoxNest> Lowerer::part_nests(Scope& scope, const Node* node,
                                                  const ir::Part& part, const Linear& to) {
  absl::InlinedVector<std::int64_t, 4> first;
  for (const ir::AxisWrite& axis : part.axes) first.push_back(axis.first);
  return in_boxes(scope, node->operands[static_cast<std::size_t>(part.operand)], false, first,
                  counts(part), to);
}

bool Lowerer::part_reads_elsewhere(Scope& scope, const Node* node, const ir::Part& part,
                                   const TensorType& type, const Place& result) {
  return reads_elsewhere(part_nests(scope, node, part, part_place(scope, node, part, type)),
                         result.storage);
}

void Lowerer::write_part(Scope& scope, const Node* node, const ir::Part& part,
                         const TensorType& type, const Place& result, Value memory) {
  const auto sizes = counts(part);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  const Linear to = part_place(scope, node, part, type);
  const auto write = [&] {
    for (BoxNest& box : part_nests(scope, node, part, to))
      box.nest.store(box.sinks, result.pointer);
  };
  if (memory == lower::kNone) return write();
  // It is the whole array, in row-major order.
  Place& from =
      scope.places[scope.plan->value(node->operands[static_cast<std::size_t>(part.operand)])];
  Place whole;
  whole.kind = Place::Kind::kArray;
  whole.pointer = memory;
  std::swap(from, whole);
  write();
  std::swap(from, whole);
}

void Lowerer::write_joint_parts(Scope& scope, const Node* node, const ir::InsertionMap& map,
                                const Place& result) {
  Nest nest(builder_, *scope.plan, scope.places, counts(map.parts[0]));
  const std::uint32_t index = nest.index();
  std::vector<Nest::Sink> sinks;
  for (const ir::Part& part : map.parts) {
    const Tensor& operand = node->operands[static_cast<std::size_t>(part.operand)];
    sinks.push_back({nest.add(operand, index), part_place(scope, node, part, node->type())});
  }
  nest.store(sinks, result.pointer);
}

void Lowerer::fill(Scope& scope, const Node* node, const ir::InsertionMap& map,
                   const TensorType& type, const Place& result) {
  const Element& value = place(scope, node->operands[static_cast<std::size_t>(map.fill)]).element;
  if (type.elements() == 0) return;
  const std::uint32_t lanes = builder_.begin_lanes(builder_.index(type.elements()));
  const Value index = builder_.program().lanes[lanes].index;
  builder_.store_element(value, {result.pointer, 0, {{index, byte_width(type.dtype)}}});
  builder_.end_lanes();
}

void Lowerer::reduction(Scope& scope, const Step& step) {
  const Node* node = step.node;
  const TensorType &type = node->type(), &from = node->operand_type(0);
  const ir::Reduction reduction = *ir::loops_as<ir::Reduction>(*node);
  const Element init = place(scope, node->operands[1]).element;
  const Type result_type = lower::type_of(type.dtype);
  std::vector<bool> reduced(from.shape.size(), false);
  for (const std::int64_t axis : reduction.axes) reduced[static_cast<std::size_t>(axis)] = true;
  // A result's axes are the operand's without the reduced ones.
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
  const bool is_one = is_scalar(type);
  if (!is_one) result = destination(scope, node, 0);
  // Integers and extremes have the same result in any order.
  const bool in_any_order =
      lower::is_in_any_order(reduction.combine, reduction.type) || options_.reorders;
  const auto new_totals = [&](std::int64_t count) {
    return new_array({DType::kU8, {count * lower::width(reduction.type)}});
  };
  const auto write = [&](bool in_strips) {
    Nest nest(builder_, *scope.plan, scope.places, from.shape.dims());
    const std::uint32_t item = nest.add(node->operands[0], nest.index());
    const Nest::Combination what{item,        reduction,      reduced, init[0],
                                 result_type, result.pointer, to,      is_one ? &one : nullptr};
    if (!in_strips) {
      const std::optional<Nest::Blocks> blocks = nest.blocks(what, in_any_order);
      if (!blocks) return nest.reduce(what, in_any_order);
      const Place totals = new_totals(blocks->count);
      nest.reduce_by_blocks(what, *blocks, totals.pointer);
      release(totals);
      return true;
    }
    const std::optional<Nest::Strip> strip = nest.strip(what, in_any_order);
    if (!strip) return false;
    const Place elements = new_array({from.dtype, {strip->elements}});
    const Place totals = new_totals(lower::Lanes::kPartials);
    nest.reduce_by_strips(what, *strip, elements.pointer, totals.pointer);
    release(elements);
    release(totals);
    return true;
  };
  if (type.elements() != 0 && !write(false) && !write(true)) {
    std::vector<Place> made;
    const std::uint32_t value = scope.plan->value(node->operands[0]);
    Place array;
    array.kind = Place::Kind::kArray;
    array.pointer = array_of_part(scope, node->operands[0], made);
    std::swap(scope.places[value], array);
    if (!write(false)) throw InternalError("an array has no order of its own", node->location());
    std::swap(scope.places[value], array);
    for (const Place& temporary : made) release(temporary);
  }
  scope.places[step.first_value] = is_one ? single({one}) : result;
}

void Lowerer::running(Scope& scope, const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  const TensorType& type = node->type();
  BoxNest loops{Nest(builder_, *scope.plan, scope.places, type.shape.dims()), {}};
  Nest& nest = loops.nest;
  loops.sinks = {
      {nest.add(node->operands[0], nest.index()), nest.dense(type.shape, byte_width(type.dtype))}};
  Place result;
  if (!scope.destinations.contains(step.first_value))
    result = overwritten(scope, {&loops, 1}, type, at);
  if (result.kind == Place::Kind::kNone) result = destination(scope, node, 0);
  nest.accumulate(loops.sinks[0].item, *ir::loops_as<ir::PrefixScan>(*node),
                  lower::type_of(type.dtype), result.pointer, loops.sinks[0].place);
  scope.places[step.first_value] = result;
}

void Lowerer::products(Scope& scope, const Step& step) {
  const Node* node = step.node;
  const TensorType& type = node->type();
  const ir::Contraction products = *ir::contraction(*node);
  absl::InlinedVector<std::int64_t, 6> sizes(type.shape.dims().begin(), type.shape.dims().end());
  const std::size_t kept = sizes.size();
  sizes.insert(sizes.end(), products.sizes.begin(), products.sizes.end());
  std::vector<bool> reduced(sizes.size(), false);
  std::fill(reduced.begin() + static_cast<std::ptrdiff_t>(kept), reduced.end(), true);
  Linear to;
  to.coefficients.assign(sizes.size(), 0);
  const auto strides = row_major(type.shape);
  for (std::size_t i = 0; i < kept; i++)
    to.coefficients[i] = sizes[i] <= 1 ? 0 : strides[i] * byte_width(type.dtype);
  Value one = lower::kNone;
  const Place result = is_scalar(type) ? Place() : destination(scope, node, 0);
  Nest nest(builder_, *scope.plan, scope.places, sizes);
  const std::uint32_t item = nest.add_products(*node, products);
  const ir::Reduction sum{lower::Opcode::kAdd, {}, products.type, false};
  const Value zero = builder_.constant(products.type, 0);
  nest.reduce({item, sum, reduced, zero, lower::type_of(type.dtype), result.pointer, to,
               is_scalar(type) ? &one : nullptr},
              false);
  scope.places[step.first_value] = is_scalar(type) ? single({one}) : result;
}

bool Lowerer::adds_packed_products(Scope& scope, const Node* node) {
  return options_.reorders && products_in_lanes(*node) &&
         std::any_of(node->operands.begin(), node->operands.end(), [&](const Tensor& factor) {
           return place(scope, factor).packed != lower::kNone;
         });
}

namespace {

/// Threshold: Packing a factor before a loop saves strided reads in each trip, but takes as much
/// memory again: limit for products in vectorized loops. Not measured.
constexpr std::int64_t kMostBytesForLanes = std::int64_t{1} << 20;
/// Threshold: The same for products by a kernel. Not measured alone; scan_rnn in bench/anchors runs
/// it (5.6 to 4.5 µs a product).
constexpr std::int64_t kMostBytesForKernel = std::int64_t{4} << 20;

}  // namespace

void Lowerer::pack_factors(Scope& scope, Construct& construct, std::size_t carries) {
  // Each lane would copy them, with separate loops.
  if (lanes_ && lanes_->count > 1) return;
  const LoopParts parts(*construct.node);
  const Function& body = parts.body;
  absl::flat_hash_map<const Node*, std::size_t> parameters;
  for (std::size_t i = carries; i < parts.operands.size(); i++)
    parameters.emplace(parts.parameter(i).node(), i);
  for (const Node* node : body.body()) {
    const Strategy form = strategy_of(*node, options_.reorders);
    if (form != Strategy::kUnrolledContraction && form != Strategy::kContraction &&
        form != Strategy::kKernel)
      continue;
    const auto products = form == Strategy::kUnrolledContraction
                              ? ir::loops_as<ir::Contraction>(*node)
                              : products_in_lanes(*node);
    const bool in_lanes = products && (form != Strategy::kKernel || options_.reorders);
    for (std::size_t i = 0; i < node->operands.size(); i++) {
      const Tensor& factor = node->operands[i];
      const auto found = parameters.find(factor.node());
      if (in_lanes && found != parameters.end()) {
        pack_for_lanes(scope, construct, node, i, found->second, *products);
      } else if (!in_lanes && form == Strategy::kKernel && options_.packs && !lanes_) {
        if (found != parameters.end()) {
          const Place& argument = construct.arguments[found->second];
          if (argument.kind == Place::Kind::kArray) pack_for_kernel(construct, node, i, &argument);
        } else if (ir::is_constant(factor.node()) && !is_scalar(factor.type())) {
          pack_for_kernel(construct, node, i, nullptr);
        }
      }
    }
  }
}

void Lowerer::pack_for_lanes(Scope& scope, Construct& construct, const Node* node,
                             std::size_t factor, std::size_t parameter,
                             const ir::Contraction& products) {
  const Shape& shape = node->type().shape;
  std::int64_t lanes = shape.rank() - 1;
  while (lanes >= 0 && shape[lanes] == 1) lanes--;
  if (lanes < 0) return;
  Place& argument = construct.arguments[parameter];
  const TensorType& type = node->operand_type(factor);
  if (argument.kind != Place::Kind::kArray || argument.packed != lower::kNone) return;
  if (!argument.element.empty() || type.bytes() > kMostBytesForLanes) return;
  const ir::AccessMap& map = products.factors[factor];
  const auto axis = std::find_if(map.begin(), map.end(),
                                 [&](const ir::AxisRead& read) { return read.axis == lanes; }) -
                    map.begin();
  const auto last = type.shape.dims().size();
  const auto moved = static_cast<std::size_t>(axis);
  // Trailing axes of one element change nothing.
  if (moved == last || std::all_of(type.shape.dims().begin() + axis + 1, type.shape.dims().end(),
                                   [](std::int64_t size) { return size == 1; }))
    return;
  absl::InlinedVector<std::int64_t, 4> sizes(type.shape.dims().begin(), type.shape.dims().end());
  std::rotate(sizes.begin() + axis, sizes.begin() + axis + 1, sizes.end());
  const Place to = new_array(type);
  construct.products.packed.push_back(to);
  Nest nest(builder_, *scope.plan, scope.places, sizes);
  const std::uint32_t item =
      nest.add_with_axis_last(LoopParts(*construct.node).operands[parameter], axis);
  nest.store(item, to.pointer, nest.dense(Shape(sizes), byte_width(type.dtype)));
  argument.packed = to.pointer;
  argument.packed_axis = axis;
}

void Lowerer::pack_for_kernel(Construct& construct, const Node* node, std::size_t factor,
                              const Place* argument) {
  if (construct.products.calls.contains(node)) return;
  std::optional<ir::PackedOperand> packed = ir::prepare(*node)->packed(factor);
  if (!packed || packed->bytes > kMostBytesForKernel) return;
  const Value pointer =
      argument ? argument->pointer : constant(node->operands[factor].node()).pointer;
  const Place to = new_array({DType::kU8, Shape({packed->bytes})});
  construct.products.packed.push_back(to);
  lower::Call call;
  call.name = "pack";
  call.kernel = node_kernel(*node, std::move(packed->pack), 1, 1, innermost_loop());
  call.pointers = {pointer, to.pointer};
  builder_.call(std::move(call));
  construct.products.calls.emplace(node, PackedCall{factor, to.pointer, std::move(packed->run)});
}

}  // namespace rondo::executor
