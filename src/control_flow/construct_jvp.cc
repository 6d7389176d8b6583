#include "control_flow/construct_jvp.h"

#include "control_flow/extend.h"
#include "control_flow/split.h"

namespace rondo::control_flow {

namespace {

using ir::Flags;
using ir::RegionLayout;

/// Parameters of a body that have a tangent, by fixpoint over the carries.
Flags perturbed_parameters(const RegionLayout& layout, const ir::JvpCall& call) {
  Flags perturbed(layout.params());
  for (std::size_t p = layout.first_given(); p < perturbed.size(); p++)
    perturbed[p] = call.has(layout.operand_of_param(p));
  return perturbed_carries(call.node.regions[layout.body()], layout.index, layout.carries,
                           std::move(perturbed), call.derivatives);
}

/// Results that have a tangent in some body.
Flags perturbed_results(const RegionLayout& layout, const Flags& parameters,
                        const ir::JvpCall& call) {
  Flags perturbed(layout.results());
  for (std::size_t k = 0; k < call.node.regions.size(); k++) {
    if (!layout.is_body(k)) continue;
    const Flags of = call.derivatives.perturbed_results(call.node.regions[k], parameters);
    for (std::size_t r = 0; r < perturbed.size(); r++) perturbed[r] = perturbed[r] || of[r];
  }
  for (std::size_t c = 0; c < layout.carries; c++) perturbed[c] = parameters[layout.index + c];
  return perturbed;
}

}  // namespace

ir::Jvp construct_jvp(const ir::JvpCall& call) {
  using Role = RegionLayout::Role;
  const RegionLayout layout = *ir::region_layout(&call.node);
  const Flags parameters = perturbed_parameters(layout, call);
  const Flags results = perturbed_results(layout, parameters, call);
  const std::vector<std::string> names = call.node.regions[layout.body()].param_names();
  Extension tangents;
  for (std::size_t p = layout.first_given(); p < parameters.size(); p++) {
    const Role role = layout.role_of_param(p);
    if (!parameters[p] || role == Role::kInvariant) continue;
    Leaves& leaves = role == Role::kCarry      ? tangents.carries
                     : role == Role::kArgument ? tangents.arguments
                                               : tangents.xs;
    leaves.values.push_back(call.full(layout.operand_of_param(p)));
    leaves.paths.push_back("d_" + names[p]);
  }
  const ExtendedBody both = [&](const ExtendedParameters& given) {
    std::vector<Tensor> of_parameters(given.own.size());
    std::size_t next_carry = 0, next_x = 0, next_argument = 0;
    for (std::size_t p = layout.first_given(); p < of_parameters.size(); p++) {
      const Role role = layout.role_of_param(p);
      if (role == Role::kInvariant)
        of_parameters[p] = call.tangents[layout.operand_of_param(p)];
      else if (parameters[p])
        of_parameters[p] = role == Role::kCarry      ? given.carries[next_carry++]
                           : role == Role::kArgument ? given.arguments[next_argument++]
                                                     : given.xs[next_x++];
    }
    const ir::Jvp now =
        call.derivatives.jvp(call.node.regions[given.region], given.own, of_parameters);
    ExtendedResults out{now.results, {}, {}};
    for (std::size_t r = 0; r < results.size(); r++) {
      if (!results[r]) continue;
      (r < layout.carries ? out.carries : out.ys)
          .push_back(ir::full_tangent(now.tangents[r], now.results[r].type()));
    }
    return out;
  };
  ExtendedResults all = extend(layout, call.operands, tangents, both);
  ir::Jvp out{std::move(all.own), std::vector<Tensor>(results.size())};
  std::size_t next_carry = 0, next_y = 0;
  for (std::size_t r = 0; r < results.size(); r++) {
    if (results[r])
      out.tangents[r] = r < layout.carries ? all.carries[next_carry++] : all.ys[next_y++];
  }
  return out;
}

}  // namespace rondo::control_flow
