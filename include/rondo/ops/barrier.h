// A barrier to optimization.
#pragma once

#include "rondo/detail/barrier.h"
#include "rondo/detail/leaves.h"
#include "rondo/error.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// The same values behind a barrier that no rewrite crosses: what is computed from them is neither
/// merged with the same computation before it, nor simplified together with what made them. So a
/// cheap value is computed again where it is used, in place of being kept. Derivatives and lanes
/// pass through; HLO and StableHLO have it as an op. Throws TraceError for an empty Tensor.
template <class Tree>
[[nodiscard(
    "rondo: optimization_barrier returns the values behind the barrier; use them")]] traced_t<Tree>
optimization_barrier(const Tree& tree, SourceLocation at = SourceLocation::current()) {
  return detail::whole_tree_from(tree,
                                 detail::optimization_barrier(detail::leaf_tensors(tree, at), at));
}

}  // namespace rondo
