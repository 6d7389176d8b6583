// Whether a loop fits lanes of a given number, where its operands are what somebody tries.
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

/// One try to have a loop in lanes: how far it came, and what ended it.
struct Candidate {
  std::size_t nodes = 0;  // that fit
  InterchangeObstacle obstacle;

  /// What is found first, in the innermost loop, is the reason.
  std::nullopt_t end(InterchangeObstacle found) {
    if (obstacle.kind == InterchangeObstacle::Kind::kNone) obstacle = found;
    return std::nullopt;
  }
};

UsedValues used_values(const Function& region);

/// The form of a loop, at some depth in loops and branches, with these operands.
std::optional<Interchange> form_in_lanes(const ir::Node& loop, std::vector<LaneValue> operands,
                                         const LaneRules& rules, int depth, Candidate& candidate);

}  // namespace rondo::executor
