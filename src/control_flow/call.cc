#include "control_flow/call.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "control_flow/construct_jvp.h"
#include "control_flow/loop_batch.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/split.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/derivative.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/lazy.h"
#include "ir/loop_nest.h"
#include "ir/region_facts.h"
#include "ops/optimization_barrier.h"
#include "ops/support.h"
#include "rondo/gradients.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

ClosedCall close_call(const std::string& name, const std::string& what, const Leaves& arguments,
                      const RegionCallable& callable, SourceLocation at) {
  RegionTrace traced(name, what, types_of(arguments.values), arguments.paths, callable, at);
  ir::OpenRegion region = traced.finish();
  std::vector<Tensor> captures = region.captures;
  const bool keeps = region.keeps;
  return {ir::close_region(std::move(region), captures), std::move(captures), keeps};
}

namespace {

using ir::Flags;

std::span<const Tensor> captures_of(const ir::Node& node, std::span<const Tensor> operands) {
  return operands.subspan(static_cast<std::size_t>(node.attrs<CustomCallAttributes>().arguments));
}

ir::InferredTypes infer_call(const ir::InferContext& context) {
  const std::vector<TensorType> results = context.regions[0].results();
  if (context.operands.size() != context.regions[0].parameters().size())
    context.fail(fmt::format(
        "the function has {} parameters for {} operands\n  Give it one for each operand, "
        "in order.",
        context.regions[0].parameters().size(), context.operands.size()));
  // In a custom rule the function comes first, with the captures that it shares with the other
  // regions.
  return {results.begin(), results.end()};
}

ir::RegionLayout call_layout(const ir::Node& node) {
  const auto& a = node.attrs<CustomCallAttributes>();
  ir::RegionLayout layout;
  layout.kind = ir::RegionLayout::Kind::kCall;
  layout.fixed = layout.index = static_cast<std::size_t>(a.arguments);
  layout.name = a.name;
  return layout;
}

ir::Attributes call_relayout(const ir::Node&, const ir::RegionLayout& layout) {
  return CustomCallAttributes{static_cast<std::int64_t>(layout.fixed), std::string(layout.name)};
}

std::vector<Tensor> expand_call(const ir::Node& node, std::span<const Tensor> operands) {
  return ir::Replay::inline_call(node.regions[0], operands);
}

/// Parts of arrays of which a function reads nothing else, such as the row of a table.
struct PartsRead {
  std::vector<const ir::Node*> parts;
  std::vector<const ir::Node*> places;  // scalars that compute the positions of the parts

