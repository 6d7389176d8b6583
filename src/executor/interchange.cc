#include "executor/interchange.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "executor/element_code.h"
#include "executor/lane_region.h"
#include "executor/loop_parts.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/loop_nest.h"
#include "ir/region_walk.h"

namespace rondo::executor {

namespace {

using Kind = LaneValue::Kind;
using Obstacle = InterchangeObstacle::Kind;

// Threshold: Rows or columns that may become lanes; fewer leave most of a vector empty. Not
// measured.
constexpr std::int64_t kLeastRows = 8;

/// Whether uniform values can be computed separately.
bool singles_stand_alone(const Function& body, std::size_t carries) {
  absl::flat_hash_set<const Node*> needed;
  for (std::size_t i = 0; i < carries; i++) {
    if (is_scalar(body.outputs()[i].type())) needed.insert(body.outputs()[i].node());
  }
  for (auto node = body.body().rbegin(); node != body.body().rend(); ++node) {
    if (!needed.contains(*node)) continue;
    if (!has_element_code(**node)) return false;
    for (const TensorType& type : (*node)->types) {
      if (!is_scalar(type)) return false;
    }
    for (const Tensor& operand : (*node)->operands) {
      if (!is_scalar(operand.type())) return false;
      needed.insert(operand.node());
    }
  }
  return true;
}

/// For an array that a loop carries and updates by parts, at positions known at run time: the axis
/// along which an update covers all lanes; -1 for a single lane.
std::optional<std::int64_t> updated_axis(const Node& loop, std::size_t carry, std::int64_t lanes) {
  const LoopParts parts(loop);
  const Tensor& parameter = parts.parameter(carry);
  const Tensor& output = parts.body.outputs()[carry];
  const Node* node = output.node();
  if (strategy_of(*node) != Strategy::kWrite) return std::nullopt;
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(*node);
  if (map.kept < 0 || map.parts.empty()) return std::nullopt;
  const Shape& shape = parameter.shape();
  const ir::Part& part = map.parts[0];
  if (!moves(part)) return std::nullopt;
  if (lanes == 1) return -1;
  for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
    if (shape[axis] == lanes && covers(part, axis, lanes)) return axis;
  }
  return std::nullopt;
}

/// The operands of a loop that its body reads or writes as tapes.
std::vector<bool> tapes_among(const Node& loop) {
  const LoopParts parts(loop);
  std::vector<bool> tapes(parts.operands.size());
  if (loop.op->construct.lane_loop) return tapes;
  absl::flat_hash_set<const Node*> parameters;
  for (const Node* node : parts.body.body()) {
    const Strategy form = strategy_of(*node);
    if (form == Strategy::kTapeRead || form == Strategy::kTapeWrite)
      parameters.insert(node->operands[0].node());
  }
  for (std::size_t i = 0; i < tapes.size() && !parameters.empty(); i++)
    tapes[i] = parameters.contains(parts.parameter(i).node());
  return tapes;
}

/// A loop-invariant array of few elements for each lane, which are loaded before the first trip.
bool is_loaded_once(const LaneRules& rules, const TensorType& type) {
  // Threshold: Elements for each lane that are loaded once before the loop: registers against a
  // load in each trip. Not measured.
  constexpr std::int64_t kMostLoaded = 4;
  const auto value = rules.of_type(type);
  return value && value->kind == Kind::kLane && rules.count(type, *value) <= kMostLoaded;
}

/// Candidate numbers of lanes, the largest first: all elements of a carry, or its rows or columns;
/// or one, if the arrays that the loop works on are small.
std::vector<std::int64_t> possible_lanes(const Node& loop) {
  if (loop.op->construct.lane_loop) {
    const std::int64_t lanes = loop.op->construct.lane_loop(loop).lanes;
    return lanes < 2 ? std::vector<std::int64_t>{} : std::vector{lanes};
  }
  // Threshold: Lane counts tried for a loop: compile time against finding one that fits. Not
  // measured.
  constexpr std::size_t kMostTried = 6;
  std::vector<std::int64_t> lanes;
  for (const TensorType& type : loop.types) {
    if (type.elements() == 0) return {};
    if (is_scalar(type)) continue;
    lanes.push_back(type.elements());
    for (const std::int64_t size : {type.shape[0], type.shape.dims().back()}) {
      if (size >= kLeastRows) lanes.push_back(size);
    }
  }
  lanes.erase(std::remove(lanes.begin(), lanes.end(), 1), lanes.end());
  std::sort(lanes.begin(), lanes.end(), std::greater<>());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  lanes.resize(std::min(lanes.size(), kMostTried));
  lanes.push_back(1);
  return lanes;
}

bool is_loop(const Node& node) {
  const ir::Flow flow = node.op->construct.flow;
  return flow == ir::Flow::kRepeat || flow == ir::Flow::kCount || node.op->construct.lane_loop;
}

/// Whether a uniform value is available after the loop, if it is used.
bool has_uniform_live_outs(const Node& loop, const Interchange& form, const UsedValues* used) {
  if (form.lanes == 1) return true;
  bool asks = false;
  for (std::uint32_t i = 0; i < loop.types.size(); i++) {
    if (form.operands[i].kind != Kind::kUniform) continue;
    if (used && !used->contains(Tensor::of(&loop, i))) continue;
    if (!is_scalar(loop.types[i])) return false;
    asks = true;
  }
  return !asks || singles_stand_alone(LoopParts(loop).body, loop.types.size());
}

}  // namespace

