// Reductions by a region: the region's code is written into the loops.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "executor/element_code.h"
#include "executor/lowerer.h"
#include "ir/loop_nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

/// Concatenates the parts of all elements, and splits them again.
std::vector<Value> parts_of(std::span<const Element> elements) {
  std::vector<Value> parts;
  for (const Element& element : elements) parts.insert(parts.end(), element.begin(), element.end());
  return parts;
}
void set_parts(std::vector<Element>& elements, const std::vector<lower::Carry>& carries,
               Value lower::Carry::*part) {
  std::size_t next = 0;
  for (Element& element : elements) {
    for (Value& value : element) value = carries[next++].*part;
  }
}

/// The loops of a reduction by a region: those over kept axes, the last of them vectorized if it is
/// long enough, and inside them those over reduced axes, which carry the totals.
class FoldLoops {
 public:
  FoldLoops(Builder& builder, const Node& node) : b_(builder) {
    const Shape &from = node.operand_type(0).shape, &to = node.type().shape;
    const auto strides = row_major(from), result_strides = row_major(to);
    const std::vector<std::int64_t> vanishing = ir::loops_as<ir::CustomReduction>(node)->axes;
    for (std::int64_t axis = 0, left = 0; axis < from.rank(); axis++) {
      const bool vanishes = std::find(vanishing.begin(), vanishing.end(), axis) != vanishing.end();
      const std::int64_t of_result =
          vanishes ? 0 : result_strides[static_cast<std::size_t>(left++)];
      if (from[axis] != 1) {
        (vanishes ? combined_ : kept_)
            .push_back({from[axis], strides[static_cast<std::size_t>(axis)], of_result});
      }
    }
    in_lanes_ = !kept_.empty() && kept_.back().size >= kLeastLanes;
  }

  void open(std::vector<Element>& totals) {
    for (Axis& axis : kept_) {
      if (in_lanes_ && &axis == &kept_.back())
        axis.index = b_.program().lanes[b_.begin_lanes(b_.index(axis.size))].index;
      else
        b_.program().fors[outer_.emplace_back(begin(axis, {}))].independent = true;
    }
    for (Axis& axis : combined_) {
      inner_.push_back(begin(axis, parts_of(totals)));
      set_parts(totals, b_.program().fors[inner_.back()].carries, &lower::Carry::param);
    }
  }
  /// The current element of an operand and of a result.
  lower::Address operand(Value pointer, DType dtype) const {
    lower::Address at{pointer, 0, {}};
    for (const auto* axes : {&kept_, &combined_}) {
      for (const Axis& axis : *axes)
        at.terms.push_back({axis.index, axis.stride * byte_width(dtype)});
    }
    return at;
  }
  lower::Address result(Value pointer, DType dtype) const {
    lower::Address at{pointer, 0, {}};
    for (const Axis& axis : kept_)
      at.terms.push_back({axis.index, axis.of_result * byte_width(dtype)});
    return at;
  }
  void close_combined(std::vector<Element>& totals) {
    for (std::size_t i = inner_.size(); i-- > 0;) {
      b_.end_for(parts_of(totals));
      set_parts(totals, b_.program().fors[inner_[i]].carries, &lower::Carry::result);
    }
    // Threshold: Work of combining one element, and the lanes combined at once, between two polls.
    // Not measured.
    constexpr std::int64_t kWorkOfLane = 4, kLanesAtOnce = 16;
    const std::int64_t work =
        let_poll(b_, inner_, in_lanes_ ? kWorkOfLane * kLanesAtOnce : kWorkOfLane);
    let_poll(b_, outer_, work);
  }
  void close_kept() {
    if (in_lanes_) b_.end_lanes();
    for (std::size_t i = outer_.size(); i-- > 0;) b_.end_for({});
  }

 private:
  struct Axis {
    std::int64_t size;
    std::int64_t stride;     // of the operands, in elements
    std::int64_t of_result;  // the same for the results; 0 along reduced axes
    Value index = lower::kNone;
  };

  std::uint32_t begin(Axis& axis, std::span<const Value> carries) {
    const std::uint32_t loop =
        b_.begin_for(b_.index(0), b_.index(axis.size), 1, carries, lower::kNoLoop, axis.size);
    axis.index = b_.program().fors[loop].index;
    return loop;
  }

  Builder& b_;
  std::vector<Axis> kept_, combined_;
  std::vector<std::uint32_t> outer_, inner_;  // in the builder's table
  bool in_lanes_ = false;
};

}  // namespace

void Lowerer::fold(Scope& scope, const Step& step) {
  const Node* node = step.node;
  const std::size_t count = node->types.size();
  const bool is_one = is_scalar(node->type());
  note_inner_safepoint();
  std::vector<Place> made;
  std::vector<Value> pointers;
  std::vector<Element> totals;
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < count; i++) {
    pointers.push_back(in_memory(scope, node->operands[i], made));
    totals.push_back(place(scope, node->operands[count + i]).element);
    outputs.push_back(i);
  }
  std::vector<Place> results;
  for (std::uint32_t i = 0; i < count && !is_one; i++)
    results.push_back(destination(scope, node, i));
  FoldLoops loops(builder_, *node);
  loops.open(totals);
  std::vector<Element> arguments = totals;
  for (std::size_t i = 0; i < count; i++) {
    const DType dtype = node->operand_type(i).dtype;
    arguments.push_back(builder_.load_element(dtype, loops.operand(pointers[i], dtype)));
  }
  totals =
      region_elements(builder_, node->regions[0], arguments, outputs,
                      [&](const Node& other, std::span<const Element>) -> std::vector<Element> {
                        throw InternalError("a combiner that is no element code", other.location());
                      });
  loops.close_combined(totals);
  for (std::size_t i = 0; i < results.size(); i++)
    builder_.store_element(totals[i], loops.result(results[i].pointer, node->types[i].dtype));
  loops.close_kept();
  for (std::size_t i = 0; i < count; i++)
    scope.places[step.first_value + i] = is_one ? single(std::move(totals[i])) : results[i];
  for (const Place& temporary : made) release(temporary);
}

}  // namespace rondo::executor
