// Whether a loop can be interchanged with a given number of lanes, for candidate layouts of its
// operands.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "executor/interchange.h"
#include "executor/lane_values.h"
#include "rondo/function.h"

namespace rondo::executor {

/// Threshold: Depth of loops and branches inside an interchanged loop: compile time and registers
/// against vectorizing deep nests. Not measured.
inline constexpr int kMostDepth = 8;

/// One attempt to interchange a loop with its lanes: how far it came, and what ended it.
struct Candidate {
  std::size_t nodes = 0;  // that fit
  InterchangeObstacle obstacle;

  /// The first obstacle found, in the innermost loop, is the one reported.
  std::nullopt_t end(InterchangeObstacle found) {
    if (obstacle.kind == InterchangeObstacle::Kind::kNone) obstacle = found;
    return std::nullopt;
  }
};

UsedValues used_values(const Function& region);

/// How the loop, at some depth in loops and branches, is interchanged with its lanes for these
/// operands.
std::optional<Interchange> form_in_lanes(const ir::Node& loop, std::vector<LaneValue> operands,
                                         const LaneRules& rules, int depth, Candidate& candidate);

}  // namespace rondo::executor
