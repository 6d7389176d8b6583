#include "executor/fixed_point.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "executor/element_code.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/function_data.h"
#include "ir/loop_nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

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

/// The values that must be true if a predicate is.
std::vector<Value> conjunction(const lower::Program& program, Value predicate) {
  // Threshold: Terms of a conjunction that are assumed true for the fixed-point proof: compile time
  // against the proof. Not measured.
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

/// Shows that an inactive lane keeps what it carries while others are active.
class FixedPoint {
 public:
  FixedPoint(const Node& loop, const Node& reduction) : loop_(loop), reduction_(reduction) {
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
      if (!is_scalar(loop_.operands[i].type()))
        know(arguments[i], by_lane_);
      else if (i < carries)
        know(arguments[i], moving_);
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
      if (!is_scalar(loop_.types[i])) arrays.push_back(i);
    }
    const std::vector<Element> after = elements(loop_.regions[1], arguments, arrays);
    for (std::size_t i = 0; i < arrays.size(); i++) {
      if (after[i] != arguments[arrays[i]]) return false;
    }
    return true;
  }

 private:
  static void know(const Element& element, std::vector<Value>& as) {
    as.insert(as.end(), element.begin(), element.end());
  }

  Element unknown(const TensorType& type) { return b_.load_element(type.dtype, {nowhere_, 0, {}}); }

  /// For an array that differs by lane, which may occur in both regions.
  Element constant(const Node& node) {
    const Literal& value = node.attrs<ir::ConstantAttributes>().value;
    for (const auto& [known, element] : constants_) {
      if (known.identical(value)) return element;
    }
    Element made = unknown(node.type());
    know(made, by_lane_);
    // Threshold: Array constants that both regions are known to share: compile time against the
    // proof. Not measured.
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
                               // It may be computed from values that change: a row that is read by
                               // trip.
                               if (!node.operands.empty()) know(made.back(), moving_);
                               if (!is_scalar(type)) know(made.back(), by_lane_);
                             }
                             if (&node == &reduction_) {
                               any_ = made[0][0];
                               reduced_ = operands[0][0];
                             }
                             return made;
                           });
  }

  /// The predicate of one lane, without the part that is the same for all. It depends on nothing
  /// that changes while the lane is inactive.
  std::optional<Value> lane_predicate(Value predicate) {
    const lower::Program& program = b_.program();
    if (any_ == lower::kNone) return std::nullopt;
    const std::vector<bool> on_any = depending(program, {any_});
    Value wants = lower::kNone;
    for (const Value part : conjunction(program, predicate)) {
      if (!on_any[part]) continue;
      const lower::Op* op = op_of(program, part);
      const bool is_or = ir::loops_as<ir::Reduction>(reduction_)->combine == Opcode::kOr;
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
  std::vector<Value> by_lane_;  // parameters, and values of which nothing is known
  std::vector<Value> moving_;   // changes on each trip, even while the lane is inactive
};

}  // namespace

bool inactive_lanes_are_fixed(const Node& loop, const Node& reduction) {
  return FixedPoint(loop, reduction).shown();
}

}  // namespace rondo::executor
