#include "control_flow/split.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "control_flow/residuals.h"
#include "control_flow/tape.h"
#include "control_flow/undo.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "ops/create.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

using ir::Flags;
using ir::Node;

namespace {

thread_local int regions_derived = 0;

struct RegionScope {
  RegionScope() noexcept { regions_derived++; }
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;
  ~RegionScope() { regions_derived--; }
};

}  // namespace

bool derives_a_region() noexcept { return regions_derived > 0; }

Tensor residual_rows(const TensorType& type, SourceLocation at) {
  return derives_a_region() ? zeros(type, at) : ops::unset(type, at);
}

JointBody joint_body(const Function& region, const Flags& perturbed, const Flags& active,
                     const Flags& always, const Flags& summed, ir::Derivatives& derivatives,
                     SourceLocation at) {
  const RegionScope scope;
  JointBody joint{{}, region.parameters().size(), region.outputs().size(), active, {}, summed, {},
                  {}};
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
  std::vector<ir::CotangentSum> sums(joint.parameters);
  std::vector<Tensor> begun(joint.parameters);
  for (std::size_t i = 0; i < joint.parameters; i++) {
    if (!summed[i] || !perturbed[i] || !ir::has_tangent(arguments[i].type())) continue;
    begun[i] = tracer.param(arguments[i].type(), "sum" + std::to_string(i));
    sums[i] = ir::CotangentSum(begun[i]);
  }
  const ir::Reverse reverse = derivatives.reverse(region, arguments, perturbed, active, summed);
  std::vector<Tensor> outputs = reverse.results;
  reverse.pullback(cotangents, ir::Cotangents(sums).telling(&joint.restored));
  for (std::size_t i = 0; i < joint.parameters; i++) {
    if (!perturbed[i] || (!sums[i].changed() && !always[i])) continue;
    joint.given.push_back(i);
    if (!begun[i].empty()) params.push_back(begun[i]);
    outputs.push_back(ir::full_tangent(sums[i].take(), arguments[i].type()));
  }
  // Restored arrays are results only while the program is simplified.
  const std::size_t own = outputs.size();
  for (const ir::RestoredArray& array : joint.restored)
    outputs.insert(outputs.end(), {array.before, array.after, array.again});
  joint.function =
      derivatives.simplified(Function::make(region.name(), std::move(params), std::move(outputs)));
  if (joint.restored.empty()) return joint;
  const std::vector<Tensor> all = joint.function.outputs();
  for (std::size_t i = 0; i < joint.restored.size(); i++) {
    const std::size_t first = own + 3 * i;
    joint.restored[i] = {all[first], all[first + 1], all[first + 2]};
  }
  joint.function = Function::make(region.name(), joint.function.parameters(),
                                  {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(own)});
  return joint;
}

std::vector<Tensor> JointBody::of_results(std::span<const Tensor> cotangents, std::size_t first,
                                          std::size_t last) const {
  std::vector<Tensor> arrays;
  for (std::size_t i = first; i < last; i++) {
    if (active[i]) arrays.push_back(ir::full_tangent(cotangents[i], function.outputs()[i].type()));
  }
  return arrays;
}

std::vector<Tensor> JointBody::take_sums(const ir::Cotangents& of_parameters) const {
  std::vector<Tensor> sums;
  for (const std::size_t i : given) {
    if (summed[i]) sums.push_back(of_parameters.take(i, function.parameters()[i].type()));
  }
  return sums;
}

void JointBody::add(std::span<const Tensor> cotangents, const ir::Cotangents& of_parameters) const {
  for (std::size_t k = 0; k < given.size(); k++) of_parameters.add(given[k], cotangents[k]);
}

std::int64_t SplitBody::residual_bytes() const {
  std::int64_t bytes = 0;
  for (const TensorType& type : residuals) bytes += type.bytes();
  return bytes;
}

