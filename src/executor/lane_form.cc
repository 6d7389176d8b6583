#include "executor/lane_form.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "executor/region_plan.h"
#include "ir/element.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

using ir::Node;
using lower::Builder;
using lower::Element;
using lower::Opcode;
using lower::Type;
using lower::Value;

// Loops in loops, this deep, run by lane.
constexpr int kMostLoops = 8;

/// `tables`: the operands that are arrays in memory, of which elements may be read at any place.
std::optional<LaneForm> form_of_loop(const Node& loop, const std::vector<bool>& tables, int depth);

/// A region of a loop whose nodes are all by lane.
class LaneRegion {
 public:
  LaneRegion(const Function& region, std::int64_t lanes, bool is_condition, int depth)
      : region_(region), lanes_(lanes), is_condition_(is_condition), depth_(depth) {}

  /// `tables`: the parameters that are such arrays.
  bool fits(const std::vector<bool>& tables) {
    for (std::size_t i = 0; i < tables.size(); i++) {
      if (tables[i]) tables_.insert(region_.parameters()[i].node());
    }
    std::int64_t uniform = 0, by_lane = 0;
    for (const Node* node : region_.body()) {
      if (!fits(*node)) return false;
      if (form_of(*node) == Form::kElement) (is_single(node->type()) ? uniform : by_lane)++;
    }
    // What is the same for all lanes is computed again for each block of them.
    constexpr std::int64_t kFewUniform = 8;
    return uniform <= by_lane + kFewUniform;
  }
  /// The reduction over all lanes in a condition; null: it has none.
  const Node* reduction() const { return reduction_; }

 private:
  bool is_lane(const TensorType& type) const { return type.elements() == lanes_; }
  bool is_element(const TensorType& type) const { return is_single(type) || is_lane(type); }
  bool is_table(const Tensor& value) const { return tables_.contains(value.node()); }
  /// Whether the elements of an array go along one axis, so that the lane is the index there.
  bool is_one_axis(const TensorType& type) const {
    return std::any_of(type.shape.begin(), type.shape.end(),
                       [&](std::int64_t size) { return size == lanes_; });
  }

  bool fits(const Node& node) {
    const Form form = form_of(node);
    if (form == Form::kConstant) {
      if (!is_single(node.type())) tables_.insert(&node);
      return true;
    }
    if (node.op->observer || !std::all_of(node.types.begin(), node.types.end(),
                                          [&](const TensorType& t) { return is_element(t); }))
      return false;
    if (form == Form::kRead) return fits_read(node);
    if (form == Form::kGather) {
      // What has an element for each lane may be in no memory.
      const bool table = is_table(node.operands[0]) && !is_lane(node.operand_type(0));
      return table && is_element(node.operand_type(1)) &&
             node.op->gather(node)->components.size() == 1 &&
             (is_single(node.type()) || is_one_axis(node.type()));
    }
    if (form == Form::kLoop || form == Form::kLaneLoop) return fits_loop(node);
    for (std::size_t i = 0; i < node.operands.size(); i++) {
      if (!is_element(node.operand_type(i))) return false;
    }
    const auto same_elements = [&](std::size_t operand) {
      return node.operand_type(operand).elements() == node.type().elements();
    };
    switch (form) {
      case Form::kForward:
        return true;
      case Form::kElement:
        if (node.operands.empty()) return is_single(node.type()) || is_one_axis(node.type());
        for (std::size_t i = 0; i < node.operands.size(); i++) {
          if (!same_elements(i) && !is_single(node.operand_type(i))) return false;
        }
        return true;
      case Form::kAlias:
        return same_elements(0) &&
               byte_width(node.type().dtype) == byte_width(node.operand_type(0).dtype) &&
               is_complex(node.type().dtype) == is_complex(node.operand_type(0).dtype);
      case Form::kReduction:
      case Form::kTerms:
        return node.op->reduction && fits_reduction(node);
      default:
        return false;
    }
  }

  bool fits_read(const Node& node) const {
    if (is_single(node.operand_type(0))) return true;
    if (!is_table(node.operands[0])) return false;
    return is_single(node.type()) || is_one_axis(node.type());
  }

  bool fits_loop(const Node& node) {
    std::vector<bool> tables;
    for (const Tensor& operand : node.operands) tables.push_back(is_table(operand));
    const auto form = form_of_loop(node, tables, depth_ + 1);
    if (!form || form->lanes != lanes_) return false;
    // What is the same for all lanes has no last value where they end one by one.
    for (std::uint32_t i = 0; form->ends_by_lane && i < node.types.size(); i++) {
      if (is_single(node.types[i]) && is_used(Tensor::of(&node, i))) return false;
    }
    return true;
  }

