#include "control_flow/implicit_root.h"

#include <utility>

#include "control_flow/call.h"
#include "control_flow/defined_call.h"
#include "ir/attribute_text.h"
#include "ir/derivative.h"
#include "ops/linalg/linalg.h"
#include "rondo/gradients.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/shape.h"
#include "rondo/vmap.h"

namespace rondo::control_flow {

namespace {

using ir::Flags;

/// The Jacobians [..., n, n] of the equation at x[..., n]: F treats lanes separately, so that one
/// direction serves all of them.
Tensor equation_jacobian(const ir::Node& node, const Tensor& x, std::span<const Tensor> captures) {
  const Function& equation = node.regions[1];
  const std::int64_t n = x.dim(-1), rank = x.rank();
  const auto residual = [&](const Tensor& at) {
    return call_region(equation, std::array{at}, captures)[0];
  };
  std::vector<std::int64_t> dims{n}, map{0, rank};
  dims.insert(dims.end(), x.shape().begin(), x.shape().end());
  const Tensor directions = broadcast_in_dim(eye(n, x.dtype()), dims, map);
  const Tensor columns = vmap([&](const Tensor& direction) {
    return jvp(residual, std::tuple(x), std::tuple(direction)).second;
  })(directions);
  std::vector<std::int64_t> order;
  for (std::int64_t axis = 1; axis <= rank; axis++) order.push_back(axis);
  order.push_back(0);
  return transpose(columns, order);
}

Tensor last_axis_solved(const Tensor& matrices, const Tensor& right, SourceLocation at) {
  const Tensor a = ops::in_wide_dtype(matrices), b = ops::in_wide_dtype(expand_dims(right, -1));
  return ops::in_dtype(squeeze(ops::solution(a, b, at), {right.rank()}), right.dtype());
}

bool has_correction(const ir::Node& node) { return node.regions.size() > 2; }

ir::Jvp root_jvp(const ir::JvpCall& call) {
  ir::Jvp both{defined_call_again(call.node, call.operands, call.node.regions), {}};
  both.tangents.resize(both.results.size());
  const Tensor& x = both.results[0];
  std::vector<Tensor> moved{Tensor()};
  moved.insert(moved.end(), call.tangents.begin(), call.tangents.end());
  const ir::Jvp residual =
      call.derivatives.jvp(call.node.regions[1], with_first(x, call.operands), moved);
  if (residual.tangents[0].empty()) return both;
  const Tensor right = -residual.tangents[0];
  both.tangents[0] =
      has_correction(call.node)
          ? call_region(call.node.regions[2], std::array{x, right}, call.operands)[0]
          : last_axis_solved(equation_jacobian(call.node, x, call.operands), right, call.at());
  return both;
}

/// J^T u = the cotangent of x; then -u is the cotangent of F.
ir::Reverse root_reverse(const ir::ReverseCall& call) {
  std::vector<Tensor> results = defined_call_again(call.node, call.operands, call.node.regions);
  const Tensor x = results[0];
  ir::Pullback pullback =
      [node = Tensor::of(&call.node), x,
       operands = std::vector<Tensor>(call.operands.begin(), call.operands.end()),
       perturbed = call.perturbed, &derivatives = call.derivatives](
          std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) {
        if (cotangents[0].empty()) return;
        const ir::Node& root = *node.node();
        Tensor u;
        if (has_correction(root)) {
          const Tensor unused = zeros(x.type(), root.location());
          std::vector<Tensor> arguments = with_first(x, std::array{unused});
          arguments.insert(arguments.end(), operands.begin(), operands.end());
          Flags linear(arguments.size());
          linear[1] = true;
          const ir::Reverse solve =
              derivatives.reverse(root.regions[2], arguments, linear, Flags{true});
          u = ir::pull_back(solve.pullback, std::array{cotangents[0]}, arguments.size())[1];
          if (u.empty()) return;
        } else {
          u = last_axis_solved(ops::swapped(equation_jacobian(root, x, operands)), cotangents[0],
                               root.location());
        }
        pull_back_to_captures(derivatives, root.regions[1], x, operands, perturbed, u, of_operands);
      };
  return {std::move(results), std::move(pullback)};
}

}  // namespace

const ir::OpDef kImplicitRoot{
    .name = "implicit_root",
    .types = {.infer = infer_defined_call},
    .expansion = {.rule = expand_defined_call, .inlines_regions = true},
    .derivative = {.region_jvp = root_jvp, .reverse = root_reverse},
    .batching = {.rule = defined_call_batch, .varying = defined_call_batched},
    .text = {.attributes = &ir::kFieldText<CustomCallAttributes>},
    .construct = {.layout = defined_call_layout, .relayout = defined_call_relayout}};

std::vector<Tensor> implicit_root(const RootEquation& equation, const TensorType& type,
                                  SourceLocation at) {
  std::vector<DefiningRegion> regions{
      {"solve", {}, [&](std::span<const Tensor>) { return equation.solve(); }},
      {"residual", {type}, [&](std::span<const Tensor> given) {
         return std::vector<Tensor>{equation.residual(given[0])};
       }}};
  if (equation.correction) {
    regions.push_back({"correction", {type, type}, [&](std::span<const Tensor> given) {
                         return std::vector<Tensor>{equation.correction(given[0], given[1])};
                       }});
  }
  return make_defined_call(kImplicitRoot, {}, regions, at);
}

}  // namespace rondo::control_flow
