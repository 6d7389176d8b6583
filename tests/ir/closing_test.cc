// What closing a function costs and owns.
#include <algorithm>
#include <thread>
#include <vector>

#include "counted_op.h"
#include "gtest/gtest.h"
#include "ir/function_data.h"
#include "rondo/rondo.h"
#include "support/allocations.h"

namespace rondo::testing {
namespace {

TEST(Closing, NodesComeOutByIdWhoeverMadeThem) {
  const Tensor old = Tensor(1.0f);
  const std::uint64_t first = ir::next_id();
  const std::uint64_t made = ir::nodes_made();
  std::vector<Tensor> own{Tensor(2.0f), Tensor(3.0f), Tensor(4.0f)};
  Tensor foreign;
  std::thread([&] {
    for (int i = 0; i < 5000; i++) foreign = Tensor(5.0f);
  }).join();
  own.push_back(Tensor(6.0f));
  for (const bool near : {true, false}) {
    ir::NodesById nodes(first, near ? 100'000 : ir::nodes_made() - made);
    EXPECT_TRUE(nodes.insert(own[3].node()));
    EXPECT_TRUE(nodes.insert(foreign.node()));
    EXPECT_TRUE(nodes.insert(own[0].node()));
    EXPECT_TRUE(nodes.insert(old.node()));
    EXPECT_FALSE(nodes.insert(own[0].node()));
    EXPECT_FALSE(nodes.insert(old.node()));
    const std::vector<const ir::Node*> sorted{old.node(), own[0].node(), foreign.node(),
                                              own[3].node()};
    EXPECT_EQ(nodes.take(), sorted);
  }
}

TEST(Closing, AWalkBackSeesEachNodeOnce) {
  const Tensor x = ir::make_parameter(f32(), "x", 0, nullptr, {});
  const std::uint64_t first = ir::next_id();
  std::vector<Tensor> made{x + x};
  for (int i = 0; i < 50; i++) {
    const Tensor& last = made.back();
    const Tensor& before = made[made.size() / 2];
    made.push_back(i % 3 == 0 ? last * last : last - before);
  }
  made.push_back(-made.back());  // unused
  for (const bool near : {true, false}) {
    ir::NodesById nodes(first, near ? made.size() : 0);
    std::vector<const ir::Node*> seen;
    nodes.insert(made[50].node());
    nodes.walk_back([&](const ir::Node* node) {
      seen.push_back(node);
      for (const Tensor& operand : node->operands) {
        if (operand.node() != x.node()) nodes.insert(operand.node());
      }
    });
    std::vector<const ir::Node*> all;
    for (std::size_t i = 0; i <= 50; i++) all.push_back(made[i].node());
    EXPECT_EQ(nodes.take(), all);
    const auto by_id = [](const ir::Node* a, const ir::Node* b) { return a->id < b->id; };
    std::sort(seen.begin(), seen.end(), by_id);
    EXPECT_EQ(seen, all);
  }
}

TEST(Closing, OtherThreadsNodesCostNothing) {
  largest_allocation = 0;
  trace(
      [&](Tensor x) {
        std::thread([] {
          for (int i = 0; i < 400'000; i++) {
            [[maybe_unused]] const Tensor made(1.0f);
          }
        }).join();
        return x + 1.0f;
      },
      f32());
  EXPECT_LT(largest_allocation, std::size_t{100'000})
      << "a place for each of their nodes is 3.2 MB";
}

TEST(Closing, AFunctionOwnsItsBody) {
  auto life = std::make_shared<int>();
  const Tensor x = ir::make_parameter(f32(), "x", 0, nullptr, {});
  const Tensor result = x + 1.0f;
  Function function;
  {
    const Tensor seen = counted(x, kWatched, life);
    Function::Data data{"f", {x}, {}, {result}, {}};
    data.body = {seen.node(), result.node()->operand(1).node(), result.node()};
    std::sort(data.body.begin(), data.body.end(),
              [](const ir::Node* a, const ir::Node* b) { return a->id < b->id; });
    function = FunctionAccess::make(std::move(data));
  }
  EXPECT_EQ(life.use_count(), 2);
  function.verify();
  EXPECT_EQ(function.stats().ops.at("watched"), 1);
  function = Function();
  EXPECT_EQ(life.use_count(), 1);
}

TEST(Closing, ConstantsThatBeginAlikeHashApart) {
  std::vector<std::size_t> hashes;
  std::vector<float> values(1000, 1.0f);
  for (int i = 0; i < 2000; i++) {
    values[i % 2 == 0 ? 500 : 999] = static_cast<float>(i + 2);
    const Tensor constant{Literal::from(values)};
    hashes.push_back(constant.node()->attributes.hash());
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

TEST(Closing, EqualAttributesHashAlike) {
  const auto hash = [](const Tensor& t) { return t.node()->attributes.hash(); };
  const auto node = [](const Function& f) { return f.outputs()[0]; };
  const auto sums = [&](std::int64_t axis) {
    return node(trace([&](Tensor x) { return sum(x, {axis}); }, f32({2, 2})));
  };
  EXPECT_EQ(hash(sums(0)), hash(sums(0)));
  EXPECT_NE(hash(sums(0)), hash(sums(1)));
  EXPECT_NE(hash(Tensor(0.0f)), hash(Tensor(-0.0f))) << "constants are told apart by their bytes";
}

// Here, because one source of a program counts its allocations.
TEST(LazyPlan, AStepThatIsDoneAgainAllocatesNothing) {
  const Tensor a(0.5f), b(1.0f);
  Tensor x(1.0f);
  float p = 1;
  const auto step = [&] {
    x = x * a;
    x = x + b;
    p = p * 0.5f + 1;
    ASSERT_EQ(x.item<float>(), p);
  };
  const auto steps = [&] {
    for (int i = 0; i < 100; i++) step();
  };
  steps();
  const auto again = allocations_of(steps);
  const bool in_place = compile(trace([](Tensor y) { return y + 1; }, f32())).runs_on_memory();
  // The reference creates lists of literals in each run; none of a step remains.
  EXPECT_EQ(again, in_place ? 0 : allocations_of(steps));
}

}  // namespace
}  // namespace rondo::testing
