#include "control_flow/split.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "control_flow/tape.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

using ir::Flags;
using ir::Node;

JointBody joint_body(const Function& region, const Flags& perturbed, const Flags& active,
                     const Flags& always, const Flags& summed, ir::Derivatives& derivatives,
                     SourceLocation at) {
  JointBody joint{{}, region.parameters().size(), region.outputs().size(), active, {}, summed};
  const std::vector<std::string> names = region.param_names();
  ir::RegionTracer tracer(region.name(), "the derivative of " + region.name(), at);
  std::vector<Tensor> params;
  for (std::size_t i = 0; i < joint.parameters; i++)
    params.push_back(tracer.param(region.parameters()[i].type(), names[i]));
  const std::vector<Tensor> arguments = params;
  std::vector<Tensor> cotangents(joint.results);
  for (std::size_t i = 0; i < joint.results; i++) {
    if (!active[i]) continue;
    cotangents[i] = tracer.param(region.outputs()[i].type(), "ct" + std::to_string(i));
    params.push_back(cotangents[i]);
  }
  std::vector<Tensor> sums(joint.parameters);
  for (std::size_t i = 0; i < joint.parameters; i++) {
    if (summed[i] && perturbed[i] && ir::has_tangent(arguments[i].type()))
      sums[i] = tracer.param(arguments[i].type(), "sum" + std::to_string(i));
  }
  const ir::Reverse reverse = derivatives.reverse(region, arguments, perturbed, active, summed);
  std::vector<Tensor> outputs = reverse.results;
  const std::vector<Tensor> pulled = reverse.pullback(cotangents, sums);
  for (std::size_t i = 0; i < joint.parameters; i++) {
    const bool none = pulled[i].empty() || pulled[i].same_as(sums[i]);
    if (!perturbed[i] || (none && !always[i])) continue;
    joint.given.push_back(i);
    if (!sums[i].empty()) params.push_back(sums[i]);
    outputs.push_back(none ? zeros(arguments[i].type(), at) : pulled[i]);
  }
  joint.function =
      derivatives.simplified(Function::make(region.name(), std::move(params), std::move(outputs)));
  return joint;
}

namespace {

using SplitKey = std::pair<const Node*, std::uint32_t>;
SplitKey split_key(const Tensor& tensor) { return {tensor.node(), tensor.result()}; }

/// Worth less to keep than to compute again: one pass over its elements.
bool is_cheap(const Node* node) {
  return node->regions.empty() && !node->op->observer &&
         (node->op->elementwise || node->op->linear == ir::Linear::kFirst ||
          (node->op->arity == 1 && node->op->linear != ir::Linear::kNone));
}

/// Chooses what is kept of the values that the forward part of a joint program knows.
class ResidualChoice {
 public:
  ResidualChoice(const JointBody& joint, const std::vector<Availability>& availability,
                 std::size_t carries, std::size_t first_stacked)
      : function_(joint.function), availability_(availability) {
    const std::vector<Tensor>& params = function_.parameters();
    for (std::size_t i = 0; i < params.size(); i++) parameter_.emplace(params[i].node(), i);
    for (std::size_t i = 0; i < carries; i++) {
      const Tensor& result = function_.outputs()[i];
      if (!result.same_as(params[i])) carry_of_.emplace(key_of_order(result), i);
    }
    for (std::size_t i = joint.parameters; i < params.size(); i++) back_.insert(params[i].node());
    for (const Node* node : function_.body()) {
      const bool depends = std::any_of(node->operands.begin(), node->operands.end(),
                                       [&](const Tensor& t) { return back_.contains(t.node()); });
      if (depends) back_.insert(node);
    }
    const auto need = [&](const Tensor& tensor) {
      if (!back_.contains(tensor.node()) && !ir::is_constant(tensor.node()))
        keep_.emplace(key_of_order(tensor), tensor);
    };
    for (const Node* node : function_.body()) {
      if (!back_.contains(node)) continue;
      for (const Tensor& operand : node->operands) need(operand);
    }
    for (std::size_t i = joint.results; i < function_.outputs().size(); i++)
      need(function_.outputs()[i]);
    needed_ = keep_;
    for (std::size_t i = first_stacked; i < joint.results; i++) {
      const Tensor& y = function_.outputs()[i];
      stacked_.insert(key_of_order(y));
      need(y);
    }
    reduce();
    drop_useless();
  }

