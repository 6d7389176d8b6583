#include "control_flow/induction.h"

#include <limits>
#include <type_traits>
#include <utility>

#include "base/for_dtype.h"
#include "ir/after.h"
#include "ops/elementwise.h"

namespace rondo::control_flow {

namespace {

// Wide enough for every sum and difference of two 64-bit counters.
__extension__ using Wide = __int128;

struct IntegerRange {
  Wide least;
  Wide largest;
  bool contains(Wide value) const { return least <= value && value <= largest; }
};
IntegerRange range_of(DType dtype) {
  if (!is_integer(dtype)) return {0, 0};
  const auto [least, greatest] = integer_limits(dtype);
  return {least, greatest};
}

std::optional<Wide> constant_integer(const Tensor& tensor) {
  if (!ir::is_constant(tensor.node())) return std::nullopt;
  const Literal& value = tensor.node()->attrs<ir::ConstantAttributes>().value;
  if (value.elements() != 1 || !is_integer(value.dtype())) return std::nullopt;
  return for_any_dtype(value.dtype(), [&]<class T>() -> std::optional<Wide> {
    if constexpr (is_integer(dtype_of<T>))
      return static_cast<Wide>(value.data<T>()[0]);
    else
      return std::nullopt;
  });
}

using Relation = ops::Direction;

Relation mirrored(Relation relation) {
  switch (relation) {
    case Relation::kLt:
      return Relation::kGt;
    case Relation::kLe:
      return Relation::kGe;
    case Relation::kGt:
      return Relation::kLt;
    case Relation::kGe:
      return Relation::kLe;
    default:
      return relation;
  }
}

/// For how many k = 0, 1, ... in a row `start + k * step` is in the relation to `bound`. Nullopt if
/// it never fails, or fails only after the counter has wrapped.
std::optional<Wide> trips_until(Wide start, Wide step, Relation relation, Wide bound,
                                IntegerRange range) {
  Wide trips = 0;
  switch (relation) {
    case Relation::kGt:
    case Relation::kGe:
      return trips_until(-start, -step, mirrored(relation), -bound, {-range.largest, -range.least});
    case Relation::kLe:
      bound += 1;
      [[fallthrough]];
    case Relation::kLt:
      if (start >= bound) return 0;
      if (step <= 0) return std::nullopt;
      trips = (bound - start + step - 1) / step;
      break;
    case Relation::kNe:
      if (start == bound) return 0;
      if (step == 0 || (bound - start) % step != 0 || (bound - start) / step < 0)
        return std::nullopt;
      trips = (bound - start) / step;
      break;
    case Relation::kEq:
      if (start != bound) return 0;
      if (step == 0) return std::nullopt;
      trips = 1;
      break;
  }
  const Wide last = start + trips * step;
  if (!range.contains(last)) return std::nullopt;
  return trips;
}

bool is_s64(Wide value) { return range_of(DType::kS64).contains(value); }

/// The parameter's position, if the tensor is a parameter.
std::optional<std::size_t> param_place(const Function& function, const Tensor& tensor) {
  const auto& params = function.parameters();
  for (std::size_t i = 0; i < params.size(); i++) {
    if (params[i].same_as(tensor)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ir::Induction> while_induction(const ir::Node& node) {
  const Function& condition = node.regions[0];
  const Function& body = node.regions[1];
  const ir::Node* test = condition.outputs()[0].node();
  if (test->op != &ops::kCompare) return std::nullopt;
  Relation relation = test->attrs<ops::CompareAttributes>().direction;
  Tensor counter = test->operands[0], limit = test->operands[1];
  const std::size_t carries = node.types.size();
  auto place = param_place(condition, counter);
  if (!place || *place >= carries) {
    std::swap(counter, limit);
    relation = mirrored(relation);
    place = param_place(condition, counter);
  }
  if (!place || *place >= carries || !is_integer(counter.dtype()) || counter.rank() != 0)
    return std::nullopt;
  const ir::Node* advance = ir::value_behind_observers(body.outputs()[*place]).node();
  if (advance->op != &ops::kAdd && advance->op != &ops::kSubtract) return std::nullopt;
  Tensor from = advance->operands[0], by = advance->operands[1];
  if (advance->op == &ops::kAdd && ir::is_constant(from.node())) std::swap(from, by);
  auto step = constant_integer(by);
  if (!step || !ir::value_behind_observers(from).same_as(body.parameters()[*place]))
    return std::nullopt;
  if (advance->op == &ops::kSubtract) step = -*step;
  if (!is_s64(*step)) return std::nullopt;
  ir::Induction made{.carry = place, .step = static_cast<std::int64_t>(*step)};
  if (const auto start = constant_integer(node.operands[*place]), bound = constant_integer(limit);
      start && bound) {
    const auto trips = trips_until(*start, *step, relation, *bound, range_of(counter.dtype()));
    if (!trips || !is_s64(*trips)) return std::nullopt;
    made.trips = static_cast<std::int64_t>(*trips);
    return made;
  }
  const auto fixed = param_place(condition, limit);
  if (relation != Relation::kLt || *step < 1 || !fixed) return std::nullopt;
  // An invariant, or a carry that no trip changes.
  if (*fixed < carries && !body.outputs()[*fixed].same_as(body.parameters()[*fixed]))
    return std::nullopt;
  made.limit = fixed;
  return made;
}

}  // namespace rondo::control_flow
