// What a record says of how the elements of a result depend on those of the operands: to executors
// that write loops, and to rewrites.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir/op_types.h"

namespace rondo::ir {

struct Node;
struct ElementCall;  // ir/element.h
struct LoopNest;     // ir/loop_nest.h
struct IndexRange;   // ir/index_range.h

/// Writes one element of the result from the same element of each operand.
using ElementRule = absl::InlinedVector<std::uint32_t, 2> (*)(const ElementCall&);
/// Which loops compute a node whose elements are not each made of the same element of the operands.
using LoopNestRule = LoopNest (*)(const Node&);
/// The indices that an op takes when it runs, and what is in range.
using IndicesRule = std::vector<IndexRange> (*)(const Node&);

/// Without `element` and `loops` an op runs by its kernel.
struct OpStructure {
  ElementRule element = nullptr;
  DTypes element_dtypes = kRealDTypes;  // of operand 0, for which the rule is right
  LoopNestRule loops = nullptr;
  IndicesRule indices = nullptr;  // of every op that clamps indices, or drops what they say
  bool elementwise =
      false;  // result element i depends on element i of the operands only; all of one shape
  bool commutative = false;
  bool updates = false;  // its results are its first operands with parts changed, so that it writes
                         // in place where it may
  bool unset = false;    // its elements are written before they are read: no loop has to set them
};

}  // namespace rondo::ir