  std::vector<Tensor> kept() const {
    std::vector<Tensor> all;
    for (const auto& [order, tensor] : keep_) all.push_back(tensor);
    return all;
  }
  /// Carries whose result the way back uses and has seen as the parameter of the trip before.
  std::set<std::size_t> nexts() const {
    std::set<std::size_t> used;
    std::vector<Tensor> open;
    std::set<Order> seen;
    const auto visit = [&](const Tensor& tensor) {
      if (seen.insert(key_of_order(tensor)).second && !is_kept(tensor, {})) open.push_back(tensor);
    };
    for (const auto& [order, tensor] : needed_) visit(tensor);
    while (!open.empty()) {
      const Tensor tensor = std::move(open.back());
      open.pop_back();
      const auto carry = carry_of_.find(key_of_order(tensor));
      if (carry != carry_of_.end() && parameter_is_kept(carry->second, {})) {
        used.insert(carry->second);
        continue;
      }
      for (const Tensor& operand : tensor.node()->operands) visit(operand);
    }
    return used;
  }

 private:
  using Order = std::pair<std::uint64_t, std::uint32_t>;  // of creation
  using Values = std::map<Order, Tensor>;
  static Order key_of_order(const Tensor& t) { return {t.node()->id, t.result()}; }

  enum Known : std::uint8_t { kUnknown, kAtHandNow, kInvariantNow };

  /// What the way back can compute from what is kept, without `left_out`.
  absl::flat_hash_map<const Node*, Known> known_without(const Tensor& left_out) const {
    absl::flat_hash_map<const Node*, Known> known;
    for (const Node* node : function_.body()) {
      if (back_.contains(node) || ir::is_constant(node)) continue;
      bool invariant = true, all = true;
      for (const Tensor& operand : node->operands) {
        const Known of = known_of(operand, known, left_out);
        invariant = invariant && of == kInvariantNow;
        all = all && of != kUnknown;
      }
      if (invariant)
        known.emplace(node, kInvariantNow);
      else if (all && is_cheap(node))
        known.emplace(node, kAtHandNow);
    }
    return known;
  }

  Known known_of(const Tensor& tensor, const absl::flat_hash_map<const Node*, Known>& known,
                 const Tensor& left_out) const {
    if (ir::is_constant(tensor.node())) return kInvariantNow;
    if (const auto parameter = parameter_.find(tensor.node()); parameter != parameter_.end()) {
      switch (availability_[parameter->second]) {
        case Availability::kInvariant:
          return kInvariantNow;
        case Availability::kAtHand:
          return kAtHandNow;
        case Availability::kStored:
          break;
      }
    }
    if (const auto found = known.find(tensor.node()); found != known.end()) return found->second;
    if (is_kept(tensor, left_out)) return kAtHandNow;
    const auto carry = carry_of_.find(key_of_order(tensor));
    const bool seen = carry != carry_of_.end() && parameter_is_kept(carry->second, left_out);
    return seen ? kAtHandNow : kUnknown;
  }

  bool is_kept(const Tensor& tensor, const Tensor& left_out) const {
    return keep_.contains(key_of_order(tensor)) && (left_out.empty() || !tensor.same_as(left_out));
  }
  bool parameter_is_kept(std::size_t carry, const Tensor& left_out) const {
    return is_kept(function_.parameters()[carry], left_out);
  }

  /// What keeping it adds.
  std::int64_t bytes_of(const Tensor& tensor) const {
    return stacked_.contains(key_of_order(tensor)) ? 0 : tensor.type().bytes();
  }

  void reduce() {
    // Searching costs the body's size for each value that may go; for huge bodies with many of them
    // only what is there without any computing goes.
    const std::size_t budget = 20'000'000;
    const std::size_t each = function_.body().size() + 1;
    drop_known(each * keep_.size() <= budget);
    for (int round = 0; round < 8 && each * keep_.size() <= budget; round++) {
      if (!exchange_one()) break;
      drop_known(true);
    }
  }

