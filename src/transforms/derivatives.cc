#include "transforms/derivatives.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "passes/optimize.h"
#include "rondo/ops/shape.h"

namespace rondo::transforms {

namespace {

using ir::Derivatives;
using ir::Flags;
using ir::Jvp;
using ir::JvpCall;
using ir::Linear;
using ir::Node;
using ir::Reverse;
using ir::ReverseCall;
using ir::TransposeCall;

using Key = std::pair<const Node*, std::uint32_t>;
Key key_of(const Tensor& tensor) { return {tensor.node(), tensor.result()}; }

/// Tangents or cotangents of the values of a program; empty ones are not kept.
class TangentMap {
 public:
  Tensor get(const Tensor& of) const { return get(of.node(), of.result()); }
  Tensor get(const Node* node, std::uint32_t result) const {
    const auto found = map_.find(Key{node, result});
    return found == map_.end() ? Tensor() : found->second;
  }
  void set(const Node* node, std::uint32_t result, Tensor tangent) {
    if (!tangent.empty()) map_.insert_or_assign(Key{node, result}, std::move(tangent));
  }
  void add(const Tensor& to, const Tensor& cotangent) {
    if (cotangent.empty()) return;
    Tensor& sum = map_[key_of(to)];
    const ir::LocationScope scope(to.node()->location());
    sum = ir::add_tangents(sum, cotangent);
  }

