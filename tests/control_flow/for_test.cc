// The counted loop to which fori_loop, scan and whiles that count expand.
#include "control_flow/for.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/node.h"
#include "passes/check.h"
#include "passes/expand.h"
#include "support/expect.h"

namespace rondo {
namespace {

using control_flow::ForAttributes;
using passes::expand;
using passes::Target;
using testing::expect_values;
using testing::find_node;

/// The indices in order, as the loop visits them in a run.
template <class T>
void expect_visits(T first, T limit, std::int64_t step, const std::vector<T>& want) {
  const int n = static_cast<int>(want.size());
  const TensorType index{dtype_of<T>, {}}, all{dtype_of<T>, {n + 1}};
  std::vector<T> padded = want;
  padded.push_back(T(0));
  const auto visit = [&](Tensor from, Tensor to) {
    ForAttributes attributes;
    attributes.step = step;
    const auto body = [](std::span<const Tensor> leaves) {
      const Tensor &i = leaves[0], &count = leaves[1], &seen = leaves[2];
      return detail::Leaves{{count + 1, update(seen, count, i)}, {"count", "seen"}};
    };
    return control_flow::traced_for(body, from, to, {{Tensor(0), zeros(all)}, {"count", "seen"}},
                                    attributes, SourceLocation::current());
  };
  const Function given = trace(
      [&](Tensor from, Tensor to) {
        const std::vector<Tensor> last = visit(from, to);
        return std::tuple(last[0], last[1]);
      },
      index, index);
  const Function known = trace([&] {
    const std::vector<Tensor> last =
        visit(constant(Literal::scalar(first)), constant(Literal::scalar(limit)));
    return std::tuple(last[0], last[1]);
  });
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    SCOPED_TRACE(static_cast<int>(executor));
    const CompileOptions options{.executor = executor};
    for (const std::vector<Literal>& results :
         {compile(given, options).run({Literal::scalar(first), Literal::scalar(limit)}),
          compile(known, options).run(std::vector<Literal>{})}) {
      EXPECT_EQ(results[0].item<std::int32_t>(), n);
      expect_values<T>(results[1], {n + 1}, padded);
    }
  }
}

TEST(For, CountsUpAndDown) {
  expect_visits<std::int32_t>(2, 6, 1, {2, 3, 4, 5});
  expect_visits<std::int32_t>(2, 9, 3, {2, 5, 8});
  expect_visits<std::int32_t>(2, 8, 3, {2, 5});
  expect_visits<std::int32_t>(3, -1, -1, {3, 2, 1, 0});
  expect_visits<std::int32_t>(9, 0, -4, {9, 5, 1});
  expect_visits<std::int32_t>(5, 5, 1, {});
  expect_visits<std::int32_t>(6, 5, 2, {});
  expect_visits<std::int32_t>(5, 6, -1, {});
}

TEST(For, CountsToTheEndsOfEachDtype) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  expect_visits<std::int64_t>(kMost - 2, kMost, 1, {kMost - 2, kMost - 1});
  expect_visits<std::int64_t>(kLeast, kMost, kMost, {kLeast, -1, kMost - 1});
  expect_visits<std::int64_t>(kLeast + 1, kLeast, -1, {kLeast + 1});
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  expect_visits<std::uint64_t>(kAll - 2, kAll, 1, {kAll - 2, kAll - 1});
  expect_visits<std::uint64_t>(1, kAll, kMost, {1, std::uint64_t{1} << 63});
  expect_visits<std::uint64_t>(2, 0, -1, {2, 1});
  expect_visits<std::int8_t>(-128, 127, 100, {-128, -28, 72});
  expect_visits<std::uint8_t>(250, 255, 2, {250, 252, 254});
}

struct Loops {
  std::int64_t counted = 0, tested = 0;
};
Loops loops_of(const Function& function, Target target) {
  const auto ops = expand(function, target).stats().ops;
  const auto of = [&](const char* name) { return ops.contains(name) ? ops.at(name) : 0; };
  return {of("for"), of("while")};
}