  /// Looks at the first `count` parameters, for parts that are smaller than the whole array.
  PartsRead(const Function& function, std::size_t count);
  /// The function with the parts as further parameters, behind the others.
  Function taken_out_of(const Function& function) const;
  /// The parts of these values of the parameters.
  std::vector<Tensor> of(const Function& function, std::span<const Tensor> values) const;
};

PartsRead::PartsRead(const Function& function, std::size_t count) {
  struct Use {
    std::int64_t bytes = 0;  // of parts
    bool is_whole = false;
  };
  absl::flat_hash_map<const ir::Node*, Use> uses;
  for (std::size_t i = 0; i < count; i++) uses.emplace(function.parameters()[i].node(), Use());
  absl::flat_hash_set<const ir::Node*> scalars;
  std::vector<const ir::Node*> reads;
  const auto is_place = [&](const Tensor& tensor) {
    return tensor.rank() == 0 && (ir::is_constant(tensor.node()) || uses.contains(tensor.node()) ||
                                  scalars.contains(tensor.node()));
  };
  for (const ir::Node* node : function.body()) {
    const ir::Operands& operands = node->operands;
    const bool reads_at = ir::has_loops<ir::AccessMap>(*node) &&
                          uses.contains(operands[0].node()) &&
                          std::all_of(operands.begin() + 1, operands.end(), is_place);
    if (reads_at) {
      reads.push_back(node);
      uses.at(operands[0].node()).bytes += node->type().bytes();
    } else if (node->op->structure.elementwise &&
               std::all_of(operands.begin(), operands.end(), is_place)) {
      scalars.insert(node);
      places.push_back(node);
    }
    for (std::size_t i = reads_at ? 1 : 0; i < operands.size(); i++) {
      if (const auto used = uses.find(operands[i].node()); used != uses.end())
        used->second.is_whole = true;
    }
  }
  for (const Tensor& result : function.outputs()) {
    if (const auto used = uses.find(result.node()); used != uses.end())
      used->second.is_whole = true;
  }
  for (const ir::Node* read : reads) {
    const Tensor& array = read->operands[0];
    const Use& use = uses.at(array.node());
    if (!use.is_whole && use.bytes < array.type().bytes()) parts.push_back(read);
  }
}

Function PartsRead::taken_out_of(const Function& function) const {
  if (parts.empty()) return function;
  Function::Data data{
      function.name(), function.parameters(), {}, function.outputs(), function.result_names()};
  const auto token = std::make_shared<ir::RegionToken>();
  token->what = function.name();
  token->open = false;
  ir::Replay replay;
  absl::flat_hash_set<const ir::Node*> taken;
  for (const ir::Node* part : parts) {
    data.params.push_back(ir::make_parameter(part->type(), std::string(part->op->name),
                                             static_cast<std::int64_t>(data.params.size()), token,
                                             part->location()));
    replay.bind(Tensor::of(part), data.params.back());
    taken.insert(part);
  }
  for (const ir::Node* node : function.body()) {
    if (!taken.contains(node)) data.body.push_back(node);
  }
  return ir::close(std::move(data), std::move(replay));
}

std::vector<Tensor> PartsRead::of(const Function& function, std::span<const Tensor> values) const {
  ir::Replay replay;
  if (parts.empty()) return {};
  for (std::size_t i = 0; i < values.size(); i++) replay.bind(function.parameters()[i], values[i]);
  for (const ir::Node* place : places) replay.copy(place);
  std::vector<Tensor> all;
  for (const ir::Node* part : parts) {
    replay.copy(part);
    all.push_back(replay(Tensor::of(part)));
  }
  return all;
}

/// The backward pass of a checkpointed function. It recomputes what it needs from the operands, or
/// from parts of them if it reads no more.
struct CheckpointBack {
  Function function;
  std::vector<Tensor> operands;
  Flags perturbed;
  SourceLocation at;
  ir::Derivatives& derivatives;

  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) const {
    Flags active, summed;
    for (const Tensor& cotangent : cotangents) active.push_back(!cotangent.empty());
    for (std::size_t i = 0; i < operands.size(); i++) summed.push_back(!of_operands.is_zero(i));
    const JointBody joint =
        joint_body(function, perturbed, active, Flags(operands.size()), summed, derivatives, at);
    const std::vector<Tensor>& outputs = joint.function.outputs();
    const Function whole = Function::make(
        function.name() + "_gradient", joint.function.parameters(),
        {outputs.begin() + static_cast<std::ptrdiff_t>(joint.results), outputs.end()});
    const PartsRead read(whole, operands.size());
    const Function backward = read.taken_out_of(whole);
    // The operands pass the barrier together with the cotangents, so what is computed from them
    // belongs to the backward pass. Operands that it does not need are not kept for it.
    const Flags used = used_parameters(backward, Flags(backward.outputs().size(), true));
    std::vector<Tensor> arguments = operands;
    append_tensors(arguments, joint.of_results(cotangents, 0, joint.results));
    const auto is_behind = [&](std::size_t i) { return i >= operands.size() || used[i]; };
    std::vector<Tensor> behind;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      if (is_behind(i)) behind.push_back(arguments[i]);
    }
    append_tensors(behind, read.of(whole, operands));
    behind = ops::optimization_barrier(std::move(behind));
    std::size_t next = 0;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      if (is_behind(i)) arguments[i] = behind[next++];
    }
    append_tensors(arguments, joint.take_sums(of_operands));
    append_tensors(arguments, std::span<const Tensor>(behind).subspan(next));
    joint.add(ir::Replay::inline_call(backward, arguments), of_operands);
  }
};

ir::Reverse checkpoint_reverse(const ir::ReverseCall& call) {
  const Function function = call.node.regions[0];
  const std::vector<Tensor> operands(call.operands.begin(), call.operands.end());
  std::vector<Tensor> results =
      ir::has_own_forward(function)
          ? call.derivatives.reverse(function, operands, call.perturbed, call.active).results
          : ir::Replay::inline_call(function, operands);
  const auto back = std::make_shared<CheckpointBack>(
      CheckpointBack{function, operands, call.perturbed, call.at(), call.derivatives});
  return {std::move(results), std::bind_front(&CheckpointBack::pull_back, back)};
}

