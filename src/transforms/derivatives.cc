#include "transforms/derivatives.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "passes/growing_tapes.h"
#include "passes/optimize.h"
#include "transforms/reverse.h"

namespace rondo::transforms {

bool has_rule(const ir::OpDef& op) {
  return op.derivative.jvp || op.derivative.region_jvp || op.derivative.linear != ir::Linear::kNone;
}

[[noreturn]] void no_derivative(const Node& node) {
  throw TraceError(
      fmt::format(
          "{}: this op has no derivative, and one is asked for here\n  at {}\n  If the value "
          "is meant as a constant, pass it through rondo::stop_gradient; else give its "
          "derivative with rondo::custom_jvp or rondo::custom_vjp.",
          node.op->name, node.location().str()),
      node.location());
}

Tensor copied_node(const Node& node, ir::Operands operands) {
  // A backward pass may keep the array as a whole, so it must be initialized.
  if (node.op->structure.unset) return node.op->expansion.rule(node, operands)[0];
  return ir::make_typed(*node.op, std::move(operands), node.attributes, node.types, node.location(),
                        node.regions);
}

namespace {

using ir::Jvp;
using ir::JvpCall;
using ir::Linear;
using ir::Reverse;
using ir::ReverseCall;

/// The jvp of an op that is linear in the operands with tangents: the op on the tangents.
std::vector<Tensor> linear_jvp(const JvpCall& call) {
  const Node& node = call.node;
  const auto on_tangents = [&](auto&& takes_tangent) {
    ir::Operands operands;
    for (std::size_t i = 0; i < call.operands.size(); i++)
      operands.push_back(takes_tangent(i) ? call.full(i) : call.operands[i]);
    return ir::results_of(copied_node(node, std::move(operands)).node());
  };
  switch (node.op->derivative.linear) {
    case Linear::kJointly:
      return on_tangents([&](std::size_t i) { return ir::has_tangent(node.operand_type(i)); });
    case Linear::kSeparately: {
      std::vector<Tensor> sum(node.types.size());
      for (std::size_t i = 0; i < call.operands.size(); i++) {
        if (!call.has(i)) continue;
        const std::vector<Tensor> term = on_tangents([i](std::size_t k) { return k == i; });
        for (std::size_t r = 0; r < sum.size(); r++) sum[r] = ir::add_tangents(sum[r], term[r]);
      }
      return sum;
    }
    case Linear::kFirst:
    case Linear::kSecond: {
      const std::size_t linear = node.op->derivative.linear == Linear::kFirst ? 0 : 1;
      for (std::size_t i = 0; i < call.operands.size(); i++) {
        if (i != linear && call.has(i)) no_derivative(node);
      }
      return on_tangents([linear](std::size_t i) { return i == linear; });
    }
    case Linear::kNone:
      break;
  }
  no_derivative(node);
}

}  // namespace

std::vector<Tensor> tangents_of(const JvpCall& call) {
  const ir::OpDef& op = *call.node.op;
  const bool linear = op.derivative.is_linear && op.derivative.is_linear(call.node);
  return op.derivative.jvp && !linear ? op.derivative.jvp(call) : linear_jvp(call);
}

namespace {

class Driver final : public ir::Derivatives {
 public:
  Jvp jvp(const Function& function, std::span<const Tensor> arguments,
          std::span<const Tensor> tangents) override {
    ir::Replay replay;
    TangentMap known;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      replay.bind(function.parameters()[i], arguments[i]);
      known.set(function.parameters()[i], tangents[i]);
    }
    for (const Node* node : function.body()) {
      if (ir::is_constant(node)) continue;
      const ir::Operands operands = replay.operands_of(node);
      std::vector<Tensor> of_operands;
      for (const Tensor& operand : node->operands) of_operands.push_back(known.get(operand));
      const Jvp both = node_jvp(*node, operands, of_operands);
      for (std::uint32_t r = 0; r < node->types.size(); r++) {
        replay.bind(Tensor::of(node, r), both.results[r]);
        known.set(Tensor::of(node, r), both.tangents[r]);
      }
    }
    Jvp outputs;
    for (const Tensor& output : function.outputs()) {
      outputs.results.push_back(replay(output));
      outputs.tangents.push_back(known.get(output));
    }
    return outputs;
  }