TEST(For, IsWhatExecutorsGetOfLoopsThatCount) {
  const auto count = [](Tensor n) {
    return while_loop([&](Tensor i, Tensor) { return i < n; },
                      [](Tensor i, Tensor y) { return std::pair(i + 1, y * 2); },
                      std::pair(Tensor(0), Tensor(1)));
  };
  const Function loops = trace(
      [&](Tensor n, Tensor xs) {
        const auto [last, ys] =
            scan([](Tensor c, Tensor x) { return std::pair(c + x, c * x); }, Tensor(0.0f), xs);
        return std::tuple(fori_loop(
                              0, n, [](Tensor i, Tensor y) { return y + i; }, Tensor(0)),
                          last, ys, map([](Tensor x) { return sin(x); }, xs), count(n));
      },
      s32(), f32({5}));
  EXPECT_EQ(loops_of(loops, Target::kInterpreter).counted, 4);
  EXPECT_EQ(loops_of(loops, Target::kInterpreter).tested, 0);
  for (const Target target : {Target::kHlo, Target::kStablehlo}) {
    EXPECT_EQ(loops_of(loops, target).counted, 0);
    EXPECT_EQ(loops_of(loops, target).tested, 4);
  }
}

TEST(For, IsNotAWhileThatMayStopEarlierOrWrap) {
  const auto expect_tested = [](const auto& f) {
    EXPECT_EQ(loops_of(trace(f, s32()), Target::kInterpreter).counted, 0);
  };
  const auto twice = [](Tensor i) { return i + 2; };
  expect_tested(
      [&](Tensor n) { return while_loop([&](Tensor i) { return i < n; }, twice, Tensor(0)); });
  expect_tested([&](Tensor n) {
    return while_loop([&](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; }, Tensor(0),
                      {.max_trip_count = 9});
  });
  expect_tested([&](Tensor n) {
    return while_loop([&](Tensor i) { return (i < n) & (i * i < 50); },
                      [](Tensor i) { return i + 1; }, Tensor(0));
  });
}

TEST(For, OfConstantBoundsHasItsTripCountInTexts) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(3, 10, [](Tensor, Tensor y) { return y * 2.0f; }, x, {.step = 3});
      },
      f32());
  for (const auto& [target, op] :
       {std::pair(Target::kInterpreter, "for"), std::pair(Target::kHlo, "while")}) {
    const Function expanded = expand(f, target);
    EXPECT_EQ(ir::region_layout(find_node(expanded, op))->trip_count, 3);
  }
}

TEST(For, CarriesTheCounterOfAWhile) {
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Function f = trace(
        [](Tensor n, Tensor x) {
          return while_loop([&](Tensor i, Tensor) { return i < n; },
                            [](Tensor i, Tensor y) { return std::pair(i + 1, y + i * i); },
                            std::pair(x, x));
        },
        s32(), s32());
    const Executable run = compile(f, {.executor = executor});
    for (const int n : {-3, 2, 3, 7}) {
      int i = 2, y = 2;
      for (; i < n; i++) y += i * i;
      const auto last = run.run({Literal::scalar(n), Literal::scalar(2)});
      EXPECT_EQ(last[0].item<std::int32_t>(), i) << n;
      EXPECT_EQ(last[1].item<std::int32_t>(), y) << n;
    }
    // A run that is ended says where: the counter is part of the state.
    try {
      run.run({Literal::scalar(1000), Literal::scalar(0)}, {.max_iterations = 4});
      FAIL() << "it made all trips";
    } catch (const Interrupted& ended) {
      ASSERT_EQ(ended.carry().size(), 2u);
      EXPECT_EQ(ended.trip(), 4);
      EXPECT_EQ(ended.carry()[0].second.item<std::int32_t>(), 4);
      EXPECT_EQ(ended.carry()[1].second.item<std::int32_t>(), 14);
    }
  }
}

}  // namespace
}  // namespace rondo
