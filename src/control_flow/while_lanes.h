// A while over lanes: while_loop becomes it if its predicate differs by lane.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control_flow/checkpoint.h"
#include "ir/node.h"

namespace rondo::control_flow {

/// Runs while the condition of any lane holds. Once a lane's condition was false, the lane is done:
/// its kept carries stay unchanged, bit for bit, whatever the body computes for it.
///
/// Operands: the kept carries and the free ones, whose leading axis is the lanes; the shared ones,
/// which are the same in all lanes and have no such axis; then the invariants. Free carries are
/// those whose last value is unused, so their values in lanes that are done do not matter. Shared
/// carries advance with the running lanes. Regions: the condition, on all operands, returns
/// pred[lanes]; the body takes the running lanes, pred[lanes], and all operands, and returns the
/// next carries. Results: the last carries.
struct WhileLanesAttributes {
  std::int64_t lanes = 0;
  std::int64_t kept = 0;
  std::int64_t free = 0;
  std::int64_t shared = 0;
  std::vector<std::int64_t> batched_invariants;  // those whose leading axis is the lanes
  bool collective = false;                       // the body combines the values of lanes
  std::string name;
  std::optional<std::int64_t> max_trip_count;  // promised by the user
  Checkpoint checkpoint;
  std::optional<std::int64_t> promised = std::nullopt;
  bool ends_by_itself = false;
  bool predicated = false;  // a branch: see branch_as_loop
  bool operator==(const WhileLanesAttributes&) const = default;

  std::int64_t carries() const { return kept + free + shared; }
};

extern const ir::OpDef kWhileLanes;

/// A branch, on `arguments`, as a loop of at most one trip, which the lanes of `takes`, a
/// pred[lanes], make. The other lanes get the results `otherwise`, or arbitrary ones if it `keeps`
/// none. For executors that run loops over lanes; elsewhere it expands to the branch and a select
/// by lane.
std::vector<Tensor> branch_as_loop(const Function& branch, std::span<const Tensor> arguments,
                                   const Tensor& takes, const std::vector<Tensor>& otherwise,
                                   bool keeps, const std::string& name, SourceLocation at);

}  // namespace rondo::control_flow
