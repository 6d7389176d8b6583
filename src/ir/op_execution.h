// The part of a record on execution: an op's kernel, and its expansion to simpler ops.
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
/// Evaluates an op on literals whose values have a size other than that of their types
/// (ir/kernel.h).
using KernelRule = void (*)(KernelCall&);
/// The op in terms of simpler ones, as Tensor code on the given operands; one tensor per result.
using ExpandRule = std::vector<Tensor> (*)(const Node&, std::span<const Tensor> operands);

/// Null for ops that executors lower to jumps, or expand.
struct OpKernel {
  PrepareRule prepare = nullptr;
  KernelRule on_literals = nullptr;
};

/// Properties of the code that an executor's loops compile to.
struct LoopCode {
  bool calls_kernels = true;         // else all ops are loops, in the end: C source
  bool is_native = false;            // machine code, in which a select costs less than a call
  bool has_strided_vectors = false;  // vectors of elements that are not adjacent in memory
};

struct OpExpansion {
  ExpandRule rule = nullptr;
  ExpandRule in_lanes = nullptr;  // the same for executors that have loops over lanes
  /// The same if an inactive lane must have no visible effect: it computes on the values of an
  /// active one.
  ExpandRule in_safe_lanes = nullptr;
  /// The same for code without kernels, in loops: its length does not grow with the sizes.
  ExpandRule in_loops = nullptr;
  /// `rule` and `in_lanes` copy the nodes of the regions unchanged, so that these may be expanded
  /// afterwards: each is copied once, however deeply it is nested.
  bool inlines_regions = false;
  /// Which nodes executors with loops over lanes expand although there is a kernel: a call is
  /// expensive compared with the work on few elements, and loops do the same.
  bool (*is_preferred)(const Node&, const LoopCode&) = nullptr;
};

}  // namespace rondo::ir
