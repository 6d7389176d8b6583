#include "executor/lane_loop.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/lowerer.h"
#include "executor/region_plan.h"
#include "ir/element.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "lower/opcodes.h"
#include "passes/expand.h"

namespace rondo::executor {

namespace {

bool has_lanes(const TensorType& type, std::int64_t lanes) {
  return type.rank() > 0 && type.shape[0] == lanes && type.elements() == lanes;
}

/// Whether element i of the result is made of element i of each operand, or of single ones.
bool is_by_lane(const Node& node, std::int64_t lanes) {
  const auto fits = [&](const TensorType& type) {
    return is_single(type) || has_lanes(type, lanes);
  };
  if (!std::all_of(node.types.begin(), node.types.end(), fits)) return false;
  for (std::size_t i = 0; i < node.operands.size(); i++) {
    if (!fits(node.operand_type(i))) return false;
  }
  const auto same_elements = [&](std::size_t operand) {
    return node.operand_type(operand).elements() == node.type().elements();
  };
  switch (form_of(node)) {
    case Form::kConstant:
    case Form::kForward:
      return true;
    case Form::kElement: {
      for (std::size_t i = 0; i < node.operands.size(); i++) {
        if (!same_elements(i) && !is_single(node.operand_type(i))) return false;
      }
      return true;
    }
    case Form::kRead:
      return is_single(node.operand_type(0));
    case Form::kAlias:
      return same_elements(0) &&
             byte_width(node.type().dtype) == byte_width(node.operand_type(0).dtype) &&
             is_complex(node.type().dtype) == is_complex(node.operand_type(0).dtype);
    default:
      return false;
  }
}

bool runs_in_lanes(const Node& node) {
  if (!node.op->lane_loop) return false;
  const std::int64_t lanes = node.op->lane_loop(node).lanes;
  if (lanes < 2) return false;
  const auto fits = [&](const TensorType& type) {
    return is_single(type) || has_lanes(type, lanes);
  };
  for (std::size_t i = 0; i < node.operands.size(); i++) {
    if (!fits(node.operand_type(i))) return false;
  }
  for (const Function& region : node.regions) {
    for (const Node* inner : region.body()) {
      if (!is_by_lane(*inner, lanes)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Function> with_lane_loops(const Function& function) {
  absl::flat_hash_set<ir::ValueKey> used;
  const auto use = [&](const Tensor& value) {
    if (value.node()->op->lane_loop) used.insert(value);
  };
  for (const Node* node : function.body()) {
    for (const Tensor& operand : node->operands) use(operand);
  }
  for (const Tensor& output : function.outputs()) use(output);
  if (used.empty()) return std::nullopt;
  bool found = false;
  Function expanded = passes::expand(function, [&](const Node& node, const Node& inside) {
    for (std::uint32_t i = 0; i < node.types.size(); i++) {
      if (is_single(node.types[i]) && used.contains({&node, i})) return false;
    }
    const bool runs = runs_in_lanes(inside);
    found = found || runs;
    return runs;
  });
  if (!found) return std::nullopt;
  return expanded;
}

/// The elements of one lane.
class LaneValues {
 public:
  LaneValues(lower::Builder& builder, Value lane) : builder_(builder), lane_(lane) {}

  /// An array has an element for each lane.
  Element load(Value pointer, const TensorType& type) {
    const Type part = lower::type_of(type.dtype);
    Element element{builder_.load(part, at(pointer, type, 0))};
    if (is_complex(type.dtype))
      element.push_back(builder_.load(part, at(pointer, type, lower::width(part))));
    return element;
  }
  void store(const Element& element, Value pointer, const TensorType& type) {
    std::int64_t offset = 0;
    for (const Value part : element) {
      builder_.store(part, at(pointer, type, offset));
      offset += lower::width(builder_.type(part));
    }
  }

  /// The outputs of a region. `constant` gives the place of a constant.
  template <class Constant>
  std::vector<Element> run(const Function& region, const std::vector<Element>& arguments,
                           Constant&& constant) {
    absl::flat_hash_map<ir::ValueKey, Element> values;
    for (std::size_t i = 0; i < arguments.size(); i++)
      values.emplace(region.parameters()[i], arguments[i]);
    absl::InlinedVector<Element, 3> operands;
    for (const Node* node : region.body()) {
      operands.clear();
      for (const Tensor& operand : node->operands) operands.push_back(values.at(operand));
      switch (form_of(*node)) {
        case Form::kConstant: {
          const Place place = constant(node);
          values.emplace(Tensor::of(node), place.kind == Place::Kind::kSingle
                                               ? place.element
                                               : load(place.pointer, node->type()));
          break;
        }
        case Form::kElement: {
          const auto index = [&](std::int64_t axis) {
            return axis == 0 && !is_single(node->type()) ? lane_ : builder_.index(0);
          };
          values.emplace(Tensor::of(node), node->op->element({*node, builder_, operands, index}));
          break;
        }
        case Form::kAlias:
          values.emplace(Tensor::of(node), alias(*node, operands[0]));
          break;
        default:  // is_by_lane leaves those whose results are their operands
          for (std::uint32_t i = 0; i < node->types.size(); i++)
            values.emplace(Tensor::of(node, i), operands[i]);
      }
    }
    std::vector<Element> outputs;
    for (const Tensor& output : region.outputs()) outputs.push_back(values.at(output));
    return outputs;
  }

 private:
  lower::Address at(Value pointer, const TensorType& type, std::int64_t offset) const {
    return {pointer, offset, {{lane_, byte_width(type.dtype)}}};
  }
  Element alias(const Node& node, const Element& from) {
    if (from.size() != 1) return from;
    return {builder_.bitcast(from[0], lower::type_of(node.type().dtype))};
  }

  lower::Builder& builder_;
  Value lane_;
};

void Lowerer::lane_loop(Scope& scope, const Step& step) {
  const Node* node = step.node;
  const ir::LaneLoop loop = node->op->lane_loop(*node);
  const std::size_t carries = node->types.size();
  lower::LoopInfo info;
  info.name = loop.name;
  info.at = node->location();
  info.max_trip_count = loop.max_trip_count;
  info.promised = loop.promised;
  info.in_lanes = true;
  builder_.program().loops.push_back(std::move(info));
  const auto number = static_cast<std::uint32_t>(builder_.program().loops.size() - 1);
  std::vector<Place> results(carries);
  for (std::uint32_t i = 0; i < carries; i++) {
    if (!is_single(node->types[i])) results[i] = destination(scope, node, i);
  }
  const Value lane =
      builder_.program().lanes[builder_.begin_lanes(builder_.index(loop.lanes))].index;
  LaneValues values(builder_, lane);
  std::vector<Element> now;
  for (const Tensor& operand : node->operands) {
    const Place& from = place(scope, operand);
    now.push_back(from.kind == Place::Kind::kSingle ? from.element
                                                    : values.load(from.pointer, operand.type()));
  }
  std::vector<Value> init;
  for (std::size_t i = 0; i < carries; i++) init.insert(init.end(), now[i].begin(), now[i].end());
  const std::uint32_t whiles = builder_.begin_while(init, number);
  std::size_t next = 0;
  for (std::size_t i = 0; i < carries; i++) {
    for (Value& part : now[i]) part = builder_.program().whiles[whiles].carries[next++].param;
  }
  const auto constant_of = [this](const Node* of) { return constant(of); };
  builder_.test(values.run(node->regions[0], now, constant_of)[0][0]);
  now.insert(now.begin(), Element{builder_.constant(Type::kPred, 1)});  // this lane runs
  std::vector<Value> after;
  for (const Element& element : values.run(node->regions[1], now, constant_of))
    after.insert(after.end(), element.begin(), element.end());
  builder_.end_while(after);
  next = 0;
  for (std::uint32_t i = 0; i < carries; i++) {
    Element last(now[i + 1].size());
    for (Value& part : last) part = builder_.program().whiles[whiles].carries[next++].result;
    if (results[i].kind == Place::Kind::kArray)
      values.store(last, results[i].pointer, node->types[i]);
    scope.places[step.first_value + i] = results[i];
  }
  builder_.end_lanes();
}

}  // namespace rondo::executor
