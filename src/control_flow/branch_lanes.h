// A branch that each lane takes for itself: what cond and switch_case become where their selector
// differs by lane.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/batch.h"

namespace rondo::control_flow {

/// Operands: the selector, pred[lanes] or s32[lanes], then the arguments. Regions: a branch each,
/// on all arguments; all results have the lanes in front, and the result has from each branch the
/// lanes that take it. A pred selects the first region when true.
///
/// It expands to selects, in which a branch that gives an argument with a part replaced writes that
/// part alone. In its derivative, lanes that do not take a branch compute it on the values of one
/// that does, so that they give no NaN to what all lanes share.
struct BranchLanesAttributes {
  std::int64_t lanes = 0;
  std::vector<std::int64_t> batched;  // arguments that have the lanes in front
  bool collective = false;            // a branch combines the values of lanes
  std::string name;
  bool operator==(const BranchLanesAttributes&) const = default;
};
extern const ir::OpDef kBranchLanes;

/// One branch: batched values of the arguments, and the lanes that take it.
using LaneBranch = std::function<ir::BatchValues(const ir::BatchValues&, const Tensor& active)>;

/// Each lane's branch of `arguments`. The results all have the lanes in front.
std::vector<Tensor> branch_by_lane(const ir::BatchCall& call, const Tensor& selector,
                                   const std::vector<LaneBranch>& branches,
                                   const ir::BatchValues& arguments);

/// A function whose values have the lanes in front, as new nodes, where those of `batched`
/// arguments matter in `active` lanes only (one at least). The others compute, wherever a
/// derivative could see it, on the values of one that is active. Results of the others are
/// arbitrary.
std::vector<Tensor> replay_in_safe_lanes(const Function& function,
                                         std::span<const Tensor> arguments,
                                         const ir::Flags& batched, const Tensor& active,
                                         SourceLocation at);

}  // namespace rondo::control_flow