 private:
  absl::flat_hash_map<Key, Tensor> map_;
};

bool any_of(const Flags& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

bool any_given(std::span<const Tensor> tangents) {
  return std::any_of(tangents.begin(), tangents.end(), [](const Tensor& t) { return !t.empty(); });
}

/// Is the node linear in the operands that are flagged?
bool is_linear_in(const Node& node, const Flags& flags) {
  if (node.op->is_linear && !node.op->is_linear(node)) return false;
  switch (node.op->linear) {
    case Linear::kNone:
      return false;
    case Linear::kJointly:
      return true;
    case Linear::kSeparately:
      return std::count(flags.begin(), flags.end(), true) == 1;
    case Linear::kFirst:
      return std::find(flags.begin() + 1, flags.end(), true) == flags.end();
  }
  return false;
}

bool has_rule(const ir::OpDef& op) { return op.jvp || op.region_jvp || op.linear != Linear::kNone; }

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
  return ir::make_typed(*node.op, std::move(operands), node.attributes, node.types, node.location(),
                        node.regions);
}

/// The jvp of an op that is linear where its tangents are: the op on the tangents.
std::vector<Tensor> linear_jvp(const JvpCall& call) {
  const Node& node = call.node;
  const auto on_tangents = [&](auto&& takes_tangent) {
    ir::Operands operands;
    for (std::size_t i = 0; i < call.operands.size(); i++)
      operands.push_back(takes_tangent(i) ? call.full(i) : call.operands[i]);
    return ir::results_of(copied_node(node, std::move(operands)).node());
  };
  switch (node.op->linear) {
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
      for (std::size_t i = 1; i < call.operands.size(); i++) {
        if (call.has(i)) no_derivative(node);
      }
      return on_tangents([](std::size_t i) { return i == 0; });
    case Linear::kNone:
      break;
  }
  no_derivative(node);
}

class Driver final : public Derivatives {
 public:
  Jvp jvp(const Function& function, std::span<const Tensor> arguments,
          std::span<const Tensor> tangents) override {
    ir::Replay replay;
    TangentMap known;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      replay.bind(function.parameters()[i], arguments[i]);
      known.set(function.parameters()[i].node(), 0, tangents[i]);
    }
    for (const Node* node : function.body()) {
      if (ir::is_constant(node)) continue;
      const ir::Operands operands = replay.operands_of(node);
      std::vector<Tensor> of_operands;
      for (const Tensor& operand : node->operands) of_operands.push_back(known.get(operand));
      const Jvp both = node_jvp(*node, operands, of_operands);
      for (std::uint32_t r = 0; r < node->types.size(); r++) {
        replay.bind(Tensor::of(node, r), both.results[r]);
        known.set(node, r, both.tangents[r]);
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
                  const Flags& perturbed, const Flags& active) override;

  Jvp jvp_expanded(const JvpCall& call, ir::ExpandRule rule) override {
    Flags perturbed;
    for (const Tensor& tangent : call.tangents) perturbed.push_back(!tangent.empty());
    return jvp(expanded(call.node, call.operands, perturbed, rule), call.operands, call.tangents);
  }

  Reverse reverse_expanded(const ReverseCall& call, ir::ExpandRule rule) override {
    return reverse(expanded(call.node, call.operands, call.perturbed, rule), call.operands,
                   call.perturbed, call.active);
  }

  Flags perturbed_results(const Function& function, const Flags& parameters) override;
  Flags active_parameters(const Function& function, const Flags& results) override;
  Function simplified(const Function& function) override { return passes::optimize(function); }

 private:
  /// A node on new operands: results and tangents.
  Jvp node_jvp(const Node& node, const ir::Operands& operands,
               const std::vector<Tensor>& tangents) {
    JvpCall call{node, operands, {}, tangents, *this};
    if (!any_given(tangents) || node.op->zero_derivative) {
      return {ir::results_of(copied_node(node, operands).node()),
              std::vector<Tensor>(node.types.size())};
    }
    const ir::LocationScope scope(node.location());
    Jvp both;
    if (node.op->region_jvp) {
      both = node.op->region_jvp(call);
    } else if (!has_rule(*node.op)) {
      if (!node.op->expand) no_derivative(node);
      both = jvp_expanded(call, node.op->expand);
    } else {
      both.results = ir::results_of(copied_node(node, operands).node());
      both.tangents = tangents_of(node, operands, both.results, tangents);
    }
    for (std::size_t r = 0; r < node.types.size(); r++) {
      if (!ir::has_tangent(node.types[r])) both.tangents[r] = Tensor();
    }
    return both;
  }

  std::vector<Tensor> tangents_of(const Node& node, std::span<const Tensor> operands,
                                  std::span<const Tensor> results,
                                  std::span<const Tensor> tangents) {
    const JvpCall call{node, operands, results, tangents, *this};
    const bool linear = node.op->is_linear && node.op->is_linear(node);
    return node.op->jvp && !linear ? node.op->jvp(call) : linear_jvp(call);
  }

  /// The program that an expand rule makes, on parameters; constants among the operands stay what
  /// they are, unless they are perturbed: the literals that a derivative is taken at.
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

  /// The cotangents of the operands of an op that stands for itself.
  std::vector<Tensor> node_transpose(const Node& node, std::span<const Tensor> operands,
                                     std::span<const Tensor> results, const Flags& linear,
                                     std::span<const Tensor> cotangents) {
    const ir::LocationScope scope(node.location());
    if (node.op->transpose && is_linear_in(node, linear))
      return node.op->transpose({node, operands, linear, cotangents, *this});
    // Tangents that stand for nothing: what the rule computes from them is linear in them.
    auto token = std::make_shared<ir::RegionToken>();
    token->what = "the derivative of " + std::string(node.op->name);
    token->first_id = ir::next_id();
    std::vector<Tensor> tangents(operands.size());
    std::vector<Tensor> parameters;
    for (std::size_t i = 0; i < operands.size(); i++) {
      if (!linear[i]) continue;
      tangents[i] = ir::make_parameter(node.operand_type(i), "tangent",
                                       static_cast<std::int64_t>(i), token, node.location());
      parameters.push_back(tangents[i]);
    }
    const std::vector<Tensor> outputs =
        node.op->region_jvp ? node.op->region_jvp({node, operands, {}, tangents, *this}).tangents
                            : tangents_of(node, operands, results, tangents);
    const std::vector<Tensor> given = transpose_program(parameters, outputs, cotangents);
    std::vector<Tensor> all(operands.size());
    for (std::size_t i = 0, next = 0; i < operands.size(); i++) {
      if (linear[i]) all[i] = given[next++];
    }
    return all;
  }

  friend class ReverseWalk;
  friend std::vector<Tensor> transpose_with(Driver& driver, std::span<const Tensor> arguments,
                                            std::span<const Tensor> outputs,
                                            std::span<const Tensor> cotangents);
};

/// The values of a function that can be perturbed and whose cotangent matters.
class ActivePath {
 public:
  ActivePath(const Function& function, const Flags& parameters, const Flags& results) {
    for (std::size_t i = 0; i < parameters.size(); i++) {
      const Tensor& parameter = function.parameters()[i];
      if (parameters[i] && ir::has_tangent(parameter.type())) perturbed_.insert(key_of(parameter));
    }
    for (const Node* node : function.body()) {
      if (node->op->zero_derivative) continue;
      const bool any = std::any_of(node->operands.begin(), node->operands.end(),
                                   [&](const Tensor& t) { return is_perturbed(t); });
      for (std::uint32_t r = 0; any && r < node->types.size(); r++) {
        if (ir::has_tangent(node->types[r])) perturbed_.insert(Key{node, r});
      }
    }
    const auto activate = [&](const Tensor& tensor) {
      if (is_perturbed(tensor)) active_.insert(key_of(tensor));
    };
    for (std::size_t i = 0; i < results.size(); i++) {
      if (results[i]) activate(function.outputs()[i]);
    }
    for (auto node = function.body().rbegin(); node != function.body().rend(); ++node) {
      bool any = false;
      for (std::uint32_t r = 0; r < (*node)->types.size(); r++) any = any || is_active(*node, r);
      if (!any) continue;
      for (const Tensor& operand : (*node)->operands) activate(operand);
    }
  }