  /// Drops what is known without being kept.
  void drop_known(bool one_by_one) {
    const Values all = keep_;
    if (!one_by_one) {
      const Values kept = std::exchange(keep_, {});
      const auto known = known_without({});
      for (const auto& [order, tensor] : kept) {
        if (stacked_.contains(order) || known_of(tensor, known, {}) == kUnknown)
          keep_.emplace(order, tensor);
      }
      return;
    }
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      if (stacked_.contains(at->first)) continue;
      const auto known = known_without(at->second);
      if (known_of(at->second, known, at->second) == kUnknown) continue;
      // It may be known without, and yet what a carry's result is known by.
      if (carry_of_.empty() || all_known(known, at->second)) keep_.erase(at->first);
    }
  }

  bool all_known(const absl::flat_hash_map<const Node*, Known>& known,
                 const Tensor& left_out) const {
    return std::all_of(needed_.begin(), needed_.end(), [&](const auto& value) {
      return known_of(value.second, known, left_out) != kUnknown;
    });
  }

  /// Results that are stacked anyway help for nothing, but not all of them do.
  void drop_useless() {
    for (const Order& order : stacked_) {
      const auto y = keep_.find(order);
      if (y == keep_.end()) continue;
      const Tensor tensor = y->second;
      keep_.erase(y);
      if (!all_known(known_without({}), {})) keep_.emplace(order, tensor);
    }
  }

  /// The parameter of a carry in the place of its result.
  Tensor kept_for(const Tensor& tensor) const {
    const auto carry = carry_of_.find(key_of_order(tensor));
    return carry == carry_of_.end() ? tensor : function_.parameters()[carry->second];
  }

  /// The one operand that is not known of a value which is cheap to compute; empty if there is none
  /// or several. A carry's parameter and its result count as one.
  Tensor only_missing(const Tensor& value,
                      const absl::flat_hash_map<const Node*, Known>& known) const {
    const Node* node = value.node();
    if (parameter_.contains(node) || !is_cheap(node)) return {};
    Tensor missing;
    for (const Tensor& operand : node->operands) {
      if (known_of(operand, known, {}) != kUnknown) continue;
      if (missing.empty() || missing.same_as(operand))
        missing = operand;
      else if (kept_for(missing).same_as(kept_for(operand)))
        missing = kept_for(operand);
      else
        return {};
    }
    return missing;
  }

  /// Keeps one value in place of others that are cheap to compute from it, where that is less.
  bool exchange_one() {
    const auto known = known_without({});
    std::map<Order, std::pair<Tensor, std::int64_t>> saved;  // bytes of what each value would give
    for (const auto& [order, tensor] : keep_) {
      // All that it follows from by cheap ops alone, one after the other.
      Tensor from = only_missing(tensor, known);
      for (int length = 0; !from.empty() && length < 16; length++) {
        auto& entry = saved[key_of_order(from)];
        entry.first = from;
        entry.second += bytes_of(tensor);
        from = only_missing(from, known);
      }
    }
    // Of equal ones the last, which takes the fewest ops.
    Tensor best;
    std::int64_t most = 0;
    for (const auto& [order, entry] : saved) {
      const std::int64_t gain = entry.second - bytes_of(entry.first);
      if (gain <= 0 || gain < most) continue;
      best = entry.first;
      most = gain;
    }
    if (!best.empty()) keep_.emplace(key_of_order(best), best);
    return !best.empty();
  }

  const Function& function_;
  const std::vector<Availability>& availability_;
  absl::flat_hash_map<const Node*, std::size_t> parameter_;
  absl::flat_hash_map<Order, std::size_t> carry_of_;  // results of carries
  absl::flat_hash_set<const Node*> back_;             // depends on a cotangent
  Values needed_;                                     // what the way back uses
  Values keep_;
  std::set<Order> stacked_;  // kept by the loop itself, as ys
};

}  // namespace

std::int64_t SplitBody::residual_bytes() const {
  std::int64_t bytes = 0;
  for (const TensorType& type : residuals) bytes += type.bytes();
  return bytes;
}

