#include "executor/lane_values.h"

#include <algorithm>
#include <vector>

#include "executor/element_code.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "executor/terms.h"

namespace rondo::executor {

namespace {

using Kind = LaneValue::Kind;

constexpr LaneValue kUniform{Kind::kUniform, -1};

bool uses_axis(const ir::AccessMap& map, std::int64_t axis) {
  return std::any_of(map.begin(), map.end(),
                     [&](const ir::AxisRead& read) { return read.axis == axis; });
}

/// Whether an array is read at the index of the result, of which it may have only the last axes.
bool is_identity(const ir::AccessMap& map, const Shape& array, const Shape& result) {
  for (std::int64_t i = 0; i < array.rank(); i++) {
    const ir::AxisRead& read = map[static_cast<std::size_t>(i)];
    const std::int64_t axis = i + result.rank() - array.rank();
    if (array[i] != 1 && (read.axis != axis || read.start != 0 || read.step != 1 || read.moves()))
      return false;
  }
  return true;
}

std::optional<std::int64_t> axis_of_size(const Shape& shape, std::int64_t size) {
  const auto found = std::find(shape.begin(), shape.end(), size);
  if (found == shape.end()) return std::nullopt;
  return found - shape.begin();
}

}  // namespace

std::size_t LaneNest::axis_of_rows() const {
  std::size_t axis = shape.size();
  for (int left = 2; left > 0; left--) {
    do axis--;
    while (shape[static_cast<std::int64_t>(axis)] == 1);
  }
  return axis;
}

bool LaneNest::ends(const Shape& array) const {
  return array.rank() >= shape.rank() &&
         std::equal(shape.begin(), shape.end(), array.end() - shape.rank());
}

void for_each_of_lane(const Shape& shape, std::int64_t axis,
                      absl::FunctionRef<void(std::span<const std::int64_t>)> f) {
  for (std::int64_t i = 0; i < shape.rank(); i++) {
    if (i != axis && shape[i] == 0) return;
  }
  absl::InlinedVector<std::int64_t, 4> index(shape.size(), 0);
  const auto next = [&] {
    for (std::int64_t i = shape.rank(); i-- > 0;) {
      if (i == axis) continue;
      if (++index[static_cast<std::size_t>(i)] < shape[i]) return true;
      index[static_cast<std::size_t>(i)] = 0;
    }
    return false;
  };
  do f(index);
  while (next());
}

void for_each_in_part(const ir::Part& part, std::int64_t axis,
                      absl::FunctionRef<void(std::span<const std::int64_t>)> f) {
  absl::InlinedVector<std::int64_t, 4> sizes;
  for (const ir::AxisWrite& write : part.axes) sizes.push_back(write.count);
  if (std::find(sizes.begin(), sizes.end(), 0) == sizes.end())
    for_each_of_lane(Shape(sizes), axis, f);
}

std::int64_t number_in_lane(const Shape& shape, std::int64_t axis,
                            std::span<const std::int64_t> index) {
  std::int64_t number = 0;
  for (std::int64_t i = 0; i < shape.rank(); i++) {
    if (i != axis) number = number * shape[i] + index[static_cast<std::size_t>(i)];
  }
  return number;
}

bool fits_in_lanes(const TensorType& type) {
  std::int64_t lanes = 1;
  for (const std::int64_t size : type.shape.dims()) lanes = std::max(lanes, size);
  return type.elements() / lanes <= kMostLaneElements;
}

bool moves(const ir::Part& part) {
  return std::any_of(part.axes.begin(), part.axes.end(),
                     [](const ir::AxisWrite& axis) { return axis.moves(); });
}

bool covers(const ir::Part& part, std::int64_t axis, std::int64_t size) {
  const ir::AxisWrite& write = part.axes[static_cast<std::size_t>(axis)];
  return write.first == 0 && write.count == size && write.start == 0 && write.step == 1 &&
         !write.moves();
}

bool covers_lanes(const ir::Part& part, const LaneNest& nest) {
  const auto before = static_cast<std::int64_t>(part.axes.size()) - nest.shape.rank();
  for (std::int64_t axis = 0; axis < nest.shape.rank(); axis++) {
    if (!covers(part, before + axis, nest.shape[axis])) return false;
  }
  return true;
}

std::optional<LaneValue> LaneRules::of_type(const TensorType& type) const {
  const std::int64_t elements = type.elements();
  if (elements == 0) return std::nullopt;
  if (lanes_ == 1) return elements <= kMostUniformElements ? std::optional(kUniform) : std::nullopt;
  if (!nest_.empty()) {
    if (nest_.is_shape_of(type.shape)) return LaneValue{Kind::kLane, -1};
    return elements <= kMostUniformElements ? std::optional(kUniform) : std::nullopt;
  }
  const std::optional<std::int64_t> axis = axis_of_size(type.shape, lanes_);
  if (elements == lanes_) return LaneValue{Kind::kLane, axis.value_or(-1)};
  if (axis && elements / lanes_ <= kMostLaneElements) return LaneValue{Kind::kLane, *axis};
  if (elements <= kMostUniformElements) return kUniform;
  return std::nullopt;
}

std::optional<LaneValue> LaneRules::in_registers(const TensorType& type,
                                                 const LaneValue& value) const {
  if (has_states(value) || value.kind == Kind::kView) return std::nullopt;
  return value.kind == Kind::kInvariant ? of_type(type) : value;
}

std::optional<LaneValue> LaneRules::result(const Node& node, Operands operands) const {
  switch (strategy_of(node)) {
    case Strategy::kConstant:
      return is_scalar(node.type()) ? kUniform : LaneValue{};
    case Strategy::kElement:
      return elementwise(node, operands);
    case Strategy::kAlias:
      if (is_view(node, operands)) return operands[0];
      return alias(node, operands[0]);
    case Strategy::kRead: {
      const ir::AccessMap map = read_map(node);
      const MappedOperand from[] = {{&operands[0], &node.operand_type(0), &map}};
      const std::optional<LaneValue> made = mapped(node.type(), from);
      const bool is_held = is_scalar(node.type()) || (made && made->kind == Kind::kLane);
      return !is_held && is_view(node, operands) ? LaneValue{Kind::kView, -1} : made;
    }
    case Strategy::kGather:
      return gather(node, operands);
    case Strategy::kUnrolledContraction:
    case Strategy::kContraction:
    case Strategy::kKernel:
      return terms(node, operands, kMostTerms);
    case Strategy::kReduction:
      // Of a lane's own elements. A reduction of values that all lanes share is hoisted.
      if (operands[0].kind != Kind::kLane) return std::nullopt;
      return terms(node, operands, kMostLaneTerms);
    case Strategy::kWrite:
      return write(node, operands);
    case Strategy::kTapeRead:
      return operands[0].kind == Kind::kTape ? of_type(node.type()) : std::nullopt;
    case Strategy::kTapeWrite:
      if (operands[0].kind != Kind::kTape || !in_registers(node.operand_type(1), operands[1]))
        return std::nullopt;
      return operands[0];
    default:
      return std::nullopt;
  }
}

std::optional<LaneValue> LaneRules::elementwise(const Node& node, Operands operands) const {
  const TensorType& type = node.type();
  std::optional<std::int64_t> axis;
  bool uniform = false;
  for (std::size_t i = 0; i < operands.size(); i++) {
    if (is_scalar(node.operand_type(i))) continue;
    if (node.operand_type(i).elements() != type.elements()) return std::nullopt;
    if (operands[i].kind == Kind::kCarried) return std::nullopt;
    uniform = uniform || operands[i].kind == Kind::kUniform;
    if (operands[i].kind != Kind::kLane) continue;
    if (axis && *axis != operands[i].axis) return std::nullopt;
    axis = operands[i].axis;
  }
  if (axis && uniform) return std::nullopt;
  if (axis) return LaneValue{Kind::kLane, *axis};
  if (uniform) return kUniform;
  const std::optional<LaneValue> made = of_type(type);
  // Threshold: Work of an element of a row or column that lanes compute where they read it, for all
  // of their rows at once: arithmetic, but no functions. Set by arrays/nearest_sites in
  // bench/workloads, which takes 3.4 times as long with arrays of rows and columns.
  constexpr std::int64_t kMostWorkOfView = 8;
  const bool is_own = is_scalar(type) || (made && made->kind == Kind::kLane);
  if (!nest_.empty() && !is_own && element_work(node) <= kMostWorkOfView)
    return LaneValue{Kind::kView, -1};
  // Element code may use its index along an axis: the lane's number, if that axis has all lanes.
  if (made && operands.empty() && *made == LaneValue{Kind::kLane, -1} && nest_.empty() &&
      std::count_if(type.shape.begin(), type.shape.end(),
                    [](std::int64_t size) { return size != 1; }) > 1)
    return std::nullopt;
  return made;
}

std::optional<LaneValue> LaneRules::alias(const Node& node, const LaneValue& operand) const {
  const TensorType &from = node.operand_type(0), &to = node.type();
  if (operand.kind == Kind::kCarried || operand.kind == Kind::kView ||
      byte_width(to.dtype) != byte_width(from.dtype) ||
      is_complex(to.dtype) != is_complex(from.dtype))
    return std::nullopt;
  if (operand.kind != Kind::kLane) return operand;
  if (!nest_.empty()) return nest_.is_shape_of(to.shape) ? std::optional(operand) : std::nullopt;
  if (to.elements() == lanes_) return of_type(to);
  std::int64_t before = 1;
  for (std::int64_t i = 0; i < operand.axis; i++) before *= from.shape[i];
  for (std::int64_t i = 0; i < to.rank(); before /= std::max<std::int64_t>(to.shape[i++], 1)) {
    if (before == 1 && to.shape[i] == lanes_) return LaneValue{Kind::kLane, i};
    if (before % std::max<std::int64_t>(to.shape[i], 1) != 0) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::int64_t> LaneRules::axis_through(const ir::AccessMap& map, std::int64_t axis,
                                                    const Shape& result) const {
  if (axis < 0) return std::nullopt;
  const ir::AxisRead& read = map[static_cast<std::size_t>(axis)];
  if (read.axis < 0 || read.axis >= result.rank() || result[read.axis] != lanes_ ||
      read.start != 0 || read.step != 1 || read.moves())
    return std::nullopt;
  if (std::count_if(map.begin(), map.end(),
                    [&](const ir::AxisRead& other) { return other.axis == read.axis; }) != 1)
    return std::nullopt;
  return read.axis;
}

std::optional<LaneValue> LaneRules::mapped_in_one_lane(
    const TensorType& result, std::span<const MappedOperand> operands) const {
  for (const MappedOperand& operand : operands) {
    const bool moves = std::any_of(operand.map->begin(), operand.map->end(),
                                   [](const ir::AxisRead& read) { return read.moves(); });
    if (moves && operand.value->kind == Kind::kUniform &&
        operand.type->elements() > kMostMovingElements)
      return std::nullopt;
  }
  return of_type(result);
}

/// Arrays in memory may be read anywhere; what a lane computes, at its own index.
std::optional<LaneValue> LaneRules::mapped_in_nest(const TensorType& result,
                                                   std::span<const MappedOperand> operands) const {
  const std::optional<LaneValue> made = of_type(result);
  const bool reads_own = made && made->kind == Kind::kLane;
  const auto fits = [&](const MappedOperand& operand) {
    switch (operand.value->kind) {
      case Kind::kInvariant:
      case Kind::kView:
        return true;
      case Kind::kUniform:
        return !reads_own || is_scalar(*operand.type);
      case Kind::kLane:
        return reads_own && is_identity(*operand.map, operand.type->shape, result.shape);
      default:
        return false;
    }
  };
  return std::all_of(operands.begin(), operands.end(), fits) ? made : std::nullopt;
}

/// Whether a node reads a part of what is in memory or is computed where it is read, or repeats a
/// single element.
bool LaneRules::is_view(const Node& node, Operands operands) const {
  if (nest_.empty()) return false;
  const Strategy form = strategy_of(node);
  if (form == Strategy::kAlias) return operands[0].kind == Kind::kView && regroups_nothing(node);
  return form == Strategy::kRead &&
         (operands[0].kind == Kind::kInvariant || operands[0].kind == Kind::kView ||
          is_scalar(node.operand_type(0)));
}

std::optional<LaneValue> LaneRules::mapped(const TensorType& result,
                                           std::span<const MappedOperand> operands) const {
  if (lanes_ == 1) return mapped_in_one_lane(result, operands);
  if (!nest_.empty()) return mapped_in_nest(result, operands);
  std::optional<std::int64_t> axis;
  for (const MappedOperand& operand : operands) {
    if (operand.value->kind != Kind::kLane && operand.value->kind != Kind::kCarried) continue;
    const auto through = axis_through(*operand.map, operand.value->axis, result.shape);
    if (!through || (axis && *axis != *through)) return std::nullopt;
    axis = through;
  }
  const bool all_single = std::all_of(operands.begin(), operands.end(),
                                      [](const auto& operand) { return is_scalar(*operand.type); });
  LaneValue made{Kind::kLane, axis.value_or(-1)};
  if (!axis) {
    const std::optional<LaneValue> of_result = of_type(result);
    if (!of_result) return std::nullopt;
    made = *of_result;
    if (made.kind == Kind::kLane && made.axis < 0 && !all_single) return std::nullopt;
  }
  if (made.kind == Kind::kLane) {
    for (const MappedOperand& operand : operands) {
      if (operand.value->kind == Kind::kUniform && uses_axis(*operand.map, made.axis) &&
          !is_scalar(*operand.type))
        return std::nullopt;
    }
  }
  if (count(result, made) > kMostLaneElements) return std::nullopt;
  return made;
}

std::optional<LaneValue> LaneRules::gather(const Node& node, Operands operands) const {
  if (operands[0].kind != Kind::kInvariant || operands[1].kind == Kind::kCarried)
    return std::nullopt;
  const ir::Gather gather = *ir::loops_as<ir::Gather>(node);
  const MappedOperand from[] = {{&operands[0], &node.operand_type(0), &gather.table},
                                {&operands[1], &node.operand_type(1), &gather.indices}};
  return mapped(node.type(), from);
}

std::optional<LaneValue> LaneRules::terms(const Node& node, Operands operands,
                                          std::int64_t most) const {
  const std::optional<Terms> terms = few_terms(node, reorders_, most);
  if (!terms) return std::nullopt;
  std::vector<MappedOperand> from;
  for (std::size_t i = 0; i < terms->factors.size(); i++) {
    if (operands[i].kind == Kind::kCarried) return std::nullopt;
    from.push_back({&operands[i], &node.operand_type(i), &terms->factors[i]});
  }
  return mapped(node.type(), from);
}

std::optional<LaneValue> LaneRules::write(const Node& node, Operands operands) const {
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
  const auto kind_of = [&](int operand) { return operands[static_cast<std::size_t>(operand)]; };
  if (map.kept >= 0 && kind_of(map.kept).kind == Kind::kCarried) return update(node, map, operands);
  std::vector<int> sources;
  for (const ir::Part& part : map.parts) sources.push_back(part.operand);
  if (map.kept >= 0) sources.push_back(map.kept);
  std::optional<std::int64_t> axis;
  bool uniform = false;
  for (const int operand : sources) {
    const LaneValue& value = kind_of(operand);
    if (value.kind == Kind::kCarried || value.kind == Kind::kView) return std::nullopt;
    uniform = uniform || value.kind == Kind::kUniform;
    if (value.kind != Kind::kLane) continue;
    if (axis && *axis != value.axis) return std::nullopt;
    axis = value.axis;
  }
  std::optional<LaneValue> made = LaneValue{Kind::kLane, axis.value_or(-1)};
  if (!axis) made = of_type(node.type());
  if (!made || count(node.type(), *made) > kMostLaneElements) return std::nullopt;
  if (lanes_ == 1 && node.type().elements() > kMostMovingElements &&
      std::any_of(map.parts.begin(), map.parts.end(), moves))
    return std::nullopt;
  if (made->kind == Kind::kUniform) return made;
  const bool in_lanes = made->axis >= 0 && node.type().shape[made->axis] == lanes_ && !uniform &&
                        std::all_of(map.parts.begin(), map.parts.end(),
                                    [&](auto& p) { return covers(p, made->axis, lanes_); });
  return in_lanes ? made : std::nullopt;
}

std::optional<LaneValue> LaneRules::update(const Node& node, const ir::InsertionMap& map,
                                           Operands operands) const {
  const LaneValue& array = operands[static_cast<std::size_t>(map.kept)];
  for (const ir::Part& part : map.parts) {
    const LaneValue& value = operands[static_cast<std::size_t>(part.operand)];
    const TensorType& type = node.operand_type(static_cast<std::size_t>(part.operand));
    if (!nest_.empty()) {
      if (!covers_lanes(part, nest_) || !in_registers(type, value) ||
          !nest_.is_shape_of(type.shape))
        return std::nullopt;
      continue;
    }
    if (lanes_ == 1) {
      if (!in_registers(type, value)) return std::nullopt;
      continue;
    }
    const bool own = value == LaneValue{Kind::kLane, array.axis} ||
                     (value.kind == Kind::kInvariant && type.shape[array.axis] == lanes_);
    if (!own || !covers(part, array.axis, lanes_) || type.elements() / lanes_ > kMostLaneElements)
      return std::nullopt;
  }
  return array;
}

}  // namespace rondo::executor
