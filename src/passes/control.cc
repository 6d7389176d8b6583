#include "passes/control.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/for_dtype.h"
#include "control_flow/counted.h"
#include "control_flow/fori.h"
#include "control_flow/while.h"
#include "ops/elementwise.h"
#include "passes/fold.h"
#include "passes/loop_view.h"

namespace rondo::passes {

namespace {

using ir::Node;

const Literal* constant_value(const Tensor& tensor) {
  return ir::is_constant(tensor.node()) ? &tensor.node()->attrs<ir::ConstantAttributes>().value
                                        : nullptr;
}

/// The result of a condition on inits, as far as they are constants.
std::optional<bool> condition_at_first(const LoopView& view) {
  const Function& condition = view.node->regions[*view.condition];
  absl::flat_hash_map<ir::ValueKey, Literal> known;
  for (std::size_t p = 0; p < view.params(); p++) {
    const Literal* value = constant_value(view.node->operands[view.operand_of_param(p)]);
    if (value) known.emplace(condition.parameters()[p], *value);
  }
  auto find = [&](const Tensor& tensor) -> const Literal* {
    if (const Literal* value = constant_value(tensor)) return value;
    const auto found = known.find(tensor);
    return found == known.end() ? nullptr : &found->second;
  };
  for (const Node* node : condition.body()) {
    std::vector<const Literal*> operands;
    for (const Tensor& operand : node->operands) operands.push_back(find(operand));
    if (ir::is_constant(node) ||
        std::find(operands.begin(), operands.end(), nullptr) != operands.end())
      continue;
    std::optional<std::vector<Literal>> values = fold_values(node, operands);
    if (!values) continue;
    for (std::uint32_t i = 0; i < values->size(); i++)
      known.emplace(ir::ValueKey(node, i), std::move((*values)[i]));
  }
  const Literal* result = find(condition.outputs()[0]);
  return result ? std::optional(result->data<bool>()[0]) : std::nullopt;
}

bool makes_no_trip(const LoopView& view) {
  if (const auto trips = view.trip_count()) return *trips == 0;
  return view.condition && condition_at_first(view) == false;
}

std::vector<Tensor> inits_of(const LoopView& view) {
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < view.carries; i++)
    results.push_back(view.node->operands[view.fixed + i]);
  for (std::size_t y = view.carries; y < view.results(); y++) {
    results.push_back(
        ir::make_constant(Literal::zeros(view.node->types[y]), view.node->location()));
  }
  return results;
}

std::size_t branch_of(const Node* node, const Literal& selector) {
  if (selector.dtype() == DType::kPred) return selector.data<bool>()[0] ? 0 : 1;
  const std::int32_t index = selector.data<std::int32_t>()[0];
  const std::size_t last = node->regions.size() - 1;
  return index < 0 ? last : std::min(static_cast<std::size_t>(index), last);  // as HLO has it
}

}  // namespace

std::optional<std::vector<Tensor>> decide(const Node* node, const WatchedNodes& watched,
                                          RegionFacts& facts) {
  const auto view = LoopView::of(node);
  if (!view) return std::nullopt;
  for (const Tensor& operand : node->operands) {
    if (watched.contains(operand))
      return std::nullopt;  // it might be one that is not used when this is decided
  }
  if (view->is_conditional()) {
    const Literal* selector = constant_value(node->operands[0]);
    if (!selector) return std::nullopt;
    const Function& branch = node->regions[branch_of(node, *selector)];
    if (facts.observes(branch))
      return std::nullopt;  // in line, what only an unused result needs would be gone
    const std::vector<Tensor> arguments(node->operands.begin() + 1, node->operands.end());
    return ir::Replay::inline_call(branch, arguments);
  }
  if (view->condition && facts.observes(node->regions[*view->condition]))
    return std::nullopt;  // it is evaluated once
  if (!makes_no_trip(*view)) return std::nullopt;
  return inits_of(*view);
}