  bool is_used(const Tensor& value) {
    if (used_.empty()) {
      for (const Node* node : region_.body())
        used_.insert(node->operands.begin(), node->operands.end());
      used_.insert(region_.outputs().begin(), region_.outputs().end());
    }
    return used_.contains(value);
  }

  /// any(x) or all(x), once, in a condition.
  bool fits_reduction(const Node& node) {
    const ir::ElementReduction reduction = *node.op->reduction(node);
    if (!is_condition_ || reduction_ || !is_single(node.type()) || !is_lane(node.operand_type(0)))
      return false;
    const bool of_preds = node.type().dtype == DType::kPred &&
                          (reduction.combine == Opcode::kOr || reduction.combine == Opcode::kAnd);
    if (of_preds) reduction_ = &node;
    return of_preds;
  }

  const Function& region_;
  std::int64_t lanes_;
  bool is_condition_;
  int depth_;
  absl::flat_hash_set<ir::ValueKey> used_;  // when somebody has asked
  absl::flat_hash_set<const Node*> tables_;
  const Node* reduction_ = nullptr;
};

/// For each value of a program whether it is one of these, or computed from one.
std::vector<bool> depending(const lower::Program& program, const std::vector<Value>& values) {
  std::vector<bool> on(program.types.size());
  for (const Value value : values) on[value] = true;
  for (const lower::Op& op : program.code) {
    if (op.result != lower::kNone && (on[op.a] || on[op.b] || on[op.c])) on[op.result] = true;
  }
  return on;
}

const lower::Op* op_of(const lower::Program& program, Value value) {
  const auto found = std::find_if(program.code.rbegin(), program.code.rend(),
                                  [&](const lower::Op& op) { return op.result == value; });
  return found == program.code.rend() ? nullptr : &*found;
}

/// The values of which a predicate says that all hold.
std::vector<Value> conjunction(const lower::Program& program, Value predicate) {
  constexpr std::size_t kMostParts = 16;
  std::vector<Value> open{predicate}, parts;
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    const lower::Op* op = op_of(program, value);
    if (op && op->code == Opcode::kAnd && open.size() + parts.size() < kMostParts) {
      open.push_back(op->a);
      open.push_back(op->b);
    } else {
      parts.push_back(value);
    }
  }
  return parts;
}

/// Shows that a lane which does not want to go on, while others do, keeps what it carries.
class FrozenLanes {
 public:
  FrozenLanes(const Node& loop, const Node& reduction) : loop_(loop), reduction_(reduction) {
    nowhere_ = b_.buffer({lower::Storage::kArena, 0, 0, 0});
  }

