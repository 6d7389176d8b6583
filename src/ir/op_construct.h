// The part of a record on constructs: loops, branches and calls, which run regions. The structs are
// in ir/layout.h.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/op_execution.h"

namespace rondo::ir {

struct Node;
class Attributes;
struct Induction;
struct RegionLayout;
struct LaneLoop;
struct LoopOverSlices;

/// The roles of a construct's operands, region parameters and results.
using LayoutRule = RegionLayout (*)(const Node&);
/// The attributes of a node with this layout: counts of carries and xs, axis, name, trip count,
/// promised trip count, as far as the construct has them.
using RelayoutRule = Attributes (*)(const Node&, const RegionLayout&);
/// The induction variable of a counted loop.
using InductionRule = std::optional<Induction> (*)(const Node&);
/// The facts that an executor needs to interchange a loop with its lanes.
using LaneLoopRule = LaneLoop (*)(const Node&);
/// A loop of known length that computes an index for each trip, as a loop that reads it from an
/// array.
using OverSlicesRule = LoopOverSlices (*)(const Node&);

/// The control flow that executors and texts implement. Constructs without any expand to constructs
/// that have it.
enum class Flow : std::uint8_t {
  kNone,
  /// Region 0 gives one pred[], region 1 the next carry, both from all operands, of which the carry
  /// comes first. As long as the pred is true, the carry becomes the next one.
  kRepeat,
  /// Operands 0 and 1, scalars of one integer dtype, are the first index and the limit, followed by
  /// the carry. Region 0 gives the next carry from the index, the carry and the invariants, for
  /// each index below the limit (above it for a negative step, see `induction`).
  kCount,
  /// Operand 0, a pred[] (true: region 0) or an s32[] in range, selects the region that runs on the
  /// other operands.
  kSelect,
  /// Region 0 runs on the operands. It is one function for all nodes that call it: texts name it,
  /// and executors compile it once.
  kCall,
};

struct OpConstruct {
  Flow flow = Flow::kNone;
  LayoutRule layout = nullptr;           // for every construct but one of flow kCall
  RelayoutRule relayout = nullptr;       // likewise: passes leave the signature of a callee alone
  InductionRule induction = nullptr;     // for loops that may be counted
  ExpandRule counted = nullptr;          // as a loop of flow kCount, if it counts (ir::counts)
  LaneLoopRule lane_loop = nullptr;      // for a loop whose lanes stop one by one
  OverSlicesRule over_slices = nullptr;  // for counted loops without xs
};

}  // namespace rondo::ir
