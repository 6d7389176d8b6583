#include "control_flow/residuals.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/loop_nest.h"

namespace rondo::control_flow {

namespace {

using ir::Node;

/// What the choice needs to know of the joint program: which values depend on a cotangent, and
/// which parameters and carries the backward pass has without keeping anything.
class ForwardPart {
 public:
  ForwardPart(const JointBody& joint, const std::vector<Availability>& availability,
              std::size_t carries)
      : function(joint.function), availability_(availability) {
    const std::vector<Tensor>& params = function.parameters();
    for (std::size_t i = 0; i < params.size(); i++) {
      parameter_.emplace(params[i].node(), i);
      place_.emplace(params[i].node(), i);
    }
    for (std::size_t i = 0; i < carries; i++) {
      const Tensor& result = function.outputs()[i];
      if (!result.same_as(params[i])) carry_of_.emplace(result, i);
    }
    for (std::size_t i = joint.parameters; i < params.size(); i++)
      backward_.insert(params[i].node());
    for (const Node* node : function.body()) {
      place_.emplace(node, place_.size());
      const bool depends =
          std::any_of(node->operands.begin(), node->operands.end(),
                      [&](const Tensor& operand) { return is_backward(operand.node()); });
      if (depends)
        backward_.insert(node);
      else if (!ir::is_constant(node))
        nodes.push_back(node);
    }
  }

  /// A value's position in the program.
  using Place = std::pair<std::size_t, std::uint32_t>;
  Place place(const Tensor& value) const {
    const auto found = place_.find(value.node());
    return {found == place_.end() ? 0 : found->second, value.result()};  // constants may be outside
  }

  bool is_backward(const Node* node) const { return backward_.contains(node); }
  bool is_parameter(const Node* node) const { return parameter_.contains(node); }
  Availability availability(const Node* parameter) const {
    return availability_[parameter_.at(parameter)];
  }
  /// The carry whose result this value is, unless it is also the carry's parameter.
  std::optional<std::size_t> carry_of(const Tensor& result) const {
    const auto found = carry_of_.find(result);
    return found == carry_of_.end() ? std::nullopt : std::optional(found->second);
  }

  const Function& function;
  std::vector<const Node*> nodes;  // those computed in the forward run

 private:
  const std::vector<Availability>& availability_;
  absl::flat_hash_map<const Node*, std::size_t> parameter_;
  absl::flat_hash_map<const Node*, std::size_t> place_;
  absl::flat_hash_map<ir::ValueKey, std::size_t> carry_of_;
  absl::flat_hash_set<const Node*> backward_;
};

/// Starts with all values that the backward pass uses, and removes those that need not be kept.
class ResidualChoice {
 public:
  ResidualChoice(const JointBody& joint, const std::vector<Availability>& availability,
                 std::size_t carries, std::size_t first_stacked)
      : forward_(joint, availability, carries) {
    const std::vector<Tensor>& outputs = forward_.function.outputs();
    const auto keep_if_forward = [&](const Tensor& value) {
      if (!forward_.is_backward(value.node()) && !ir::is_constant(value.node()))
        kept_.emplace(forward_.place(value), value);
    };
    for (const Node* node : forward_.function.body()) {
      if (!forward_.is_backward(node)) continue;
      for (const Tensor& operand : node->operands) keep_if_forward(operand);
    }
    for (std::size_t i = joint.results; i < outputs.size(); i++) keep_if_forward(outputs[i]);
    needed_ = kept_;
    for (std::size_t i = first_stacked; i < joint.results; i++) {
      keep_if_forward(outputs[i]);
      stacked_.insert(outputs[i]);
    }
    drop_recomputed();
    // Threshold: Rounds that exchange kept values for smaller ones: compile time against memory of
    // the tape. Not measured.
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds && exchange(); round++) drop_recomputed();
    drop_unused();
  }

  ChosenResiduals chosen() const {
    ChosenResiduals all;
    for (const auto& [place, value] : kept_) all.kept.push_back(value);
    all.next_carries = used().next_carries;
    std::sort(all.next_carries.begin(), all.next_carries.end());
    return all;
  }

 private:
  using Values = std::map<ForwardPart::Place, Tensor>;
  /// How the backward pass obtains a value.
  enum class Known : std::uint8_t { kNot, kAvailable, kInvariant };
  /// Nodes that the backward pass can recompute from kept or available values.
  using Recomputed = absl::flat_hash_map<const Node*, Known>;