  bool shown() {
    const std::size_t carries = loop_.types.size();
    std::vector<Element> arguments;
    std::vector<Value> init;
    for (std::size_t i = 0; i < loop_.operands.size(); i++) {
      arguments.push_back(unknown(loop_.operands[i].type()));
      if (i < carries) init.insert(init.end(), arguments[i].begin(), arguments[i].end());
    }
    const std::uint32_t loop = b_.begin_while(init);
    std::size_t next = 0;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      if (i < carries) {
        for (Value& part : arguments[i]) part = b_.program().whiles[loop].carries[next++].param;
      }
      if (!is_single(loop_.operands[i].type()))
        by_lane_.insert(by_lane_.end(), arguments[i].begin(), arguments[i].end());
      else if (i < carries)
        moving_.insert(moving_.end(), arguments[i].begin(), arguments[i].end());
    }
    const Value predicate = elements(loop_.regions[0], arguments, {0})[0][0];
    const std::optional<Value> goes_on = lane_predicate(predicate);
    if (!goes_on) return false;
    b_.test(predicate);
    for (const auto& [value, truth] : b_.assume(*goes_on, false)) {
      for (Element& argument : arguments) {
        if (argument[0] == value) argument[0] = b_.pred(truth);
      }
    }
    std::vector<std::size_t> arrays;
    for (std::size_t i = 0; i < carries; i++) {
      if (!is_single(loop_.types[i])) arrays.push_back(i);
    }
    const std::vector<Element> after = elements(loop_.regions[1], arguments, arrays);
    for (std::size_t i = 0; i < arrays.size(); i++) {
      if (after[i] != arguments[arrays[i]]) return false;
    }
    return true;
  }

 private:
  Element unknown(const TensorType& type) {
    const Type part = lower::type_of(type.dtype);
    Element made{b_.load(part, {nowhere_, 0, {}})};
    if (is_complex(type.dtype)) made.push_back(b_.load(part, {nowhere_, 0, {}}));
    return made;
  }

  /// Of an array that differs by lane, which may stand in both regions.
  Element constant(const Node& node) {
    const Literal& value = node.attrs<ir::ConstantAttributes>().value;
    for (const auto& [known, element] : constants_) {
      if (known.identical(value)) return element;
    }
    const Element made = unknown(node.type());
    by_lane_.insert(by_lane_.end(), made.begin(), made.end());
    constexpr std::size_t kMostConstants = 8;
    if (constants_.size() < kMostConstants) constants_.emplace_back(value, made);
    return made;
  }

  std::vector<Element> elements(const Function& region, const std::vector<Element>& arguments,
                                const std::vector<std::size_t>& outputs) {
    return region_elements(b_, region, arguments, outputs,
                           [&](const Node& node, std::span<const Element> operands) {
                             std::vector<Element> made;
                             if (ir::is_constant(&node)) return std::vector{constant(node)};
                             for (const TensorType& type : node.types) {
                               made.push_back(unknown(type));
                               auto& values = is_single(type) ? moving_ : by_lane_;
                               values.insert(values.end(), made.back().begin(), made.back().end());
                             }
                             if (&node == &reduction_) {
                               any_ = made[0][0];
                               reduced_ = operands[0][0];
                             }
                             return made;
                           });
  }

  /// The predicate of one lane, without what is the same for all. It looks at nothing that moves
  /// while the lane stands still.
  std::optional<Value> lane_predicate(Value predicate) {
    const lower::Program& program = b_.program();
    if (any_ == lower::kNone) return std::nullopt;
    const std::vector<bool> on_any = depending(program, {any_});
    Value wants = lower::kNone;
    for (const Value part : conjunction(program, predicate)) {
      if (!on_any[part]) continue;
      const lower::Op* op = op_of(program, part);
      const bool is_or = reduction_.op->reduction(reduction_)->combine == Opcode::kOr;
      const bool is_not_all = op && op->code == Opcode::kNot && op->a == any_ && !is_or;
      if (wants != lower::kNone || !(is_not_all || (part == any_ && is_or))) return std::nullopt;
      wants = is_or ? reduced_ : b_.logical_not(reduced_);
    }
    if (wants == lower::kNone) return std::nullopt;
    const std::vector<bool> moves = depending(program, moving_);
    const std::vector<bool> lane = depending(program, by_lane_);
    Value own = lower::kNone;
    for (const Value part : conjunction(program, wants)) {
      if (!lane[part]) continue;
      if (moves[part]) return std::nullopt;
      own = own == lower::kNone ? part : b_.bit_and(own, part);
    }
    if (own == lower::kNone) return std::nullopt;
    return own;
  }

  const Node& loop_;
  const Node& reduction_;
  Builder b_;
  Value nowhere_ = lower::kNone, any_ = lower::kNone, reduced_ = lower::kNone;
  std::vector<std::pair<Literal, Element>> constants_;
  std::vector<Value> by_lane_;  // parameters, and what is not known to be anything
  std::vector<Value> moving_;   // the same for all lanes, and another one on each trip
};

/// Whether what is the same for all lanes can be computed for itself.
bool singles_stand_alone(const Function& body, std::size_t carries) {
  absl::flat_hash_set<const Node*> needed;
  for (std::size_t i = 0; i < carries; i++) {
    if (is_single(body.outputs()[i].type())) needed.insert(body.outputs()[i].node());
  }
  for (auto node = body.body().rbegin(); node != body.body().rend(); ++node) {
    if (!needed.contains(*node)) continue;
    for (const TensorType& type : (*node)->types) {
      if (!is_single(type)) return false;
    }
    for (const Tensor& operand : (*node)->operands) {
      if (!is_single(operand.type())) return false;
      needed.insert(operand.node());
    }
  }
  return true;
}

}  // namespace

bool equal_elements(const Node& constant) {
  const Literal& value = constant.attrs<ir::ConstantAttributes>().value;
  const std::int64_t width = byte_width(value.dtype());
  return value.elements() > 0 &&
         std::memcmp(value.bytes(), value.bytes() + width,
                     static_cast<std::size_t>(value.type().bytes() - width)) == 0;
}

Element first_element(Builder& builder, const Node& constant) {
  const Literal& value = constant.attrs<ir::ConstantAttributes>().value;
  const Type part = lower::type_of(value.dtype());
  Element element;
  for (std::int64_t at = 0; at < byte_width(value.dtype()); at += lower::width(part)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, value.bytes() + at, static_cast<std::size_t>(lower::width(part)));
    element.push_back(builder.constant(part, bits));
  }
  return element;
}

