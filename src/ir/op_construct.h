// What a record says of a loop, a branch or a call: of an op that runs its regions. The structs are
// in ir/layout.h.
#pragma once

#include <cstdint>
#include <optional>

namespace rondo::ir {

struct Node;
class Attributes;
struct Induction;
struct RegionLayout;
struct LaneLoop;
struct LoopOverSlices;

/// What the operands, region parameters and results of a construct mean.
using LayoutRule = RegionLayout (*)(const Node&);
/// The attributes of the node with what the layout says: counts of carries and xs, axis, name, trip
/// count, promise, as far as the construct keeps them.
using RelayoutRule = Attributes (*)(const Node&, const RegionLayout&);
/// How a loop counts, where it does.
using InductionRule = std::optional<Induction> (*)(const Node&);
/// What an executor needs to interchange a loop over lanes with them.
using LaneLoopRule = LaneLoop (*)(const Node&);
/// A loop of known length that makes an index for each trip, as one that reads it from an array.
using OverSlicesRule = LoopOverSlices (*)(const Node&);

/// The control flow that executors and texts have themselves. Constructs without any expand to
/// those that have it.
enum class Flow : std::uint8_t {
  kNone,
  /// Region 0 gives one pred[], region 1 the next carry, both from all operands, of which the carry
  /// comes first. As long as the pred is true, the carry becomes the next one.
  kRepeat,
  /// Operand 0, a pred[] (true: region 0) or an s32[] in range, selects the region that runs on the
  /// other operands.
  kSelect,
};

struct OpConstruct {
  Flow flow = Flow::kNone;
  LayoutRule layout = nullptr;           // of every construct
  RelayoutRule relayout = nullptr;       // of every construct
  InductionRule induction = nullptr;     // of loops that may count their trips
  LaneLoopRule lane_loop = nullptr;      // of a loop whose lanes stop one by one
  OverSlicesRule over_slices = nullptr;  // of counted loops without xs
};

}  // namespace rondo::ir
