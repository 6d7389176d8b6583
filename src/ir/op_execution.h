// What a record says of how an op runs: its kernel, and the simpler ops that it expands to.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rondo/tensor.h"

namespace rondo::ir {

struct Node;
class Kernel;
class KernelCall;

/// Makes the kernel of a node (ir/kernel.h).
using PrepareRule = std::unique_ptr<Kernel> (*)(const Node&);
/// Evaluates an op on literals whose values have another size than their types say (ir/kernel.h).
using KernelRule = void (*)(KernelCall&);
/// Says the op in simpler ones, as Tensor code on the given operands; one tensor per result.
using ExpandRule = std::vector<Tensor> (*)(const Node&, std::span<const Tensor> operands);

/// Null for what executors lower to jumps, or expand.
struct OpKernel {
  PrepareRule prepare = nullptr;
  KernelRule on_literals = nullptr;
};

/// What the loops that an executor writes are compiled to.
struct LoopCode {
  bool is_native = false;            // machine code, in which a selection takes less than a call
  bool has_strided_vectors = false;  // of elements that are not adjacent in memory
};

struct OpExpansion {
  ExpandRule rule = nullptr;
  ExpandRule in_lanes = nullptr;  // the same for executors that have loops over lanes
  /// The same where a lane that takes no part must not be seen to run: it computes on the values of
  /// one that does.
  ExpandRule in_safe_lanes = nullptr;
  /// `rule` and `in_lanes` copy the nodes of the regions as they are, so that these may be expanded
  /// after that: each is copied once, however many levels are around it.
  bool inlines_regions = false;
  /// Which nodes executors with loops over lanes rather expand although there is a kernel: a call
  /// costs much beside the work of few elements, and loops do the same.
  bool (*is_preferred)(const Node&, const LoopCode&) = nullptr;
};

}  // namespace rondo::ir
