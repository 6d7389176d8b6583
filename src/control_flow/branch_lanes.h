// A branch with a selector per lane: cond and switch_case become it where their selector differs by
// lane.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/batch.h"

namespace rondo::control_flow {

/// Operands: the selector, pred[lanes] or s32[lanes], then the arguments. Regions: one per branch,
/// on all arguments. The lanes are the leading axis of all results, and each lane's result comes
/// from the branch that it takes. A pred selects the first region when true.
///
/// It expands to selects. A branch that returns an argument with a part replaced writes only that
/// part. In the derivative, lanes that do not take a branch compute it on the values of a lane that
/// does, so they contribute no NaN to what all lanes share.
struct BranchLanesAttributes {
  std::int64_t lanes = 0;
  std::vector<std::int64_t> batched;  // arguments whose leading axis is the lanes
  bool collective = false;            // a branch combines the values of lanes
  std::string name;
  bool operator==(const BranchLanesAttributes&) const = default;
};
extern const ir::OpDef kBranchLanes;

/// One branch: takes batched values of the arguments, and the lanes that take it.
using LaneBranch = std::function<ir::BatchValues(const ir::BatchValues&, const Tensor& active)>;

/// The results of the branch that each lane takes, on `arguments`. The lanes are the leading axis
/// of all results.
std::vector<Tensor> branch_by_lane(const ir::BatchCall& call, const Tensor& selector,
                                   const std::vector<LaneBranch>& branches,
                                   const ir::BatchValues& arguments);

/// Replays a function whose values have the lanes as leading axis. The `batched` arguments matter
/// only in `active` lanes, of which there is at least one. Wherever a derivative could depend on
/// it, the other lanes compute with the values of an active lane, and their results are arbitrary.
std::vector<Tensor> replay_in_safe_lanes(const Function& function,
                                         std::span<const Tensor> arguments,
                                         const ir::Flags& batched, const Tensor& active,
                                         SourceLocation at);

}  // namespace rondo::control_flow
