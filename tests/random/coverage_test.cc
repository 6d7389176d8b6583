// The random programs with dangers contain the dangers: the forms that executors are most likely to
// get wrong are counted here.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/buffered_updates.h"
#include "executor/compiled.h"
#include "executor/for_loops.h"
#include "executor/interchange.h"
#include "executor/loop_parts.h"
#include "ir/layout.h"
#include "ir/region_walk.h"
#include "passes/expand.h"
#include "rondo/execute.h"
#include "run/executable.h"
#include "support/program_check.h"

namespace rondo::testing {
namespace {

/// Over all programs that were inspected.
struct Seen {
  std::map<std::string_view, int> counts;  // of loops, by the danger
  std::set<std::pair<DType, DType>> conversions;
  std::set<std::int64_t> lengths;  // of arrays of one axis
  std::set<std::int64_t> lanes;    // of loops that are interchanged with their lanes

  void count(std::string_view danger, bool is_there) { counts[danger] += is_there; }
};

struct EachNode {
  absl::FunctionRef<void(const ir::Node&)> look;

  void open(const Function&, const ir::Node*, std::size_t) {}
  void close(const Function&, const ir::Node*, std::size_t) {}
  void after(const ir::Node&) {}
  void node(const ir::Node& node) { look(node); }
};

void for_each_node(const Function& function, absl::FunctionRef<void(const ir::Node&)> look) {
  EachNode visitor{look};
  ir::walk_nested(function, visitor);
}

bool same(const Tensor& a, const Tensor& b) { return ir::ValueKey(a) == ir::ValueKey(b); }

void look_at_carries(Seen& seen, const ir::RegionLayout& loop) {
  const Function& body = loop.node->regions[loop.body()];
  const auto& params = body.parameters();
  const auto& results = body.outputs();
  bool swaps = false, begins = false, becomes = false;
  for (std::size_t i = 0; i < loop.carries; i++) {
    for (std::size_t j = i + 1; j < loop.carries; j++) {
      swaps |= same(results[i], params[loop.index + j]) && same(results[j], params[loop.index + i]);
      begins |= same(loop.node->operand(loop.fixed + i), loop.node->operand(loop.fixed + j));
      becomes |= same(results[i], results[j]);
    }
  }
  seen.count("two carries change places in a trip", swaps);
  seen.count("two carries begin as the same value", begins);
  seen.count("two carries are the same value after a trip", becomes);
  for (std::size_t i = 0; i < loop.carries; i++) {
    bool reads = false, writes = false;
    for (const ir::Node* node : body.body()) {
      if (node->operands.empty() || !same(node->operand(0), params[loop.index + i])) continue;
      reads |= node->op->name == "dynamic_slice" || node->op->name == "slice";
      writes |= node->op->name == "dynamic_update_slice";
    }
    seen.count("a carry is written in part and read as a slice", reads && writes);
  }
}

void look_at(Seen& seen, const ir::Node& node) {
  for (const TensorType& type : node.types) {
    if (type.rank() == 1) seen.lengths.insert(type.shape[0]);
  }
  if (node.op->name == "convert")
    seen.conversions.emplace(node.operand_type(0).dtype, node.type().dtype);
  const auto is_empty = [](const Tensor& operand) { return operand.type().elements() == 0; };
  seen.count("updates of no elements",
             node.op->name == "dynamic_update_slice" && is_empty(node.operand(1)));
  seen.count("parts without elements beside others",
             node.op->name == "concatenate" && !is_empty(Tensor::of(&node)) &&
                 std::any_of(node.operands.begin(), node.operands.end(), is_empty));
  seen.count("scatters of no updates", node.op->name == "scatter" && is_empty(node.operand(2)));
  const auto loop = ir::region_layout(&node);
  if (loop && loop->is_loop()) look_at_carries(seen, *loop);
}

/// How the loops of a program are vectorized.
void look_at_lanes(Seen& seen, const Function& optimized) {
  const std::optional<Function> for_loops = executor::for_loops(optimized);
  const Function function =
      for_loops ? *for_loops : passes::expand(optimized, passes::Target::kInterpreter);
  const executor::Interchanges forms(function, true);
  for_each_node(function, [&](const ir::Node& loop) {
    const executor::Interchange* form = forms.of(&loop);
    const ir::Flow flow = loop.op->construct.flow;
    if (!form && (flow == ir::Flow::kRepeat || flow == ir::Flow::kCount)) {
      const auto updates = executor::first_buffered_updates(loop);
      seen.count("updates that are written to a second buffer",
                 std::any_of(updates.begin(), updates.end(), [](auto update) { return update; }));
    }
    if (!form) return;
    bool has_loops = false, has_branches = false, reduces = false, is_empty = false;
    for_each_node(executor::LoopParts(loop).body, [&](const ir::Node& inner) {
      const auto layout = ir::region_layout(&inner);
      has_loops |= layout && layout->is_loop();
      has_branches |= layout && layout->is_branch();
      reduces |= inner.op->name == "reduce";
      is_empty |=
          inner.op->name == "dynamic_update_slice" && inner.operand(1).type().elements() == 0;
    });
    const bool has_history = std::any_of(
        form->operands.begin(), form->operands.end(),
        [](const auto& operand) { return operand.kind == executor::LaneValue::Kind::kCarried; });
    const bool runs_while_any = form->ends_by_lane && !loop.op->construct.lane_loop;
    seen.lanes.insert(form->lanes);
    seen.count("lanes that all make the same trips", !form->ends_by_lane);
    seen.count("lanes that stop one by one", form->ends_by_lane);
    seen.count("lanes that run while any does", runs_while_any);
    seen.count("rows in lanes", form->has_rows);
    seen.count("lanes along several axes", !form->nest.empty());
    seen.count("rows in lanes that stop one by one", form->has_rows && form->ends_by_lane);
    seen.count("histories in lanes", has_history);
    seen.count("branches in lanes", has_branches);
    seen.count("loops in lanes", has_loops);
    seen.count("reductions in lanes", reduces);
    seen.count("updates of no elements in lanes", is_empty);
  });
}

/// Whether loops over elements run over a part of them, which is found at run time.
void look_at_parts(Seen& seen, const Executable& compiled) {
  const auto* entry = dynamic_cast<const executor::Compiled*>(&*compiled.impl()->plain.prepared);
  if (!entry) return;
  const lower::Program& program = *entry->entry().program;
  seen.count("loops over parts of an array",
             std::ranges::any_of(program.fors, [](const lower::For& loop) {
               return loop.loop == lower::kNoLoop && !loop.trips;
             }));
}

TEST(RandomProgramsTest, WithDangersHaveThem) {
  constexpr std::uint64_t kPrograms = 500;
  Seen seen;
  RunOptions options;
  options.on_tap = [&](std::string_view name, const Literal& value) {
    if (name != "trips of lanes" || value.dtype() != DType::kS32) return;
    const auto trips = value.data<std::int32_t>();
    const bool any_zero = std::find(trips.begin(), trips.end(), 0) != trips.end();
    const std::set<std::int32_t> all(trips.begin(), trips.end());
    seen.count("lanes of no trips beside others", any_zero && all.size() > 1);
    seen.count("lanes of three numbers of trips", all.size() > 2);
  };
  for (std::uint64_t seed = 0; seed < kPrograms; seed++) {
    const Program program = Program::random(seed, kDangers);
    const Function function = program.traced();
    for_each_node(function, [&](const ir::Node& node) { look_at(seen, node); });
    const Executable compiled = compile(function, {.executor = Executor::kBytecode});
    look_at_lanes(seen, compiled.function());
    look_at_parts(seen, compiled);
    (void)compiled.run(program.arguments(seed), options);
  }
  const std::pair<std::string_view, int> least[] = {
      {"two carries change places in a trip", 80},
      {"two carries begin as the same value", 300},
      {"two carries are the same value after a trip", 40},
      {"a carry is written in part and read as a slice", 150},
      {"lanes of no trips beside others", 80},
      {"lanes of three numbers of trips", 80},
      {"lanes that all make the same trips", 300},
      {"lanes that stop one by one", 200},
      {"lanes that run while any does", 100},
      {"rows in lanes", 150},
      {"lanes along several axes", 20},
      {"updates that are written to a second buffer", 20},
      {"loops over parts of an array", 10},
      {"rows in lanes that stop one by one", 70},
      {"histories in lanes", 40},
      {"branches in lanes", 40},
      {"loops in lanes", 100},
      {"reductions in lanes", 50},
      {"updates of no elements", 60},
      {"updates of no elements in lanes", 15},
      {"parts without elements beside others", 5},
      {"scatters of no updates", 1},
  };
  for (const auto& [danger, count] : least) EXPECT_GE(seen.counts[danger], count) << danger;
  EXPECT_EQ(seen.conversions.size(), 13u * 12u);
  for (std::int64_t length = 0; length <= 67; length++)
    EXPECT_TRUE(seen.lengths.contains(length)) << length;
  for (std::int64_t lanes = 2; lanes <= 67; lanes++)
    EXPECT_TRUE(seen.lanes.contains(lanes)) << lanes;
}

}  // namespace
}  // namespace rondo::testing