  bool is_perturbed(const Tensor& tensor) const { return perturbed_.contains(key_of(tensor)); }
  bool is_active(const Node* node, std::uint32_t result) const {
    return active_.contains(Key{node, result});
  }
  bool is_active(const Tensor& tensor) const { return active_.contains(key_of(tensor)); }
  Flags active_results(const Node* node) const {
    Flags flags(node->types.size());
    for (std::uint32_t r = 0; r < node->types.size(); r++) flags[r] = is_active(node, r);
    return flags;
  }
  Flags perturbed_operands(const Node* node) const {
    Flags flags;
    for (const Tensor& operand : node->operands) flags.push_back(is_perturbed(operand));
    return flags;
  }

 private:
  absl::flat_hash_set<Key> perturbed_;
  absl::flat_hash_set<Key> active_;
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

/// A program that was run forward, for going back through it.
class ReverseWalk {
 public:
  ReverseWalk(Driver& driver, const Function& function, std::span<const Tensor> arguments,
              const Flags& perturbed, const Flags& active)
      : driver_(driver), function_(function), path_(function, perturbed, active) {
    for (std::size_t i = 0; i < arguments.size(); i++)
      replay_.bind(function.parameters()[i], arguments[i]);
    for (const Node* node : function.body()) {
      if (!ir::is_constant(node)) step(node);
    }
    for (const Tensor& output : function.outputs()) results_.push_back(replay_(output));
  }

  const std::vector<Tensor>& results() const { return results_; }

  std::vector<Tensor> pull_back(std::span<const Tensor> cotangents) const {
    TangentMap known;
    for (std::size_t i = 0; i < cotangents.size(); i++) {
      if (path_.is_active(function_.outputs()[i])) known.add(function_.outputs()[i], cotangents[i]);
    }
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const Node* node = step->node;
      std::vector<Tensor> of_results;
      for (std::uint32_t r = 0; r < node->types.size(); r++)
        of_results.push_back(known.get(node, r));
      if (!any_given(of_results)) continue;
      const ir::LocationScope scope(node->location());
      const std::vector<Tensor> of_operands =
          step->pullback ? step->pullback(of_results)
                         : driver_.node_transpose(*node, step->operands, step->results,
                                                  path_.perturbed_operands(node), of_results);
      for (std::size_t i = 0; i < of_operands.size(); i++) {
        if (path_.is_active(node->operands[i])) known.add(node->operands[i], of_operands[i]);
      }
    }
    std::vector<Tensor> of_parameters;
    for (const Tensor& parameter : function_.parameters())
      of_parameters.push_back(known.get(parameter));
    return of_parameters;
  }

 private:
  struct Step {
    const Node* node;  // of the function
    ir::Operands operands;
    std::vector<Tensor> results;
    ir::Pullback pullback;  // of constructs
  };

  void step(const Node* node) {
    ir::Operands operands = replay_.operands_of(node);
    const Flags active = path_.active_results(node);
    const ir::OpDef& op = *node->op;
    if (!any_of(active)) {
      bind(node, ir::results_of(copied_node(*node, std::move(operands)).node()));
      return;
    }
    const ir::LocationScope scope(node->location());
    Step step{node, operands, {}, {}};
    const ReverseCall call{*node, operands, path_.perturbed_operands(node), active, driver_};
    if (op.reverse || !has_rule(op)) {
      if (!op.reverse && !op.expand) no_derivative(*node);
      Reverse reverse = op.reverse ? op.reverse(call) : driver_.reverse_expanded(call, op.expand);
      step.results = std::move(reverse.results);
      step.pullback = std::move(reverse.pullback);
    } else {
      step.results = ir::results_of(copied_node(*node, std::move(operands)).node());
    }
    bind(node, step.results);
    steps_.push_back(std::move(step));
  }