namespace {

SplitBody split_at(const JointBody& joint, const std::vector<Availability>& availability,
                   const ChosenResiduals& choice) {
  const Function& function = joint.function;
  const std::vector<Tensor>& kept = choice.kept;
  const std::vector<Tensor>& params = function.parameters();
  const std::vector<Tensor>& outputs = function.outputs();
  const auto results_end = outputs.begin() + static_cast<std::ptrdiff_t>(joint.results);

  SplitBody split;
  std::vector<Tensor> forward_results(outputs.begin(), results_end);
  for (const Tensor& residual : kept) {
    refuse_to_keep_tapes(residual);
    split.residuals.push_back(residual.type());
    // The last one: if a carry is also a y, the y is what is stacked.
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
  token->what = "the backward pass of " + function.name();
  token->open = false;
  ir::Replay replay;
  std::vector<Tensor> back_params;
  const auto add_param = [&](const Tensor& of, std::string name) {
    back_params.push_back(ir::make_parameter(of.type(), std::move(name),
                                             static_cast<std::int64_t>(back_params.size()), token,
                                             of.node()->location()));
    return back_params.back();
  };
  absl::flat_hash_map<ir::ValueKey, Tensor> stored;
  for (std::size_t i = 0; i < kept.size(); i++)
    stored.emplace(kept[i], add_param(kept[i], "residual" + std::to_string(i)));
  for (const std::size_t i : choice.next_carries) {
    const auto is_parameter = [&](const Tensor& residual) { return residual.same_as(params[i]); };
    const auto residual = std::find_if(kept.begin(), kept.end(), is_parameter) - kept.begin();
    stored.emplace(outputs[i], add_param(outputs[i], "next" + std::to_string(i)));
    split.next.push_back({i, static_cast<std::size_t>(residual)});
  }
  for (std::size_t i = 0; i < params.size(); i++) {
    if (i < joint.parameters && availability[i] == Availability::kUnavailable) continue;
    replay.bind(params[i],
                add_param(params[i], params[i].node()->attrs<ir::ParameterAttributes>().name));
  }
  const auto use_stored = [&](const Node* node) {
    for (std::uint32_t r = 0; r < node->types.size(); r++) {
      const auto found = stored.find(ir::ValueKey{node, r});
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

/// The bytes of the residuals that are no ys of the loop.
std::int64_t bytes_beside_ys(const SplitBody& split, std::size_t carries) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < split.residuals.size(); i++) {
    if (split.result_of_residual[i] < static_cast<std::int64_t>(carries))
      bytes += split.residuals[i].bytes();
  }
  return bytes;
}

}  // namespace

SplitBody split_body(const JointBody& joint, const std::vector<Availability>& availability,
                     std::size_t carries, std::size_t first_stacked) {
  return split_at(joint, availability,
                  choose_residuals(joint, availability, carries, first_stacked));
}

SplitBody split_loop_body(JointBody& joint, const std::vector<Availability>& availability,
                          std::size_t carries, ir::Derivatives& derivatives,
                          std::size_t first_stacked) {
  const ChosenResiduals choice = choose_residuals(joint, availability, carries, first_stacked);
  SplitBody plain = split_at(joint, availability, choice);
  const std::int64_t bytes = bytes_beside_ys(plain, carries);
  if (bytes == 0) return plain;
  std::optional<JointBody> undone =
      with_writes_undone(joint, availability, carries, choice.kept, derivatives);
  if (!undone) return plain;
  SplitBody other = split_body(*undone, availability, carries, first_stacked);
  if (bytes_beside_ys(other, carries) >= bytes) return plain;
  joint = std::move(*undone);
  return other;
}

Flags used_parameters(const Function& function, const Flags& results) {
  absl::flat_hash_set<const Node*> used;
  for (std::size_t i = 0; i < results.size(); i++) {
    if (results[i]) used.insert(function.outputs()[i].node());
  }
  for (auto node = function.body().rbegin(); node != function.body().rend(); ++node) {
    if (!used.contains(*node)) continue;
    for (const Tensor& operand : (*node)->operands) used.insert(operand.node());
  }
  Flags flags;
  for (const Tensor& parameter : function.parameters())
    flags.push_back(used.contains(parameter.node()));
  return flags;
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
