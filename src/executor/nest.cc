#include "executor/nest.h"

#include <algorithm>

#include "executor/element_code.h"
#include "executor/names.h"
#include "executor/terms.h"
#include "ir/element.h"
#include "ir/loop_nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

Value clamped_start(lower::Builder& b, Value start, std::int64_t room) {
  if (room == 0) return b.index(0);
  if (b.type(start) == Type::kU64)
    start = b.min(start, b.constant(Type::kU64, static_cast<std::uint64_t>(INT64_MAX)));
  return b.clamped_index(b.convert(start, Type::kS64), room);
}

std::int64_t let_poll(lower::Builder& b, std::span<const std::uint32_t> loops, std::int64_t work) {
  // Threshold: Elements computed between two polls: how late a limit is noticed against the cost of
  // polling. Not measured; LimitsOnRows in bench/calls_bench.cc runs it.
  constexpr std::int64_t kLongWork = std::int64_t{1} << 16;
  for (std::size_t i = loops.size(); i-- > 0;) {
    lower::For& loop = b.program().fors[loops[i]];
    const std::int64_t trips = loop.trips.value_or(kLongWork);
    loop.polls = trips > 0 && work > kLongWork / trips;
    work = loop.polls ? 1 : work * trips;
  }
  return work;
}

absl::InlinedVector<std::int64_t, 4> row_major(const Shape& shape, std::int64_t last_axis) {
  absl::InlinedVector<std::int64_t, 4> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    if (shape.elements() != 0) stride *= shape[static_cast<std::int64_t>(i)];
  }
  if (last_axis < 0) return strides;
  const std::int64_t size = shape[last_axis], old = strides[static_cast<std::size_t>(last_axis)];
  for (std::int64_t& other : strides) other *= other < old ? size : 1;
  strides[static_cast<std::size_t>(last_axis)] = 1;
  return strides;
}

std::uint32_t Nest::number_of(Index index) {
  const auto [found, is_new] =
      numbers_.try_emplace(index, static_cast<std::uint32_t>(indices_.size()));
  if (is_new) indices_.push_back(std::move(index));
  return found->second;
}

std::uint32_t Nest::index(std::span<const std::int64_t> first) {
  Index made;
  for (std::size_t i = 0; i < sizes_.size(); i++)
    made.push_back({static_cast<std::int64_t>(i), first.empty() ? 0 : first[i], 1, lower::kNone});
  return number_of(std::move(made));
}

std::uint32_t Nest::read_index(const ir::Node& node, const ir::AccessMap& map, std::uint32_t index,
                               std::span<const std::int64_t> vanished) {
  Index made;
  const auto rank = static_cast<std::int64_t>(indices_[index].size());
  for (const ir::AxisRead& read : map) {
    AxisIndex at;
    at.start = read.start;
    if (read.axis >= rank) {
      at.start += vanished[static_cast<std::size_t>(read.axis - rank)] * read.step;
    } else if (read.axis >= 0) {
      const AxisIndex& from = indices_[index][static_cast<std::size_t>(read.axis)];
      at.axis = from.axis;
      const bool moves = at.axis >= 0 && sizes_[static_cast<std::size_t>(at.axis)] > 1;
      at.step = moves ? from.step * read.step : 0;
      at.start += from.start * read.step;
      if (from.dynamic != lower::kNone)
        at.dynamic = builder_.multiply(from.dynamic, builder_.index(read.step));
    }
    if (read.dynamic >= 0) {
      const Place& start =
          places_[plan_.value(node.operands[static_cast<std::size_t>(read.dynamic)])];
      const Value clamped = clamped_start(builder_, start.element[0], read.room);
      at.dynamic = at.dynamic == lower::kNone ? clamped : builder_.add(at.dynamic, clamped);
    }
    made.push_back(at);
  }
  return number_of(std::move(made));
}

