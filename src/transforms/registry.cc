#include "transforms/registry.h"

#include "control_flow/branch.h"
#include "control_flow/call.h"
#include "control_flow/fori.h"
#include "control_flow/scan.h"
#include "control_flow/tape.h"
#include "control_flow/while.h"
#include "ops/arg_extreme.h"
#include "ops/broadcast.h"
#include "ops/concatenate.h"
#include "ops/create.h"
#include "ops/cumulative.h"
#include "ops/dot.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "ops/erf_inv.h"
#include "ops/gather.h"
#include "ops/observe.h"
#include "ops/pad.h"
#include "ops/permute.h"
#include "ops/reduce.h"
#include "ops/rng_bit_generator.h"
#include "ops/scatter.h"
#include "ops/slice.h"
#include "ops/slopes.h"
#include "ops/sort.h"
#include "ops/threefry.h"

namespace rondo::transforms {

namespace {

// clang-format off
constexpr const ir::OpDef* kAllOps[] = {
    // ir
    &ir::kConstant, &ir::kParameter,
    // arithmetic
    &ops::kAdd, &ops::kSubtract, &ops::kMultiply, &ops::kDivide, &ops::kRemainder, &ops::kMaximum,
    &ops::kMinimum, &ops::kClamp, &ops::kNegate, &ops::kAbs, &ops::kSign, &ops::kFloor, &ops::kCeil,
    &ops::kRound,
    // powers, exponentials, error functions
    &ops::kExp, &ops::kExpm1, &ops::kLog, &ops::kLog1p, &ops::kSqrt, &ops::kRsqrt, &ops::kCbrt,
    &ops::kLogistic, &ops::kPower, &ops::kErf, &ops::kErfc, &ops::kErfInv,
    // circular and hyperbolic functions
    &ops::kSin, &ops::kCos, &ops::kTan, &ops::kTanh, &ops::kAtan2, &ops::kSinh, &ops::kCosh,
    &ops::kAsin, &ops::kAcos, &ops::kAtan, &ops::kAsinh, &ops::kAcosh, &ops::kAtanh, &ops::kHypot,
    // derivatives of these
    &ops::kMaximumSlope, &ops::kRemainderQuotient, &ops::kPowerBaseSlope, &ops::kPowerExponentSlope,
    &ops::kAtan2Slope, &ops::kHypotSlope,
    // bits
    &ops::kAnd, &ops::kOr, &ops::kXor, &ops::kNot, &ops::kShiftLeft, &ops::kShiftRightLogical,
    &ops::kShiftRightArithmetic, &ops::kPopcount, &ops::kCountLeadingZeros,
    // complex numbers, predicates, choice, dtypes
    &ops::kReal, &ops::kImag, &ops::kComplex, &ops::kCompare, &ops::kIsFinite, &ops::kSelect,
    &ops::kConvert, &ops::kBitcastConvert,
    // shapes and places
    &ops::kIota, &ops::kBroadcastInDim, &ops::kReshape, &ops::kTranspose, &ops::kReverse,
    &ops::kSlice, &ops::kPad, &ops::kConcatenate, &ops::kDynamicSlice, &ops::kDynamicUpdateSlice,
    &ops::kGather, &ops::kScatter,
    // reductions and order
    &ops::kReduce, &ops::kArgExtreme, &ops::kCumulative, &ops::kSort, &ops::kDotGeneral,
    // random numbers
    &ops::kRngBitGenerator, &ops::kThreefry2x32,
    // observers
    &ops::kTap, &ops::kPrint, &ops::kProgress,
    // control flow
    &control_flow::kWhile, &control_flow::kConditional, &control_flow::kForiLoop,
    &control_flow::kTapeWrite, &control_flow::kTapeRead,
    &control_flow::kScan, &control_flow::kCheckpointCall, &control_flow::kCustomJvp,
    &control_flow::kCustomVjp, &control_flow::kOptimizationBarrier, &control_flow::kStopGradient,
};
// clang-format on

}  // namespace

std::span<const ir::OpDef* const> all_ops() { return kAllOps; }

}  // namespace rondo::transforms