std::optional<Interchange> interchange(const Node& loop, bool reorders, const UsedValues* used,
                                       InterchangeObstacle* obstacle) {
  if (!is_loop(loop)) return std::nullopt;
  std::size_t best_diagnostic = 0;
  const std::vector<bool> tapes = tapes_among(loop);
  const std::span<const Tensor> given = LoopParts(loop).operands;
  for (const std::int64_t lanes : possible_lanes(loop)) {
    const LaneRules rules(lanes, reorders);
    std::vector<LaneValue> tables, loaded, updated;
    for (std::size_t i = 0; i < given.size(); i++) {
      const TensorType& type = given[i].type();
      const bool carried = i < loop.types.size();
      if (tapes[i] && lanes == 1) {
        for (auto* way : {&tables, &loaded, &updated}) way->push_back({Kind::kTape, -1});
        continue;
      }
      tables.push_back(is_scalar(type) ? LaneValue{Kind::kUniform, -1} : LaneValue{});
      loaded.push_back(!carried && is_loaded_once(rules, type) ? *rules.of_type(type) : tables[i]);
      const auto axis = carried ? updated_axis(loop, i, lanes) : std::nullopt;
      updated.push_back(axis ? LaneValue{Kind::kCarried, *axis} : loaded[i]);
    }
    // Values loaded before the first trip can be read only at the lane's index; arrays updated in
    // memory cannot be read as a whole.
    std::vector<std::vector<LaneValue>> ways{updated, loaded, tables};
    for (std::size_t i = 0; i < tables.size(); i++) {
      if (!has_states(updated[i])) updated[i] = tables[i];
    }
    ways.insert(ways.begin() + 1, std::move(updated));
    ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
    for (std::vector<LaneValue>& operands : ways) {
      Candidate candidate;
      auto form = form_in_lanes(loop, std::move(operands), rules, 1, candidate);
      // Without small arrays, a single lane is the loop unchanged.
      if (form && lanes == 1 && !form->has_rows) continue;
      if (form && has_uniform_live_outs(loop, *form, used)) return form;
      if (form) candidate.end({Obstacle::kResult, &loop});
      if (!obstacle || lanes == 1 || candidate.nodes < best_diagnostic) continue;
      best_diagnostic = candidate.nodes;
      *obstacle = candidate.obstacle;
    }
  }
  return std::nullopt;
}

Interchanges::Interchanges(const Function& function, bool reorders, bool keeps_states) {
  struct Place : ir::BodyPlace {
    using BodyPlace::BodyPlace;
    std::optional<UsedValues> used = std::nullopt;  // computed when the first loop needs it
  };
  // Regions of loops that are interchanged with their lanes are not searched.
  struct Visitor : ir::FunctionVisitor {
    Visitor(Interchanges& made, bool reordering, bool keeping)
        : forms(made), reorders(reordering), keeps_states(keeping) {}
    std::optional<Place> enter(const Function& region, const Node* holder, std::size_t) {
      if (forms.of(holder) || !seen.insert(region.identity()).second) return std::nullopt;
      return Place(region);
    }
    void before(Place& place, const Node& node) {
      if (!is_loop(node)) return;
      const bool all_used = keeps_states && !stands_for_branch(node) && open_loops++ == 0;
      if (!all_used && !place.used) place.used = used_values(place.function());
      auto& [loop, obstacle] = forms.loops_.emplace_back(&node, InterchangeObstacle{});
      if (auto form = interchange(node, reorders, all_used ? nullptr : &*place.used, &obstacle))
        forms.forms_.emplace(loop, *std::move(form));
    }
    void after(Place&, const Node& node) {
      if (keeps_states && is_loop(node) && !stands_for_branch(node)) open_loops--;
    }
    void leave(Place&) {}
    Interchanges& forms;
    bool reorders, keeps_states;
    int open_loops = 0;
    absl::flat_hash_set<const void*> seen;
  };
  Visitor visitor(*this, reorders, keeps_states);
  ir::walk_regions(function, visitor);
}

}  // namespace rondo::executor
