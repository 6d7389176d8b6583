#include "executor/branch_work.h"

#include <algorithm>
#include <cstdint>

#include "executor/element_code.h"
#include "executor/interchange.h"
#include "executor/lane_region.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/layout.h"
#include "ir/region_walk.h"

namespace rondo::executor {

namespace {

// Threshold: Ops of a branch from which skipping it for blocks of lanes pays: with this many, the
// test costs almost nothing if all lanes take it; with half, a third more. Set by a measurement
// that is not in bench/.
constexpr std::int64_t kExpensive = 96;

/// Whether it is expanded to executor ops already.
bool is_users_loop(const Node& node) {
  if (node.op->construct.lane_loop) return !stands_for_branch(node);
  const auto layout = ir::region_layout(&node);
  return layout && layout->is_loop();
}

}  // namespace

/// Visits the regions that have no entry yet.
template <class Entry, class Add>
struct BranchWork::Visitor : ir::FunctionVisitor {
  struct Place : ir::BodyPlace {
    using BodyPlace::BodyPlace;
    Entry entry = {};
  };

  Visitor(BranchWork& of, Entries<Entry>& known, const Add& adding)
      : work(of), entries(known), add(adding) {}
  std::optional<Place> enter(const Function& region, const Node*, std::size_t) {
    if (entries.contains(region.identity())) return std::nullopt;
    return Place(region);
  }
  void before(Place&, const Node&) {}
  void after(Place& place, const Node& node) { add(place.entry, node); }
  void leave(Place& place) {
    work.kept_.push_back(place.function());
    entries.emplace(place.function().identity(), place.entry);
  }

  BranchWork& work;
  Entries<Entry>& entries;
  const Add& add;
};

BranchWork::Work BranchWork::work_of(const Function& region, std::int64_t lanes) {
  Entries<Work>& known = work_[lanes];
  const auto add = [&](Work& work, const Node& node) {
    work.loops = work.loops || is_users_loop(node);
    for (const Function& inside : node.regions) {
      const Work& of = known.at(inside.identity());
      work.loops = work.loops || of.loops;
      work.ops = std::min(kExpensive, work.ops + of.ops);
    }
    if (work.ops >= kExpensive || node.types.empty()) return;
    if (!node.regions.empty() && !node.op->runs()) return;
    // The number of lanes may be zero.
    const std::int64_t of_lane = std::max<std::int64_t>(lanes, 1);
    const std::int64_t elements = node.type().elements() / of_lane;  // excludes uniform work
    std::int64_t ops = 0;
    switch (strategy_of(node)) {
      case Strategy::kElement:
        if (elements > 0) ops = elements * element_work(node);
        break;
      case Strategy::kUnrolledContraction:
      case Strategy::kContraction:
      case Strategy::kKernel:
        for (const Tensor& operand : node.operands)
          ops += std::max(elements, operand.type().elements() / of_lane);
        break;
      default:
        break;
    }
    work.ops = std::min(kExpensive, work.ops + ops);
  };
  Visitor<Work, decltype(add)> visitor(*this, known, add);
  ir::walk_regions(region, visitor);
  return known.at(region.identity());
}

bool BranchWork::is_expensive(const Function& branch, std::int64_t lanes) {
  const Work& work = work_of(branch, lanes);
  return work.loops || work.ops >= kExpensive;
}

bool BranchWork::is_expensive(const Node& loop) {
  return is_expensive(loop.regions[1], loop.op->construct.lane_loop(loop).lanes);
}

int BranchWork::levels_in(const Function& region, std::int64_t lanes) {
  Entries<Levels>& known = levels_[lanes];
  const auto add = [&](Levels& levels, const Node& node) {
    for (const Function& inside : node.regions) {
      const int below = known.at(inside.identity()).count;
      const bool may_be_loop = node.op->expansion.inlines_regions && node.op->expansion.in_lanes;
      int count = below;
      if (node.op->construct.flow == ir::Flow::kSelect)
        count = below + 1;
      else if (is_users_loop(node) ||
               ((node.op->construct.lane_loop || may_be_loop) && is_expensive(inside, lanes)))
        count = std::max(below, 0) + 1;
      levels.count = std::max(levels.count, count);
    }
  };
  Visitor<Levels, decltype(add)> visitor(*this, known, add);
  ir::walk_regions(region, visitor);
  return known.at(region.identity()).count;
}

bool BranchWork::is_too_deep(const Node& loop) {
  const std::int64_t lanes = loop.op->construct.lane_loop(loop).lanes;
  const auto is_deep = [&](const Function& region) {
    return levels_in(region, lanes) >= kMostDepth;
  };
  return std::any_of(loop.regions.begin(), loop.regions.end(), is_deep);
}

}  // namespace rondo::executor