Linear Nest::linear(const Index& index, const Shape& shape, std::int64_t width,
                    std::int64_t last_axis) const {
  Linear place;
  place.coefficients.assign(sizes_.size(), 0);
  // Starts and steps of empty values, and steps of axes of one element, may be any numbers.
  if (shape.elements() == 0) return place;
  const auto strides = row_major(shape, last_axis);
  for (std::size_t i = 0; i < index.size(); i++) {
    const AxisIndex& axis = index[i];
    const std::int64_t stride = strides[i] * width;
    place.offset += axis.start * stride;
    if (axis.axis >= 0 && sizes_[static_cast<std::size_t>(axis.axis)] > 1)
      place.coefficients[static_cast<std::size_t>(axis.axis)] += axis.step * stride;
    if (axis.dynamic != lower::kNone) place.dynamic.push_back({axis.dynamic, stride});
  }
  return place;
}

Linear Nest::dense(const Shape& shape, std::int64_t width) const {
  Index same;
  for (std::size_t i = 0; i < shape.size(); i++)
    same.push_back({static_cast<std::int64_t>(i), 0, 1, lower::kNone});
  return linear(same, shape, width);
}

std::uint32_t Nest::new_item(const Read& read, bool root) {
  const Tensor& value = read.operand;
  const Place& place = places_[plan_.value(value)];
  Item& item = items_.emplace_back();
  item.node = value.node();
  item.index = read.index;
  item.dtype = value.dtype();
  if (!root && (place.in_registers() || !place.element.empty())) {
    item.element = held_element(place, read);
  } else if (!root && place.kind == Place::Kind::kArray) {
    item.kind = Item::Kind::kLoad;
    const bool packed = read.as_factor && place.packed != lower::kNone;
    item.storage = packed ? -1 : place.storage;
    item.pointer = packed ? place.packed : place.pointer;
    item.place = linear(indices_[read.index], value.shape(), byte_width(value.dtype()),
                        packed || place.packed == lower::kNone ? place.packed_axis : -1);
  } else if (root || place.kind == Place::Kind::kInlined) {
    const Strategy form = plan_.step_of(value)->form;
    const bool forwards =
        form == Strategy::kRead || form == Strategy::kAlias || form == Strategy::kWrite;
    item.kind = forwards                     ? Item::Kind::kForward
                : form == Strategy::kGather  ? Item::Kind::kGather
                : form == Strategy::kElement ? Item::Kind::kCode
                                             : Item::Kind::kTerms;
    if (form == Strategy::kWrite && !part_at(*value.node(), read.index)) {
      // The rest of the array, which has one value.
      const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(*value.node());
      item.kind = Item::Kind::kValue;
      item.element =
          places_[plan_.value(value.node()->operands[static_cast<std::size_t>(map.fill)])].element;
    } else if (form == Strategy::kGather) {
      const ir::Node& node = *value.node();
      const Tensor& table = node.operands[0];
      const Place& from = places_[plan_.value(table)];
      if (!from.element.empty()) {
        // All elements of the table are equal to this one.
        item.kind = Item::Kind::kValue;
        item.element = from.element;
        return static_cast<std::uint32_t>(items_.size() - 1);
      }
      if (from.kind != Place::Kind::kArray)
        throw InternalError("a gather reads an array that is in no memory", node.location());
      item.storage = from.storage;
      item.pointer = from.pointer;
      const std::uint32_t at = read_index(node, ir::loops_as<ir::Gather>(node)->table, read.index);
      item.place = linear(indices_[at], table.shape(), byte_width(table.dtype()));
    }
  } else {
    throw InternalError("a value is used before it is computed", value.node()->location());
  }
  return static_cast<std::uint32_t>(items_.size() - 1);
}

