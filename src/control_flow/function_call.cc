#include "control_flow/function_call.h"

#include <memory>
#include <string>
#include <utility>

#include "control_flow/loop_derivatives.h"
#include "control_flow/signature.h"
#include "control_flow/split.h"
#include "ir/batch.h"
#include "ir/derivative.h"
#include "ir/function_data.h"
#include "ir/kernel.h"
#include "ir/region.h"

namespace rondo::control_flow {

std::vector<Tensor> call_function(const Function& function, std::span<const Tensor> arguments,
                                  SourceLocation at) {
  return ir::make_many(kFunctionCall, ir::Operands(arguments.begin(), arguments.end()), {}, at,
                       {function});
}

namespace {

using ir::Flags;

/// "forward 0110": what is derived, and for which operands and results.
std::string key_of(std::string_view what, std::initializer_list<const Flags*> all) {
  std::string key(what);
  for (const Flags* flags : all) {
    key += ' ';
    for (const bool flag : *flags) key += flag ? '1' : '0';
  }
  return key;
}

ir::InferredTypes infer_function_call(const ir::InferContext& context) {
  if (context.regions.size() != 1)
    context.fail("needs one region, the function\n  Name the function that it calls.");
  const Function& function = context.regions[0];
  check_region_parameters(context, function, 0);
  const std::vector<TensorType> results = function.results();
  return {results.begin(), results.end()};
}

std::vector<Tensor> expand_function_call(const ir::Node& node, std::span<const Tensor> operands) {
  return ir::Replay::inline_call(node.regions[0], operands);
}

/// (parameters, tangents of those that have one) -> (results, tangents of those that have one)
struct ForwardFunction {
  Function function;
  Flags tangents;
};

ForwardFunction forward_of(const Function& function, const Flags& perturbed,
                           ir::Derivatives& derivatives, SourceLocation at) {
  ir::RegionTracer tracer(function.name(), "the derivative of " + function.name(), at);
  const std::vector<std::string> names = function.param_names();
  std::vector<Tensor> arguments, tangents(perturbed.size());
  for (std::size_t i = 0; i < perturbed.size(); i++)
    arguments.push_back(tracer.param(function.parameters()[i].type(), names[i]));
  std::vector<Tensor> params = arguments;
  for (std::size_t i = 0; i < perturbed.size(); i++) {
    if (!perturbed[i]) continue;
    tangents[i] = tracer.param(arguments[i].type(), "d_" + names[i]);
    params.push_back(tangents[i]);
  }
  ir::Jvp both = derivatives.jvp(function, arguments, tangents);
  ForwardFunction made;
  for (Tensor& tangent : both.tangents) {
    made.tangents.push_back(!tangent.empty());
    if (!tangent.empty()) both.results.push_back(std::move(tangent));
  }
  made.function = derivatives.simplified(
      Function::make(function.name() + "_jvp", std::move(params), std::move(both.results)));
  return made;
}

ir::Jvp function_call_jvp(const ir::JvpCall& call) {
  const Function& function = call.node.regions[0];
  Flags perturbed;
  std::vector<Tensor> arguments(call.operands.begin(), call.operands.end());
  for (std::size_t i = 0; i < call.operands.size(); i++) {
    perturbed.push_back(call.has(i));
    if (call.has(i)) arguments.push_back(call.dx(i));
  }
  const auto derived = ir::derived<ForwardFunction>(function, key_of("forward", {&perturbed}), [&] {
    return forward_of(function, perturbed, call.derivatives, call.at());
  });
  std::vector<Tensor> all = call_function(derived->function, arguments, call.at());
  const std::size_t results = call.node.types.size();
  ir::Jvp both{{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(results)},
               std::vector<Tensor>(results)};
  std::size_t next = results;
  for (std::size_t r = 0; r < results; r++) {
    if (derived->tangents[r]) both.tangents[r] = all[next++];
  }
  return both;
}

struct ReverseFunctions {
  JointBody joint;
  SplitBody split;
};

ReverseFunctions reverse_of(const ir::ReverseCall& call) {
  const Flags none(call.operands.size());
  ReverseFunctions made{joint_body(call.node.regions[0], call.perturbed, call.active, none, none,
                                   call.derivatives, call.at()),
                        {}};
  made.split = split_body(made.joint, std::vector(call.operands.size(), Availability::kAvailable));
  return made;
}

/// The forward run also returns its residuals, from which the backward pass is called.
ir::Reverse function_call_reverse(const ir::ReverseCall& call) {
  const auto derived = ir::derived<ReverseFunctions>(
      call.node.regions[0], key_of("reverse", {&call.perturbed, &call.active}),
      [&] { return reverse_of(call); });
  std::vector<Tensor> results = call_function(derived->split.forward, call.operands, call.at());
  const auto own = results.begin() + static_cast<std::ptrdiff_t>(call.node.types.size());
  std::vector<Tensor> saved(own, results.end());
  append_tensors(saved, call.operands);
  results.erase(own, results.end());
  ir::Pullback pullback = [derived, saved = std::move(saved), at = call.at()](
                              std::span<const Tensor> cotangents,
                              const ir::Cotangents& of_operands) {
    const JointBody& joint = derived->joint;
    if (joint.given.empty()) return;
    std::vector<Tensor> arguments = saved;
    append_tensors(arguments, joint.of_results(cotangents, 0, joint.results));
    joint.add(call_function(derived->split.backward, arguments, at), of_operands);
  };
  return {std::move(results), std::move(pullback)};
}

Flags function_call_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  return batching.batched_results(node.regions[0], operands);
}

ir::BatchValues function_call_batch(const ir::BatchCall& call) {
  const ir::BatchedFunction& batched = call.batching.batched(call.node.regions[0], call.batched());
  std::vector<Tensor> arguments;
  for (const ir::BatchValue& operand : call.operands) arguments.push_back(operand.value);
  if (!call.batching.active().empty()) arguments.push_back(call.batching.active());
  const std::vector<Tensor> results = call_function(batched.function, arguments, call.at());
  ir::BatchValues all;
  for (std::size_t i = 0; i < results.size(); i++) all.push_back({results[i], batched.results[i]});
  return all;
}

void run_function(const ir::KernelRun& call) {
  call.host.region(call.node.regions[0]).run(call.operands, call.results);
}

}  // namespace

const ir::OpDef kFunctionCall{
    .name = "call",
    .types = {.infer = infer_function_call},
    .kernel = {.prepare = ir::prepare_function<run_function>},
    .expansion = {.rule = expand_function_call},
    .derivative = {.region_jvp = function_call_jvp, .reverse = function_call_reverse},
    .batching = {.rule = function_call_batch, .varying = function_call_batched},
    .text = {.hlo = "call", .stablehlo = "func.call", .hlo_regions = "to_apply", .is_read = false},
    .construct = {.flow = ir::Flow::kCall}};

}  // namespace rondo::control_flow
