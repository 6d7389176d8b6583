#include "transforms/reverse.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "fmt/format.h"
#include "ir/function_data.h"
#include "rondo/ops/shape.h"
#include "transforms/derivatives.h"

namespace rondo::transforms {

namespace {

using ir::Linear;
using ir::Reverse;
using ir::ReverseCall;

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

/// The cotangents of the operands of an op that stands for itself.
std::vector<Tensor> node_transpose(ir::Derivatives& driver, const Node& node,
                                   std::span<const Tensor> operands,
                                   std::span<const Tensor> results, const Flags& linear,
                                   std::span<const Tensor> cotangents) {
  const ir::LocationScope scope(node.location());
  if (node.op->transpose && is_linear_in(node, linear))
    return node.op->transpose({node, operands, linear, cotangents, driver});
  // Tangents that stand for nothing: what the rule computes from them is linear in them.
  auto token = std::make_shared<ir::RegionToken>();
  token->what = "the derivative of " + std::string(node.op->name);
  token->first_id = ir::next_id();
  std::vector<Tensor> tangents(operands.size());
  std::vector<Tensor> parameters;
  for (std::size_t i = 0; i < operands.size(); i++) {
    if (!linear[i]) continue;
    tangents[i] = ir::make_parameter(node.operand_type(i), "tangent", static_cast<std::int64_t>(i),
                                     token, node.location());
    parameters.push_back(tangents[i]);
  }
  const std::vector<Tensor> outputs =
      node.op->region_jvp ? node.op->region_jvp({node, operands, {}, tangents, driver}).tangents
                          : tangents_of({node, operands, results, tangents, driver});
  const std::vector<Tensor> given = transpose_program(parameters, outputs, cotangents);
  std::vector<Tensor> all(operands.size());
  for (std::size_t i = 0, next = 0; i < operands.size(); i++) {
    if (linear[i]) all[i] = given[next++];
  }
  return all;
}

/// The pullback of a construct, which adds to what is known of its operands.
template <class IsWanted>
void pull_into(TangentMap& known, const Node& node, const ir::Pullback& pullback,
               std::span<const Tensor> of_results, const IsWanted& is_wanted) {
  const ir::Operands& operands = node.operands;
  std::vector<Tensor> sums(operands.size());
  absl::flat_hash_set<Key> seen;  // an operand that stands twice gets its sum once
  for (std::size_t i = 0; i < sums.size(); i++) {
    if (is_wanted(operands[i]) && seen.insert(key_of(operands[i])).second)
      sums[i] = known.get(operands[i]);
  }
  const std::vector<Tensor> given = pullback(of_results, sums);
  for (std::size_t i = 0; i < given.size(); i++) {
    if (given[i].empty() || !is_wanted(operands[i])) continue;
    if (sums[i].empty())
      known.add(operands[i], given[i]);
    else
      known.set(operands[i].node(), operands[i].result(), given[i]);
  }
}

/// A program that was run forward, for going back through it.
class ReverseWalk {
 public:
  ReverseWalk(ir::Derivatives& driver, const Function& function, std::span<const Tensor> arguments,
              const Flags& perturbed, const Flags& active, const Flags& summed)
      : driver_(driver), function_(function), path_(function, perturbed, active) {
    for (std::size_t i = 0; i < arguments.size(); i++) {
      replay_.bind(function.parameters()[i], arguments[i]);
      if (i < summed.size() && summed[i]) set_last_use(function.parameters()[i], SIZE_MAX);
    }
    const std::vector<const Node*>& body = function.body();
    for (std::size_t i = 0; i < active.size(); i++) {
      if (active[i]) set_last_use(function.outputs()[i], SIZE_MAX);
    }
    for (std::size_t i = body.size(); i-- > 0;) {
      if (!any_of(path_.active_results(body[i]))) continue;
      for (const Tensor& operand : body[i]->operands) set_last_use(operand, i);
    }
    for (std::size_t i = 0; i < body.size(); i++) {
      if (!ir::is_constant(body[i])) step(body[i], i);
    }
    for (const Tensor& output : function.outputs()) results_.push_back(replay_(output));
  }

  const std::vector<Tensor>& results() const { return results_; }

  std::vector<Tensor> pull_back(std::span<const Tensor> cotangents,
                                std::span<const Tensor> sums) const {
    TangentMap known;
    for (std::size_t i = 0; i < sums.size(); i++)
      known.set(function_.parameters()[i].node(), 0, sums[i]);
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
      const auto is_active = [&](const Tensor& operand) { return path_.is_active(operand); };
      if (step->pullback) {
        pull_into(known, *node, step->pullback, of_results, is_active);
        continue;
      }
      const std::vector<Tensor> of_operands =
          node_transpose(driver_, *node, step->operands, step->results,
                         path_.perturbed_operands(node), of_results);
      for (std::size_t i = 0; i < of_operands.size(); i++) {
        if (is_active(node->operands[i])) known.add(node->operands[i], of_operands[i]);
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

  /// The last place of the body at which a value that can have a cotangent is used; its end for
  /// results. What is used later as well has a sum when the walk back comes to a node.
  void set_last_use(const Tensor& value, std::size_t place) {
    if (path_.is_active(value)) last_use_.try_emplace(key_of(value), place);
  }
  Flags summed_operands(const Node* node, std::size_t place) const {
    Flags flags;
    for (const Tensor& operand : node->operands) {
      const auto last = last_use_.find(key_of(operand));
      flags.push_back(last != last_use_.end() && last->second > place);
    }
    return flags;
  }

  void step(const Node* node, std::size_t place) {
    ir::Operands operands = replay_.operands_of(node);
    const Flags active = path_.active_results(node);
    const ir::OpDef& op = *node->op;
    if (!any_of(active)) {
      bind(node, ir::results_of(copied_node(*node, std::move(operands)).node()));
      return;
    }
    const ir::LocationScope scope(node->location());
    Step step{node, operands, {}, {}};
    const ReverseCall call{
        *node,  operands, path_.perturbed_operands(node), active, summed_operands(node, place),
        driver_};
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

  ir::Derivatives& driver_;
  Function function_;
  ActivePath path_;
  absl::flat_hash_map<Key, std::size_t> last_use_;
  ir::Replay replay_;
  std::vector<Step> steps_;
  std::vector<Tensor> results_;
};

}  // namespace

ir::Reverse reverse_walk(ir::Derivatives& derivatives, const Function& function,
                         std::span<const Tensor> arguments, const Flags& perturbed,
                         const Flags& active, const Flags& summed) {
  auto walk =
      std::make_shared<ReverseWalk>(derivatives, function, arguments, perturbed, active, summed);
  return {walk->results(), std::bind_front(&ReverseWalk::pull_back, walk)};
}

std::vector<Tensor> transpose_program(std::span<const Tensor> arguments,
                                      std::span<const Tensor> outputs,
                                      std::span<const Tensor> cotangents) {
  ir::Derivatives& driver = derivatives();
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
      Flags summed;
      for (const Tensor& operand : node->operands) summed.push_back(!known.get(operand).empty());
      const ir::Reverse reverse =
          node->op->reverse({*node, operands, linear, active, summed, driver});
      pull_into(known, *node, reverse.pullback, of_results, is_dependent);
      continue;
    }
    if (node->op->transpose && is_linear_in(*node, linear)) {
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

}  // namespace rondo::transforms
