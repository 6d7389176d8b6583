// tap, print and progress with unused results report like others: once for each run of the
// function, the body or the branch that calls them.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/after.h"
#include "ir/layout.h"
#include "ops/expanded.h"
#include "passes/optimize.h"
#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;
using Seen = std::vector<std::string>;

/// "x f32[] 3" of each tap, and "1 of 4" of each progress.
RunOptions listening(Seen& seen) {
  RunOptions options;
  options.on_tap = [&](std::string_view name, const Literal& value) {
    seen.push_back(std::string(name) + " " + value.str());
  };
  options.on_progress = [&](const Progress& p) {
    if (p.loop.starts_with("progress"))
      seen.push_back(std::to_string(p.trip) + " of " + std::to_string(p.of.value_or(-1)));
  };
  return options;
}

/// What a function reports, as one program.
template <class F>
Seen reports_of(const F& f, const std::vector<Literal>& arguments,
                const std::vector<float>& expected) {
  std::vector<TensorType> types;
  for (const Literal& argument : arguments) types.push_back(argument.type());
  Seen seen;
  const Function function = trace(f, types);
  function.verify();
  const std::vector<Literal> results = compile(function).run(arguments, listening(seen));
  for (std::size_t i = 0; i < expected.size(); i++)
    EXPECT_EQ(results.at(i).data<float>()[0], expected[i]) << i;
  return seen;
}

/// For functions of one f32 scalar, at x = 3.
template <class F>
Seen reports_at_3(const F& f, float expected) {
  return reports_of([&](std::vector<Tensor> x) { return f(x[0]); }, {Literal::scalar(3.0f)},
                    {expected});
}

TEST(UnusedReports, OfATracedFunction) {
  const auto f = [](Tensor x) {
    (void)tap(x, "x");
    const Tensor twice = tap(x * 2, "twice");
    return x + 1;
  };
  EXPECT_EQ(reports_at_3(f, 4), (Seen{"x f32[] 3", "twice f32[] 6"}));
}

TEST(UnusedReports, OfAFunctionThatForwardsItsArgument) {
  const auto f = [](Tensor x) {
    (void)tap(x * x, "square");
    return x;
  };
  EXPECT_EQ(reports_at_3(f, 3), (Seen{"square f32[] 9"}));
}

TEST(UnusedReports, ArePrinted) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 2,
        [](Tensor, Tensor sum) {
          (void)print(sum, "sum {:.1f}");
          return sum * 2;
        },
        x);
  };
  const Executable run = compile(trace(f, f32()));
  ::testing::internal::CaptureStdout();
  expect_scalar<float>(run.run({Literal::scalar(1.5f)})[0], 6);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "sum 1.5\nsum 3.0\n");
}

TEST(UnusedReports, OfTheIndexOfALoop) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 3,
        [](Tensor i, Tensor sum) {
          i = progress(i, 3);
          return sum * 2;
        },
        x);
  };
  EXPECT_EQ(reports_at_3(f, 24), (Seen{"0 of 3", "1 of 3", "2 of 3"}));
}

TEST(UnusedReports, OfEveryLoop) {
  const auto in_while = [](Tensor x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 2; },
                                  [](Tensor i, Tensor sum) {
                                    (void)progress(i, 2);
                                    return std::pair(i + 1, sum * 2);
                                  },
                                  std::pair(Tensor(0), x)));
  };
  EXPECT_EQ(reports_at_3(in_while, 12), (Seen{"0 of 2", "1 of 2"}));
  const auto in_condition = [](Tensor x) {
    return while_loop(
        [](Tensor c) {
          (void)tap(c, "c");
          return c < 10;
        },
        [](Tensor c) { return c * 2; }, x);
  };
  EXPECT_EQ(reports_at_3(in_condition, 12), (Seen{"c f32[] 3", "c f32[] 6", "c f32[] 12"}));
  const auto in_scan = [](Tensor x) {
    return std::get<0>(scan(
        [](Tensor c, Tensor row) {
          (void)tap(row, "row");
          return std::pair(c + row, c);
        },
        x, constant({1.0f, 2.0f})));
  };
  EXPECT_EQ(reports_at_3(in_scan, 6), (Seen{"row f32[] 1", "row f32[] 2"}));
  const auto in_while_scan = [](Tensor x) {
    return while_scan([](Tensor c) { return c < 10; },
                      [](Tensor c) {
                        (void)tap(c, "c");
                        return std::pair(c * 2, c);
                      },
                      x, {.max_trip_count = 5})
        .carry;
  };
  EXPECT_EQ(reports_at_3(in_while_scan, 12), (Seen{"c f32[] 3", "c f32[] 6"}));
}

