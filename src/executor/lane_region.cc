#include "executor/lane_region.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "executor/element_code.h"
#include "executor/fixed_point.h"
#include "executor/loop_parts.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "executor/terms.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/loop_nest.h"
#include "ir/order.h"

namespace rondo::executor {

namespace {

using Kind = LaneValue::Kind;
using Obstacle = InterchangeObstacle::Kind;

// Threshold: Elements computed for a lane: each is separate code, so this bounds code size. Not
// measured.
constexpr std::int64_t kMostElements = 4096;
// Threshold: The same with one lane, where each element is a scalar op. Not measured.
constexpr std::int64_t kMostInOneLane = 1024;
// Threshold: With one lane, arrays are scalars in registers if that takes at most kMostMore ops
// more than loops over them, kVector elements at once; kMoreForArray is what memory costs for an
// array, a term of a sum costs kMoreForTerm ops, and a vector waits kLatency terms for the one
// before. Set by a measurement that is not in bench/ (a filter: 3 x 3 takes half the time in
// registers, 4 x 4 0.7 in vectors).
constexpr std::int64_t kMostMore = 60, kMoreForArray = 8, kVector = 8, kMoreForTerm = 3,
                       kLatency = 4;

/// The predicates of a loop, or the results of one branch: a region whose values all differ by
/// lane.
class LaneRegion {
 public:
  /// `is_condition`: of a loop with one condition for all lanes.
  LaneRegion(const Function& region, const LaneRules& rules, bool is_condition, int depth,
             Candidate& candidate)
      : region_(region),
        rules_(rules),
        is_condition_(is_condition),
        depth_(depth),
        candidate_(candidate) {}

  bool fits(std::span<const LaneValue> parameters) {
    for (std::size_t i = 0; i < parameters.size(); i++)
      take(region_.parameters()[i], parameters[i]);
    // Arrays are updated in place: steps that read an old state come first.
    for (const Node* node : ir::reads_before_writes(region_)) {
      if (!fits(*node)) {
        candidate_.end({Obstacle::kNode, node});
        return false;
      }
      candidate_.nodes++;
    }
    if (rules_.lanes() == 1) return uniform_ <= kMostInOneLane && more_ <= kMostMore;
    // Threshold: Uniform ops are computed again for each block of lanes; beyond kVectors for each
    // op by lane, and kFewUniform more, that costs more than vectors save. Not measured.
    constexpr std::int64_t kFewUniform = 16, kVectors = 4;
    if (uniform_ > kVectors * by_lane_ + kFewUniform) candidate_.end({Obstacle::kUniform});
    if (has_rows_ && by_lane_ > kMostElements) candidate_.end({Obstacle::kLarge});
    return candidate_.obstacle.kind == Obstacle::kNone;
  }
  const LaneValue& value(const Tensor& value) const { return values_.at(value); }
  /// Whether an output is the array that a parameter was, after all writes to it.
  bool is_updated(const Tensor& output, const Tensor& parameter) const {
    const auto written = arrays_.find(output);
    return written != arrays_.end() && written->second == arrays_.at(parameter) &&
           last_[written->second].same_as(output);
  }
  /// The reduction over all lanes in a condition; null: it has none.
  const Node* reduction() const { return reduction_; }
  /// Whether a value has several elements for a lane, or an update is written in memory.
  bool has_rows() const { return has_rows_; }

 private:
  void take(const Tensor& value, const LaneValue& as) {
    values_.emplace(value, as);
    const bool in_registers = as.kind == Kind::kUniform || as.kind == Kind::kLane;
    if (in_registers && rules_.count(value.type(), as) > 1) has_rows_ = true;
    if (!has_states(as)) return;
    has_rows_ = has_rows_ || rules_.lanes() > 1;
    arrays_.emplace(value, last_.size());
    last_.push_back(value);
  }

