// A construct with more in it: a carry widened by further leaves (tangents, cotangents, a count of
// trips), further arguments of a call, further xs and ys, other types of what is there (values with
// a batch axis). What forward mode, reverse mode and batching do to a construct is this, with a
// body of their own.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "control_flow/region_trace.h"
#include "ir/layout.h"

namespace rondo::control_flow {

/// What comes on top: what the additional carries begin with, the additional xs (along the
/// construct's axis) and arguments, and the names of all.
struct Extension {
  Leaves carries;
  Leaves xs;
  Leaves arguments = {};  // of a call, which has no carry
};

/// What a region of the extended construct sees.
struct ExtendedParameters {
  std::size_t region;
  /// For the parameters that the region had: index or arguments, carry, slices of xs; and the
  /// invariants, which are the operands themselves.
  std::vector<Tensor> own;
  std::vector<Tensor> carries;         // the additional ones
  std::vector<Tensor> xs;              // slices of the additional ones
  std::vector<Tensor> arguments = {};  // the additional ones
};

/// What a body gives, and what the construct gives: as before, and on top of that.
struct ExtendedResults {
  std::vector<Tensor> own;      // carry, ys
  std::vector<Tensor> carries;  // the additional ones
  std::vector<Tensor> ys;
};

/// Traced once for each body. May use any tensor from outside, which becomes an invariant.
using ExtendedBody = std::function<ExtendedResults(const ExtendedParameters&)>;
using ExtendedCondition = std::function<Tensor(const ExtendedParameters&)>;

/// The construct of `layout` (a loop, a branch or a call of one region) on `operands`, which stand
/// for those of its node and may have other types: a body with the same index, and a carry, xs and
/// ys of more leaves. Name, trip count, promise, policy and all other attributes stay, as the
/// layout says them. A null condition is that of the node, on its own carry.
ExtendedResults extend(const ir::RegionLayout& layout, std::span<const Tensor> operands,
                       const Extension& more, const ExtendedBody& body,
                       const ExtendedCondition& condition = nullptr);

}  // namespace rondo::control_flow
