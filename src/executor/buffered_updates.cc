#include "executor/buffered_updates.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/element_code.h"
#include "executor/loop_parts.h"
#include "executor/names.h"
#include "executor/nest.h"
#include "executor/region_plan.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/loop_nest.h"

namespace rondo::executor {

namespace {

/// Where an element is read, relative to the one that is written, along each axis. Nothing: it is
/// not the same for all elements.
using Distance = std::optional<absl::InlinedVector<std::int64_t, 4>>;

/// Where a node reads or writes along an axis, if its start is a constant.
template <class AxisAccess>
std::optional<std::int64_t> fixed_start(const Node& node, const AxisAccess& axis) {
  if (!axis.moves()) return axis.start;
  const Node* start = node.operands[static_cast<std::size_t>(axis.dynamic)].node();
  if (!ir::is_constant(start)) return std::nullopt;
  Builder builder;
  const Value clamped = clamped_start(builder, first_element(builder, *start)[0], axis.room);
  return axis.start + static_cast<std::int64_t>(*builder.known(clamped));
}

/// The distance at which the operand of a read is read; `from` is that of its result.
Distance through(const Node& node, const Distance& from) {
  const ir::AccessMap map = read_map(node);
  if (!from || map.size() != from->size()) return std::nullopt;
  Distance at = from;
  for (std::size_t i = 0; i < map.size(); i++) {
    const ir::AxisRead& read = map[i];
    const std::optional<std::int64_t> start = fixed_start(node, read);
    if (read.axis != static_cast<std::int64_t>(i) || read.step != 1 || !start) return std::nullopt;
    (*at)[i] += *start;
  }
  return at;
}

/// Whether a part is written at the same place in each trip of a loop.
bool is_fixed(const Node& write, const ir::Part& part, const LoopParts& loop, std::size_t carries) {
  return std::ranges::all_of(part.axes, [&](const ir::AxisWrite& axis) {
    if (!axis.moves()) return true;
    const Tensor& start = write.operands[static_cast<std::size_t>(axis.dynamic)];
    if (ir::is_constant(start.node())) return true;
    const auto& parameters = loop.body.parameters();
    const auto invariants = parameters.begin() + static_cast<std::ptrdiff_t>(loop.before) +
                            static_cast<std::ptrdiff_t>(carries);
    return std::any_of(invariants, parameters.end(),
                       [&](const Tensor& parameter) { return parameter.same_as(start); });
  });
}

/// Whether a part reads elements of `array` other than those that it writes.
bool reads_elsewhere(const Node& write, const ir::Part& part, const Tensor& array) {
  Distance at = Distance::value_type();
  for (const ir::AxisWrite& axis : part.axes) {
    const std::optional<std::int64_t> start = fixed_start(write, axis);
    if ((axis.step != 1 && axis.count > 1) || !start) return true;
    at->push_back(axis.first - *start);
  }
  std::vector<std::pair<Tensor, Distance>> open{
      {write.operands[static_cast<std::size_t>(part.operand)], at}};
  absl::flat_hash_map<ir::ValueKey, Distance> known;
  while (!open.empty()) {
    const auto [value, distance] = std::move(open.back());
    open.pop_back();
    // Single elements are read before parts are written.
    if (is_scalar(value.type())) continue;
    const bool is_array = value.same_as(array);
    if (is_array && (!distance || std::ranges::any_of(*distance, [](auto d) { return d != 0; })))
      return true;
    const auto [found, is_new] = known.try_emplace(value, distance);
    // Reached at several distances: of none of those that are the same for all elements.
    if (!is_new && (found->second == distance || !found->second)) continue;
    if (!is_new) found->second = std::nullopt;
    if (is_array || ir::is_parameter(value.node())) continue;
    const Node& node = *value.node();
    const Strategy form = strategy_of(node);
    for (const Tensor& operand : node.operands) {
      if (form == Strategy::kElement)
        open.emplace_back(operand, found->second);
      else if (form == Strategy::kRead)
        open.emplace_back(operand, through(node, found->second));
      else
        open.emplace_back(operand, std::nullopt);
    }
  }
  return false;
}

/// Along each axis, the first element and the one after the last.
using Extent = absl::InlinedVector<std::pair<std::int64_t, std::int64_t>, 4>;

std::optional<Extent> extent_of(const Node& write, const ir::Part& part) {
  Extent extent;
  for (const ir::AxisWrite& axis : part.axes) {
    const std::optional<std::int64_t> start = fixed_start(write, axis);
    if (!start || (axis.step != 1 && axis.count > 1)) return std::nullopt;
    extent.emplace_back(*start, *start + axis.count);
  }
  return extent;
}

/// What a node reads of its first operand.
std::optional<Extent> extent_read(const Node& node) {
  if (strategy_of(node) != Strategy::kRead) return std::nullopt;
  Extent extent;
  for (const ir::AxisRead& read : read_map(node)) {
    const std::optional<std::int64_t> start = fixed_start(node, read);
    if (!start || (read.axis >= 0 && read.step != 1)) return std::nullopt;
    const std::int64_t count = read.axis >= 0 ? node.type().shape[read.axis] : 1;
    extent.emplace_back(*start, *start + count);
  }
  return extent;
}

bool contains(const Extent& outer, const Extent& inner) {
  return std::ranges::equal(outer, inner, [](const auto& a, const auto& b) {
    return a.first <= b.first && b.second <= a.second;
  });
}

bool overlap(const Extent& one, const Extent& other) {
  return std::ranges::equal(one, other, [](const auto& a, const auto& b) {
    return a.first < b.second && b.first < a.second;
  });
}

/// Where the values of a body are used.
class Uses {
 public:
  struct Use {
    const Node* node;  // null: it is a result
    std::size_t operand;
  };
  explicit Uses(const Function& body) {
    for (const Tensor& output : body.outputs()) uses_[output].push_back({nullptr, 0});
    for (const Node* node : body.body()) {
      for (std::size_t i = 0; i < node->operands.size(); i++)
        uses_[node->operands[i]].push_back({node, i});
    }
  }
  const std::vector<Use>& of(const Tensor& value) const { return uses_.at(value); }