TEST(UnusedReports, LeaveALoopItsTripCount) {
  const auto f = [](Tensor x) {
    return while_loop([](Tensor i, Tensor) { return i < 7; },
                      [](Tensor i, Tensor sum) {
                        i = progress(i, 7);
                        (void)tap(sum, "sum");
                        return std::pair(i + 1, sum * 2);
                      },
                      std::pair(Tensor(0), x));
  };
  const Function function = passes::optimize(trace(f, f32()));
  int loops = 0;
  for (const ir::Node* node : function.body()) {
    const auto layout = ir::region_layout(node);
    if (!layout) continue;
    loops++;
    EXPECT_EQ(layout->trip_count, 7);
  }
  EXPECT_EQ(loops, 1);
}

TEST(UnusedReports, OfTheBranchThatIsTaken) {
  const auto f = [](Tensor x) {
    return cond(
        x > 0,
        [](Tensor y) {
          (void)tap(y, "positive");
          return y;
        },
        [](Tensor y) {
          (void)tap(y, "other");
          return -y;
        },
        x);
  };
  EXPECT_EQ(reports_at_3(f, 3), (Seen{"positive f32[] 3"}));
  EXPECT_EQ(reports_at_3([&](Tensor x) { return f(-x); }, 3), (Seen{"other f32[] -3"}));
}

TEST(UnusedReports, OfConstructsWhoseResultsAreUnused) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 2,
        [](Tensor i, Tensor sum) {
          (void)fori_loop(
              0, 2, [](Tensor, Tensor c) { return tap(c * 2, "c"); }, sum);
          (void)cond(
              i == 0,
              [](Tensor c) {
                (void)tap(c, "first");
                return c;
              },
              [](Tensor c) { return c; }, sum);
          return sum + 1;
        },
        x);
  };
  EXPECT_EQ(reports_at_3(f, 5),
            (Seen{"c f32[] 6", "c f32[] 12", "first f32[] 3", "c f32[] 8", "c f32[] 16"}));
}

TEST(UnusedReports, OfFunctionsWithDerivativeRules) {
  const auto g = [](Tensor x) {
    (void)tap(x, "x");
    return x * x;
  };
  const auto f = [&](Tensor x) {
    (void)checkpoint(g)(x);
    return checkpoint(g)(x) + custom_jvp(g, [](std::tuple<Tensor> p, std::tuple<Tensor> t) {
             const Tensor y = std::get<0>(p);
             return std::pair(y * y, 2 * y * std::get<0>(t));
           })(x);
  };
  EXPECT_EQ(reports_at_3(f, 18), (Seen{"x f32[] 3", "x f32[] 3", "x f32[] 3"}));
}

TEST(UnusedReports, OfLanes) {
  const auto one = [](Tensor x) {
    (void)tap(x, "x");
    return std::pair(x * 2, x + 1);
  };
  const auto f = [&](std::vector<Tensor> x) {
    (void)vmap(one)(x[0]);
    return std::get<0>(vmap(one)(x[0] * 10));
  };
  EXPECT_EQ(reports_of(f, {Literal::from<float>({1, 2}, {2})}, {20}),
            (Seen{"x[0] f32[] 1", "x[1] f32[] 2", "x[0] f32[] 10", "x[1] f32[] 20"}));
  const auto looped = [](Tensor x) {
    return while_loop([](Tensor c) { return c < 4; },
                      [](Tensor c) {
                        (void)tap(c, "c");
                        return c * 2;
                      },
                      x);
  };
  EXPECT_EQ(reports_of([&](std::vector<Tensor> x) { return vmap(looped)(x[0]); },
                       {Literal::from<float>({1, 3}, {2})}, {4}),
            (Seen{"c[0] f32[] 1", "c[1] f32[] 3", "c[0] f32[] 2"}));
}

/// x^8 by three trips; `use` says whether the body uses the result of tap.
auto power(bool use, Checkpoint policy = {}) {
  return [use, policy](Tensor x) {
    return fori_loop(0, 3,
                     [use](Tensor, Tensor c) {
                       const Tensor told = tap(c, "c");
                       return use ? told * told : c * c;
                     },
                     x, {.checkpoint = policy});
  };
}

TEST(UnusedReports, OfAForwardPass) {
  const Seen trips{"c f32[] 3", "c f32[] 9", "c f32[] 81"};
  const float gradient = 8 * 2187.0f;
  EXPECT_EQ(reports_at_3(grad(power(false)), gradient), trips);
  EXPECT_EQ(reports_at_3(grad(power(true)), gradient), trips);
  EXPECT_EQ(reports_at_3([](Tensor x) { return value_and_grad(power(false))(x); }, 6561), trips);
  const auto forward = [](Tensor x) {
    return std::get<1>(jvp(power(false), std::tuple(x), std::tuple(Tensor(1.0f))));
  };
  EXPECT_EQ(reports_at_3(forward, gradient), trips);
  const auto pulled = [](Tensor x) { return vjp(power(false), x).second(Tensor(1.0f)); };
  EXPECT_EQ(reports_at_3(pulled, gradient), trips);
  EXPECT_EQ(reports_at_3(jacfwd(power(false)), gradient), trips);
  EXPECT_EQ(reports_at_3(jacrev(power(false)), gradient), trips);
}