std::vector<Element> region_elements(
    Builder& builder, const Function& region, std::span<const Element> arguments,
    std::span<const std::size_t> outputs,
    const std::function<std::vector<Element>(const Node&, std::span<const Element>)>& other) {
  absl::flat_hash_set<const Node*> needed;
  for (const std::size_t i : outputs) needed.insert(region.outputs()[i].node());
  for (auto node = region.body().rbegin(); node != region.body().rend(); ++node) {
    if (!needed.contains(*node)) continue;
    for (const Tensor& operand : (*node)->operands) needed.insert(operand.node());
  }
  absl::flat_hash_map<ir::ValueKey, Element> values;
  for (std::size_t i = 0; i < arguments.size(); i++)
    values.emplace(region.parameters()[i], arguments[i]);
  std::vector<Element> operands;
  for (const Node* node : region.body()) {
    if (!needed.contains(node)) continue;
    operands.clear();
    for (const Tensor& operand : node->operands) operands.push_back(values.at(operand));
    const Form form = form_of(*node);
    std::vector<Element> made;
    if (form == Form::kConstant && equal_elements(*node)) {
      made.push_back(first_element(builder, *node));
    } else if (form == Form::kElement && !operands.empty()) {
      const auto index = [&](std::int64_t) { return builder.index(0); };
      made.push_back(node->op->element({*node, builder, operands, index}));
    } else if (form == Form::kForward) {
      made = operands;
    } else if (form == Form::kRead && is_single(node->operand_type(0))) {
      made.push_back(operands[0]);
    } else if (form == Form::kAlias && operands[0].size() == 1) {
      made.push_back({builder.bitcast(operands[0][0], lower::type_of(node->type().dtype))});
    } else if (form == Form::kAlias) {
      made.push_back(operands[0]);
    } else {
      made = other(*node, operands);
    }
    for (std::uint32_t i = 0; i < node->types.size(); i++)
      values.emplace(Tensor::of(node, i), made[i]);
  }
  std::vector<Element> results;
  for (const std::size_t i : outputs) results.push_back(values.at(region.outputs()[i]));
  return results;
}

namespace {

std::optional<LaneForm> form_of_loop(const Node& loop, const std::vector<bool>& tables, int depth) {
  const bool repeats = loop.op->flow == ir::Flow::kRepeat;
  if (depth > kMostLoops) return std::nullopt;
  LaneForm form;
  for (const TensorType& type : loop.types) {
    if (is_single(type)) continue;
    if (type.elements() == 0 || (form.lanes != 0 && type.elements() != form.lanes))
      return std::nullopt;
    form.lanes = type.elements();
  }
  if (form.lanes < 2) return std::nullopt;
  std::vector<bool> parameters = tables;
  std::fill_n(parameters.begin(), loop.types.size(), false);
  LaneRegion condition(loop.regions[0], form.lanes, repeats, depth);
  if (!condition.fits(parameters)) return std::nullopt;
  if (!repeats) parameters.insert(parameters.begin(), false);  // the preds of the lanes that run
  LaneRegion body(loop.regions[1], form.lanes, false, depth);
  if (!body.fits(parameters) || !singles_stand_alone(loop.regions[1], loop.types.size()))
    return std::nullopt;
  const Node* reduction = condition.reduction();
  if (reduction && !FrozenLanes(loop, *reduction).shown()) return std::nullopt;
  form.ends_by_lane = !repeats || reduction;
  return form;
}

}  // namespace

std::optional<LaneForm> lane_form(const Node& loop) {
  if (loop.op->flow != ir::Flow::kRepeat && !loop.op->lane_loop) return std::nullopt;
  std::vector<bool> tables;
  for (const Tensor& operand : loop.operands) tables.push_back(!is_single(operand.type()));
  return form_of_loop(loop, tables, 1);
}

LaneForms::LaneForms(const Function& function) {
  // Regions of loops that run lane by lane are not looked into.
  absl::flat_hash_set<const void*> seen{function.identity()};
  std::vector<Function> open{function};
  while (!open.empty()) {
    const Function region = std::move(open.back());
    open.pop_back();
    for (const Node* node : region.body()) {
      if (const auto form = lane_form(*node)) {
        forms_.emplace(node, *form);
        continue;
      }
      for (const Function& inner : node->regions) {
        if (seen.insert(inner.identity()).second) open.push_back(inner);
      }
    }
  }
}

}  // namespace rondo::executor
