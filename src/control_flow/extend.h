// Constructs with more leaves: further carries (tangents, cotangents, a trip number), further
// arguments of a call, further xs and ys, or other types (values with a batch axis). Forward mode,
// reverse mode and batching each extend a construct, with their own body.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "control_flow/region_trace.h"
#include "ir/layout.h"

namespace rondo::control_flow {

/// The additional leaves: initial values of carries, xs (along the construct's axis), arguments,
/// and the names of all.
struct Extension {
  Leaves carries;
  Leaves xs;
  Leaves arguments = {};  // of a call, which has no carry
};

/// What a region of the extended construct gets.
struct ExtendedParameters {
  std::size_t region;
  /// The parameters of the original region: index or arguments, carry, slices of xs; then the
  /// invariants, which are the operands themselves.
  std::vector<Tensor> own;
  std::vector<Tensor> carries;         // the additional ones
  std::vector<Tensor> xs;              // slices of the additional ones
  std::vector<Tensor> arguments = {};  // the additional ones
};

/// What a body returns, and what the construct returns: the original leaves and the additional
/// ones.
struct ExtendedResults {
  std::vector<Tensor> own;      // carry, ys
  std::vector<Tensor> carries;  // the additional ones
  std::vector<Tensor> ys;
};

/// Traced once for each body. May use any outer tensor, which becomes an invariant.
using ExtendedBody = std::function<ExtendedResults(const ExtendedParameters&)>;
using ExtendedCondition = std::function<Tensor(const ExtendedParameters&)>;

/// The construct of `layout` (a loop, a branch or a call of one region) on `operands`, which
/// replace those of its node and may have other types. The body has the same index, and a carry, xs
/// and ys of more leaves. Name, trip count, promise, policy and all other attributes stay as in the
/// layout. A null condition means the condition of the node, on its own carry.
ExtendedResults extend(const ir::RegionLayout& layout, std::span<const Tensor> operands,
                       const Extension& more, const ExtendedBody& body,
                       const ExtendedCondition& condition = nullptr);

}  // namespace rondo::control_flow
