// What a record says to executors that write loops, and to whatever asks how the elements of a
// result depend on those of the operands. The structs are in ir/element.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir/op_types.h"

namespace rondo::ir {

struct Node;
struct ElementCall;
struct AxisRead;
struct IndexRange;
struct InsertionMap;
struct ElementGather;
struct ElementProducts;
struct ElementReduction;
struct ElementRunning;
struct TapeAccess;

/// Writes one element of the result from the same element of each operand.
using ElementRule = absl::InlinedVector<std::uint32_t, 2> (*)(const ElementCall&);
/// Where an element of the result is in operand 0.
using ReadRule = absl::InlinedVector<AxisRead, 4> (*)(const Node&);
/// Which parts of the result the operands give.
using WriteRule = InsertionMap (*)(const Node&);
/// Of an op on an array whose number of rows is known to the run only.
using TapeRule = TapeAccess (*)(const Node&);
/// How loops reduce operand 0; none where only the kernel can.
using ReductionRule = std::optional<ElementReduction> (*)(const Node&);
/// How loops make running totals of operand 0; none where only the kernel can.
using PrefixScanRule = std::optional<ElementRunning> (*)(const Node&);
/// Where elements are that an array of indices names; none where only the kernel knows.
using GatherRule = std::optional<ElementGather> (*)(const Node&);
/// The indices that an op takes when it runs, and what is in range (ir/element.h).
using IndicesRule = std::vector<IndexRange> (*)(const Node&);
/// Of a reduction by region 0, of scalars: the axes that vanish. The region makes the next totals
/// of the totals so far and an element of each operand, in row-major order; the last operands are
/// the first totals.
using CustomReductionRule = std::vector<std::int64_t> (*)(const Node&);
/// None where the sums are added up in another order than that of the terms.
using ContractionRule = std::optional<ElementProducts> (*)(const Node&);
/// Of an op that gives operand 0 with a part replaced by operand 1: that part of operand 0. The op
/// with it in the place of operand 1 undoes what the node did, to the bit.
using OverwrittenRule = Tensor (*)(const Node&);

/// Without any of the rules an op runs by its kernel.
struct OpStructure {
  ElementRule element = nullptr;
  DTypes element_dtypes = kRealDTypes;  // of operand 0, for which the rule is right
  ReadRule read = nullptr;
  GatherRule gather = nullptr;
  /// The same of an op that combines elements of operand 2 by region 0 with those of operand 0
  /// where operand 1 says, update by update: operand 2 stands for the result. Updates that do not
  /// fit are left out.
  GatherRule scatter = nullptr;
  IndicesRule indices = nullptr;  // of every op that clamps indices, or drops what they say
  WriteRule write = nullptr;
  OverwrittenRule overwritten = nullptr;
  ReductionRule reduction = nullptr;
  PrefixScanRule prefix_scan = nullptr;
  CustomReductionRule custom_reduction = nullptr;  // where `reduction` gives none
  ContractionRule contraction = nullptr;
  bool same_bytes = false;  // the result is operand 0 byte by byte, of another type
  TapeRule tape = nullptr;  // operand 0 may have more elements than its type says
  bool elementwise =
      false;  // result element i depends on element i of the operands only; all of one shape
  bool commutative = false;
  bool updates = false;  // its results are its first operands with parts changed, so that it writes
                         // in place where it may
  bool unset = false;    // its elements are written before they are read: no loop has to set them
};

}  // namespace rondo::ir
