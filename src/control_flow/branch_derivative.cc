// Reverse mode of cond and switch_case: the backward pass selects by the same selector. Residuals
// of one branch go in slots that the other branches fill with zeros.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "control_flow/branch.h"
#include "control_flow/extend.h"
#include "control_flow/loop_derivatives.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

using ir::Flags;

/// A conditional on `selector` (of the node's kind) whose branches are given by number. Their
/// lambdas capture what they need.
std::vector<Tensor> choose(const Tensor& selector, std::size_t branches, const std::string& name,
                           const std::function<std::vector<Tensor>(std::size_t)>& branch,
                           SourceLocation at) {
  std::vector<ir::OpenRegion> regions;
  for (std::size_t b = 0; b < branches; b++) {
    const RegionCallable callable = [&](std::span<const Tensor>) { return Leaves{branch(b), {}}; };
    RegionTrace trace(name + "_branch_" + std::to_string(b), "a derivative of " + name, {}, {},
                      callable, at);
    regions.push_back(trace.finish());
  }
  return make_construct(kConditional, {selector}, ConditionalAttributes{name}, std::move(regions),
                        at);
}

struct BranchesBack {
  std::vector<JointBody> joints;
  std::vector<SplitBody> splits;
  std::vector<std::vector<std::size_t>> slot_of;  // [branch][residual]
  std::vector<TensorType> slot_types;
  Tensor selector;
  std::vector<Tensor> arguments;  // of the branches
  std::vector<Tensor> slots;
  std::vector<TensorType> results;
  Flags active;
  Flags summed;  // arguments whose sum goes into the branches
  std::string name;
  SourceLocation at;

  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) const {
    const ir::Cotangents of_arguments = of_operands.from(1);
    std::vector<Tensor> given;
    for (std::size_t i = 0; i < results.size(); i++) {
      if (active[i]) given.push_back(ir::full_tangent(cotangents[i], results[i]));
    }
    Flags has_cotangent(arguments.size());  // of at least one branch
    for (const JointBody& joint : joints) {
      for (const std::size_t i : joint.given) has_cotangent[i] = true;
    }
    std::vector<std::size_t> pulled;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      if (has_cotangent[i]) pulled.push_back(i);
    }
    std::vector<Tensor> sums(arguments.size());
    for (const std::size_t i : pulled) {
      if (summed[i]) sums[i] = of_arguments.take(i, arguments[i].type());
    }
    const std::vector<Tensor> chosen = choose(
        selector, joints.size(), name,
        [&](std::size_t b) {
          std::vector<Tensor> all;
          for (const std::size_t slot : slot_of[b]) all.push_back(slots[slot]);
          append_tensors(all, arguments);
          append_tensors(all, given);
          for (const std::size_t i : joints[b].given) {
            if (summed[i]) all.push_back(sums[i]);
          }
          const std::vector<Tensor> back = ir::Replay::inline_call(splits[b].backward, all);
          std::vector<Tensor> by_argument = sums;
          for (std::size_t k = 0; k < back.size(); k++) by_argument[joints[b].given[k]] = back[k];
          std::vector<Tensor> out;
          for (const std::size_t i : pulled)
            out.push_back(ir::full_tangent(by_argument[i], arguments[i].type()));
          return out;
        },
        at);
    for (std::size_t k = 0; k < pulled.size(); k++) of_arguments.add(pulled[k], chosen[k]);
  }
};

}  // namespace

ir::Reverse conditional_reverse(const ir::ReverseCall& call) {
  const ir::Node& node = call.node;
  const std::size_t results = node.types.size();
  auto back = std::make_shared<BranchesBack>();
  back->selector = call.operands[0];
  append_tensors(back->arguments, call.operands.subspan(1));
  back->results.assign(node.types.begin(), node.types.end());
  back->active = call.active;
  back->name = node.attrs<ConditionalAttributes>().name;
  back->at = call.at();
  const Flags perturbed(call.perturbed.begin() + 1, call.perturbed.end());
  for (std::size_t i = 0; i < perturbed.size(); i++) back->summed.push_back(call.is_summed(1 + i));
  const std::vector<Availability> available(perturbed.size(), Availability::kAvailable);
  for (const Function& region : node.regions) {
    back->joints.push_back(joint_body(region, perturbed, call.active, Flags(perturbed.size()),
                                      back->summed, call.derivatives, call.at()));
    back->splits.push_back(split_body(back->joints.back(), available));
    // Residuals of one type share a slot with those of other branches.
    std::vector<std::size_t> slots;
    Flags taken(back->slot_types.size());
    for (const TensorType& type : back->splits.back().residuals) {
      std::size_t slot = 0;
      while (slot < taken.size() && (taken[slot] || back->slot_types[slot] != type)) slot++;
      if (slot == taken.size()) {
        taken.push_back(false);
        back->slot_types.push_back(type);
      }
      taken[slot] = true;
      slots.push_back(slot);
    }
    back->slot_of.push_back(std::move(slots));
  }
  const ExtendedBody with_residuals = [&](const ExtendedParameters& given) {
    const std::vector<std::size_t>& slot_of = back->slot_of[given.region];
    const std::vector<Tensor> out =
        ir::Replay::inline_call(back->splits[given.region].forward, given.own);
    ExtendedResults kept{{out.begin(), out.begin() + static_cast<std::ptrdiff_t>(results)},
                         {},
                         std::vector<Tensor>(back->slot_types.size())};
    for (std::size_t r = 0; r < slot_of.size(); r++) kept.ys[slot_of[r]] = out[results + r];
    for (std::size_t s = 0; s < kept.ys.size(); s++)
      kept.ys[s] = ir::full_tangent(kept.ys[s], back->slot_types[s]);
    return kept;
  };
  ExtendedResults all = extend(*ir::region_layout(&node), call.operands, {}, with_residuals);
  back->slots = std::move(all.ys);
  return {std::move(all.own), std::bind_front(&BranchesBack::pull_back, back)};
}

}  // namespace rondo::control_flow