SplitBody split_body(const JointBody& joint, const std::vector<Availability>& availability,
                     std::size_t carries, std::size_t first_stacked) {
  const Function& function = joint.function;
  const ResidualChoice choice(joint, availability, carries, std::min(first_stacked, joint.results));
  const std::vector<Tensor> kept = choice.kept();
  const std::vector<Tensor>& params = function.parameters();
  const std::vector<Tensor>& outputs = function.outputs();
  const auto results_end = outputs.begin() + static_cast<std::ptrdiff_t>(joint.results);

  SplitBody split;
  std::vector<Tensor> forward_results(outputs.begin(), results_end);
  for (const Tensor& residual : kept) {
    refuse_to_keep_tapes(residual);
    split.residuals.push_back(residual.type());
    // The last one: where a carry is a y as well, the y is stacked.
    std::int64_t same = static_cast<std::int64_t>(joint.results) - 1;
    while (same >= 0 && !outputs[static_cast<std::size_t>(same)].same_as(residual)) same--;
    split.result_of_residual.push_back(same);
    forward_results.push_back(residual);
  }
  split.forward = Function::make(
      function.name(),
      {params.begin(), params.begin() + static_cast<std::ptrdiff_t>(joint.parameters)},
      std::move(forward_results));

  auto token = std::make_shared<ir::RegionToken>();
  token->what = "the way back of " + function.name();
  token->open = false;
  ir::Replay replay;
  std::vector<Tensor> back_params;
  const auto add_param = [&](const Tensor& of, std::string name) {
    back_params.push_back(ir::make_parameter(of.type(), std::move(name),
                                             static_cast<std::int64_t>(back_params.size()), token,
                                             of.node()->location()));
    return back_params.back();
  };
  absl::flat_hash_map<SplitKey, Tensor> stored;
  for (std::size_t i = 0; i < kept.size(); i++)
    stored.emplace(split_key(kept[i]), add_param(kept[i], "residual" + std::to_string(i)));
  for (const std::size_t i : choice.nexts()) {
    const auto is_parameter = [&](const Tensor& residual) { return residual.same_as(params[i]); };
    const auto residual = std::find_if(kept.begin(), kept.end(), is_parameter) - kept.begin();
    stored.emplace(split_key(outputs[i]), add_param(outputs[i], "next" + std::to_string(i)));
    split.next.push_back({i, static_cast<std::size_t>(residual)});
  }
  for (std::size_t i = 0; i < params.size(); i++) {
    if (i < joint.parameters && availability[i] == Availability::kStored) continue;
    replay.bind(params[i],
                add_param(params[i], params[i].node()->attrs<ir::ParameterAttributes>().name));
  }
  const auto use_stored = [&](const Node* node) {
    for (std::uint32_t r = 0; r < node->types.size(); r++) {
      const auto found = stored.find(SplitKey{node, r});
      if (found != stored.end()) replay.bind(Tensor::of(node, r), found->second);
    }
  };
  for (const Tensor& param : params) use_stored(param.node());
  for (const Node* node : function.body()) {
    replay.copy(node);
    use_stored(node);
  }
  std::vector<Tensor> cotangents;
  for (auto output = results_end; output != outputs.end(); ++output)
    cotangents.push_back(replay(*output));
  split.backward =
      Function::make(function.name() + "_gradient", std::move(back_params), std::move(cotangents));
  return split;
}

void add_sums(std::span<const Tensor> sums, std::size_t count, std::vector<Tensor>& cotangents) {
  for (std::size_t i = 0; i < std::min(count, sums.size()); i++)
    cotangents[i] = ir::add_tangents(sums[i], cotangents[i]);
}

Flags perturbed_carries(const Function& body, std::size_t first, std::size_t carries,
                        Flags perturbed, ir::Derivatives& derivatives) {
  for (bool changed = true; changed;) {
    changed = false;
    const Flags results = derivatives.perturbed_results(body, perturbed);
    for (std::size_t i = 0; i < carries; i++) {
      if (!results[i] || perturbed[first + i]) continue;
      perturbed[first + i] = true;
      changed = true;
    }
  }
  return perturbed;
}

ActiveCarries active_carries(const Function& body, std::size_t first, std::size_t carries,
                             Flags perturbed, Flags active, ir::Derivatives& derivatives) {
  perturbed = perturbed_carries(body, first, carries, std::move(perturbed), derivatives);
  for (std::size_t i = 0; i < carries; i++) active[i] = active[i] && perturbed[first + i];
  for (bool changed = true; changed;) {
    changed = false;
    const Flags params = derivatives.active_parameters(body, active);
    for (std::size_t i = 0; i < carries; i++) {
      if (!params[first + i] || active[i] || !perturbed[first + i]) continue;
      active[i] = true;
      changed = true;
    }
  }
  ActiveCarries both{std::move(perturbed), std::move(active)};
  for (std::size_t i = 0; i < carries; i++) both.perturbed[first + i] = both.active[i];
  return both;
}

}  // namespace rondo::control_flow
