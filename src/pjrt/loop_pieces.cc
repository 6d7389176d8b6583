#include "pjrt/loop_pieces.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "control_flow/extend.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region_walk.h"
#include "ir/run_limits.h"
#include "passes/expand.h"
#include "rondo/ops.h"

namespace rondo::pjrt {

namespace {

using ir::Node;
using ir::RegionLayout;

bool is_loop(const Node* node) {
  const auto layout = node ? ir::region_layout(node) : std::nullopt;
  return layout && layout->is_loop();
}

/// Finds loops inside a construct that is not a loop.
struct LoopsInBranches {
  const std::string& name;
  std::vector<bool> in_loop;

  void open(const Function&, const Node* holder, std::size_t) {
    in_loop.push_back(holder && (in_loop.back() || is_loop(holder)));
  }
  void close(const Function&, const Node*, std::size_t) { in_loop.pop_back(); }
  void after(const Node&) {}
  void node(const Node& node) {
    if (in_loop.size() == 1 || in_loop.back() || !is_loop(&node)) return;
    const std::string loop(ir::region_layout(&node)->name);
    throw ExecutionError(
        fmt::format("run of '{}' with limits on a device: {} is in a branch, where it cannot "
                    "be cut into chunks\n  Choose inside its body (rondo::where, rondo::cond), "
                    "leave the limits out, or run on a built-in executor.",
                    name, ir::loop_text(loop, node.location())),
        node.location());
  }
};

/// The function that `body` computes from `inputs`, which may be results of nodes, to `outputs`:
/// without the nodes that are not needed. `bound` replaces further values.
Function closed(const std::string& name, std::span<const Tensor> inputs,
                const std::vector<const Node*>& body, std::span<const Tensor> outputs,
                ir::Replay bound = {}) {
  const auto token = std::make_shared<ir::RegionToken>();
  token->what = name;
  token->open = false;
  Function::Data data{name, {}, {}, {}, {}};
  for (const Tensor& input : inputs) {
    data.params.push_back(ir::make_parameter(input.type(), fmt::format("p{}", data.params.size()),
                                             static_cast<std::int64_t>(data.params.size()), token,
                                             input.node()->location()));
    bound.bind(input, data.params.back());
  }
  for (const Node* node : body) {
    bound.copy(node);
    data.body.push_back(bound(Tensor::of(node)).node());
  }
  for (const Tensor& output : outputs) data.results.push_back(bound(output));
  return ir::close_live(std::move(data));  // `bound` has the copies
}

/// From the most trips, the carry and the invariants: the trips that were made, and the carry.
Function some_trips(const Node* node) {
  RegionLayout layout = *ir::region_layout(node);
  layout.trip_count = layout.max_trip_count = layout.promised = std::nullopt;
  layout.ends_by_itself = false;
  layout.residuals = nullptr;
  const Function& condition = node->regions[*layout.condition];
  const Function& body = node->regions[layout.body()];
  std::vector<TensorType> types = {s64()};
  for (const Tensor& operand : node->operands) types.push_back(operand.type());
  const auto trace = [&](std::span<const Tensor> params) {
    const Tensor& most = params[0];
    control_flow::Extension more;
    more.carries.values = {Tensor(std::int64_t{0})};
    more.carries.paths = {"trips"};
    auto [carry, trips, ys] = control_flow::extend(
        layout, params.subspan(1), more,
        [&](const control_flow::ExtendedParameters& given) {
          return control_flow::ExtendedResults{
              ir::Replay::inline_call(body, given.own), {given.carries[0] + 1}, {}};
        },
        [&](const control_flow::ExtendedParameters& given) {
          return logical_and(given.carries[0] < most,
                             ir::Replay::inline_call(condition, given.own)[0]);
        });
    trips.insert(trips.end(), carry.begin(), carry.end());
    return trips;
  };
  const std::string name = layout.name.empty() ? "loop" : std::string(layout.name);
  return ir::trace_closed(name, "a chunk of " + name, types, trace, node->location());
}

class Cut {
 public:
  explicit Cut(const Function& function) : function_(function) {
    for (const Tensor& param : function.parameters()) give_number(param);
    for (const Node* node : function.body()) place(node);
    for (const Stage& stage : stages_) {
      for (const Node* loop : stage.loops) {
        for (const Tensor& result : ir::results_of(loop)) give_number(result);
      }
    }
    for (std::size_t s = 0; s < stages_.size(); s++) find_outputs(s);
    for (const Tensor& result : function.outputs()) need(result);
  }

  LoopPieces pieces() const {
    LoopPieces all;
    for (std::size_t s = 0; s < stages_.size(); s++) {
      if (!stages_[s].outputs.empty()) all.pieces.push_back(straight_piece(s));
      for (const Node* loop : stages_[s].loops) all.pieces.push_back(loop_piece(loop));
      all.has_loops = all.has_loops || !stages_[s].loops.empty();
    }
    all.values = numbers_.size();
    for (const Tensor& result : function_.outputs()) all.results.push_back(number_of(result));
    absl::flat_hash_set<std::size_t> needed(all.results.begin(), all.results.end());
    for (auto piece = all.pieces.rbegin(); piece != all.pieces.rend(); ++piece) {
      const auto need = [&](std::size_t value) {
        if (needed.insert(value).second) piece->last.push_back(value);
      };
      std::for_each(piece->inputs.begin(), piece->inputs.end(), need);
      std::for_each(piece->outputs.begin(), piece->outputs.end(), need);
      if (piece->loop && piece->loop->limit) need(piece->loop->limit->value);
    }
    return all;
  }

