// The order of a sort is in its attributes: passes may rewrite the comparator, and the kernel still
// does not call it.
#include <algorithm>
#include <random>

#include "ops/sort.h"
#include "passes/check.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kCount = 4000;

Literal shuffled(std::int64_t rows = 1) {
  std::mt19937 random(7);
  std::vector<float> values(static_cast<std::size_t>(rows * kCount));
  for (float& value : values) value = static_cast<float>(random() % 100000) - 50000;
  return rows == 1 ? Literal::from(values, {kCount}) : Literal::from(values, {rows, kCount});
}

void collect_sorts(const Function& function, std::vector<const ir::Node*>& sorts) {
  for (const ir::Node* node : function.body()) {
    if (node->op == &ops::kSort) sorts.push_back(node);
    for (const Function& region : node->regions) collect_sorts(region, sorts);
  }
}

/// Ops that a run evaluates; each call of a comparator counts.
std::int64_t evaluations(const Function& program, const Literal& argument, bool optimize) {
  RunStats stats;
  const Executable run = compile(program, {.optimize = optimize, .executor = Executor::kReference});
  run.run({argument}, {.stats = &stats});
  return stats.op_evaluations;
}

TEST(Sort, KeepsItsOrderThroughThePasses) {
  const auto sorted = [](Tensor x) { return sort(x); };
  const auto places = [](Tensor x) { return argsort(x); };
  const auto falling = [](Tensor x) {
    return sort_by(x, 0, [](Tensor a, Tensor b) { return a > b; });
  };
  const auto by_key = [](Tensor x) {
    return sort_by(std::pair(x, arange(kCount)), 0,
                   [](auto a, auto b) { return a.first < b.first; });
  };
  const auto middle = [](Tensor x) { return sort(x)[kCount / 2] * sort(-x)[3]; };
  const auto in_loop = [](Tensor x) {
    return fori_loop(
        0, 2, [](Tensor, Tensor y) { return sort(y * -1); }, x);
  };
  struct Case {
    const char* name;
    Function program;
    Literal argument;
  };
  const TensorType line = f32({kCount}), lines = f32({3, kCount});
  for (const Case& one : {Case{"sort", trace(sorted, line), shuffled()},
                          Case{"argsort", trace(places, line), shuffled()},
                          Case{"sort_by", trace(falling, line), shuffled()},
                          Case{"sort_by of a pair", trace(by_key, line), shuffled()},
                          Case{"of a loop", trace(in_loop, line), shuffled()},
                          Case{"vmap of sort", trace(vmap(sorted), lines), shuffled(3)},
                          Case{"vmap of argsort", trace(vmap(places), lines), shuffled(3)},
                          Case{"grad", trace(grad(middle), line), shuffled()},
                          Case{"vmap of grad", trace(vmap(grad(middle)), lines), shuffled(3)}}) {
    SCOPED_TRACE(one.name);
    // Twice: the second pass reads the result of the first.
    const Function optimized = passes::optimize(passes::optimize(one.program));
    std::vector<const ir::Node*> sorts;
    collect_sorts(optimized, sorts);
    ASSERT_FALSE(sorts.empty());
    for (const ir::Node* node : sorts)
      EXPECT_TRUE(node->attrs<ops::SortAttributes>().order.has_value()) << optimized.str();
    // A single comparison of each element would be 4,000.
    EXPECT_LT(evaluations(one.program, one.argument, false), 200);
    EXPECT_LT(evaluations(optimized, one.argument, true), 200);
  }
}

TEST(Sort, ThatCallsItsComparatorIsCounted) {
  // By their last digits: not an order of the values themselves.
  const Function program = trace(
      [](Tensor x) {
        return sort_by(x, 0, [](Tensor a, Tensor b) { return rem(a, 10.0f) < rem(b, 10.0f); });
      },
      f32({kCount}));
  EXPECT_GT(evaluations(program, shuffled(), false), kCount);
  const Literal given = shuffled();
  const auto data = given.data<float>();
  std::vector<float> expected(data.begin(), data.end());
  std::stable_sort(expected.begin(), expected.end(),
                   [](float a, float b) { return std::fmod(a, 10.0f) < std::fmod(b, 10.0f); });
  const Literal result = compile(program, {}).run({given})[0];
  const auto got = result.data<float>();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
}

}  // namespace
}  // namespace rondo::testing