  bool fits(const Node& node) {
    if (node.op->observer) return false;
    absl::InlinedVector<LaneValue, 4> operands;
    for (const Tensor& operand : node.operands) {
      operands.push_back(values_.at(operand));
      if (has_states(operands.back()) && !last_[arrays_.at(operand)].same_as(operand)) return false;
    }
    switch (strategy_of(node)) {
      case Strategy::kForward:
        return fits_forward(node, operands);
      case Strategy::kLoop:
      case Strategy::kLaneLoop:
        return fits_loop(node, operands);
      case Strategy::kBranch:
        return fits_branch(node, operands);
      default:
        break;
    }
    if (is_condition_ && fits_reduction(node, operands)) return true;
    if (node.types.size() != 1) return false;
    const std::optional<LaneValue> made = rules_.result(node, operands);
    if (!made) return false;
    const Tensor result = Tensor::of(&node);
    if (has_states(*made)) {
      const int kept = made->kind == Kind::kTape ? 0 : ir::loops_as<ir::InsertionMap>(node)->kept;
      const std::size_t array = arrays_.at(node.operands[static_cast<std::size_t>(kept)]);
      values_.emplace(result, *made);
      arrays_.emplace(result, array);
      last_[array] = result;
      return true;
    }
    take(result, *made);
    if (rules_.lanes() == 1) more_ += more_work(node, *made);
    if (made->kind != Kind::kInvariant && made->kind != Kind::kView)
      (made->kind == Kind::kUniform ? uniform_ : by_lane_) += cost(node, *made);
    return true;
  }

  std::int64_t cost(const Node& node, const LaneValue& value) const {
    const Strategy form = strategy_of(node);
    const std::int64_t count = rules_.count(node.type(), value);
    if (form == Strategy::kReduction)
      return count * node.operand_type(0).elements() / node.type().elements();
    const bool computes = form == Strategy::kElement || form == Strategy::kUnrolledContraction ||
                          form == Strategy::kContraction || form == Strategy::kKernel;
    return computes ? count : 0;
  }

  /// Beside the loops over the elements.
  std::int64_t more_work(const Node& node, const LaneValue& value) const {
    const std::int64_t count = cost(node, value);
    if (count <= 1) return 0;
    const std::int64_t more =
        strategy_of(node) == Strategy::kElement
            ? (count - (count + kVector - 1) / kVector) * (element_work(node) - 1)
            : more_for_terms(node, count);
    return more - kMoreForArray;
  }

  /// For products and short rows: a loop vectorizes the last axis, and has the latency of each sum.
  static std::int64_t more_for_terms(const Node& node, std::int64_t count) {
    const std::optional<Terms> terms = few_terms(node, true);
    if (!terms || node.type().rank() == 0) return 0;
    const std::int64_t row = node.type().shape.dims().back();
    const std::int64_t vectors = count / row * ((row + kVector - 1) / kVector);
    return std::max<std::int64_t>(count - vectors - kLatency, 0) * terms->count() * kMoreForTerm;
  }

  static bool has_views(std::span<const LaneValue> operands) {
    return std::any_of(operands.begin(), operands.end(),
                       [](const LaneValue& value) { return value.kind == Kind::kView; });
  }

  bool fits_forward(const Node& node, std::span<const LaneValue> operands) {
    for (std::uint32_t i = 0; i < node.types.size(); i++) {
      if (has_states(operands[i]) || operands[i].kind == Kind::kView) return false;
      take(Tensor::of(&node, i), operands[i]);
    }
    return true;
  }

  bool fits_loop(const Node& node, std::span<const LaneValue> operands) {
    if (updates_any(operands) || has_views(operands)) return false;
    const auto [bounds, given] =
        std::pair(operands.first(LoopParts(node).fixed), operands.subspan(LoopParts(node).fixed));
    if (std::any_of(bounds.begin(), bounds.end(),
                    [](const LaneValue& bound) { return bound.kind == Kind::kLane; }))
      return false;
    const auto form =
        form_in_lanes(node, {given.begin(), given.end()}, rules_, depth_ + 1, candidate_);
    if (!form) return false;
    has_rows_ = has_rows_ || form->has_rows;
    for (std::uint32_t i = 0; i < node.types.size(); i++) {
      const Tensor result = Tensor::of(&node, i);
      // A uniform value has no last value if lanes end one by one.
      if (form->ends_by_lane && form->operands[i].kind == Kind::kUniform && is_used(result)) {
        candidate_.end({Obstacle::kResult, &node});
        return false;
      }
      take(result, form->operands[i]);
    }
    return true;
  }

  /// The branch is uniform.
  bool fits_branch(const Node& node, std::span<const LaneValue> operands) {
    if (depth_ > kMostDepth) candidate_.end({Obstacle::kDeep, &node});
    if (depth_ > kMostDepth || updates_any(operands) || has_views(operands)) return false;
    std::vector<LaneValue> results;
    for (const Function& branch : node.regions) {
      LaneRegion region(branch, rules_, false, depth_ + 1, candidate_);
      if (!region.fits(operands.subspan(1))) return false;
      has_rows_ = has_rows_ || region.has_rows();
      uniform_ += region.uniform_;
      by_lane_ += region.by_lane_;
      more_ += region.more_;
      for (std::size_t i = 0; i < node.types.size(); i++) {
        const auto made = rules_.in_registers(node.types[i], region.value(branch.outputs()[i]));
        if (!made || (i < results.size() && results[i] != *made)) return false;
        if (i == results.size()) results.push_back(*made);
      }
    }
    for (std::uint32_t i = 0; i < node.types.size(); i++) take(Tensor::of(&node, i), results[i]);
    return true;
  }