  Recomputed recomputed() const {
    Recomputed computed;
    for (const Node* node : forward_.nodes) {
      bool invariant = true, available = true;
      for (const Tensor& operand : node->operands) {
        const Known of = known(operand, computed);
        invariant = invariant && of == Known::kInvariant;
        available = available && of != Known::kNot;
      }
      if (invariant)
        computed.emplace(node, Known::kInvariant);
      else if (available && is_cheap(node, computed))
        computed.emplace(node, Known::kAvailable);
    }
    return computed;
  }

  /// Reading a row of an array that never changes again costs no more than reading a kept copy of
  /// it.
  bool is_cheap(const Node* node, const Recomputed& computed) const {
    return is_one_pass(node) || (ir::has_loops<ir::AccessMap>(*node) &&
                                 known(node->operands[0], computed) == Known::kInvariant);
  }

  Known known(const Tensor& value, const Recomputed& computed) const {
    const Node* node = value.node();
    if (ir::is_constant(node)) return Known::kInvariant;
    if (forward_.is_parameter(node)) {
      const Availability of = forward_.availability(node);
      if (of == Availability::kInvariant) return Known::kInvariant;
      if (of == Availability::kAvailable) return Known::kAvailable;
    }
    if (const auto found = computed.find(node); found != computed.end()) return found->second;
    return is_kept(value) || seen_as_parameter(value) ? Known::kAvailable : Known::kNot;
  }

  bool is_kept(const Tensor& value) const { return kept_.contains(forward_.place(value)); }
  bool is_stacked(const Tensor& value) const { return stacked_.contains(value); }
  /// The carry whose result the value is, if the backward pass has seen it as the parameter of the
  /// following trip.
  std::optional<std::size_t> seen_as_parameter(const Tensor& value) const {
    const auto carry = forward_.carry_of(value);
    return carry && is_kept(forward_.function.parameters()[*carry]) ? carry : std::nullopt;
  }

  /// Drops values that are available without being kept. What was computed from a dropped value can
  /// be computed from what the dropped value follows from, so the order does not matter. Parameters
  /// are the exception: only they can be known through one another in a cycle.
  void drop_recomputed() {
    const Recomputed computed = recomputed();
    std::vector<Tensor> parameters;
    for (auto at = kept_.begin(); at != kept_.end();) {
      const Tensor& value = at->second;
      const bool is_parameter = forward_.is_parameter(value.node());
      if (is_parameter) parameters.push_back(value);
      const bool goes =
          !is_stacked(value) &&
          (computed.contains(value.node()) ||
           (is_parameter ? forward_.availability(value.node()) != Availability::kUnavailable
                         : seen_as_parameter(value).has_value()));
      at = goes ? kept_.erase(at) : std::next(at);
    }
    if (std::any_of(parameters.begin(), parameters.end(),
                    [&](const Tensor& value) { return seen_as_parameter(value).has_value(); }))
      drop_shifted(parameters, computed);
  }

  /// Parameters that are the result of another carry, as in a shift register. They are dropped if
  /// that carry's parameter is kept, unless the result of their own carry is known only through
  /// them.
  void drop_shifted(const std::vector<Tensor>& parameters, const Recomputed& computed) {
    const Used in_use = used();
    const absl::flat_hash_set<std::size_t> next(in_use.next_carries.begin(),
                                                in_use.next_carries.end());
    absl::flat_hash_map<const Node*, std::size_t> carry_with_parameter;
    const std::vector<Tensor>& all = forward_.function.parameters();
    for (std::size_t i = 0; i < all.size(); i++) carry_with_parameter.emplace(all[i].node(), i);
    for (auto at = parameters.rbegin(); at != parameters.rend(); ++at) {
      if (!is_kept(*at) || is_stacked(*at) || !seen_as_parameter(*at)) continue;
      const std::size_t own = carry_with_parameter.at(at->node());
      if (next.contains(own) && !computed.contains(forward_.function.outputs()[own].node()))
        continue;
      kept_.erase(forward_.place(*at));
    }
  }

