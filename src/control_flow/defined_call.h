// What implicit_root and linear_solve share: calls whose result is defined by an equation, with
// regions that state it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "control_flow/region_trace.h"
#include "ir/batch.h"
#include "ir/derivative.h"
#include "ir/layout.h"
#include "ir/node.h"

namespace rondo::control_flow {

using TensorsOfTensors = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// A region on parameters of these types; what it captures becomes operands of the call.
struct DefiningRegion {
  std::string name;
  std::vector<TensorType> parameters;
  TensorsOfTensors function;
};

/// Traces the regions and creates the call on `arguments`, followed by the captures of all regions.
/// Region 0 runs; its parameters are the arguments.
std::vector<Tensor> make_defined_call(const ir::OpDef& op, std::span<const Tensor> arguments,
                                      const std::vector<DefiningRegion>& regions,
                                      SourceLocation at);
/// The same node on other operands, with these regions.
std::vector<Tensor> defined_call_again(const ir::Node& node, std::span<const Tensor> operands,
                                       std::vector<Function> regions);

ir::InferredTypes infer_defined_call(const ir::InferContext& context);
ir::RegionLayout defined_call_layout(const ir::Node& node);
ir::Attributes defined_call_relayout(const ir::Node& node, const ir::RegionLayout& layout);
std::vector<Tensor> expand_defined_call(const ir::Node& node, std::span<const Tensor> operands);
/// All results differ by lane if an operand does.
ir::Flags defined_call_batched(const ir::Node& node, const ir::Flags& operands,
                               ir::Batching& batching);
/// The call for all lanes. The parameters of its regions before the captures, and all results, have
/// lanes.
ir::BatchValues defined_call_batch(const ir::BatchCall& call);

/// Pulls -u back through a region on x and the captures, which are the last operands, and adds to
/// the sums of those that `perturbed`, which is of all operands, names.
void pull_back_to_captures(ir::Derivatives& derivatives, const Function& region, const Tensor& x,
                           std::span<const Tensor> captures, const ir::Flags& perturbed,
                           const Tensor& u, const ir::Cotangents& of_operands);
/// x, then the captures.
std::vector<Tensor> with_first(const Tensor& x, std::span<const Tensor> captures);

/// f(first..., captures...).
std::vector<Tensor> call_region(const Function& region, std::span<const Tensor> first,
                                std::span<const Tensor> captures);

}  // namespace rondo::control_flow
