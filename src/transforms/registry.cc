#include "transforms/registry.h"

#include <iterator>
#include <vector>

#include "control_flow/branch.h"
#include "control_flow/branch_lanes.h"
#include "control_flow/call.h"
#include "control_flow/fori.h"
#include "control_flow/longest_lane.h"
#include "control_flow/scan.h"
#include "control_flow/tape.h"
#include "control_flow/while.h"
#include "control_flow/while_lanes.h"
#include "ops/arg_extreme.h"
#include "ops/broadcast.h"
#include "ops/collectives.h"
#include "ops/concatenate.h"
#include "ops/create.h"
#include "ops/cumulative.h"
#include "ops/dot.h"
#include "ops/dynamic_slice.h"
#include "ops/families.h"
#include "ops/gather.h"
#include "ops/observe.h"
#include "ops/optimization_barrier.h"
#include "ops/pad.h"
#include "ops/permute.h"
#include "ops/reduce.h"
#include "ops/rng_bit_generator.h"
#include "ops/scatter.h"
#include "ops/shard.h"
#include "ops/slice.h"
#include "ops/sort.h"
#include "ops/stop_gradient.h"
#include "ops/threefry.h"

namespace rondo::transforms {

namespace {

// clang-format off
constexpr const ir::OpDef* kOtherOps[] = {
    // ir
    &ir::kConstant, &ir::kParameter,
    // shapes and places
    &ops::kIota, &ops::kBroadcastInDim, &ops::kReshape, &ops::kTranspose, &ops::kReverse,
    &ops::kSlice, &ops::kPad, &ops::kConcatenate, &ops::kDynamicSlice, &ops::kDynamicUpdateSlice,
    &ops::kGather, &ops::kScatter,
    // reductions and order
    &ops::kReduce, &ops::kArgExtreme, &ops::kCumulative, &ops::kSort, &ops::kDotGeneral,
    // random numbers
    &ops::kRngBitGenerator, &ops::kThreefry2x32,
    // identities
    &ops::kOptimizationBarrier, &ops::kStopGradient, &ops::kShard,
    // observers
    &ops::kTap, &ops::kPrint, &ops::kProgress, &ops::kTellLanes,
    // over the lanes of a vmap
    &ops::kAxisReduce, &ops::kAxisIndex,
    // control flow
    &control_flow::kWhile, &control_flow::kConditional, &control_flow::kForiLoop,
    &control_flow::kWhileLanes, &control_flow::kBranchLanes, &control_flow::kLongestLane,
    &control_flow::kTapeWrite, &control_flow::kTapeRead,
    &control_flow::kScan, &control_flow::kCheckpointCall, &control_flow::kCustomJvp,
    &control_flow::kCustomVjp,
};
// clang-format on

}  // namespace

std::span<const ir::OpDef* const> all_ops() {
  static const std::vector<const ir::OpDef*> all = [] {
    std::vector<const ir::OpDef*> records(std::begin(kOtherOps), std::end(kOtherOps));
    for (const auto family :
         {ops::arithmetic_records(), ops::exponential_records(), ops::erf_inv_records(),
          ops::trigonometric_records(), ops::slope_records(), ops::bit_records(),
          ops::complex_records(), ops::comparison_records(), ops::select_records(),
          ops::conversion_records()}) {
      records.insert(records.end(), family.begin(), family.end());
    }
    return records;
  }();
  return all;
}

}  // namespace rondo::transforms
