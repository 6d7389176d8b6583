#include "ops/families.h"

#include "ops/arg_extreme.h"
#include "ops/batch_norm.h"
#include "ops/broadcast.h"
#include "ops/collectives.h"
#include "ops/concatenate.h"
#include "ops/convolution.h"
#include "ops/create.h"
#include "ops/cumulative.h"
#include "ops/custom_call.h"
#include "ops/dot.h"
#include "ops/dynamic_slice.h"
#include "ops/fft.h"
#include "ops/gather.h"
#include "ops/linalg/linalg.h"
#include "ops/observe.h"
#include "ops/optimization_barrier.h"
#include "ops/pad.h"
#include "ops/permute.h"
#include "ops/reduce.h"
#include "ops/reduce_window.h"
#include "ops/rng_bit_generator.h"
#include "ops/scatter.h"
#include "ops/shard.h"
#include "ops/slice.h"
#include "ops/sort.h"
#include "ops/stop_gradient.h"
#include "ops/threefry.h"
#include "ops/top_k.h"

namespace rondo::ops {

namespace {

// clang-format off
constexpr const ir::OpDef* kArrayRecords[] = {
    // shapes and positions
    &kIota, &kUnset, &kBroadcastInDim, &kReshape, &kTranspose, &kReverse, &kSlice, &kPad,
    &kConcatenate,
    &kDynamicSlice, &kDynamicUpdateSlice, &kGather, &kScatter,
    // reductions and order
    &kReduce, &kArgExtreme, &kCumulative, &kSort, &kTopK, &kDotGeneral,
    // windows
    &kReduceWindow, &kSelectAndScatter, &kConvolution,
    // normalized batches
    &kBatchNormTraining, &kBatchNormInference, &kBatchNormGrad,
    // spectra
    &kFft,
    // linear algebra
    &kCholesky, &kTriangularSolve, &kLu, &kQr, &kEigh, &kSvd,
    // random numbers
    &kRngBitGenerator, &kThreefry2x32,
    // identities
    &kOptimizationBarrier, &kStopGradient, &kShard,
    // observers
    &kTap, &kPrint, &kProgress, &kTellLanes,
    // C++ functions
    &kCustomCall,
    // over the lanes of an enclosing vmap
    &kAxisReduce, &kAxisGather, &kAxisIndex,
};
// clang-format on

}  // namespace

std::vector<std::span<const ir::OpDef* const>> record_families() {
  return {kArrayRecords,        arithmetic_records(),    exponential_records(),
          erf_inv_records(),    trigonometric_records(), special_records(),
          incomplete_records(), bit_records(),           complex_records(),
          comparison_records(), select_records(),        conversion_records(),
          contracted_records()};
}

}  // namespace rondo::ops
