#include "executor/branch_work.h"

#include <algorithm>
#include <cstdint>

#include "executor/element_code.h"
#include "executor/lane_form.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/layout.h"
#include "ir/region_walk.h"

namespace rondo::executor {

namespace {

// In ops of the lower IR. From here on it costs next to nothing, where all lanes take the branch,
// to ask whether any does and to choose by lane what it gives; with half of it, a third more.
constexpr std::int64_t kDear = 96;

bool is_users_loop(const Node& node) {
  return node.op->flow == ir::Flow::kRepeat || (node.op->lane_loop && !stands_for_branch(node));
}

struct RegionWork {
  /// There may be no lane at all.
  explicit RegionWork(std::int64_t of) : lanes(std::max<std::int64_t>(of, 1)) {}
  void open(const Function&, const Node*, std::size_t) {}
  void close(const Function&, const Node*, std::size_t) {}
  void after(const Node&) {}
  void node(const Node& node) {
    loops = loops || is_users_loop(node);
    if (work >= kDear || node.types.empty()) return;
    const std::int64_t elements = node.type().elements() / lanes;  // none of what all share
    switch (form_of(node)) {
      case Form::kElement:
        if (elements > 0) work += elements * element_work(node);
        break;
      case Form::kTerms:
      case Form::kProducts:
      case Form::kKernel:
        for (const Tensor& operand : node.operands)
          work += std::max(elements, operand.type().elements() / lanes);
        break;
      default:
        break;
    }
  }

  std::int64_t lanes, work = 0;
  bool loops = false;
};

}  // namespace

bool is_dear_branch(const Node& loop) {
  RegionWork region(loop.op->lane_loop(loop).lanes);
  ir::walk_nested(loop.regions[1], region);
  return region.loops || region.work >= kDear;
}

bool has_loops(const Function& region) {
  RegionWork inside(1);
  ir::walk_nested(region, inside);
  return inside.loops;
}

}  // namespace rondo::executor
