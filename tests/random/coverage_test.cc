// The random programs with dangers have the dangers: what executors get wrong first is counted
// here.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ir/region_walk.h"
#include "rondo/execute.h"
#include "support/program_check.h"

namespace rondo::testing {
namespace {

/// How many loops, of all programs that were looked at.
struct Counts {
  int swapped = 0;           // two carries change places in a trip
  int begin_as_one = 0;      // two carries begin as the same value
  int become_one = 0;        // two carries are the same value after a trip
  int read_and_written = 0;  // an array is written in part and read as a slice in the same trip
  int lanes = 0;             // loops whose lanes stop one by one
  int reduced_in_lanes = 0;  // with a reduction in it
  int loops_in_lanes = 0;    // with a loop in it
  std::set<std::pair<DType, DType>> conversions;
  std::set<std::int64_t> lengths;  // of arrays of one axis
};

bool has_op(const Function& region, const std::vector<std::string_view>& names) {
  return std::any_of(region.body().begin(), region.body().end(), [&](const ir::Node* node) {
    return std::find(names.begin(), names.end(), node->op->name) != names.end();
  });
}

struct Counter {
  Counts& counts;

  void open(const Function&, const ir::Node*, std::size_t) {}
  void close(const Function&, const ir::Node*, std::size_t) {}
  void after(const ir::Node&) {}
  void node(const ir::Node& node) {
    for (const TensorType& type : node.types) {
      if (type.rank() == 1) counts.lengths.insert(type.shape[0]);
    }
    if (node.op->name == "convert")
      counts.conversions.emplace(node.operand_type(0).dtype, node.type().dtype);
    if (node.op->name == "while_lanes") {
      counts.lanes++;
      const Function& body = node.regions[1];
      counts.reduced_in_lanes += has_op(body, {"reduce"});
      counts.loops_in_lanes += has_op(body, {"while_lanes", "fori_loop", "scan"});
    }
    const auto loop = ir::region_layout(&node);
    if (loop && loop->is_loop()) look_at(*loop);
  }
  void look_at(const ir::RegionLayout& loop) {
    const Function& body = loop.node->regions[loop.body()];
    const auto& params = body.parameters();
    const auto& results = body.outputs();
    bool swaps = false, begins = false, becomes = false;
    for (std::size_t i = 0; i < loop.carries; i++) {
      for (std::size_t j = i + 1; j < loop.carries; j++) {
        const auto is = [](const Tensor& a, const Tensor& b) {
          return ir::ValueKey(a) == ir::ValueKey(b);
        };
        swaps |= is(results[i], params[loop.index + j]) && is(results[j], params[loop.index + i]);
        begins |= is(loop.node->operand(loop.fixed + i), loop.node->operand(loop.fixed + j));
        becomes |= is(results[i], results[j]);
      }
    }
    counts.swapped += swaps;
    counts.begin_as_one += begins;
    counts.become_one += becomes;
    for (std::size_t i = 0; i < loop.carries; i++) {
      bool reads = false, writes = false;
      for (const ir::Node* node : body.body()) {
        if (node->operands.empty() ||
            ir::ValueKey(node->operand(0)) != ir::ValueKey(params[loop.index + i]))
          continue;
        reads |= node->op->name == "dynamic_slice" || node->op->name == "slice";
        writes |= node->op->name == "dynamic_update_slice";
      }
      counts.read_and_written += reads && writes;
    }
  }
};

TEST(RandomProgramsTest, WithDangersHaveThem) {
  constexpr std::uint64_t kPrograms = 400;
  Counts counts;
  int zero_trips = 0, different_trips = 0, blocks = 0, loops_in_blocks = 0;
  RunOptions options;
  options.on_tap = [&](std::string_view name, const Literal& value) {
    if (name != "trips of lanes" || value.dtype() != DType::kS32) return;
    const auto trips = value.data<std::int32_t>();
    const bool any_zero = std::find(trips.begin(), trips.end(), 0) != trips.end();
    const std::set<std::int32_t> all(trips.begin(), trips.end());
    zero_trips += any_zero && all.size() > 1;
    different_trips += all.size() > 2;
  };
  for (std::uint64_t seed = 0; seed < kPrograms; seed++) {
    const Program program = Program::random(seed, kDangers);
    const Function function = program.traced();
    Counter counter{counts};
    ir::walk_nested(function, counter);
    const Executable compiled = compile(function, {.executor = Executor::kBytecode});
    // A loop that stands in lanes, and one that stands in that.
    bool is_in_lanes = false, is_nested = false;
    std::vector<std::pair<std::size_t, bool>> open;  // by depth: loops, with those that are lanes
    const std::string text = compiled.program();
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::size_t depth = text.find_first_not_of(' ', at) - at;
      while (!open.empty() && open.back().first >= depth) open.pop_back();
      const std::string_view rest = std::string_view(text).substr(at + depth, 6);
      const bool is_lanes = rest == "lanes ";
      if (!is_lanes && !rest.starts_with("while") && !rest.starts_with("for ")) continue;
      const auto lanes =
          std::find_if(open.begin(), open.end(), [](const auto& loop) { return loop.second; });
      if (!is_lanes && lanes != open.end()) {
        is_in_lanes = true;
        is_nested |= lanes + 1 != open.end();
      }
      open.emplace_back(depth, is_lanes);
    }
    blocks += is_in_lanes;
    loops_in_blocks += is_nested;
    (void)compiled.run(program.arguments(seed), options);
  }
  EXPECT_GE(counts.swapped, 80);
  EXPECT_GE(counts.begin_as_one, 300);
  EXPECT_GE(counts.become_one, 40);
  EXPECT_GE(counts.read_and_written, 150);
  EXPECT_GE(counts.lanes, 200);
  EXPECT_GE(counts.reduced_in_lanes, 100);
  EXPECT_GE(counts.loops_in_lanes, 100);
  EXPECT_GE(zero_trips, 80);
  EXPECT_GE(different_trips, 80);
  EXPECT_GE(blocks, 200);
  EXPECT_GE(loops_in_blocks, 60);
  EXPECT_EQ(counts.conversions.size(), 13u * 12u);
  for (std::int64_t length = 0; length <= 67; length++)
    EXPECT_TRUE(counts.lengths.contains(length)) << length;
}

}  // namespace
}  // namespace rondo::testing
