// Which loops can be interchanged with their lanes: those that make what they carry for one lane
// from what they read for the same lane, however many trips they make.
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
  bool ends_by_lane = false;  // lanes may make different numbers of trips
  bool has_rows = false;      // some value has several elements for a lane
  std::vector<LaneValue> operands;
};

/// Why a loop is not interchanged with its lanes.
struct InterchangeObstacle {
  enum class Kind : std::uint8_t {
    kNone,
    kNode,     // what `node` makes for a lane is not few elements, made of elements of that lane
    kDeep,     // `node` stands too deep in loops and branches
    kUniform,  // most of the work is the same for all lanes
    kLarge,    // the code for the elements of a lane would be too long
    kCarry,    // carry `carry` is not few elements for a lane, on each trip those of the same lane
    kGoesOn,   // while others go on, a lane that is done does not keep what it carries
    kResult,   // a result that is the same for all lanes cannot be had after them
  } kind = Kind::kNone;
  const ir::Node* node = nullptr;
  std::size_t carry = 0;
};

/// Nothing for what is no loop, and for loops that are not interchanged with their lanes. The
/// regions of the node are in ops that executors have, but for loops of this kind.
///
/// - All values are few elements, which are the same for all lanes, or few for each lane and made
///   of elements of the same lane (LaneRules). What comes from outside may be read at other places.
///   Arrays that are updated by parts are written by each lane where it alone reads.
/// - The predicate is the same for all lanes; or is one for each lane (ir::LaneLoop); or says that
///   any lane goes on, and a lane that does not keeps all that it carries: this is shown by writing
///   the body for such a lane, and looking whether what it hands on is what it was given.
/// - One lane is a loop whose arrays are small, in registers, or updated by parts; it needs no
///   lanes around it.
///
/// `used`: what the region around reads; without it, that is all. Of results that are the same for
/// all lanes those must be single elements that can be computed again after the lanes.
///
/// `reorders`: sums of products may be added up in another order than the kernels'.
///
/// `obstacle`: takes, where there is no form, what stood in the way of the one that was nearest.
std::optional<Interchange> interchange(const ir::Node& loop, bool reorders,
                                       const UsedValues* used = nullptr,
                                       InterchangeObstacle* obstacle = nullptr);

/// Whether a loop is a branch that the lanes run which take it.
inline bool stands_for_branch(const ir::Node& loop) {
  return loop.op->construct.lane_loop && loop.op->construct.lane_loop(loop).predicated;
}

/// The loops of a function that are interchanged with their lanes, at any depth; of loops within
/// one another the outermost.
class Interchanges {
 public:
  Interchanges() = default;
  /// `keeps_states`: all that the outermost loops carry is read after some trips.
  Interchanges(const Function& function, bool reorders, bool keeps_states = false);
  const Interchange* of(const ir::Node* loop) const {
    const auto found = forms_.find(loop);
    return found == forms_.end() ? nullptr : &found->second;
  }
  /// All loops but those within loops that are interchanged with their lanes, in the order of the
  /// program, and branches that are loops (stands_for_branch); of one that has no form what stands
  /// in its way.
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