ir::Jvp custom_jvp_rule(const ir::JvpCall& call) {
  const std::size_t arguments =
      static_cast<std::size_t>(call.node.attrs<CustomCallAttributes>().arguments);
  for (std::size_t i = arguments; i < call.operands.size(); i++) {
    if (call.has(i)) {
      call.fail(
          "the function captures a tensor whose derivative is asked for, and the rule cannot "
          "know of it\n  Pass the tensor as an argument, or through rondo::stop_gradient.");
    }
  }
  std::vector<Tensor> given(call.operands.begin(),
                            call.operands.begin() + static_cast<std::ptrdiff_t>(arguments));
  for (std::size_t i = 0; i < arguments; i++) {
    if (ir::has_tangent(call.x(i).type())) given.push_back(call.full(i));
  }
  const auto captures = captures_of(call.node, call.operands);
  given.insert(given.end(), captures.begin(), captures.end());
  const std::vector<Tensor> out = ir::Replay::inline_call(call.node.regions[1], given);
  const std::size_t results = call.node.types.size();
  ir::Jvp both{{out.begin(), out.begin() + static_cast<std::ptrdiff_t>(results)}, {}};
  std::size_t next = results;
  for (std::size_t i = 0; i < results; i++)
    both.tangents.push_back(ir::has_tangent(call.node.types[i]) ? out[next++] : Tensor());
  return both;
}

ir::Jvp custom_vjp_forward(const ir::JvpCall& call) {
  call.fail(
      "a function with a custom_vjp rule cannot be differentiated in forward mode (jvp, "
      "jacfwd): the rule goes backwards only\n  Use grad, vjp or jacrev, or give a "
      "rondo::custom_jvp rule, which serves both.");
}

ir::Reverse custom_vjp_reverse(const ir::ReverseCall& call) {
  const std::size_t arguments =
      static_cast<std::size_t>(call.node.attrs<CustomCallAttributes>().arguments);
  for (std::size_t i = arguments; i < call.operands.size(); i++) {
    if (!call.perturbed[i]) continue;
    throw TraceError(
        fmt::format("{}: the function captures a tensor whose gradient is asked for, and the rule "
                    "gives none for it\n  at {}\n  Pass the tensor as an argument, or through "
                    "rondo::stop_gradient.",
                    call.node.op->name, call.at().str()),
        call.at());
  }
  const std::vector<Tensor> out = ir::Replay::inline_call(call.node.regions[1], call.operands);
  const std::size_t results = call.node.types.size();
  std::vector<Tensor> residuals(out.begin() + static_cast<std::ptrdiff_t>(results), out.end());
  const auto captures = captures_of(call.node, call.operands);
  const ir::ResultTypes types = call.node.types;
  ir::Pullback pullback = [bwd = call.node.regions[2], types, residuals,
                           captured = std::vector<Tensor>(captures.begin(), captures.end())](
                              std::span<const Tensor> cotangents,
                              const ir::Cotangents& of_operands) {
    std::vector<Tensor> given = residuals;
    for (std::size_t i = 0; i < types.size(); i++) {
      if (ir::has_tangent(types[i])) given.push_back(ir::full_tangent(cotangents[i], types[i]));
    }
    given.insert(given.end(), captured.begin(), captured.end());
    of_operands.add_all(ir::Replay::inline_call(bwd, given));
  };
  return {{out.begin(), out.begin() + static_cast<std::ptrdiff_t>(results)}, std::move(pullback)};
}

}  // namespace

const ir::OpDef kCheckpointCall{
    .name = "checkpoint",
    .types = {.infer = infer_call},
    .expansion = {.rule = expand_call, .inlines_regions = true},
    .derivative = {.region_jvp = construct_jvp, .reverse = checkpoint_reverse},
    .batching = {.rule = checkpoint_batch, .varying = checkpoint_batched},
    .text = {.attributes = &ir::kFieldText<CustomCallAttributes>},
    .construct = {.layout = call_layout, .relayout = call_relayout}};
const ir::OpDef kCustomJvp{.name = "custom_jvp",
                           .types = {.infer = infer_call},
                           .expansion = {.rule = expand_call, .inlines_regions = true},
                           .derivative = {.region_jvp = custom_jvp_rule, .by_user = true},
                           .batching = {.rule = custom_jvp_batch, .varying = custom_jvp_batched},
                           .text = {.attributes = &ir::kFieldText<CustomCallAttributes>},
                           .construct = {.layout = call_layout, .relayout = call_relayout}};
