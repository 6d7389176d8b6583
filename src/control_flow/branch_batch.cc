// A conditional for many lanes.
#include <utility>
#include <vector>

#include "control_flow/branch.h"
#include "control_flow/branch_lanes.h"
#include "control_flow/loop_batch.h"

namespace rondo::control_flow {

using ir::BatchCall;
using ir::BatchValue;
using ir::BatchValues;
using ir::Flags;

Flags conditional_batched(const ir::Node& node, const Flags& operands, ir::Batching& batching) {
  if (operands[0]) return Flags(node.types.size(), true);
  return batched_results(node, Flags(operands.begin() + 1, operands.end()), batching);
}

BatchValues conditional_batch(const BatchCall& call) {
  if (call.batched(0)) {
    std::vector<LaneBranch> branches;
    for (const Function& branch : call.node.regions) {
      branches.push_back([&call, &branch](const BatchValues& values, const Tensor& active) {
        return call.batching.batch(branch, values, active);
      });
    }
    call.batching.note(call.node, "its predicate differs by lane: both branches and a select");
    return ir::all_batched(branch_by_lane(call, call.x(0), branches,
                                          {call.operands.begin() + 1, call.operands.end()}));
  }
  std::vector<Tensor> operands;
  for (const BatchValue& operand : call.operands) operands.push_back(operand.value);
  Flags arguments = call.batched();
  arguments.erase(arguments.begin());
  call.batching.note(call.node, "its predicate is the same in all lanes: one branch runs");
  return batch_as_it_is(call, operands, arguments);
}

}  // namespace rondo::control_flow
