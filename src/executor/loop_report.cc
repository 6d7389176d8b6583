#include "executor/loop_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "executor/interchange.h"
#include "executor/loop_parts.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "executor/terms.h"
#include "ir/layout.h"

namespace rondo::executor {

namespace {

using Obstacle = InterchangeObstacle::Kind;

/// The obstacle, and the remedy.
struct Reason {
  std::string why, remedy;
};

std::string name_of(const Node& node) {
  return fmt::format("{} at {}", node.op->name, node.location().str());
}

Reason reason_of_node(const Node& node, bool reorders) {
  if (node.op->observer)
    return {fmt::format("{} shows whole arrays, trip by trip", name_of(node)),
            "Show what the loop gives, or take it out when the loop is to be fast."};
  if (!reorders && few_terms(node, true) && !few_terms(node))
    return {fmt::format("{} is added up in the order of its whole arrays", name_of(node)),
            "Compile without {.contract = false}."};
  switch (strategy_of(node)) {
    case Strategy::kReduction:
    case Strategy::kCustomReduction:
      return {fmt::format("{} combines elements of several lanes, or more than {} of one",
                          name_of(node), kMostTerms),
              "Keep it before or after the loop, or combine rows of fewer elements."};
    case Strategy::kUnrolledContraction:
    case Strategy::kContraction:
    case Strategy::kPrefixScan:
    case Strategy::kKernel:
      return {fmt::format("{} works on whole arrays", name_of(node)),
              "Keep it before or after the loop where it does not depend on the carry."};
    case Strategy::kLoop:
    case Strategy::kLaneLoop:
    case Strategy::kBranch:
      return {fmt::format("{} does not go the same way, with results of one kind, in each lane",
                          name_of(node)),
              "Give it results that are elements of the lane on all ways."};
    default:
      return {fmt::format("{} reads elements of other lanes, or gives a lane more than {}",
                          name_of(node), kMostLaneElements),
              "Write the loop for one lane and batch it with vmap, or keep this outside."};
  }
}

Reason reason_of(const Node& loop, const InterchangeObstacle& obstacle, bool reorders) {
  switch (obstacle.kind) {
    case Obstacle::kNode:
      return reason_of_node(*obstacle.node, reorders);
    case Obstacle::kDeep:
      return {fmt::format("{} is nested too deep in loops and branches", name_of(*obstacle.node)),
              ""};
    case Obstacle::kUniform:
      return {"most of what it computes is the same for all lanes", ""};
    case Obstacle::kLarge:
      return {"the code for the elements of a lane would be too long", ""};
    case Obstacle::kCarry: {
      const Node& carrying = *obstacle.node;
      const LoopParts parts(carrying);
      return {
          fmt::format("the carry '{}', {}, is not the same few elements of a lane on each trip",
                      parts.body.param_names()[parts.before + obstacle.carry],
                      carrying.types[obstacle.carry].str()),
          fmt::format("Carry at most {} elements for a lane; write a history by update(history, "
                      "i, row).",
                      kMostLaneElements)};
    }
    case Obstacle::kGoesOn:
      return {"a lane that wants to stop while others go on does not keep all that is carried",
              "Carry where(goes_on, next, now), or write the loop for one lane and batch it with "
              "vmap."};
    case Obstacle::kResult:
      return {fmt::format("{} gives what is the same for all lanes and cannot be computed after "
                          "them",
                          name_of(*obstacle.node)),
              "Compute that in a loop of its own."};
    case Obstacle::kNone:
      break;
  }
  return {fmt::format("{} has nothing that could be its lanes", name_of(loop)), ""};
}

std::string_view user_name(const Node& loop) {
  return loop.op->construct.lane_loop ? std::string_view(loop.op->construct.lane_loop(loop).name)
                                      : ir::region_layout(&loop)->name;
}

bool has_trips_in_lanes(const lower::Program& program, const Node& loop) {
  return std::any_of(program.loops.begin(), program.loops.end(), [&](const lower::LoopInfo& info) {
    return info.trips_in_lanes && info.name == user_name(loop) &&
           info.at.str() == loop.location().str();
  });
}

}  // namespace

std::string loop_report(const Function& function, const lower::Program& program, bool reorders) {
  const Interchanges forms(function, reorders);
  std::string text;
  for (const auto& [loop, obstacle] : forms.loops()) {
    if (stands_for_branch(*loop)) {
      text +=
          fmt::format("  {} at {}: blocks of lanes of which none takes the branch leave it out\n",
                      user_name(*loop), loop->location().str());
      continue;
    }
    const std::string_view name = user_name(*loop);
    text += fmt::format("  loop {}at {}: ", name.empty() ? "" : fmt::format("'{}' ", name),
                        loop->location().str());
    const Interchange* form = forms.of(loop);
    if (form && form->lanes == 1) {
      text += "keeps its small arrays in registers\n";
    } else if (form && !form->nest.empty()) {
      const LaneNest& nest = form->nest;
      text += fmt::format("vectorized, {} lanes{}", fmt::join(nest.shape.dims(), " x "),
                          nest.rows > 1 ? fmt::format(", {} rows at a time\n", nest.rows) : "\n");
    } else if (form) {
      text += fmt::format("vectorized, {} lanes{}\n", form->lanes,
                          form->ends_by_lane ? " that stop at different trips" : "");
    } else if (has_trips_in_lanes(program, *loop)) {
      text += "vectorized over its trips\n";
    } else if (std::all_of(loop->types.begin(), loop->types.end(), is_scalar)) {
      text += "carries single elements, in registers\n";
    } else {
      const Reason reason = reason_of(*loop, obstacle, reorders);
      text += fmt::format("goes trip by trip through its arrays: {}\n", reason.why);
      if (!reason.remedy.empty()) text += fmt::format("    {}\n", reason.remedy);
    }
  }
  return text;
}

}  // namespace rondo::executor