namespace {

// Wide enough for every sum and difference of two 64-bit counters.
__extension__ using Wide = __int128;

struct CounterRange {
  Wide least;
  Wide largest;
};

std::optional<Wide> integer_value(const Tensor& tensor) {
  const Literal* value = constant_value(tensor);
  if (!value || value->elements() != 1 || !is_integer(value->dtype())) return std::nullopt;
  return for_dtype(value->dtype(), [&]<class T>() -> std::optional<Wide> {
    if constexpr (std::is_integral_v<T>)
      return static_cast<Wide>(value->data<T>()[0]);
    else
      return std::nullopt;
  });
}

CounterRange range_of(DType dtype) {
  return for_dtype(dtype, []<class T>() -> CounterRange {
    if constexpr (std::is_integral_v<T>)
      return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    else
      return {0, 0};
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

/// How often `start, start + step, ...` stands in the relation to `bound` before it first does not.
/// Nothing where that never happens, or only after the counter has wrapped.
std::optional<Wide> trips_until(Wide start, Wide step, Relation relation, Wide bound,
                                CounterRange range) {
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
      return 1;
  }
  const Wide last = start + trips * step;
  if (last < range.least || last > range.largest) return std::nullopt;
  return trips;
}

/// The parameter's place, if the tensor is one.
std::optional<std::size_t> param_place(const Function& function, const Tensor& tensor) {
  const auto& params = function.parameters();
  for (std::size_t i = 0; i < params.size(); i++) {
    if (params[i].same_as(tensor)) return i;
  }
  return std::nullopt;
}

std::optional<std::int64_t> trips_of_while(const LoopView& view) {
  const Function& condition = view.node->regions[0];
  const Function& body = view.node->regions[1];
  const Node* test = condition.outputs()[0].node();
  if (test->op != &ops::kCompare) return std::nullopt;
  Relation relation = test->attrs<ops::CompareAttributes>().direction;
  Tensor counter = test->operands[0], limit = test->operands[1];
  if (constant_value(counter)) {
    std::swap(counter, limit);
    relation = mirrored(relation);
  }
  const auto bound = integer_value(limit);
  const auto place = param_place(condition, counter);
  if (!bound || !place || *place >= view.carries) return std::nullopt;
  const auto start = integer_value(view.node->operands[*place]);
  const Node* advance = body.outputs()[*place].node();
  if (!start || (advance->op != &ops::kAdd && advance->op != &ops::kSubtract)) return std::nullopt;
  Tensor from = advance->operands[0], by = advance->operands[1];
  if (advance->op == &ops::kAdd && constant_value(from)) std::swap(from, by);
  const auto step = integer_value(by);
  if (!step || !from.same_as(body.parameters()[*place])) return std::nullopt;
  const auto trips = trips_until(*start, advance->op == &ops::kSubtract ? -*step : *step, relation,
                                 *bound, range_of(counter.dtype()));
  if (!trips || *trips > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(*trips);
}

std::optional<std::int64_t> countable_trips(const Node* node) {
  const auto view = LoopView::of(node);
  if (!view || view->trip_count()) return std::nullopt;
  if (node->op == &control_flow::kWhile) return trips_of_while(*view);
  if (node->op == &control_flow::kForiLoop) {
    return control_flow::static_trip_count(node->operands[0], node->operands[1],
                                           node->attrs<control_flow::ForiAttributes>().step);
  }
  return std::nullopt;
}

}  // namespace

Function count_trips(const Function& function) {
  FunctionRewrite rewrite(function);
  for (const Node* node : function.body()) {
    const auto trips = countable_trips(node);
    if (!trips && !rewrite.changed()) continue;
    const Tensor rebuilt = rewrite.rebuilt(node);
    rewrite.replace(node, trips ? with_trip_count(rebuilt.node(), *trips) : rebuilt);
  }
  return rewrite.finish();
}

}  // namespace rondo::passes
