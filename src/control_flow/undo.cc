#include "control_flow/undo.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "control_flow/residuals.h"
#include "ir/function_data.h"
#include "ir/loop_nest.h"
#include "rondo/ops/indexing.h"

namespace rondo::control_flow {

namespace {

using ir::Node;

/// Whether a node gives operand 0 with a part replaced by operand 1. It undoes what it did, to the
/// bit, with the part that was overwritten in the place of operand 1.
bool replaces_a_part(const Node& node) {
  const auto map = ir::loops_as<ir::InsertionMap>(node);
  if (!map || map->kept != 0 || map->parts.size() != 1 || map->parts[0].operand != 1) return false;
  const ir::Part& part = map->parts[0];
  return std::all_of(part.axes.begin(), part.axes.end(), [](const ir::AxisWrite& axis) {
    return axis.first == 0 && axis.start == 0 && axis.step == 1 && axis.dynamic >= 0;
  });
}

/// The part of operand 0 that such a node replaces.
Tensor overwritten_part(const Node& node) {
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
  std::vector<Tensor> starts;
  std::vector<std::int64_t> sizes;
  for (const ir::AxisWrite& axis : map.parts[0].axes) {
    starts.push_back(node.operand(static_cast<std::size_t>(axis.dynamic)));
    sizes.push_back(axis.count);
  }
  return dynamic_slice(Operand(node.operand(0), node.location()), starts, sizes);
}

/// A value of an array during a trip of the forward run, before or after one of its writes.
struct State {
  std::size_t carry;
  Tensor next = {};                          // the state after it; empty for the carry's result
  const Node* write = nullptr;               // makes the next state
  const ir::RestoredArray* array = nullptr;  // or: the array of the construct that makes it
  /// Whether the backward pass has it only after the backward pass of a construct has run.
  bool late = false;
};

class Undoing {
 public:
  Undoing(const JointBody& joint, const std::vector<Availability>& availability,
          std::size_t carries, std::span<const Tensor> kept);

  /// Marks the carries that the backward pass needs; false if there are none.
  bool find_wanted();
  /// Nullopt if states would have to be restored from one another.
  std::optional<JointBody> rewritten(ir::Derivatives& derivatives);

 private:
  void find_states(std::size_t carry);
  void find_repeatable();

  bool is_backward(const Tensor& value) const { return backward_.contains(value.node()); }
  const State* state_of(const Tensor& value) const {
    const auto found = states_.find(value);
    return found == states_.end() || !wanted_[found->second.carry] ? nullptr : &found->second;
  }

  bool is_made(const Tensor& value) const;
  std::vector<Tensor> needed_for(const Tensor& value) const;
  void make(const Tensor& value);
  bool make_in_order(const Tensor& root);