  Reverse reverse(const Function& function, std::span<const Tensor> arguments,
                  const Flags& perturbed, const Flags& active, const Flags& summed) override {
    // A growing tape has another size on each trip of an enclosing loop, which therefore cannot
    // keep it.
    return reverse_walk(*this, passes::without_growing_tapes(function), arguments, perturbed,
                        active, summed);
  }

  Jvp jvp_expanded(const JvpCall& call, ir::ExpandRule rule) override {
    Flags perturbed;
    for (const Tensor& tangent : call.tangents) perturbed.push_back(!tangent.empty());
    return jvp(expanded(call.node, call.operands, perturbed, rule), call.operands, call.tangents);
  }

  Reverse reverse_expanded(const ReverseCall& call, ir::ExpandRule rule) override {
    return reverse(expanded(call.node, call.operands, call.perturbed, rule), call.operands,
                   call.perturbed, call.active, call.summed);
  }

  Flags perturbed_results(const Function& function, const Flags& parameters) override;
  Flags active_parameters(const Function& function, const Flags& results) override;
  Function simplified(const Function& function) override {
    return passes::optimize_traced(function);
  }

 private:
  /// A node on new operands: its results and their tangents.
  Jvp node_jvp(const Node& node, const ir::Operands& operands,
               const std::vector<Tensor>& tangents) {
    JvpCall call{node, operands, {}, tangents, *this};
    if (!any_given(tangents) || node.op->derivative.zero) {
      return {ir::results_of(copied_node(node, operands).node()),
              std::vector<Tensor>(node.types.size())};
    }
    const ir::LocationScope scope(node.location());
    Jvp both;
    if (node.op->derivative.region_jvp) {
      both = node.op->derivative.region_jvp(call);
    } else if (!has_rule(*node.op)) {
      if (!node.op->expansion.rule) no_derivative(node);
      both = jvp_expanded(call, node.op->expansion.rule);
    } else {
      both.results = ir::results_of(copied_node(node, operands).node());
      both.tangents = tangents_of({node, operands, both.results, tangents, *this});
    }
    for (std::size_t r = 0; r < node.types.size(); r++) {
      if (!ir::has_tangent(node.types[r])) both.tangents[r] = Tensor();
    }
    return both;
  }

  /// The program that an expand rule returns, on parameters. Constant operands stay constants
  /// unless they are perturbed: then they are the literals at which the derivative is taken.
  static Function expanded(const Node& node, std::span<const Tensor> operands,
                           const Flags& perturbed, ir::ExpandRule rule) {
    const std::string name(node.op->name);
    ir::RegionTracer tracer(name, "the expansion of " + name, node.location());
    std::vector<Tensor> params, arguments;
    for (std::size_t i = 0; i < operands.size(); i++) {
      params.push_back(tracer.param(operands[i].type(), "operand"));
      const bool stays = ir::is_constant(operands[i].node()) && !perturbed[i];
      arguments.push_back(stays ? operands[i] : params.back());
    }
    std::vector<Tensor> results = rule(node, arguments);
    return Function::make(name, std::move(params), std::move(results));
  }
};

Flags Driver::perturbed_results(const Function& function, const Flags& parameters) {
  const ActivePath path(function, parameters, Flags(function.outputs().size(), false));
  Flags flags;
  for (const Tensor& output : function.outputs()) flags.push_back(path.is_perturbed(output));
  return flags;
}

Flags Driver::active_parameters(const Function& function, const Flags& results) {
  const ActivePath path(function, Flags(function.parameters().size(), true), results);
  Flags flags;
  for (const Tensor& parameter : function.parameters()) flags.push_back(path.is_active(parameter));
  return flags;
}

}  // namespace

ir::Derivatives& derivatives() {
  static Driver driver;
  return driver;
}

}  // namespace rondo::transforms