Element Nest::held_element(const Place& place, const Read& read) {
  const Shape& shape = read.operand.shape();
  const std::size_t parts = is_complex(read.operand.dtype()) ? 2 : 1;
  if (place.element.size() == parts) return place.element;
  const Index& index = indices_[read.index];
  if (place.lane == LaneValue{LaneValue::Kind::kLane, -1}) {
    // The rows of a LaneNest.
    std::int64_t row = 0;
    for (const AxisIndex& at : index) row += at.start;
    const auto first = place.element.begin() + row * static_cast<std::ptrdiff_t>(parts);
    return Element(first, first + static_cast<std::ptrdiff_t>(parts));
  }
  // Places along each axis: one, or all of them if it is known only at run time which.
  std::vector<Element> found;
  for (std::size_t i = 0; i < place.element.size(); i += parts)
    found.emplace_back(place.element.begin() + static_cast<std::ptrdiff_t>(i),
                       place.element.begin() + static_cast<std::ptrdiff_t>(i + parts));
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    const std::int64_t size = shape[static_cast<std::int64_t>(axis)];
    if (static_cast<std::int64_t>(axis) == place.lane.axis || size == 1) continue;
    const AxisIndex& at = index[axis];
    const std::size_t below = found.size() / static_cast<std::size_t>(size);
    const auto first = found.begin() + static_cast<std::ptrdiff_t>(below) * at.start;
    std::vector<Element> chosen(first, first + static_cast<std::ptrdiff_t>(below));
    for (std::int64_t i = at.start + 1; at.dynamic != lower::kNone && i < size; i++) {
      const Value is_here = builder_.equal(at.dynamic, builder_.index(i - at.start));
      for (std::size_t j = 0; j < below; j++) {
        const Element& other = found[static_cast<std::size_t>(i) * below + j];
        for (std::size_t part = 0; part < parts; part++)
          chosen[j][part] = builder_.select(is_here, other[part], chosen[j][part]);
      }
    }
    found = std::move(chosen);
  }
  return found[0];
}

std::optional<ir::Part> Nest::part_at(const ir::Node& node, std::uint32_t index) const {
  const auto map = ir::loops_as<ir::InsertionMap>(node);
  if (!map) return std::nullopt;
  for (const ir::Part& part : map->parts) {
    bool inside = true;
    for (std::size_t i = 0; inside && i < part.axes.size(); i++) {
      const AxisIndex& at = indices_[index][i];
      const std::int64_t last =
          at.axis < 0 ? 0 : at.step * (sizes_[static_cast<std::size_t>(at.axis)] - 1);
      const std::int64_t start = part.axes[i].start, end = start + part.axes[i].count;
      inside =
          std::min(at.start, at.start + last) >= start && std::max(at.start, at.start + last) < end;
    }
    if (inside) return part;
  }
  if (map->fill < 0)
    throw InternalError("a box of a nest reads several parts of a concatenation", node.location());
  return std::nullopt;
}

std::vector<Nest::Read> Nest::reads_of(const Item& item) {
  const ir::Node& node = *item.node;
  std::vector<Read> reads;
  switch (item.kind) {
    case Item::Kind::kForward:
      if (const std::optional<ir::Part> part = part_at(node, item.index)) {
        Index index = indices_[item.index];
        for (std::size_t i = 0; i < index.size(); i++)
          index[i].start += part->axes[i].first - part->axes[i].start;
        reads.push_back(
            {node.operands[static_cast<std::size_t>(part->operand)], number_of(std::move(index))});
      } else {
        reads.push_back({node.operands[0], read_index(node, read_map(node), item.index)});
      }
      break;
    case Item::Kind::kCode:
      for (const Tensor& operand : node.operands) reads.push_back({operand, item.index});
      break;
    case Item::Kind::kGather: {
      const ir::Gather gather = *ir::loops_as<ir::Gather>(node);
      for (std::size_t i = 0; i < gather.components.size(); i++) {
        const std::int64_t component[] = {static_cast<std::int64_t>(i)};
        reads.push_back(
            {node.operands[1], read_index(node, gather.indices, item.index, component)});
      }
      break;
    }
    case Item::Kind::kTerms: {
      const Terms terms = *few_terms(node, true, kMostLaneTerms);
      if (terms.init >= 0)
        reads.push_back({node.operands[static_cast<std::size_t>(terms.init)], item.index});
      absl::InlinedVector<std::int64_t, 2> at(terms.sizes.size(), 0);
      for (std::int64_t i = terms.count(); i-- > 0;) {
        for (std::size_t factor = 0; factor < terms.factors.size(); factor++)
          reads.push_back({node.operands[factor],
                           read_index(node, terms.factors[factor], item.index, at), true});
        for (std::size_t axis = at.size(); axis-- > 0;) {
          if (++at[axis] < terms.sizes[axis]) break;
          at[axis] = 0;
        }
      }
      break;
    }
    default:
      break;
  }
  return reads;
}

