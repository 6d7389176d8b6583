#include "control_flow/constructs.h"

#include "control_flow/branch.h"
#include "control_flow/branch_lanes.h"
#include "control_flow/call.h"
#include "control_flow/for.h"
#include "control_flow/fori.h"
#include "control_flow/function_call.h"
#include "control_flow/implicit_root.h"
#include "control_flow/linear_solve.h"
#include "control_flow/max_trip_lane.h"
#include "control_flow/scan.h"
#include "control_flow/tape.h"
#include "control_flow/while.h"
#include "control_flow/while_lanes.h"

namespace rondo::control_flow {

std::span<const ir::OpDef* const> construct_records() {
  static constexpr const ir::OpDef* kAll[] = {
      &kWhile,       &kFor,          &kConditional,  &kForiLoop,    &kScan,           &kWhileLanes,
      &kBranchLanes, &kMaxTripLane,  &kTapeWrite,    &kTapeRead,    &kCheckpointCall, &kCustomJvp,
      &kCustomVjp,   &kFunctionCall, &kImplicitRoot, &kLinearSolve,
  };
  return kAll;
}

}  // namespace rondo::control_flow