const ir::OpDef kCustomVjp{.name = "custom_vjp",
                           .types = {.infer = infer_call},
                           .expansion = {.rule = expand_call, .inlines_regions = true},
                           .derivative = {.region_jvp = custom_vjp_forward,
                                          .reverse = custom_vjp_reverse,
                                          .own_forward = true,
                                          .by_user = true},
                           .batching = {.rule = custom_vjp_batch, .varying = custom_vjp_batched},
                           .text = {.attributes = &ir::kFieldText<CustomCallAttributes>},
                           .construct = {.layout = call_layout, .relayout = call_relayout}};

}  // namespace rondo::control_flow

namespace rondo::detail {

using control_flow::ClosedCall;
using control_flow::CustomCallAttributes;

std::vector<Tensor> checkpoint(const RegionCallable& f, const Leaves& arguments,
                               SourceLocation at) {
  for (const Tensor& leaf : arguments.values) ir::checked(leaf, "checkpoint", at);
  if (ir::eager_active()) return f(arguments.values).values;
  ClosedCall closed =
      control_flow::close_call("checkpointed", "the function of checkpoint", arguments, f, at);
  ir::Operands operands(arguments.values.begin(), arguments.values.end());
  operands.insert(operands.end(), closed.captures.begin(), closed.captures.end());
  std::vector<Tensor> results = ir::make_many(
      control_flow::kCheckpointCall, std::move(operands),
      CustomCallAttributes{static_cast<std::int64_t>(arguments.values.size()), "checkpoint"}, at,
      {closed.function});
  if (closed.keeps) ir::keep(results[0]);
  return results;
}

namespace {

/// Closes several regions of one node over the captures of all of them.
struct CustomRegions {
  std::vector<ir::OpenRegion> open;
  std::vector<Function> closed;
  std::vector<Tensor> captures;
  bool keeps = false;  // something in the function runs even if its results are unused