std::uint32_t Nest::add(const Tensor& value, std::uint32_t index, bool root) {
  return enter_all({value, index}, root);
}

std::uint32_t Nest::add_with_axis_last(const Tensor& array, std::int64_t axis) {
  ir::AccessMap map;
  for (std::int64_t i = 0; i < array.rank(); i++)
    map.push_back({i == axis ? array.rank() - 1 : i - (i > axis ? 1 : 0), 0, 1, -1, 0});
  return add(array, read_index(*array.node(), map, index()));
}

std::uint32_t Nest::enter_all(const Read& first_read, bool root) {
  struct Open {
    std::uint32_t item;
    std::size_t next = 0;
    std::vector<Read> reads;
  };
  std::vector<Open> open;
  const auto enter = [&](const Read& read, bool is_root) {
    auto [found, is_new] = known_.try_emplace({plan_.value(read.operand), read.index}, 0);
    if (!is_new) return found->second;
    const std::uint32_t item = found->second = new_item(read, is_root);
    std::vector<Read> reads = reads_of(items_[item]);
    Item& made = items_[item];
    made.operands = static_cast<std::uint32_t>(reads.size());
    made.first_operand = static_cast<std::uint32_t>(operands_.size());
    operands_.resize(operands_.size() + made.operands);
    if (reads.empty())
      order_.push_back(item);
    else
      open.push_back({item, 0, std::move(reads)});
    return item;
  };
  const std::uint32_t first = enter(first_read, root);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == top.reads.size()) {
      order_.push_back(top.item);
      open.pop_back();
      continue;
    }
    const std::size_t slot = items_[top.item].first_operand + top.next;
    const Read read = top.reads[top.next++];
    const std::uint32_t entered = enter(read, false);
    operands_[slot] = entered;
  }
  return first;
}

std::uint32_t Nest::add_products(const ir::Node& node, const ir::Contraction& products) {
  const std::uint32_t at = index();
  std::uint32_t factors[2];
  for (std::size_t i = 0; i < 2; i++)
    factors[i] =
        enter_all({node.operands[i], read_index(node, products.factors[i], at), true}, false);
  Item& item = items_.emplace_back();
  item.kind = Item::Kind::kProduct;
  item.dtype = node.type().dtype;
  item.computed = products.type;
  item.first_operand = static_cast<std::uint32_t>(operands_.size());
  item.operands = 2;
  operands_.insert(operands_.end(), factors, factors + 2);
  order_.push_back(static_cast<std::uint32_t>(items_.size() - 1));
  return order_.back();
}

bool Nest::reads(std::int32_t storage) const {
  return std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
    const bool reads = item.kind == Item::Kind::kLoad || item.kind == Item::Kind::kGather;
    return reads && item.storage == storage;
  });
}

bool Nest::reads_elsewhere(std::int32_t storage, std::span<const Sink> sinks) const {
  return std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
    if (item.kind == Item::Kind::kGather) return item.storage == storage;
    return item.kind == Item::Kind::kLoad && item.storage == storage &&
           std::ranges::find(sinks, item.place, &Sink::place) == sinks.end();
  });
}

std::optional<Nest::Lying> Nest::lying(std::uint32_t item, const Linear& dense) const {
  const Item* from = &items_[item];
  while (from->kind == Item::Kind::kForward) from = &items_[operands_[from->first_operand]];
  if (from->kind != Item::Kind::kLoad || from->place.coefficients != dense.coefficients)
    return std::nullopt;
  lower::Address at{from->pointer, from->place.offset, {}};
  for (const auto& [index, stride] : from->place.dynamic) at.terms.push_back({index, stride});
  return Lying{from->storage, std::move(at)};
}