  void bind(const Node* node, const std::vector<Tensor>& results) {
    for (std::uint32_t r = 0; r < results.size(); r++)
      replay_.bind(Tensor::of(node, r), results[r]);
  }

  Driver& driver_;
  Function function_;
  ActivePath path_;
  ir::Replay replay_;
  std::vector<Step> steps_;
  std::vector<Tensor> results_;
};

Reverse Driver::reverse(const Function& function, std::span<const Tensor> arguments,
                        const Flags& perturbed, const Flags& active) {
  auto walk = std::make_shared<ReverseWalk>(*this, function, arguments, perturbed, active);
  return {walk->results(),
          [walk](std::span<const Tensor> cotangents) { return walk->pull_back(cotangents); }};
}

std::vector<Tensor> transpose_with(Driver& driver, std::span<const Tensor> arguments,
                                   std::span<const Tensor> outputs,
                                   std::span<const Tensor> cotangents) {
  absl::flat_hash_set<const Node*> dependent;
  std::uint64_t first_id = UINT64_MAX;
  for (const Tensor& argument : arguments) {
    dependent.insert(argument.node());
    first_id = std::min(first_id, argument.node()->id);
  }
  // The nodes made since the arguments, in order.
  std::vector<const Node*> nodes;
  absl::flat_hash_set<const Node*> seen;
  std::vector<const Node*> stack;
  const auto visit = [&](const Tensor& tensor) {
    const Node* node = tensor.node();
    if (tensor.empty() || node->id < first_id || dependent.contains(node)) return;
    if (seen.insert(node).second) stack.push_back(node);
  };
  for (const Tensor& output : outputs) visit(output);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    nodes.push_back(node);
    for (const Tensor& operand : node->operands) visit(operand);
  }
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
  const auto is_dependent = [&](const Tensor& tensor) { return dependent.contains(tensor.node()); };
  for (const Node* node : nodes) {
    if (std::any_of(node->operands.begin(), node->operands.end(), is_dependent))
      dependent.insert(node);
  }

  TangentMap known;
  for (std::size_t i = 0; i < outputs.size(); i++) {
    if (!outputs[i].empty() && is_dependent(outputs[i])) known.add(outputs[i], cotangents[i]);
  }
  for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
    const Node* node = *at;
    if (!dependent.contains(node)) continue;
    const ir::LocationScope scope(node->location());
    std::vector<Tensor> of_results;
    Flags active;
    for (std::uint32_t r = 0; r < node->types.size(); r++) {
      of_results.push_back(known.get(node, r));
      active.push_back(!of_results.back().empty());
    }
    if (!any_of(active)) continue;
    Flags linear;
    ir::Operands operands = node->operands;
    for (Tensor& operand : operands) {
      linear.push_back(is_dependent(operand) && ir::has_tangent(operand.type()));
      // What a linear construct keeps does not depend on its linear operands: zeros do.
      if (linear.back() && node->op->reverse) operand = zeros(operand.type(), node->location());
    }
    std::vector<Tensor> of_operands;
    if (node->op->reverse) {
      of_operands =
          node->op->reverse({*node, operands, linear, active, driver}).pullback(of_results);
    } else if (node->op->transpose && is_linear_in(*node, linear)) {
      of_operands = node->op->transpose({*node, operands, linear, of_results, driver});
    } else {
      throw TraceError(fmt::format("{}: a derivative rule uses it on a tangent, in which it is not "
                                   "linear\n  at {}\n  Tangents may be added and scaled only.",
                                   node->op->name, node->location().str()),
                       node->location());
    }
    for (std::size_t i = 0; i < of_operands.size(); i++) {
      if (is_dependent(node->operands[i])) known.add(node->operands[i], of_operands[i]);
    }
  }
  std::vector<Tensor> of_arguments;
  for (const Tensor& argument : arguments) of_arguments.push_back(known.get(argument));
  return of_arguments;
}

Driver& the_driver() {
  static Driver driver;
  return driver;
}

}  // namespace

ir::Derivatives& derivatives() { return the_driver(); }

std::vector<Tensor> transpose_program(std::span<const Tensor> arguments,
                                      std::span<const Tensor> outputs,
                                      std::span<const Tensor> cotangents) {
  return transpose_with(the_driver(), arguments, outputs, cotangents);
}

}  // namespace rondo::transforms