  bool is_used(const Tensor& value) {
    if (used_.empty()) used_ = used_values(region_);
    return used_.contains(value);
  }

  /// any(x) or all(x) over all lanes, once, in a condition.
  bool fits_reduction(const Node& node, std::span<const LaneValue> operands) {
    const auto reduction = ir::loops_as<ir::Reduction>(node);
    if (!reduction || reduction_ || !is_scalar(node.type()) || operands[0].kind != Kind::kLane ||
        node.operand_type(0).elements() != rules_.lanes() || node.type().dtype != DType::kPred ||
        (reduction->combine != Opcode::kOr && reduction->combine != Opcode::kAnd))
      return false;
    reduction_ = &node;
    take(Tensor::of(&node), {Kind::kUniform, -1});
    return true;
  }

  const Function& region_;
  LaneRules rules_;
  bool is_condition_;
  int depth_;
  Candidate& candidate_;
  absl::flat_hash_map<ir::ValueKey, LaneValue> values_;
  absl::flat_hash_map<ir::ValueKey, std::size_t> arrays_;  // that are updated: which one
  std::vector<Tensor> last_;                               // state of each
  UsedValues used_;                                        // computed when first needed
  const Node* reduction_ = nullptr;
  std::int64_t uniform_ = 0, by_lane_ = 0;  // elements that are computed
  std::int64_t more_ = 0;                   // work beside loops over the elements, with one lane
  bool has_rows_ = false;
};

}  // namespace

UsedValues used_values(const Function& region) {
  UsedValues used;
  for (const Node* node : region.body()) used.insert(node->operands.begin(), node->operands.end());
  used.insert(region.outputs().begin(), region.outputs().end());
  return used;
}

std::optional<Interchange> form_in_lanes(const Node& loop, std::vector<LaneValue> operands,
                                         const LaneRules& rules, int depth, Candidate& candidate) {
  const LoopParts parts(loop);
  const bool by_lane = static_cast<bool>(loop.op->construct.lane_loop);
  if (depth > kMostDepth) return candidate.end({Obstacle::kDeep, &loop});
  if (by_lane && loop.op->construct.lane_loop(loop).lanes != rules.lanes())
    return candidate.end({Obstacle::kNode, &loop});
  const std::size_t carries = loop.types.size();
  for (std::size_t i = 0; i < carries; i++) {
    if (has_states(operands[i])) continue;
    const auto carried = rules.in_registers(loop.types[i], operands[i]);
    if (!carried) return candidate.end({Obstacle::kCarry, &loop, i});
    operands[i] = *carried;
  }
  std::optional<LaneRegion> condition;
  if (parts.condition &&
      !condition.emplace(*parts.condition, rules, !by_lane, depth, candidate).fits(operands))
    return std::nullopt;
  std::vector<LaneValue> parameters = operands;
  if (by_lane)
    parameters.insert(parameters.begin(), {Kind::kLane, 0});  // the mask of active lanes
  else if (parts.counts)
    parameters.insert(parameters.begin(), {Kind::kUniform, -1});  // the index
  LaneRegion body(parts.body, rules, false, depth, candidate);
  if (!body.fits(parameters)) return std::nullopt;
  for (std::size_t i = 0; i < carries; i++) {
    const Tensor& output = parts.body.outputs()[i];
    const bool stays = has_states(operands[i])
                           ? body.is_updated(output, parts.parameter(i))
                           : rules.in_registers(loop.types[i], body.value(output)) == operands[i];
    if (!stays) return candidate.end({Obstacle::kCarry, &loop, i});
  }
  Interchange form{rules.lanes(), false, (condition && condition->has_rows()) || body.has_rows(),
                   rules.nest(), std::move(operands)};
  const Node* reduction = condition ? condition->reduction() : nullptr;
  if (reduction && (form.has_rows || !inactive_lanes_are_fixed(loop, *reduction)))
    return candidate.end({Obstacle::kGoesOn, &loop});
  form.ends_by_lane = by_lane || reduction;
  return form;
}

}  // namespace rondo::executor
