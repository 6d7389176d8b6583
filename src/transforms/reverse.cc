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

using ir::Reverse;
using ir::ReverseCall;

/// Transposes an op that is linear itself: adds to the cotangents of its operands.
void transpose_node(ir::Derivatives& driver, const Node& node, std::span<const Tensor> operands,
                    std::span<const Tensor> results, const Flags& linear,
                    std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) {
  const ir::LocationScope scope(node.location());
  if (node.op->derivative.transpose && is_linear_in(node, linear)) {
    of_operands.add_all(
        node.op->derivative.transpose({node, operands, linear, cotangents, of_operands, driver}));
    return;
  }
  // Placeholder tangents without values: what the rule computes from them is linear in them.
  auto token = std::make_shared<ir::RegionToken>();
  token->what = "the derivative of " + std::string(node.op->name);
  token->first_id = ir::next_id();
  std::vector<Tensor> tangents(operands.size());
  std::vector<Tensor> parameters;
  ir::Cotangents of_parameters;
  for (std::size_t i = 0; i < operands.size(); i++) {
    if (!linear[i]) continue;
    tangents[i] = ir::make_parameter(node.operand_type(i), "tangent", static_cast<std::int64_t>(i),
                                     token, node.location());
    parameters.push_back(tangents[i]);
    of_parameters.append(of_operands[i]);
  }
  const std::vector<Tensor> outputs =
      node.op->derivative.region_jvp
          ? node.op->derivative.region_jvp({node, operands, {}, tangents, driver}).tangents
          : tangents_of({node, operands, results, tangents, driver});
  transpose_program(driver, parameters, outputs, cotangents, of_parameters);
}

/// A program that was copied for the forward run, and its backward pass.
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

  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_parameters) const {
    CotangentMap sums;
    for (std::size_t i = 0; i < of_parameters.size(); i++)
      sums.bind(function_.parameters()[i], of_parameters[i]);
    for (std::size_t i = 0; i < cotangents.size(); i++) {
      const Tensor& output = function_.outputs()[i];
      const ir::LocationScope scope(output.node()->location());
      if (path_.is_active(output)) sums[output].add(cotangents[i]);
    }
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const Node* node = step->node;
      const std::vector<Tensor> of_results = sums.take_results(node);
      if (!any_given(of_results)) continue;
      const ir::LocationScope scope(node->location());
      const ir::Cotangents of_operands =
          sums.of_operands(node, [&](const Tensor& operand) { return path_.is_active(operand); })
              .telling_as(of_parameters);
      if (step->pullback) {
        step->pullback(of_results, of_operands);
      } else {
        transpose_node(driver_, *node, step->operands, step->results,
                       path_.perturbed_operands(node), of_results, of_operands);
      }
    }
  }

 private:
  struct Step {
    const Node* node;  // of the function
    ir::Operands operands;
    std::vector<Tensor> results;
    ir::Pullback pullback;  // of constructs
  };

  /// Records the last position in the body at which a value that can have a cotangent is used; the
  /// end of the body for results. If it is used later as well, it already has a sum when the
  /// backward walk reaches a node.
  void set_last_use(const Tensor& value, std::size_t place) {
    if (path_.is_active(value)) last_use_.try_emplace(value, place);
  }
  Flags summed_operands(const Node* node, std::size_t place) const {
    Flags flags;
    for (const Tensor& operand : node->operands) {
      const auto last = last_use_.find(operand);
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
    if (op.derivative.reverse || !has_rule(op)) {
      if (!op.derivative.reverse && !op.expansion.rule) no_derivative(*node);
      Reverse reverse = op.derivative.reverse ? op.derivative.reverse(call)
                                              : driver_.reverse_expanded(call, op.expansion.rule);
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
  absl::flat_hash_map<ValueKey, std::size_t> last_use_;
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

}  // namespace rondo::transforms
