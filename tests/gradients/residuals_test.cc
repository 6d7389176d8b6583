// What a scan stacks for its backward pass, counted in the program that runs, and what memory_plan
// says about it in advance.
#include <cmath>
#include <utility>
#include <vector>

#include "control_flow/scan.h"
#include "gradients/loops.h"
#include "ir/node.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

constexpr int kLength = 12;

using Step = std::function<Tensor(const Tensor& c, const Tensor& x, const Tensor& w)>;

/// f(c, xs, w) = the last carry, and the gradient with respect to the selected arguments.
template <std::size_t... I>
Executable gradient_of(const Step& step) {
  const auto f = [&](Tensor c, Tensor xs, Tensor w) {
    return sum(
        scan([&](Tensor c, Tensor x) { return std::pair(step(c, x, w), std::tuple<>()); }, c, xs)
            .first);
  };
  return compile(trace(grad<I...>(f), f64({4}), f64({kLength, 4}), f64({4, 4})));
}

/// Arrays that the forward scan stacks: all its results but the carries. None if the scan is not
/// needed at all.
std::int64_t stacked(const Executable& program) {
  for (const ir::Node* node : program.function().body()) {
    if (node->op != &control_flow::kScan) continue;
    const auto& attributes = node->attrs<control_flow::ScanAttributes>();
    if (attributes.name.ends_with("_gradient")) return 0;
    return static_cast<std::int64_t>(node->types.size()) - attributes.carries;
  }
  return 0;
}

TEST(Residuals, SumsKeepNothing) {
  EXPECT_EQ(
      stacked(gradient_of<0, 1, 2>([](Tensor c, Tensor x, Tensor w) { return c + x * 2 - w[0]; })),
      0);
}

TEST(Residuals, ProductsWithWhatIsAvailableKeepNothing) {
  // The weight and the row of xs are available to the backward pass as well.
  EXPECT_EQ(stacked(gradient_of<0>([](Tensor c, Tensor x, Tensor w) { return c * x * w[1] + x; })),
            0);
}

TEST(Residuals, InvariantsAreComputedOnce) {
  const Executable program =
      gradient_of<0>([](Tensor c, Tensor, Tensor w) { return c * sin(exp(w[1])) * cos(w[0]); });
  EXPECT_EQ(stacked(program), 0);
}

TEST(Residuals, HyperbolicTangentKeepsOne) {
  EXPECT_EQ(stacked(gradient_of<0>([](Tensor c, Tensor x, Tensor) { return tanh(c + x); })), 1);
}

TEST(Residuals, SineAndCosineKeepTheCarry) {
  EXPECT_EQ(stacked(gradient_of<0>([](Tensor c, Tensor, Tensor) { return sin(c) + cos(c); })), 1);
}

TEST(Residuals, ManyFunctionsOfTheCarryKeepTheCarry) {
  EXPECT_EQ(stacked(gradient_of<0, 1>([](Tensor c, Tensor x, Tensor w) {
              return sin(c) * x + cos(c * w[0]) * exp(-square(c)) + c * c * c;
            })),
            1);
}

TEST(Residuals, OfALongBodyAreChosenAsThoseOfAShortOne) {
  // All of it is cheap to recompute from the carry.
  const auto kept = [](int steps) {
    return stacked(gradient_of<0>([=](Tensor c, Tensor, Tensor) {
      for (int i = 0; i < steps; i++) c = sin(c) * cos(c);
      return c;
    }));
  };
  EXPECT_EQ(kept(4), 1);
  EXPECT_EQ(kept(40), 1);
  EXPECT_EQ(kept(2000), 1);
}

TEST(Residuals, TheSameValueTwiceIsKeptOnce) {
  EXPECT_EQ(stacked(gradient_of<0, 1>([](Tensor c, Tensor x, Tensor) {
              return tanh(dot(c, c) + x) * tanh(dot(c, c) + x);
            })),
            2);  // the carry and tanh(...), which takes a sum to recompute
}