 private:
  absl::flat_hash_map<ir::ValueKey, std::vector<Use>> uses_;
};

/// Whether a value is computed in the loops of the only node that uses it, and nowhere in memory.
bool is_fused(const Uses& uses, const Tensor& value) {
  const Strategy form = strategy_of(*value.node());
  return (form == Strategy::kElement || form == Strategy::kRead) && uses.of(value).size() == 1;
}

/// The updates of an array in a trip, in order.
class Updates {
 public:
  explicit Updates(std::span<const Node* const> updates) : updates_(updates) {
    for (std::size_t i = 0; i < updates.size(); i++) {
      const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(*updates[i]);
      for (const ir::Part& part : map.parts) written_.emplace_back(i, extent_of(*updates[i], part));
    }
  }

  /// Whether no array between two updates is read where a later one writes and none has written
  /// yet: there the second buffer has elements of an earlier trip.
  bool read_no_old_elements(const Uses& uses) const {
    for (std::size_t i = 0; i + 1 < updates_.size(); i++) {
      for (const auto& [node, operand] : uses.of(Tensor::of(updates_[i]))) {
        if (!node) return false;
        const bool is_kept =
            node == updates_[i + 1] &&
            static_cast<int>(operand) == ir::loops_as<ir::InsertionMap>(*node)->kept;
        const std::optional<Extent> read = operand == 0 ? extent_read(*node) : std::nullopt;
        if (!is_kept && (!read || !is_new(*read, i))) return false;
      }
    }
    return true;
  }

 private:
  /// After the update of this number.
  bool is_new(const Extent& read, std::size_t last) const {
    return std::ranges::any_of(written_,
                               [&](const auto& part) {
                                 return part.first <= last && part.second &&
                                        contains(*part.second, read);
                               }) ||
           std::ranges::none_of(written_, [&](const auto& part) {
             return part.first > last && (!part.second || overlap(*part.second, read));
           });
  }

  std::span<const Node* const> updates_;
  std::vector<std::pair<std::size_t, std::optional<Extent>>> written_;
};

/// The updates at fixed places that make the next value of a carry, in order; none if others do.
std::vector<const Node*> fixed_updates(const Node& loop, std::size_t carry) {
  const LoopParts parts(loop);
  std::vector<const Node*> updates;
  for (Tensor value = parts.body.outputs()[carry]; !value.same_as(parts.parameter(carry));) {
    const Node* node = value.node();
    if (ir::is_parameter(node) || strategy_of(*node) != Strategy::kWrite) return {};
    const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(*node);
    const bool stays = std::ranges::all_of(map.parts, [&](const ir::Part& part) {
      return is_fixed(*node, part, parts, loop.types.size());
    });
    if (map.kept < 0 || !stays) return {};
    updates.push_back(node);
    value = node->operands[static_cast<std::size_t>(map.kept)];
  }
  std::ranges::reverse(updates);
  return updates;
}

/// Whether parts that in place would be moved in each trip cost more than copies of the array.
bool gains_by_buffer(const Node& loop, std::size_t carry, std::span<const Node* const> updates,
                     const Uses& uses) {
  const Tensor& array = LoopParts(loop).parameter(carry);
  std::int64_t moved = 0;  // bytes in each trip
  for (const Node* update : updates) {
    const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(*update);
    for (const ir::Part& part : map.parts) {
      const Tensor& value = update->operands[static_cast<std::size_t>(part.operand)];
      if (is_fused(uses, value) && reads_elsewhere(*update, part, array))
        moved += value.type().bytes();
    }
  }
  // Threshold: Trips assumed for a loop of unknown length: copies in each trip against one before
  // the loop and one after it. Not measured.
  constexpr std::int64_t kTrips = 16;
  const auto layout = ir::region_layout(&loop);
  const std::int64_t trips = layout && layout->trip_count ? *layout->trip_count : kTrips;
  return moved > 0 && trips > 2 * array.type().bytes() / moved;
}

}  // namespace

std::vector<const Node*> first_buffered_updates(const Node& loop) {
  std::vector<const Node*> first(loop.types.size(), nullptr);
  std::optional<Uses> uses;
  for (std::size_t carry = 0; carry < first.size(); carry++) {
    const std::vector<const Node*> updates = fixed_updates(loop, carry);
    if (updates.empty()) continue;
    if (!uses) uses.emplace(LoopParts(loop).body);
    if (Updates(updates).read_no_old_elements(*uses) &&
        gains_by_buffer(loop, carry, updates, *uses))
      first[carry] = updates.front();
  }
  return first;
}

}  // namespace rondo::executor