  void close() {
    captures = ir::union_captures(open);
    keeps = open[0].keeps;
    for (ir::OpenRegion& region : open)
      closed.push_back(ir::close_region(std::move(region), captures));
  }
};

std::vector<Tensor> make_custom(const ir::OpDef& op, const Leaves& arguments,
                                CustomRegions& regions, SourceLocation at) {
  regions.close();
  ir::Operands operands(arguments.values.begin(), arguments.values.end());
  operands.insert(operands.end(), regions.captures.begin(), regions.captures.end());
  std::vector<Tensor> results =
      ir::make_many(op, std::move(operands),
                    CustomCallAttributes{static_cast<std::int64_t>(arguments.values.size()),
                                         std::string(op.name)},
                    at, std::move(regions.closed));
  if (regions.keeps) ir::keep(results[0]);
  return results;
}

[[noreturn]] void rule_mismatch(const char* construct, const std::string& what,
                                const std::string& path, const TensorType& is,
                                const TensorType& meant, SourceLocation at) {
  throw TraceError(
      fmt::format("{}: {} gives {} for {}, where {} is meant\n  at {}\n  A result is what the "
                  "function returns; a tangent or cotangent has the shape and dtype of its value.",
                  construct, what, is.str(), path, meant.str(), at.str()),
      at);
}

/// A rule must return the expected number of leaves of each kind: a vector or map of another size
/// does not.
void check_rule_leaves(const char* construct, const char* rule, const Leaves& out,
                       std::string_view kind, std::size_t meant, SourceLocation at) {
  const auto is = std::count_if(out.paths.begin(), out.paths.end(),
                                [&](const std::string& path) { return path.starts_with(kind); });
  if (static_cast<std::size_t>(is) == meant) return;
  throw TraceError(
      fmt::format("{}: {} returns {} leaves as its {}, {} are meant\n  at {}\n  Return a tree like "
                  "the function's, with as many entries.",
                  construct, rule, is, kind, meant, at.str()),
      at);
}

}  // namespace

std::vector<Tensor> custom_jvp(const RegionCallable& f, const RegionCallable& rule,
                               const Leaves& arguments, SourceLocation at) {
  using control_flow::RegionTrace;
  for (const Tensor& leaf : arguments.values) ir::checked(leaf, "custom_jvp", at);
  if (ir::eager_active()) return f(arguments.values).values;
  std::vector<TensorType> types = control_flow::types_of(arguments.values);
  std::vector<std::string> names = arguments.paths;
  RegionTrace function("custom_jvp", "the function of custom_jvp", types, names, f, at);
  const std::vector<TensorType> results = control_flow::types_of(function.out().values);
  const std::size_t count = types.size();
  for (std::size_t i = 0; i < count; i++) {
    if (!ir::has_tangent(types[i])) continue;
    types.push_back(types[i]);
    names.push_back("d_" + names[i]);
  }
  // The user's rule sees one tangent per leaf: zeros for integers.
  const RegionCallable on_all = [&](std::span<const Tensor> given) {
    std::vector<Tensor> all(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(count));
    std::size_t next = count;
    for (std::size_t i = 0; i < count; i++)
      all.push_back(ir::has_tangent(types[i]) ? given[next++] : zeros(types[i], at));
    Leaves out = rule(all);
    check_rule_leaves("custom_jvp", "the rule", out, "result", results.size(), at);
    check_rule_leaves("custom_jvp", "the rule", out, "tangent", results.size(), at);
    Leaves kept;
    for (std::size_t i = 0; i < out.values.size(); i++) {
      const std::size_t of = i % results.size();
      const Tensor value = ops::adopt_dtype(out.values[i], results[of].dtype, at);
      if (value.type() != results[of])
        rule_mismatch("custom_jvp", "the rule", out.paths[i], value.type(), results[of], at);
      if (i < results.size() || ir::has_tangent(results[of])) {
        kept.values.push_back(value);
        kept.paths.push_back(out.paths[i]);
      }
    }
    return kept;
  };
  RegionTrace traced_rule("custom_jvp_rule", "the rule of custom_jvp", types, names, on_all, at);
  CustomRegions regions;
  regions.open.push_back(function.finish());
  regions.open.push_back(traced_rule.finish());
  return make_custom(control_flow::kCustomJvp, arguments, regions, at);
}

std::vector<Tensor> custom_vjp(const RegionCallable& f, const RegionCallable& fwd,
                               const RegionCallable& bwd, const Leaves& arguments,
                               SourceLocation at) {
  using control_flow::RegionTrace;
  for (const Tensor& leaf : arguments.values) ir::checked(leaf, "custom_vjp", at);
  if (ir::eager_active()) return f(arguments.values).values;
  const std::vector<TensorType> types = control_flow::types_of(arguments.values);
  RegionTrace function("custom_vjp", "the function of custom_vjp", types, arguments.paths, f, at);
  const std::vector<TensorType> results = control_flow::types_of(function.out().values);
  RegionTrace forward("custom_vjp_fwd", "fwd of custom_vjp", types, arguments.paths, fwd, at);
  Leaves& out = forward.out();
  check_rule_leaves("custom_vjp", "fwd", out, "result", results.size(), at);
  for (std::size_t i = 0; i < results.size(); i++) {
    out.values[i] = ops::adopt_dtype(out.values[i], results[i].dtype, at);
    if (out.values[i].type() != results[i])
      rule_mismatch("custom_vjp", "fwd", out.paths[i], out.values[i].type(), results[i], at);
  }
  std::vector<TensorType> given;
  std::vector<std::string> names;
  for (std::size_t i = results.size(); i < out.values.size(); i++) {
    given.push_back(out.values[i].type());
    names.push_back(out.paths[i]);
  }
  const std::size_t residuals = given.size();
  for (std::size_t i = 0; i < results.size(); i++) {
    if (!ir::has_tangent(results[i])) continue;
    given.push_back(results[i]);
    names.push_back("ct_" + out.paths[i]);
  }
  const RegionCallable on_all = [&](std::span<const Tensor> values) {
    std::vector<Tensor> all(values.begin(),
                            values.begin() + static_cast<std::ptrdiff_t>(residuals));
    std::size_t next = residuals;
    for (const TensorType& type : results)
      all.push_back(ir::has_tangent(type) ? values[next++] : zeros(type, at));
    Leaves pulled = bwd(all);
    check_rule_leaves("custom_vjp", "bwd", pulled, "cotangent", types.size(), at);
    for (std::size_t i = 0; i < types.size(); i++) {
      if (!ir::has_tangent(types[i])) {
        pulled.values[i] = zeros(types[i], at);  // unused
        continue;
      }
      pulled.values[i] = ops::adopt_dtype(pulled.values[i], types[i].dtype, at);
      if (pulled.values[i].type() != types[i]) {
        rule_mismatch("custom_vjp", "bwd", arguments.paths[i], pulled.values[i].type(), types[i],
                      at);
      }
    }
    return pulled;
  };
  RegionTrace backward("custom_vjp_bwd", "bwd of custom_vjp", given, names, on_all, at);
  CustomRegions regions;
  regions.open.push_back(function.finish());
  regions.open.push_back(forward.finish());
  regions.open.push_back(backward.finish());
  return make_custom(control_flow::kCustomVjp, arguments, regions, at);
}

}  // namespace rondo::detail