 private:
  /// The nodes that can run after so many consecutive loops; and the loops that can run then.
  struct Stage {
    std::vector<const Node*> nodes, loops;
    std::vector<Tensor> outputs;
  };

  bool is_cheap_constant(const Tensor& value) const { return cheap_.contains(value.node()); }
  std::size_t stage_of(const Tensor& value) const {
    const auto found = stage_of_.find(value.node());
    return found == stage_of_.end() ? 0 : found->second;
  }
  std::size_t number_of(const Tensor& value) const { return numbers_.at(value); }
  void give_number(const Tensor& value) { numbers_.emplace(value, numbers_.size()); }

  void place(const Node* node) {
    const bool is_cheap =
        node->regions.empty() && node->op->cost < ir::Cost::kReduction &&
        std::all_of(node->operands.begin(), node->operands.end(),
                    [&](const Tensor& operand) { return is_cheap_constant(operand); });
    if (is_cheap) {
      cheap_.insert(node);
      cheap_nodes_.push_back(node);
      if (stages_.empty()) stages_.emplace_back();
      return;
    }
    std::size_t stage = 0;
    for (const Tensor& operand : node->operands) stage = std::max(stage, stage_of(operand));
    if (stages_.size() <= stage) stages_.resize(stage + 1);
    const bool loops = is_loop(node);
    (loops ? stages_[stage].loops : stages_[stage].nodes).push_back(node);
    stage_of_.emplace(node, loops ? stage + 1 : stage);
  }

  void need(const Tensor& value) {
    if (numbers_.contains(value)) return;
    give_number(value);
    stages_[stage_of(value)].outputs.push_back(value);
  }

  void find_outputs(std::size_t s) {
    for (const Node* node : stages_[s].nodes) {
      for (const Tensor& operand : node->operands) {
        if (!is_cheap_constant(operand) && stage_of(operand) < s) need(operand);
      }
    }
    for (const Node* node : stages_[s].loops) {
      const RegionLayout layout = *ir::region_layout(node);
      for (const Tensor& init : layout.carry_of(node->operands)) need(init);
      for (const Tensor& invariant : layout.invariants_of(node->operands)) {
        if (!is_cheap_constant(invariant)) need(invariant);
      }
      if (const auto counter = ir::runtime_counter(*node)) need(node->operands[*counter->limit]);
    }
  }

  std::vector<const Node*> with_cheap_nodes(const std::vector<const Node*>& nodes) const {
    std::vector<const Node*> body = cheap_nodes_;
    body.insert(body.end(), nodes.begin(), nodes.end());
    return body;
  }

  Piece straight_piece(std::size_t s) const {
    const Stage& stage = stages_[s];
    Piece piece;
    std::vector<Tensor> inputs;
    absl::flat_hash_set<const Node*> made(stage.nodes.begin(), stage.nodes.end());
    absl::flat_hash_set<ir::ValueKey> taken;
    for (const Node* node : stage.nodes) {
      for (const Tensor& operand : node->operands) {
        if (is_cheap_constant(operand) || made.contains(operand.node())) continue;
        if (!taken.insert(operand).second) continue;
        inputs.push_back(operand);
        piece.inputs.push_back(number_of(operand));
      }
    }
    for (const Tensor& output : stage.outputs) piece.outputs.push_back(number_of(output));
    piece.function = closed(function_.name(), inputs, with_cheap_nodes(stage.nodes), stage.outputs);
    return piece;
  }

  Piece loop_piece(const Node* node) const {
    const RegionLayout layout = *ir::region_layout(node);
    const Function step = some_trips(node);
    Piece piece;
    std::vector<Tensor> inputs = {step.parameters()[0]};
    ir::Replay constants;
    for (std::size_t i = 0; i < node->operands.size(); i++) {
      const Tensor& operand = node->operands[i];
      const Tensor& param = step.parameters()[i + 1];
      if (i >= layout.carries && is_cheap_constant(operand)) {
        constants.bind(param, operand);
        continue;
      }
      inputs.push_back(param);
      piece.inputs.push_back(number_of(operand));
    }
    for (const Tensor& result : ir::results_of(node)) piece.outputs.push_back(number_of(result));
    piece.function = closed(step.name(), inputs, with_cheap_nodes(step.body()), step.outputs(),
                            std::move(constants));
    piece.loop = ChunkedLoop{std::string(layout.name),
                             node->location(),
                             layout.carries,
                             node->regions[layout.body()].param_names(),
                             layout.source,
                             layout.trip_count,
                             std::nullopt};
    if (const auto counter = ir::runtime_counter(*node)) {
      piece.loop->limit = ChunkedLoop::Limit{*counter->carry, counter->step,
                                             number_of(node->operands[*counter->limit])};
    }
    return piece;
  }

  const Function& function_;
  absl::flat_hash_set<const Node*> cheap_;
  std::vector<const Node*> cheap_nodes_;
  absl::flat_hash_map<const Node*, std::size_t> stage_of_;  // after which its results are available
  std::vector<Stage> stages_;
  absl::flat_hash_map<ir::ValueKey, std::size_t> numbers_;  // of the values passed from piece to
                                                            // piece
};

}  // namespace

LoopPieces cut_at_loops(const Function& function) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  const Function expanded = passes::expand(function, passes::Target::kStablehlo);
  LoopsInBranches branches{function.name(), {}};
  ir::walk_nested(expanded, branches);
  return Cut(expanded).pieces();
}

}  // namespace rondo::pjrt
