// Transposes the program that a jvp rule computes from placeholder tangents.
#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "rondo/ops/shape.h"
#include "transforms/reverse.h"

namespace rondo::transforms {

using ir::Linear;

/// Whether the node is linear in the flagged operands.
bool is_linear_in(const Node& node, const Flags& flags) {
  if (node.op->derivative.is_linear && !node.op->derivative.is_linear(node)) return false;
  switch (node.op->derivative.linear) {
    case Linear::kNone:
      return false;
    case Linear::kJointly:
      return true;
    case Linear::kSeparately:
      return std::count(flags.begin(), flags.end(), true) == 1;
    case Linear::kFirst:
      return std::find(flags.begin() + 1, flags.end(), true) == flags.end();
    case Linear::kSecond:
      return flags[1] && std::count(flags.begin(), flags.end(), true) == 1;
  }
  return false;
}

namespace {

/// The nodes, created after the arguments, from which the outputs of a linear program are computed.
class LinearProgram {
 public:
  LinearProgram(std::span<const Tensor> arguments, std::span<const Tensor> outputs) {
    std::uint64_t first_id = UINT64_MAX;
    for (const Tensor& argument : arguments) {
      dependent_.insert(argument.node());
      first_id = std::min(first_id, argument.node()->id);
    }
    collect(outputs, first_id);
    for (const Node* node : nodes_) {
      if (std::any_of(node->operands.begin(), node->operands.end(),
                      [&](const Tensor& operand) { return is_dependent(operand); }))
        dependent_.insert(node);
    }
  }

  /// In order.
  const std::vector<const Node*>& nodes() const { return nodes_; }
  /// Whether it depends on an argument.
  bool is_dependent(const Node* node) const { return dependent_.contains(node); }
  bool is_dependent(const Tensor& value) const { return is_dependent(value.node()); }

 private:
  void collect(std::span<const Tensor> outputs, std::uint64_t first_id) {
    absl::flat_hash_set<const Node*> seen;
    std::vector<const Node*> stack;
    const auto visit = [&](const Tensor& value) {
      const Node* node = value.node();
      if (value.empty() || node->id < first_id || is_dependent(node)) return;
      if (seen.insert(node).second) stack.push_back(node);
    };
    for (const Tensor& output : outputs) visit(output);
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      nodes_.push_back(node);
      for (const Tensor& operand : node->operands) visit(operand);
    }
    std::sort(nodes_.begin(), nodes_.end(),
              [](const Node* a, const Node* b) { return a->id < b->id; });
  }

  std::vector<const Node*> nodes_;
  absl::flat_hash_set<const Node*> dependent_;
};

[[noreturn]] void not_linear(const Node& node) {
  throw TraceError(fmt::format("{}: a derivative rule uses it on a tangent, in which it is not "
                               "linear\n  at {}\n  Tangents may be added and scaled only.",
                               node.op->name, node.location().str()),
                   node.location());
}

}  // namespace

void transpose_program(ir::Derivatives& derivatives, std::span<const Tensor> arguments,
                       std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                       const ir::Cotangents& of_arguments) {
  const LinearProgram program(arguments, outputs);
  const auto is_dependent = [&](const Tensor& value) { return program.is_dependent(value); };
  CotangentMap sums;
  for (std::size_t i = 0; i < arguments.size(); i++) sums.bind(arguments[i], of_arguments[i]);
  for (std::size_t i = 0; i < outputs.size(); i++) {
    if (!outputs[i].empty() && is_dependent(outputs[i])) sums[outputs[i]].add(cotangents[i]);
  }
  for (auto at = program.nodes().rbegin(); at != program.nodes().rend(); ++at) {
    const Node* node = *at;
    if (!program.is_dependent(node)) continue;
    const ir::LocationScope scope(node->location());
    const std::vector<Tensor> of_results = sums.take_results(node);
    if (!any_given(of_results)) continue;
    Flags linear, active, summed;
    ir::Operands operands = node->operands;
    for (Tensor& operand : operands) {
      linear.push_back(is_dependent(operand) && ir::has_tangent(operand.type()));
      summed.push_back(!sums.is_zero(operand));
      // The residuals of a linear construct do not depend on its linear operands, so zeros will do.
      if (linear.back() && node->op->derivative.reverse)
        operand = zeros(operand.type(), node->location());
    }
    const ir::Cotangents of_operands = sums.of_operands(node, is_dependent);
    if (node->op->derivative.reverse) {
      for (const Tensor& cotangent : of_results) active.push_back(!cotangent.empty());
      node->op->derivative.reverse({*node, operands, linear, active, summed, derivatives})
          .pullback(of_results, of_operands);
    } else if (node->op->derivative.transpose && is_linear_in(*node, linear)) {
      of_operands.add_all(node->op->derivative.transpose(
          {*node, operands, linear, of_results, of_operands, derivatives}));
    } else {
      not_linear(*node);
    }
  }
}

}  // namespace rondo::transforms