  struct Used {
    absl::flat_hash_set<ir::ValueKey> kept;
    std::vector<std::size_t> next_carries;
  };
  /// Which kept values the backward pass reads, and which carries' results it reads as parameters
  /// of the following trip.
  Used used() const {
    Used all;
    std::vector<Tensor> open;
    absl::flat_hash_set<ir::ValueKey> seen;
    absl::flat_hash_set<std::size_t> next;
    const auto visit = [&](const Tensor& value) {
      if (seen.insert(value).second) open.push_back(value);
    };
    for (const auto& [place, value] : needed_) visit(value);
    while (!open.empty()) {
      const Tensor value = std::move(open.back());
      open.pop_back();
      if (is_kept(value)) {
        all.kept.insert(value);
      } else if (const auto carry = seen_as_parameter(value)) {
        all.kept.insert(forward_.function.parameters()[*carry]);
        if (next.insert(*carry).second) all.next_carries.push_back(*carry);
      } else {
        for (const Tensor& operand : value.node()->operands) visit(operand);
      }
    }
    return all;
  }

  /// Drops stacked results that the backward pass does not use.
  void drop_unused() {
    const Used in_use = used();
    for (auto at = kept_.begin(); at != kept_.end();)
      at = in_use.kept.contains(at->second) ? std::next(at) : kept_.erase(at);
  }

  /// The bytes that keeping the value adds.
  std::int64_t bytes_of(const Tensor& value) const {
    return is_stacked(value) ? 0 : value.type().bytes();
  }

  /// The value that is kept for it: for the result of a carry, the carry's parameter.
  Tensor kept_for(const Tensor& value) const {
    const auto carry = forward_.carry_of(value);
    return carry ? forward_.function.parameters()[*carry] : value;
  }

  /// The one unknown operand of a value that is cheap to compute; empty if there are none or
  /// several. A carry's parameter and its result count as one.
  Tensor only_missing(const Tensor& value, const Recomputed& computed) const {
    const Node* node = value.node();
    if (forward_.is_parameter(node) || !is_cheap(node, computed)) return {};
    Tensor missing;
    for (const Tensor& operand : node->operands) {
      if (known(operand, computed) != Known::kNot) continue;
      if (missing.empty() || missing.same_as(operand))
        missing = operand;
      else if (kept_for(missing).same_as(kept_for(operand)))
        missing = kept_for(operand);
      else
        return {};
    }
    return missing;
  }

  /// Keeps one value in place of others that are cheap to compute from it, if that is smaller.
  /// Takes the exchange that saves most, and of equal ones the last, which needs the fewest ops.
  /// False if there is none.
  bool exchange() {
    struct Saving {
      Tensor value;
      std::int64_t bytes = 0;
      std::vector<ForwardPart::Place> of;  // the values kept now
    };
    const Recomputed computed = recomputed();
    std::map<ForwardPart::Place, Saving> savings;
    for (const auto& [place, value] : kept_) {
      // Threshold: Cheap ops in a chain through which a value is followed to a smaller one: compile
      // time against memory of the tape. Not measured.
      constexpr int kLongest = 16;
      Tensor from = only_missing(value, computed);
      for (int length = 0; !from.empty() && length < kLongest; length++) {
        Saving& saving = savings[forward_.place(from)];
        saving.value = from;
        saving.bytes += bytes_of(value);
        saving.of.push_back(place);
        from = only_missing(from, computed);
      }
    }
    std::vector<Saving> all;
    for (auto saving = savings.rbegin(); saving != savings.rend(); ++saving) {
      saving->second.bytes -= bytes_of(saving->second.value);
      if (saving->second.bytes > 0) all.push_back(std::move(saving->second));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Saving& a, const Saving& b) { return a.bytes > b.bytes; });
    std::set<ForwardPart::Place> replaced;
    for (const Saving& saving : all) {
      const bool is_free = std::none_of(saving.of.begin(), saving.of.end(), [&](const auto& place) {
        return replaced.contains(place);
      });
      if (!is_free) continue;
      replaced.insert(saving.of.begin(), saving.of.end());
      kept_.emplace(forward_.place(saving.value), saving.value);
    }
    return !all.empty();
  }

  ForwardPart forward_;
  Values needed_;  // what the backward pass uses
  Values kept_;
  absl::flat_hash_set<ir::ValueKey> stacked_;  // kept by the loop anyway, as ys
};

}  // namespace

bool is_one_pass(const Node* node) {
  return !node->op->observer &&
         (node->op->cost == ir::Cost::kElementwise ||
          (node->op->cost == ir::Cost::kMovement && node->operands.size() == 1));
}

ChosenResiduals choose_residuals(const JointBody& joint,
                                 const std::vector<Availability>& availability, std::size_t carries,
                                 std::size_t first_stacked) {
  return ResidualChoice(joint, availability, carries, std::min(first_stacked, joint.results))
      .chosen();
}

}  // namespace rondo::control_flow