TEST(Residuals, AWeightsGradientNeedsTheCarry) {
  const Step recurrent = [](Tensor c, Tensor x, Tensor w) { return tanh(dot(w, c) + x); };
  EXPECT_EQ(stacked(gradient_of<0>(recurrent)), 1);  // tanh
  EXPECT_EQ(stacked(gradient_of<0, 1>(recurrent)), 1);
  // The carry before it; the backward pass has seen the one after it, which is that tanh.
  EXPECT_EQ(stacked(gradient_of<2>(recurrent)), 1);
  EXPECT_EQ(stacked(gradient_of<0, 1, 2>(recurrent)), 1);
}

TEST(Residuals, ACarryIsHandedOnOnlyWhereItIsUsed) {
  // The derivative of s sin(s) needs only s, that of tanh(w s) both the old s and the new one.
  const auto hands_on = [](auto body) {
    const auto f = [=](Tensor x, Tensor w) {
      return fori_loop(
          0, kLength, [=](Tensor, Tensor s) { return body(s, w); }, x);
    };
    const Function slopes = trace(grad<0, 1>(f), f64(), f64());
    for (const ir::Node* node : slopes.body()) {
      if (node->op != &control_flow::kScan) continue;
      const auto& attributes = node->attrs<control_flow::ScanAttributes>();
      if (attributes.name.ends_with("_gradient")) return attributes.carries;
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(hands_on([](Tensor s, Tensor w) { return s * sin(s) + w; }), 2);  // and the sum for w
  EXPECT_EQ(hands_on([](Tensor s, Tensor w) { return tanh(s * w); }), 3);
}

TEST(Residuals, ACarryThatIsHandedOnIsKeptOnce) {
  // c[k+2] = sin(c[k+1]) c[k]: both are needed, and each is the successor of the other.
  const auto f = [](Tensor x) {
    const auto [a, b] = fori_loop(
        0, kLength, [](Tensor, Tensor a, Tensor b) { return std::pair(b, sin(b) * a); },
        std::pair(x, x * 2));
    return a * b;
  };
  const Executable program = compile(trace(grad(f), f64()));
  EXPECT_EQ(stacked(program), 1);
  double slope_a = 1, slope_b = 2, a = 0.7, b = 1.4;
  for (int i = 0; i < kLength; i++) {
    const double next = std::sin(b) * a;
    const double slope = std::cos(b) * slope_b * a + std::sin(b) * slope_a;
    a = std::exchange(b, next);
    slope_a = std::exchange(slope_b, slope);
  }
  const double expected = slope_a * b + a * slope_b;
  EXPECT_NEAR(program.run({Literal::scalar(0.7)})[0].item<double>(), expected,
              1e-13 * std::abs(expected));
}

TEST(Residuals, ACarryThatIsHandedOnWhileItsOwnResultIsNeeded) {
  // b becomes a, and tanh(...) becomes b, which cannot be computed from a and b alone: one of the
  // two must be kept in addition.
  const auto f = [](LoopKind kind) {
    return [kind](Tensor a, Tensor b, Tensor c, Tensor w) {
      const LoopBody body = [&](const Tensor&, const Carry& now) {
        return Carry{now[1], tanh(dot(w, now[2]) + now[1]), now[2] * 0.9 + now[0] * now[1]};
      };
      const Carry last = run_loop(kind, {5}, body, {a, b, c});
      return sum(last[0] * 2 + last[1] * 3 + last[2]);
    };
  };
  const auto slopes = [&](LoopKind kind) {
    const auto vector = [](double x) { return constant({x, x * x, 0.5 - x}); };
    std::vector<double> weights(9);
    for (std::size_t k = 0; k < weights.size(); k++) weights[k] = std::cos(static_cast<double>(k));
    const auto [a, b, c] = grad<0, 1, 2>(f(kind))(vector(0.3), vector(-0.7), vector(0.9),
                                                  constant(Literal::from(weights, {3, 3})));
    return concatenate({a, b, c}, 0);
  };
  const Literal expected = slopes(LoopKind::kUnrolled).eval();
  for (const LoopKind kind : kLoops) {
    SCOPED_TRACE(name_of(kind));
    const std::span<const double> want = expected.data<double>();
    expect_close<double>(slopes(kind), {9}, {want.begin(), want.end()}, 1e-13);
  }
  const Executable program =
      compile(trace(grad<0, 1, 2>(f(LoopKind::kFori)), f64({3}), f64({3}), f64({3}), f64({3, 3})));
  EXPECT_EQ(stacked(program), 2);
}

/// The same for loops of unknown length, with growing or promised tapes.
TEST(Residuals, AWhileKeepsACarryOrItsResult) {
  for (const std::int64_t promised : {0, 40}) {
    WhileOptions options;
    options.checkpoint = Checkpoint::tape();
    if (promised > 0) options.max_trip_count = promised;
    const auto f = [&](Tensor x, Tensor w, Tensor n) {
      const auto [i, y] =
          while_loop([&](Tensor i, Tensor) { return i < n; },
                     [&](Tensor i, Tensor y) { return std::pair(i + 1, tanh(dot(w, y))); },
                     std::pair(Tensor(0), x), options);
      return sum(y);
    };
    const Executable program = compile(trace(grad<0, 1>(f), f64({4}), f64({4, 4}), s32()));
    for (const LoopResiduals& plan : program.memory_plan()) {
      EXPECT_EQ(plan.arrays, 1) << promised;
    }
    EXPECT_FALSE(program.memory_plan().empty());
    const auto plain = [&](Tensor x, Tensor w) { return f(x, w, Tensor(17)); };
    std::vector<double> weights(16);
    for (std::size_t k = 0; k < weights.size(); k++) weights[k] = std::sin(static_cast<double>(k));
    check_grads(plain, std::tuple(Literal::from(std::vector<double>{0.3, -0.8, 0.1, 0.6}, {4}),
                                  Literal::from(weights, {4, 4})));
  }
}

TEST(Residuals, TheIndexIsCountedAgain) {
  for (const LoopKind kind : {LoopKind::kFori, LoopKind::kScan}) {
    const auto f = [&](Tensor x) {
      return run_loop(
          kind, {kLength},
          [](Tensor i, Tensor c) { return c * sin(convert(i * i + 1, DType::kF64)); }, x);
    };
    EXPECT_EQ(stacked(compile(trace(grad(f), f64()))), 0) << name_of(kind);
  }
}

TEST(Residuals, ARowThatTheScanReturnsAnywayIsNotStackedTwice) {
  const auto f = [](Tensor c, Tensor xs) {
    const auto [last, ys] = scan(
        [](Tensor c, Tensor x) {
          const Tensor next = tanh(c + x);
          return std::pair(next, next);
        },
        c, xs);
    return sum(last) + sum(ys * ys);
  };
  EXPECT_EQ(stacked(compile(trace(grad<0, 1>(f), f64({4}), f64({kLength, 4})))), 1);
}

TEST(Residuals, WhatHasNoDerivativeKeepsNothing) {
  EXPECT_EQ(stacked(gradient_of<0>([](Tensor c, Tensor x, Tensor) {
              return c + stop_gradient(sin(c)) + floor(x) + sign(c);
            })),
            0);
}

TEST(Residuals, AChoiceKeepsItsPredicate) {
  const Executable program =
      gradient_of<0>([](Tensor c, Tensor x, Tensor) { return where(c > x, c * 2, c + x); });
  EXPECT_EQ(stacked(program), 1);
  // A byte per element, or eight if the carry is kept instead.
  ASSERT_EQ(program.memory_plan().size(), 1u);
  EXPECT_EQ(program.memory_plan()[0].bytes, kLength * 4);
}

TEST(Residuals, ACheckpointedBodyKeepsItsArguments) {
  EXPECT_EQ(stacked(gradient_of<0, 1, 2>([](Tensor c, Tensor x, Tensor w) {
              return checkpoint([&](Tensor c) {
                const Tensor h = tanh(dot(w, c) + x);
                return h * exp(dot(w, h)) + sin(dot(w, sin(h)));
              })(c);
            })),
            1);
}

// ---- memory_plan ----

LoopResiduals only_loop(const Executable& program) {
  const std::vector<LoopResiduals> plan = program.memory_plan();
  EXPECT_EQ(plan.size(), 1u);
  return plan.empty() ? LoopResiduals() : plan[0];
}

Function sines(LoopKind kind, Checkpoint policy, int known, int promised = 1000) {
  const auto f = [=](Tensor x, Tensor n) {
    return sum(run_loop(
        kind, {.known = known, .given = n, .promised = promised},
        [](Tensor, Tensor x) { return sin(x); }, x, policy));
  };
  return trace(grad(f), f64({100}), s32());
}

TEST(MemoryPlan, OfATape) {
  for (const LoopKind kind : {LoopKind::kScan, LoopKind::kFori}) {
    const LoopResiduals plan = only_loop(compile(sines(kind, {}, 50)));
    EXPECT_EQ(plan.loop, name_of(kind));
    EXPECT_EQ(plan.policy, Checkpoint::tape());
    EXPECT_EQ(plan.arrays, 1);
    EXPECT_EQ(plan.bytes, 50 * 800);
  }
  const LoopResiduals plan = only_loop(compile(sines(LoopKind::kPromisedWhile, {}, 0, 70)));
  EXPECT_EQ(plan.loop, "PromisedWhile");
  EXPECT_EQ(plan.policy, Checkpoint::tape());
  EXPECT_EQ(plan.bytes, 70 * 800);
}

TEST(MemoryPlan, OfSlots) {
  // After a growing tape, which is counted for one trip.
  const std::vector<LoopResiduals> both = compile(sines(LoopKind::kWhile, {}, 0)).memory_plan();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].policy, Checkpoint::tape());
  EXPECT_EQ(both[0].bytes, 800);
  const LoopResiduals& plan = both[1];
  EXPECT_EQ(plan.policy.policy, Checkpoint::Policy::kOnline);
  EXPECT_EQ(plan.arrays, 1);
  EXPECT_EQ(plan.bytes, (plan.policy.slots + 1) * 800);
  const LoopResiduals few = only_loop(compile(sines(LoopKind::kWhile, Checkpoint::online(7), 0)));
  EXPECT_EQ(few.policy, Checkpoint::online(7));
  EXPECT_EQ(few.bytes, 8 * 800);
  const LoopResiduals known = only_loop(compile(sines(LoopKind::kFori, Checkpoint::revolve(3), 9)));
  EXPECT_EQ(known.policy, Checkpoint::revolve(3));
  EXPECT_EQ(known.bytes, 4 * 800);
}

TEST(MemoryPlan, AutomaticTakesSlotsWhereATapeWouldBeLarge) {
  const LoopResiduals plan =
      only_loop(compile(sines(LoopKind::kPromisedWhile, {}, 0, 1'000'000'000)));
  EXPECT_EQ(plan.policy.policy, Checkpoint::Policy::kOnline);
  EXPECT_LE(plan.bytes, 1'000'000);
  const LoopResiduals known = only_loop(compile(sines(LoopKind::kScan, {}, 1'000'000)));
  EXPECT_NE(known.policy, Checkpoint::tape());
  EXPECT_LE(known.bytes, 1'000'000);
}

TEST(MemoryPlan, IsEmptyWithoutReverseMode) {
  const auto f = [](Tensor x) {
    return run_loop(
        LoopKind::kScan, {5}, [](Tensor, Tensor x) { return sin(x); }, x);
  };
  EXPECT_TRUE(compile(trace(f, f64())).memory_plan().empty());
  const auto along = [&](Tensor x) { return jvp(f, std::tuple(x), std::tuple(x)).second; };
  EXPECT_TRUE(compile(trace(along, f64())).memory_plan().empty());
}

}  // namespace
}  // namespace rondo::testing
