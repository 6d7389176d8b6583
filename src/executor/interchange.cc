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
/// along which an update covers all lanes; -1 for a single lane, and for lanes along several axes.
std::optional<std::int64_t> updated_axis(const Node& loop, std::size_t carry,
                                         const LaneRules& rules) {
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
  const std::int64_t lanes = rules.lanes();
  if (lanes == 1) return -1;
  if (!rules.nest().empty()) {
    const bool has_lanes = rules.nest().ends(shape) && covers_lanes(part, rules.nest());
    return has_lanes ? std::optional<std::int64_t>(-1) : std::nullopt;
  }
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

/// The lanes of a loop: so many in one loop, or in several.
struct PossibleLanes {
  std::int64_t count;
  LaneNest nest = {};
};

/// Loops over the axes of what a loop carries, if they are several and the last one fills vectors.
std::optional<LaneNest> nest_of(const Node& loop, const Shape& shape) {
  const auto last = std::find_if(shape.dims().rbegin(), shape.dims().rend(),
                                 [](std::int64_t size) { return size > 1; });
  if (last == shape.dims().rend() || *last < kLeastRows || *last == shape.elements())
    return std::nullopt;
  // Threshold: Rows that a lane computes, and elements that it carries for them: registers against
  // indices and addresses that are the same for all rows. Set by arrays/template_search in
  // bench/workloads, which takes 0.68 of plain C++'s time with 5 rows and 0.87 with one.
  constexpr std::int64_t kMostRows = 8, kMostCarried = 16;
  const std::int64_t carries =
      std::count_if(loop.types.begin(), loop.types.end(),
                    [&](const TensorType& type) { return type.shape == shape; });
  LaneNest nest{shape, std::clamp<std::int64_t>(kMostCarried / carries, 1, kMostRows)};
  const std::int64_t rows = shape[static_cast<std::int64_t>(nest.axis_of_rows())];
  while (rows % nest.rows != 0) nest.rows--;
  return nest;
}

/// Candidate lanes, the largest numbers first: all elements of a carry, in one loop or in one for
/// each axis; its rows or columns; or one, if the arrays that the loop works on are small.
std::vector<PossibleLanes> possible_lanes(const Node& loop) {
  if (loop.op->construct.lane_loop) {
    const std::int64_t lanes = loop.op->construct.lane_loop(loop).lanes;
    return lanes < 2 ? std::vector<PossibleLanes>{} : std::vector<PossibleLanes>{{lanes}};
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
  std::vector<PossibleLanes> possible;
  for (const std::int64_t count : lanes) {
    possible.push_back({count});
    if (!LoopParts(loop).counts) continue;
    const auto carry = std::find_if(loop.types.begin(), loop.types.end(), [&](const auto& type) {
      return type.elements() == count && type.rank() > 1;
    });
    if (carry == loop.types.end()) continue;
    if (const std::optional<LaneNest> nest = nest_of(loop, carry->shape))
      possible.push_back({count / nest->rows, *nest});
  }
  return possible;
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
  for (const auto& [lanes, nest] : possible_lanes(loop)) {
    const LaneRules rules(lanes, reorders, nest);
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
      const auto axis = carried ? updated_axis(loop, i, rules) : std::nullopt;
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
