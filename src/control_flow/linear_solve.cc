#include "control_flow/linear_solve.h"

#include <utility>

#include "control_flow/call.h"
#include "control_flow/defined_call.h"
#include "ir/attribute_text.h"
#include "ir/derivative.h"

namespace rondo::control_flow {

namespace {

std::vector<Function> regions_of_transpose(const ir::Node& node) {
  const std::vector<Function>& own = node.regions;
  return own.size() < 4 ? own : std::vector<Function>{own[2], own[3], own[0], own[1]};
}

std::span<const Tensor> captures_of(std::span<const Tensor> operands) {
  return operands.subspan(1);
}

ir::Jvp solve_jvp(const ir::JvpCall& call) {
  ir::Jvp both{defined_call_again(call.node, call.operands, call.node.regions), {}};
  both.tangents.resize(both.results.size());
  std::vector<Tensor> moved{Tensor()};
  const auto of_captures = captures_of(call.tangents);
  moved.insert(moved.end(), of_captures.begin(), of_captures.end());
  const Tensor of_matrix =
      call.derivatives
          .jvp(call.node.regions[1], with_first(both.results[0], captures_of(call.operands)), moved)
          .tangents[0];
  const Tensor right =
      ir::add_tangents(call.tangents[0], of_matrix.empty() ? of_matrix : -of_matrix);
  if (right.empty()) return both;
  both.tangents[0] = defined_call_again(call.node, with_first(right, captures_of(call.operands)),
                                        call.node.regions)[0];
  return both;
}

/// A^T u = the cotangent of x; u is the cotangent of b, and -u that of A x for a constant x.
ir::Reverse solve_reverse(const ir::ReverseCall& call) {
  std::vector<Tensor> results = defined_call_again(call.node, call.operands, call.node.regions);
  const Tensor x = results[0];
  ir::Pullback pullback = [node = Tensor::of(&call.node), x,
                           operands =
                               std::vector<Tensor>(call.operands.begin(), call.operands.end()),
                           perturbed = call.perturbed,
                           &derivatives = call.derivatives](std::span<const Tensor> cotangents,
                                                            const ir::Cotangents& of_operands) {
    if (cotangents[0].empty()) return;
    const ir::Node& system = *node.node();
    const Tensor u = defined_call_again(system, with_first(cotangents[0], captures_of(operands)),
                                        regions_of_transpose(system))[0];
    of_operands.add(0, u);
    pull_back_to_captures(derivatives, system.regions[1], x, captures_of(operands), perturbed, u,
                          of_operands);
  };
  return {std::move(results), std::move(pullback)};
}

}  // namespace

const ir::OpDef kLinearSolve{
    .name = "linear_solve",
    .types = {.infer = infer_defined_call},
    .expansion = {.rule = expand_defined_call, .inlines_regions = true},
    .derivative = {.region_jvp = solve_jvp, .reverse = solve_reverse},
    .batching = {.rule = defined_call_batch, .varying = defined_call_batched},
    .text = {.attributes = &ir::kFieldText<CustomCallAttributes>},
    .construct = {.layout = defined_call_layout, .relayout = defined_call_relayout}};

std::vector<Tensor> linear_solve(const LinearSystem& system, const Tensor& b, SourceLocation at) {
  const auto solver = [&](const char* name, const auto& solve) {
    return DefiningRegion{
        name, {b.type()}, [&](std::span<const Tensor> given) { return solve(given[0]); }};
  };
  const auto product = [&](const char* name, const auto& apply) {
    return DefiningRegion{name, {b.type()}, [&](std::span<const Tensor> given) {
                            return std::vector<Tensor>{apply(given[0])};
                          }};
  };
  std::vector<DefiningRegion> regions{solver("solve", system.solve),
                                      product("apply", system.apply)};
  if (system.solve_transposed) {
    regions.push_back(solver("solve_transposed", system.solve_transposed));
    regions.push_back(product("apply_transposed", system.apply_transposed));
  }
  return make_defined_call(kLinearSolve, std::array{b}, regions, at);
}

}  // namespace rondo::control_flow