/// The axes of the nest without those of size 1; neighbors that can be one loop are merged.
Nest::Axes Nest::merged(const std::vector<bool>& reduced, const Linear* sink) const {
  Axes axes;
  // An empty nest reads nothing, and strides of operands may be any numbers.
  const bool empty = std::find(sizes_.begin(), sizes_.end(), 0) != sizes_.end();
  for (std::size_t i = sizes_.size(); i-- > 0;) {
    if (sizes_[i] == 1) continue;
    const bool vanishes = !reduced.empty() && reduced[i];
    if (!axes.empty() && axes.back().reduced == vanishes) {
      // The merged axis has the coefficients of its last one, and its whole size.
      const auto fits = [&](const Linear& place) {
        return place.coefficients[i] == place.coefficients[axes.back().last] * axes.back().size;
      };
      bool fit = !sink || fits(*sink);
      for (const Item& item : items_) {
        if (!fit || empty) break;
        if (item.kind == Item::Kind::kLoad || item.kind == Item::Kind::kGather) {
          fit = fits(item.place);
        } else if (item.kind == Item::Kind::kCode && item.operands == 0) {
          fit = std::none_of(indices_[item.index].begin(), indices_[item.index].end(),
                             [&](const AxisIndex& at) { return at.axis >= 0 && at.step != 0; });
        }
      }
      if (fit || (empty && vanishes)) {
        axes.back().size *= sizes_[i];
        continue;
      }
    }
    axes.push_back({sizes_[i], i, vanishes, lower::kNone});
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

lower::Address Nest::address(Value pointer, const Linear& place, const Axes& axes) const {
  lower::Address address{pointer, place.offset, {}};
  for (const auto& [value, stride] : place.dynamic) address.terms.push_back({value, stride});
  for (const Axis& axis : axes) {
    const std::int64_t stride = place.coefficients[axis.last];
    if (stride == 0) continue;
    address.offset += axis.shift * stride;
    address.terms.push_back({axis.index, stride});
  }
  return address;
}

Value Nest::axis_index(const Item& item, std::int64_t axis, const Axes& axes) {
  const AxisIndex& at = indices_[item.index][static_cast<std::size_t>(axis)];
  Value index = builder_.index(at.start);
  if (at.dynamic != lower::kNone) index = builder_.add(index, at.dynamic);
  for (const Axis& loop : axes) {
    if (static_cast<std::int64_t>(loop.last) != at.axis || at.step == 0) continue;
    const Value along = builder_.add(loop.index, builder_.index(loop.shift));
    index = builder_.add(index, builder_.multiply(along, builder_.index(at.step)));
  }
  return index;
}

/// The sum of an item's terms.
Value Nest::combined(const Item& item) {
  const Terms terms = *few_terms(*item.node, true, kMostLaneTerms);
  lower::Builder& b = builder_;
  std::uint32_t next = item.first_operand;
  const auto operand = [&] { return b.convert(items_[operands_[next++]].element[0], terms.type); };
  const Value init = terms.init >= 0 ? operand() : b.constant(terms.type, 0);
  Value sum = init;
  if (terms.factors.size() == 2) {
    for (std::int64_t i = terms.count(); i-- > 0;) {
      const Value left = operand();
      sum = b.multiply_add(left, operand(), sum);
    }
    return b.convert(sum, lower::type_of(item.dtype));
  }
  absl::InlinedVector<Value, 8> values;
  for (std::int64_t i = terms.count(); i-- > 0;) values.push_back(operand());
  if (terms.pairwise) {
    for (std::size_t half = lower::Lanes::kPartials / 2; half > 0; half /= 2) {
      for (std::size_t j = 0; j < half && j + half < values.size(); j++)
        values[j] = b.binary(terms.combine, values[j], values[j + half]);
      values.resize(std::min(values.size(), half));
    }
  }
  for (const Value value : values) sum = b.binary(terms.combine, sum, value);
  return b.convert(sum, lower::type_of(item.dtype));
}

/// The address of a gather's element.
lower::Address Nest::gathered(const Item& item, const Axes& axes) {
  const ir::Node& node = *item.node;
  const auto strides = row_major(node.operand_type(0).shape);
  lower::Address from = address(item.pointer, item.place, axes);
  std::uint32_t next = item.first_operand;
  const ir::Gather gather = *ir::loops_as<ir::Gather>(node);
  for (const auto& [axis, room] : gather.components) {
    const Value start = items_[operands_[next++]].element[0];
    from.terms.push_back({clamped_start(builder_, start, room),
                          strides[static_cast<std::size_t>(axis)] * byte_width(item.dtype)});
  }
  return from;
}

/// The code of all items, in the innermost loop, or of those that are not `known`.
void Nest::write_items(const Axes& axes, const std::vector<bool>& known) {
  absl::InlinedVector<Element, 3> operands;
  for (const std::uint32_t number : order_) {
    if (!known.empty() && known[number]) continue;
    Item& item = items_[number];
    switch (item.kind) {
      case Item::Kind::kValue:
        break;
      case Item::Kind::kLoad:
        item.element = builder_.load_element(item.dtype, address(item.pointer, item.place, axes));
        break;
      case Item::Kind::kGather:
        item.element = builder_.load_element(item.dtype, gathered(item, axes));
        break;
      case Item::Kind::kForward:
        item.element = items_[operands_[item.first_operand]].element;
        break;
      case Item::Kind::kTerms:
        item.element.assign(1, combined(item));
        break;
      case Item::Kind::kProduct: {
        const auto factor = [&](std::uint32_t i) {
          return builder_.convert(items_[operands_[item.first_operand + i]].element[0],
                                  item.computed);
        };
        item.element = {factor(0), factor(1)};  // whose products are summed
        break;
      }
      case Item::Kind::kCode: {
        operands.clear();
        for (std::uint32_t i = 0; i < item.operands; i++)
          operands.push_back(items_[operands_[item.first_operand + i]].element);
        const auto index = [&](std::int64_t axis) { return axis_index(item, axis, axes); };
        item.element = element_of(*item.node, builder_, operands, index);
        break;
      }
    }
  }
}

void Nest::store(std::uint32_t item, Value pointer, const Linear& place) {
  const Sink sink{item, place};
  store({&sink, 1}, pointer);
}

void Nest::store(std::span<const Sink> sinks, Value pointer) {
  Axes axes = merged({}, &sinks[0].place);
  // Threshold: Rows of fewer elements, as those of points in the plane or in space, are computed
  // column by column: they fill less than half of a small vector. Set by gradients/spring_network
  // in bench/workloads.
  constexpr std::int64_t kLeastRow = 4;
  if (axes.size() > 1 && axes.back().size < kLeastRow && axes[axes.size() - 2].size > kLeastRow)
    std::swap(axes.back(), axes[axes.size() - 2]);
  std::vector<std::uint32_t> fors;
  const std::size_t first = builder_.program().code.size();
  for (std::size_t i = 0; i < axes.size(); i++) {
    const Value size = builder_.index(axes[i].size);
    if (i + 1 < axes.size()) {
      const std::uint32_t loop =
          builder_.begin_for(builder_.index(0), size, 1, {}, lower::kNoLoop, axes[i].size);
      fors.push_back(loop);
      builder_.program().fors[loop].independent = true;
      axes[i].index = builder_.program().fors[loop].index;
    } else {
      axes[i].index = builder_.program().lanes[builder_.begin_lanes(size)].index;
    }
  }
  write_items(axes);
  for (const auto& [item, place] : sinks)
    builder_.store_element(items_[item].element, address(pointer, place, axes));
  if (!axes.empty() && axes.back().size < kManyLanes) let_poll(builder_, fors, axes.back().size);
  if (!axes.empty()) builder_.end_lanes();
  for (std::size_t i = 1; i < axes.size(); i++) builder_.end_for({});
  if (!axes.empty()) run_where_masks_hold(first, axes, fors);
}

Element Nest::single(std::uint32_t item) {
  write_items({});
  return items_[item].element;
}

Element Nest::at(std::span<const std::uint32_t> items, std::span<const Value> index) {
  Axes axes;
  for (std::size_t i = 0; i < sizes_.size(); i++) {
    if (sizes_[i] != 1) axes.push_back({sizes_[i], i, false, index[i]});
  }
  write_items(axes);
  Element elements;
  for (const std::uint32_t item : items)
    elements.insert(elements.end(), items_[item].element.begin(), items_[item].element.end());
  return elements;
}

std::optional<Value> Nest::begin_lanes() {
  Axes axes = merged({}, nullptr);
  if (axes.size() != 1) return std::nullopt;
  const std::uint32_t lanes = builder_.begin_lanes(builder_.index(axes[0].size));
  axes[0].index = builder_.program().lanes[lanes].index;
  write_items(axes);
  return axes[0].index;
}

}  // namespace rondo::executor