TEST(UnusedReports, OfAValueThatTheGradientDoesNotNeed) {
  const auto f = [](Tensor x) { return tap(x * x, "y"); };
  EXPECT_EQ(reports_at_3(grad(f), 6), (Seen{"y f32[] 9"}));
  const auto dropped = [](Tensor x) {
    (void)tap(x * x, "y");
    return 5 * x;
  };
  EXPECT_EQ(reports_at_3(grad(dropped), 5), (Seen{"y f32[] 9"}));
}

// A backward pass that recomputes trips reports those that it needs again.
TEST(UnusedReports, ComeNoMoreOftenThanThoseOfUsedResults) {
  const Seen trips{"c f32[] 3", "c f32[] 9", "c f32[] 81"};
  for (const Checkpoint policy :
       {Checkpoint::tape(), Checkpoint::periodic(2), Checkpoint::revolve(2)}) {
    const Seen used = reports_at_3(grad(power(true, policy)), 8 * 2187.0f);
    const Seen unused = reports_at_3(grad(power(false, policy)), 8 * 2187.0f);
    EXPECT_LE(unused.size(), used.size());
    ASSERT_GE(unused.size(), 3u);
    EXPECT_EQ(Seen(unused.begin(), unused.begin() + 3), trips);
  }
}

TEST(UnusedReports, OfLazyGradients) {
  Seen seen;
  const RunScope scope(listening(seen));
  EXPECT_EQ(grad(power(false))(Tensor(3.0f)).item<float>(), 8 * 2187.0f);
  EXPECT_EQ(seen, (Seen{"c f32[] 3", "c f32[] 9", "c f32[] 81"}));
}

TEST(UnusedReports, OfJittedFunctions) {
  Seen seen;
  const auto inner = jit([](Tensor x) {
    (void)tap(x, "inner");
    return x * 2;
  });
  const auto outer = jit([&](Tensor x) {
    (void)inner(x);
    (void)tap(x, "outer");
    return x + 1;
  });
  EXPECT_EQ(outer.with(listening(seen))(Tensor(3.0f)).item<float>(), 4);
  EXPECT_EQ(seen, (Seen{"inner f32[] 3", "outer f32[] 3"}));
}

TEST(UnusedReports, UnderAnEagerScope) {
  Seen seen;
  const RunScope scope(listening(seen));
  const EagerScope eager;
  (void)tap(Tensor(3.0f), "x");
  (void)power(false)(Tensor(3.0f));
  EXPECT_EQ(seen, (Seen{"x f32[] 3", "c f32[] 3", "c f32[] 9", "c f32[] 81"}));
}

// docs/lazy.md: what is not requested is not computed.
TEST(UnusedReports, OfLazyTensorsComeWithTheirValues) {
  Seen seen;
  const RunScope scope(listening(seen));
  const Tensor told = tap(Tensor(3.0f), "x");
  EXPECT_EQ(seen, Seen());
  (void)told.eval();
  (void)told.eval();
  EXPECT_EQ(seen, (Seen{"x f32[] 3"}));
}

TEST(UnusedReports, OfCombiners) {
  const auto f = [](Tensor x) {
    return reduce(broadcast_to(x, {2}), 0.0f, {0}, [](Tensor a, Tensor b) {
      (void)tap(b, "b");
      return a + b;
    });
  };
  EXPECT_EQ(reports_at_3(f, 6), (Seen{"b f32[] 3", "b f32[] 3"}));
}

TEST(UnusedReports, AddNothingWhereResultsAreUsed) {
  const Function function = trace([](Tensor x) { return tap(x, "x") + 1; }, f32());
  EXPECT_EQ(function.body().size(), 3u);  // with the 1
  for (const ir::Node* node : function.body()) EXPECT_NE(node->op, &ir::kAfter);
}

TEST(UnusedReports, AreNotInTextForOthers) {
  const auto f = [](Tensor x) {
    (void)tap(x * 2, "x");
    return x + 1;
  };
  const Function expanded = passes::expand(trace(f, f32()), passes::Target::kHlo);
  for (const ir::Node* node : expanded.body()) EXPECT_FALSE(node->op->observer);
  expect_scalar<float>(run_expanded(f, Literal::scalar(3.0f))[0], 4);
}

}  // namespace
}  // namespace rondo
