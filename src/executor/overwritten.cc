#include "executor/overwritten.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "executor/element_code.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/element.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

std::ptrdiff_t times_read(const Function& region, const Tensor& value) {
  const auto is_it = [&](const Tensor& other) { return other.same_as(value); };
  std::ptrdiff_t times = std::count_if(region.outputs().begin(), region.outputs().end(), is_it);
  for (const Node* node : region.body())
    times += std::count_if(node->operands.begin(), node->operands.end(), is_it);
  return times;
}

/// Whether the state of the loop that a run leaves when it is ended has this carry.
bool is_told(const ir::LoopSource& source, std::size_t carry) {
  const auto place = static_cast<std::int64_t>(carry);
  return place >= source.first && (!source.count || place < source.first + *source.count);
}

/// The value of a constant integer.
std::optional<std::int64_t> known_integer(Builder& builder, Value value) {
  const auto bits = builder.known(builder.convert(value, Type::kS64));
  if (!bits) return std::nullopt;
  return static_cast<std::int64_t>(*bits);
}

/// An integer that a loop begins with, and what each trip adds to it.
struct Counter {
  std::int64_t first, step;
};

std::optional<Counter> counter(const Node& loop, const Tensor& value) {
  const Function& body = loop.regions[1];
  const auto& parameters = body.parameters();
  const auto place = static_cast<std::size_t>(
      std::find_if(parameters.begin(), parameters.end(),
                   [&](const Tensor& parameter) { return parameter.same_as(value); }) -
      parameters.begin());
  if (place >= loop.types.size() || !is_integer(value.dtype()) || !is_scalar(value.type()))
    return std::nullopt;
  const Node* const init = loop.operands[place].node();
  const Node* const next = body.outputs()[place].node();
  if (!ir::is_constant(init) || ir::is_parameter(next) || !has_element_code(*next) ||
      next->op->element == nullptr || next->operands.size() != 2)
    return std::nullopt;
  // The record says what the next one is; here only whether that is a sum.
  Builder builder;
  const Value nowhere = builder.buffer({lower::Storage::kArena, 0, 0, 0});
  const Element now = builder.load_element(value.dtype(), {nowhere, 0, {}});
  std::vector<Element> operands;
  for (const Tensor& operand : next->operands) {
    if (operand.same_as(value))
      operands.push_back(now);
    else if (ir::is_constant(operand.node()))
      operands.push_back(first_element(builder, *operand.node()));
    else
      return std::nullopt;
  }
  const auto index = [&](std::int64_t) { return builder.index(0); };
  const Value sum = next->op->element({*next, builder, operands, index})[0];
  const lower::Op op = builder.program().code.back();
  if (op.result != sum || op.code != Opcode::kAdd) return std::nullopt;
  const auto first = known_integer(builder, first_element(builder, *init)[0]),
             step = known_integer(builder, op.a == now[0] ? op.b : op.a);
  if (!first || !step) return std::nullopt;
  return Counter{*first, *step};
}

bool has_value(DType dtype, std::int64_t value) {
  const std::int64_t bits = 8 * byte_width(dtype) - (is_signed_integer(dtype) ? 1 : 0);
  return bits >= 63 || value < std::int64_t{1} << bits;
}

/// Whether the parts that the trips write, at the counter along one axis, are the whole array.
bool writes_all(const Node& loop, const Node& update, std::int64_t trips) {
  const ir::InsertionMap map = update.op->write(update);
  const Shape& shape = update.type().shape;
  std::optional<std::int64_t> counted;
  for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
    const ir::AxisWrite& write = map.parts[0].axes[static_cast<std::size_t>(axis)];
    if (write.first != 0 || write.start != 0 || write.step != 1) return false;
    if (write.count == shape[axis]) continue;
    if (write.count != 1 || write.dynamic < 0 || counted) return false;
    counted = axis;
  }
  if (!counted) return false;
  const int dynamic = map.parts[0].axes[static_cast<std::size_t>(*counted)].dynamic;
  const Tensor& place = update.operands[static_cast<std::size_t>(dynamic)];
  const auto at = counter(loop, place);
  const std::int64_t last = shape[*counted] - 1;
  return at && trips > last && has_value(place.dtype(), last) &&
         ((at->first == 0 && at->step == 1) || (at->first == last && at->step == -1));
}

}  // namespace

bool is_dead_initialization(const Node& loop, std::size_t carry) {
  const auto layout = ir::region_layout(&loop);
  if (!layout || !layout->is_loop() || layout->condition != std::size_t{0} ||
      loop.regions.size() != 2 || !layout->trip_count || is_told(layout->source, carry))
    return false;
  const Function &condition = loop.regions[0], &body = loop.regions[1];
  const Tensor &next = body.outputs()[carry], &now = body.parameters()[carry];
  if (ir::is_parameter(next.node()) || strategy_of(*next.node()) != Strategy::kWrite) return false;
  const Node& update = *next.node();
  const ir::InsertionMap map = update.op->write(update);
  return map.kept >= 0 && map.parts.size() == 1 &&
         update.operands[static_cast<std::size_t>(map.kept)].same_as(now) &&
         times_read(condition, condition.parameters()[carry]) == 0 && times_read(body, now) == 1 &&
         times_read(body, next) == 1 && writes_all(loop, update, *layout->trip_count);
}

}  // namespace rondo::executor
