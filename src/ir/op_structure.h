// The part of a record on structure: how the elements of a result depend on those of the operands.
// Executors that write loops use it, and rewrites.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir/op_types.h"

namespace rondo::ir {

struct Node;
struct ElementCall;  // ir/element.h
struct LoopNest;     // ir/loop_nest.h
struct Contraction;  // ir/loop_nest.h
struct IndexRange;   // ir/index_range.h

/// Writes one element of the result from the element of each operand at the same index.
using ElementRule = absl::InlinedVector<std::uint32_t, 2> (*)(const ElementCall&);
/// Which loops compute a node that is not elementwise.
using LoopNestRule = LoopNest (*)(const Node&);
/// The loops of sums of products, whatever their sizes; nothing if there are none.
using ContractionRule = std::optional<Contraction> (*)(const Node&);
/// The indices that an op takes at run time, and their range.
using IndicesRule = std::vector<IndexRange> (*)(const Node&);

/// Without `element` and `loops` an op runs as its kernel.
struct OpStructure {
  ElementRule element = nullptr;
  DTypes element_dtypes = kRealDTypes;  // dtypes of operand 0 that the rule supports
  LoopNestRule loops = nullptr;
  ContractionRule contraction = nullptr;  // for code without kernels, which `loops` leaves some to
  IndicesRule indices = nullptr;  // for every op that clamps indices, or drops updates out of range
  bool elementwise =
      false;  // result element i depends only on element i of the operands, which have one shape
  bool commutative = false;
  bool updates = false;  // its results are its first operands with parts changed, so that it may
                         // write in place
  bool unset = false;    // its elements are written before they are read: no loop has to initialize
                         // them
};

}  // namespace rondo::ir
