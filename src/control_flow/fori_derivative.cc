// Reverse mode of fori_loop: a loop of known length becomes a scan over its indices, any other one
// the while that it lowers to.
#include <utility>

#include "control_flow/carry.h"
#include "control_flow/counted.h"
#include "control_flow/fori.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/scan.h"
#include "ir/function_data.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

Tensor fori_indices(const ir::Node& node, const Tensor& lower) {
  const auto& a = node.attrs<ForiAttributes>();
  // As bits: an index may wrap where the loop's does.
  return convert(iota({DType::kS64, {*a.trip_count}}, 0) * a.step, lower.dtype()) + lower;
}

namespace {

std::vector<Tensor> fori_as_scan(const ir::Node& node, std::span<const Tensor> operands) {
  const auto& a = node.attrs<ForiAttributes>();
  const Tensor indices = fori_indices(node, operands[0]);
  const std::span<const Tensor> carry = operands.subspan(2, static_cast<std::size_t>(a.carries));
  const std::span<const Tensor> invariants = operands.subspan(2 + carry.size());
  const std::vector<std::string> names = carry_paths(node.regions[0], 1, carry.size());
  const RegionCallable body = [&](std::span<const Tensor> leaves) {
    std::vector<Tensor> arguments{leaves.back()};
    append_tensors(arguments, leaves.first(carry.size()));
    append_tensors(arguments, invariants);
    return Leaves{ir::Replay::inline_call(node.regions[0], arguments), names};
  };
  ScanOptions options;
  options.reverse = a.reverse;
  options.unroll = a.unroll;
  options.checkpoint = a.checkpoint;
  options.name = a.name.empty() ? "fori" : a.name;
  return detail::scan(body, {{carry.begin(), carry.end()}, names}, {{indices}, {"xs"}}, options,
                      node.location());
}

std::vector<Tensor> fori_as_while(const ir::Node& node, std::span<const Tensor> operands) {
  ForiAttributes attributes = node.attrs<ForiAttributes>();
  attributes.unroll = 1;
  const Tensor plain = ir::make_typed(kForiLoop, ir::Operands(operands.begin(), operands.end()),
                                      attributes, node.types, node.location(), node.regions);
  return kForiLoop.expansion.rule(*plain.node(), operands);
}

}  // namespace

ir::Reverse fori_reverse(const ir::ReverseCall& call) {
  const auto& a = call.node.attrs<ForiAttributes>();
  if (a.checkpoint.policy == Checkpoint::Policy::kNone)
    refuse_reverse(construct_name("fori_loop", a.name), call.at());
  return call.derivatives.reverse_expanded(call, a.trip_count ? fori_as_scan : fori_as_while);
}

}  // namespace rondo::control_flow
