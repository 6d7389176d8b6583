// Which loops can be interchanged with their lanes (outer-loop vectorization): those that compute
// what they carry for one lane from what they read for the same lane, whatever their trip count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/lane_values.h"
#include "ir/layout.h"
#include "rondo/function.h"

namespace rondo::executor {

using UsedValues = absl::flat_hash_set<ir::ValueKey>;

/// How a loop is interchanged with its lanes.
struct Interchange {
  std::int64_t lanes = 0;
  bool ends_by_lane = false;        // lanes may make different numbers of trips
  bool has_rows = false;            // some value has several elements for a lane
  LaneNest nest = {};               // the lanes are these loops, or one
  std::vector<LaneValue> operands;  // LoopParts::operands
};

/// Why a loop is not interchanged with its lanes.
struct InterchangeObstacle {
  enum class Kind : std::uint8_t {
    kNone,
    kNode,     // the results of `node` for a lane are not few elements, computed from elements of
               // that lane
    kDeep,     // `node` is too deep in loops and branches
    kUniform,  // most of the work is the same for all lanes
    kLarge,    // the code for the elements of a lane would be too long
    kCarry,    // carry `carry` is not few elements for a lane, on each trip those of the same lane
    kGoesOn,   // while other lanes are active, an inactive lane does not keep what it carries
    kResult,   // a result that is the same for all lanes is not available after the lanes
  } kind = Kind::kNone;
  const ir::Node* node = nullptr;
  std::size_t carry = 0;
};

/// Nothing for nodes that are not loops, and for loops that are not interchanged with their lanes.
/// The regions of the node are in executor ops, except for loops of this kind.
///
/// - All values are few elements, which are the same for all lanes, or few for each lane and
///   computed from elements of the same lane (LaneRules). Loop-invariant values may be read at
///   other indices. In an array that is updated by parts, each lane writes elements that no other
///   lane reads.
/// - The predicate is the same for all lanes; or is one for each lane (ir::LaneLoop); or holds
///   while any lane is active, and an inactive lane keeps all that it carries: this is shown by
///   writing the body for such a lane and checking that its results are its parameters.
/// - If arrays are read at other indices along several axes, the lanes are loops over the axes of a
///   carry (LaneNest).
/// - A single lane is a loop whose arrays are small, in registers, or updated by parts; it needs no
///   lanes around it.
///
/// `used`: the results that the enclosing region reads; by default all. Of results that are the
/// same for all lanes, these must be single elements that can be recomputed after the lanes.
///
/// `reorders`: sums of products may be added in an order other than the kernels'.
///
/// `obstacle`: receives, if the loop is not interchanged, the obstacle of the candidate that came
/// farthest.
std::optional<Interchange> interchange(const ir::Node& loop, bool reorders,
                                       const UsedValues* used = nullptr,
                                       InterchangeObstacle* obstacle = nullptr);

/// Whether a loop represents a branch, run by the lanes that take it.
inline bool stands_for_branch(const ir::Node& loop) {
  return loop.op->construct.lane_loop && loop.op->construct.lane_loop(loop).predicated;
}

/// The loops of a function that are interchanged with their lanes, at any depth; of nested ones the
/// outermost.
class Interchanges {
 public:
  Interchanges() = default;
  /// `keeps_states`: everything that the outermost loops carry is read after some trips.
  Interchanges(const Function& function, bool reorders, bool keeps_states = false);
  const Interchange* of(const ir::Node* loop) const {
    const auto found = forms_.find(loop);
    return found == forms_.end() ? nullptr : &found->second;
  }
  /// All loops but those within loops that are interchanged with their lanes, in program order, and
  /// branches represented as loops (stands_for_branch); with the obstacle, if a loop is not
  /// interchanged.
  const std::vector<std::pair<const ir::Node*, InterchangeObstacle>>& loops() const {
    return loops_;
  }
  /// Whether some loop has several lanes.
  bool has_lanes() const {
    return std::any_of(forms_.begin(), forms_.end(),
                       [](const auto& form) { return form.second.lanes > 1; });
  }

 private:
  absl::flat_hash_map<const ir::Node*, Interchange> forms_;
  std::vector<std::pair<const ir::Node*, InterchangeObstacle>> loops_;
};

}  // namespace rondo::executor