  const JointBody& joint_;
  const std::vector<Tensor>&params_, &outputs_;
  absl::flat_hash_set<const Node*> backward_;  // what depends on a cotangent
  // What the backward pass has without keeping anything; and the part of it that is equal on every
  // trip.
  absl::flat_hash_set<const Node*> at_hand_, invariant_;
  absl::flat_hash_set<ir::ValueKey> kept_;                                   // kept anyway
  absl::flat_hash_map<ir::ValueKey, const ir::RestoredArray*> restored_by_;  // by `after`
  absl::flat_hash_map<ir::ValueKey, State> states_;
  absl::flat_hash_set<ir::ValueKey> seen_;       // also as states of arrays that cannot be undone
  absl::flat_hash_set<const Node*> repeatable_;  // cheap to get from states and what is available
  ir::Flags wanted_;                             // carries
  std::vector<Tensor> after_;                    // the parameters that hold their results
  ir::Replay replay_;                            // a value as the backward pass has it
  absl::flat_hash_set<ir::ValueKey> made_;       // states, and nodes by their result 0
};

Undoing::Undoing(const JointBody& joint, const std::vector<Availability>& availability,
                 std::size_t carries, std::span<const Tensor> kept)
    : joint_(joint),
      params_(joint.function.parameters()),
      outputs_(joint.function.outputs()),
      wanted_(carries),
      after_(carries) {
  for (std::size_t i = 0; i < params_.size(); i++) {
    const Node* param = params_[i].node();
    if (i >= joint.parameters) {
      backward_.insert(param);
      continue;
    }
    if (availability[i] != Availability::kUnavailable) at_hand_.insert(param);
    if (availability[i] == Availability::kInvariant) invariant_.insert(param);
  }
  for (const Node* node : joint.function.body()) {
    if (std::any_of(node->operands.begin(), node->operands.end(),
                    [&](const Tensor& operand) { return is_backward(operand); }))
      backward_.insert(node);
  }
  for (const ir::RestoredArray& array : joint.restored) {
    if (is_backward(array.again) && !is_backward(array.after))
      restored_by_.emplace(array.after, &array);
  }
  for (std::size_t i = 0; i < carries; i++) find_states(i);
  for (const Tensor& value : kept) {
    if (!states_.contains(value)) kept_.insert(value);
  }
  if (!states_.empty()) find_repeatable();
}

/// Walks back from a carry's result to its parameter.
void Undoing::find_states(std::size_t carry) {
  std::vector<std::pair<Tensor, State>> found;
  State state{carry};
  Tensor value = outputs_[carry];
  if (value.same_as(params_[carry])) return;
  while (!is_backward(value) && seen_.insert(value).second) {
    found.emplace_back(value, state);
    if (value.same_as(params_[carry])) {
      states_.insert(found.begin(), found.end());
      return;
    }
    const auto by = restored_by_.find(value);
    const Node* node = value.node();
    state = {carry, value, nullptr, nullptr, state.late};
    if (by != restored_by_.end()) {
      state.array = by->second;
      state.late = true;
      value = by->second->before;
    } else if (replaces_a_part(*node)) {
      state.write = node;
      value = node->operand(0);
    } else {
      return;
    }
  }
}

/// Values computed from late states are kept rather than recomputed: the construct whose backward
/// pass restores the state may use them.
void Undoing::find_repeatable() {
  const auto is_state = [&](const Tensor& value) {
    const auto found = states_.find(value);
    return found != states_.end() && !found->second.late;
  };
  for (const Node* node : joint_.function.body()) {
    if (backward_.contains(node)) continue;
    bool invariant = true, at_hand = true, known = true;
    for (const Tensor& operand : node->operands) {
      if (ir::is_constant(operand.node())) continue;
      const bool has = at_hand_.contains(operand.node()) || kept_.contains(operand);
      invariant = invariant && invariant_.contains(operand.node());
      at_hand = at_hand && has;
      known = known && (has || repeatable_.contains(operand.node()) || is_state(operand));
    }
    const bool reads_state =
        ir::has_loops<ir::AccessMap>(*node) &&
        (is_state(node->operand(0)) || invariant_.contains(node->operand(0).node()));
    if (invariant) invariant_.insert(node);
    if (invariant || (at_hand && is_one_pass(node)))
      at_hand_.insert(node);
    else if (known && (is_one_pass(node) || reads_state))
      repeatable_.insert(node);
  }
}

bool Undoing::find_wanted() {
  if (states_.empty()) return false;
  std::vector<Tensor> open;
  absl::flat_hash_set<const Node*> seen;
  for (const Node* node : joint_.function.body()) {
    if (backward_.contains(node))
      open.insert(open.end(), node->operands.begin(), node->operands.end());
  }
  open.insert(open.end(), outputs_.begin() + static_cast<std::ptrdiff_t>(joint_.results),
              outputs_.end());
  bool any = false;
  while (!open.empty()) {
    const Tensor value = std::move(open.back());
    open.pop_back();
    if (const auto state = states_.find(value); state != states_.end()) {
      wanted_[state->second.carry] = true;
      any = true;
    } else if (repeatable_.contains(value.node()) && seen.insert(value.node()).second) {
      open.insert(open.end(), value.node()->operands.begin(), value.node()->operands.end());
    }
  }
  return any;
}

ir::ValueKey key_of(const Tensor& value, bool is_state) {
  return {value.node(), is_state ? value.result() : 0};
}

/// Whether the backward pass has a value already; it has those of the forward run.
bool Undoing::is_made(const Tensor& value) const {
  const bool is_state = state_of(value);
  const Node* node = value.node();
  if (!is_state &&
      (ir::is_parameter(node) || (!backward_.contains(node) && !repeatable_.contains(node))))
    return true;
  return made_.contains(key_of(value, is_state));
}

std::vector<Tensor> Undoing::needed_for(const Tensor& value) const {
  const State* state = state_of(value);
  if (!state) {
    const std::span<const Tensor> operands = value.node()->operands;
    return std::vector<Tensor>(operands.begin(), operands.end());
  }
  if (state->next.empty()) return {};
  return {state->array ? state->array->again : state->next};
}

void Undoing::make(const Tensor& value) {
  const State* state = state_of(value);
  made_.insert(key_of(value, state));
  if (!state) {
    replay_.copy(value.node());
  } else if (state->next.empty()) {
    replay_.bind(value, after_[state->carry]);
  } else if (state->array) {
    replay_.bind(value, replay_(state->array->again));
  } else {
    ir::Operands operands = state->write->operands;
    operands[0] = replay_(state->next);
    operands[1] = overwritten_part(*state->write);
    replay_.bind(value, ir::rebuild(state->write, std::move(operands)));
  }
}

/// False if something would depend on itself.
bool Undoing::make_in_order(const Tensor& root) {
  std::vector<Tensor> open{root};
  absl::flat_hash_set<ir::ValueKey> begun;
  while (!open.empty()) {
    const Tensor value = open.back();
    std::vector<Tensor> missing;
    if (!is_made(value)) {
      for (Tensor& needed : needed_for(value)) {
        if (!is_made(needed)) missing.push_back(std::move(needed));
      }
      if (missing.empty()) make(value);
    }
    if (missing.empty()) {
      open.pop_back();
      continue;
    }
    if (!begun.insert(key_of(value, state_of(value))).second) return false;
    open.insert(open.end(), missing.begin(), missing.end());
  }
  return true;
}

std::optional<JointBody> Undoing::rewritten(ir::Derivatives& derivatives) {
  JointBody undone = joint_;
  undone.restored.clear();
  std::vector<Tensor> params = params_;
  const auto token = std::make_shared<ir::RegionToken>();
  token->what = "the backward pass of " + joint_.function.name();
  token->open = false;
  for (std::size_t i = 0; i < wanted_.size(); i++) {
    if (!wanted_[i]) continue;
    undone.undone.push_back(i);
    after_[i] = ir::make_parameter(outputs_[i].type(), "after" + std::to_string(i),
                                   static_cast<std::int64_t>(params.size()), token,
                                   outputs_[i].node()->location());
    params.push_back(after_[i]);
  }
  const auto first_cotangent = outputs_.begin() + static_cast<std::ptrdiff_t>(joint_.results);
  std::vector<Tensor> outputs(outputs_.begin(), first_cotangent);
  std::vector<Tensor> backward(first_cotangent, outputs_.end());
  for (const std::size_t i : undone.undone) backward.push_back(params_[i]);
  for (const Tensor& output : backward) {
    if (!make_in_order(output)) return std::nullopt;
    outputs.push_back(replay_(output));
  }
  undone.function = derivatives.simplified(
      Function::make(joint_.function.name(), std::move(params), std::move(outputs)));
  return undone;
}

}  // namespace

std::optional<JointBody> with_writes_undone(const JointBody& joint,
                                            const std::vector<Availability>& availability,
                                            std::size_t carries, std::span<const Tensor> kept,
                                            ir::Derivatives& derivatives) {
  Undoing undoing(joint, availability, carries, kept);
  return undoing.find_wanted() ? undoing.rewritten(derivatives) : std::nullopt;
}

}  // namespace rondo::control_flow
