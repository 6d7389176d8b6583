#include "passes/prune.h"

#include "passes/check.h"

namespace rondo::testing {
namespace {

TEST(Prune, DeadCarriesOfAWhileGoByAFixpoint) {
  // b and c only keep each other alive.
  const Function f = trace(
      [](Tensor x) {
        const auto [i, a, b, c] =
            while_loop([](Tensor i, Tensor, Tensor, Tensor) { return i < 5; },
                       [](Tensor i, Tensor a, Tensor b, Tensor c) {
                         return std::tuple(i + 1, a * 2.0f, exp(c) + b, sin(b) + a);
                       },
                       std::tuple(Tensor(0), x, x + 1.0f, x + 2.0f));
        return a;
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.5f)});
  EXPECT_EQ(find_node(g, "while")->types.size(), 2u);
  EXPECT_EQ(count(g, "exp"), 0);
  EXPECT_EQ(count(g, "sin"), 0);
  EXPECT_EQ(count(f, "exp"), 1);
}

TEST(Prune, WhatTheConditionNeedsStays) {
  const Function f = trace(
      [](Tensor x) {
        const auto [a, b] = while_loop(
            [](Tensor, Tensor b) { return b < 10.0f; },
            [](Tensor a, Tensor b) { return std::tuple(a + 1.0f, b + a); }, std::tuple(x, x));
        return a;
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f)});
  EXPECT_EQ(find_node(g, "while")->types.size(), 2u);
}

TEST(Prune, AnUntouchedCarryIsAnInvariantAndItsResultTheInit) {
  const Function f = trace(
      [](Tensor x, Tensor k) {
        const auto [i, y, same] =
            while_loop([](Tensor i, Tensor, Tensor) { return i < 3; },
                       [](Tensor i, Tensor y, Tensor k) { return std::tuple(i + 1, y * k, k); },
                       std::tuple(Tensor(0), x, k));
        return std::tuple(y, same);
      },
      f32(), f32());
  const Function g = expect_same_results(f, {Literal::scalar(2.0f), Literal::scalar(3.0f)});
  const ir::Node* loop = find_node(g, "while");
  EXPECT_EQ(loop->types.size(), 2u);
  EXPECT_EQ(loop->operands.size(), 3u);
  EXPECT_TRUE(g.outputs()[1].same_as(g.parameters()[1]));
}

TEST(Prune, ACarryThatStaysAConstantIsOne) {
  const Function f = trace(
      [](Tensor x) {
        const auto [y, zero] = fori_loop(
            0, 4, [](Tensor, Tensor y, Tensor zero) { return std::tuple(y + zero, Tensor(2.0f)); },
            std::tuple(x, Tensor(2.0f)));
        return std::tuple(y, zero);
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f)});
  EXPECT_EQ(find_node(g, "fori_loop")->types.size(), 1u);
  EXPECT_TRUE(ir::is_constant(g.outputs()[1].node()));
}

TEST(Prune, ACarryThatChangesIsNoConstant) {
  const Function f = trace(
      [](Tensor x) {
        const auto [y, two] = fori_loop(
            0, 4, [](Tensor, Tensor y, Tensor two) { return std::tuple(y + two, Tensor(2.0f)); },
            std::tuple(x, Tensor(-3.0f)));
        return std::tuple(y, two);
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f)});
  EXPECT_EQ(find_node(g, "fori_loop")->types.size(), 2u);
}

TEST(Prune, CarriesThatAreAlwaysEqualAreOne) {
  const Function f = trace(
      [](Tensor x) {
        const auto [a, b] = fori_loop(
            0, 4,
            [](Tensor i, Tensor a, Tensor b) {
              const Tensor next = a * b + convert(i, DType::kF32);
              return std::tuple(next, next);
            },
            std::tuple(x, x));
        return a - b * 2.0f;
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(0.5f)});
  EXPECT_EQ(find_node(g, "fori_loop")->types.size(), 1u);
}

TEST(Prune, DeadPartsOfAScan) {
  const Function f = trace(
      [](Tensor init, Tensor xs, Tensor unused_xs, Tensor k) {
        const auto [carry, ys] = scan(
            [&](std::tuple<Tensor, Tensor> c, std::tuple<Tensor, Tensor> x) {
              const auto [a, b] = c;
              return std::pair(std::tuple(a + std::get<0>(x), b + cos(std::get<1>(x))),
                               std::tuple(a * 2.0f, sin(b) + std::get<1>(x), k * 3.0f));
            },
            std::tuple(init, init), std::tuple(xs, unused_xs));
        return std::tuple(std::get<0>(carry), std::get<0>(ys));
      },
      f32(), f32({4}), f32({4}), f32());
  const std::vector<Literal> arguments{
      Literal::scalar(1.0f), Literal::from({1.0f, 2.0f, 3.0f, 4.0f}, {4}),
      Literal::from({5.0f, 6.0f, 7.0f, 8.0f}, {4}), Literal::scalar(2.0f)};
  const Function g = expect_same_results(f, arguments);
  const ir::Node* loop = find_node(g, "scan");
  EXPECT_EQ(loop->operands.size(), 2u);  // a carry and the used xs
  EXPECT_EQ(loop->types.size(), 2u);     // its last value and the y
  EXPECT_EQ(count(g, "cos") + count(g, "sin"), 0);
}

TEST(Prune, YsThatAreXsAreTheArray) {
  for (const bool reverse : {false, true}) {
    const Function f = trace(
        [&](Tensor init, Tensor xs) {
          const auto [carry, ys] =
              scan([](Tensor c, Tensor x) { return std::pair(c + x, std::tuple(x, c, c)); }, init,
                   xs, {.reverse = reverse});
          return std::tuple(carry, ys);
        },
        f32(), f32({3}));
    const Function g =
        expect_same_results(f, {Literal::scalar(1.0f), Literal::from({1.0f, 2.0f, 4.0f}, {3})});
    EXPECT_EQ(find_node(g, "scan")->types.size(),
              2u);  // the carry, and one y for the two that are equal
    EXPECT_TRUE(g.outputs()[1].same_as(g.parameters()[1]));
    EXPECT_TRUE(g.outputs()[2].same_as(g.outputs()[3]));
  }
}

TEST(Prune, DeadCarriesAndEqualInvariantsOfAFori) {
  const Function f = trace(
      [](Tensor x, Tensor k, Tensor n) {
        const auto [a, b] = fori_loop(
            0, n, [&](Tensor, Tensor a, Tensor b) { return std::tuple(a * k, b + tan(k)); },
            std::tuple(x, x));
        return a;
      },
      f32(), f32(), s32());
  const Function g =
      expect_same_results(f, {Literal::scalar(1.0f), Literal::scalar(3.0f), Literal::scalar(4)});
  const ir::Node* loop = find_node(g, "fori_loop");
  EXPECT_EQ(loop->types.size(), 1u);
  EXPECT_EQ(loop->operands.size(), 4u);  // bounds, a, k
  EXPECT_EQ(count(g, "tan"), 0);
}

TEST(Prune, UnusedResultsAndArgumentsOfAConditional) {
  const Function f = trace(
      [](Tensor p, Tensor x, Tensor y, Tensor unused) {
        const auto [a, b, c, d] = cond(
            p,
            [](Tensor x, Tensor y, Tensor u) { return std::tuple(x + y, sin(u), y, Tensor(4.0f)); },
            [](Tensor x, Tensor y, Tensor u) { return std::tuple(x - y, cos(u), y, Tensor(4.0f)); },
            x, y, unused);
        return std::tuple(a, c, d);
      },
      pred(), f32(), f32(), f32());
  for (const bool p : {false, true}) {
    const Function g = expect_same_results(f, {Literal::scalar(p), Literal::scalar(1.0f),
                                               Literal::scalar(2.0f), Literal::scalar(3.0f)});
    const ir::Node* branch = find_node(g, "conditional");
    EXPECT_EQ(branch->types.size(), 1u);
    EXPECT_EQ(branch->operands.size(), 3u);
    EXPECT_TRUE(g.outputs()[1].same_as(g.parameters()[2]));
    EXPECT_TRUE(ir::is_constant(g.outputs()[2].node()));
  }
}

TEST(Prune, ADeadOuterCarryTakesTheInnerLoopWithIt) {
  const Function f = trace(
      [](Tensor x) {
        const auto [a, b] = fori_loop(
            0, 3,
            [](Tensor, Tensor a, Tensor b) {
              const Tensor inner = while_loop([](Tensor s) { return s < 100.0f; },
                                              [](Tensor s) { return s * 2.0f; }, b);
              return std::tuple(a + 1.0f, inner);
            },
            std::tuple(x, x));
        return a;
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f)});
  EXPECT_EQ(count(g, "while"), 0);
}

TEST(Prune, AnInnerDeadResultFreesTheOuterCarry) {
  // The outer carry b feeds only a dead carry of the inner loop.
  const Function f = trace(
      [](Tensor x) {
        const auto [a, b] = fori_loop(
            0, 3,
            [](Tensor, Tensor a, Tensor b) {
              const auto [s, t] = while_loop(
                  [](Tensor s, Tensor) { return s < 100.0f; },
                  [](Tensor s, Tensor t) { return std::tuple(s * 2.0f, t + s); }, std::tuple(a, b));
              return std::tuple(s + 1.0f, b + 1.0f);
            },
            std::tuple(x, x));
        return a;
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f)});
  EXPECT_EQ(find_node(g, "fori_loop")->types.size(), 1u);
  EXPECT_EQ(find_node(find_node(g, "fori_loop")->regions[0], "while")->types.size(), 1u);
}

TEST(Prune, NothingGoesThatATapWatches) {
  // The watched carry is dead except for the tap; so is its initial value.
  const Function f = trace(
      [](Tensor x) {
        const auto [a, watched] = fori_loop(
            0, 3,
            [](Tensor, Tensor a, Tensor w) { return std::tuple(a * 2.0f, tap(w + a, "inside")); },
            std::tuple(x, tap(x + 1.0f, "before")));
        return a;
      },
      f32());
  for (const bool optimize : {false, true}) {
    std::vector<std::string> seen;
    RunOptions options;
    options.on_tap = [&](std::string_view name, const Literal& value) {
      seen.push_back(std::string(name) + " " + value.str());
    };
    compile(f, {.optimize = optimize}).run({Literal::scalar(1.0f)}, options);
    EXPECT_EQ(seen, (std::vector<std::string>{"before f32[] 2", "inside f32[] 3", "inside f32[] 5",
                                              "inside f32[] 9"}));
  }
}

TEST(Prune, ALoopWhoseResultsAreKnownStaysForItsTaps) {
  const Function f = trace(
      [](Tensor x) {
        const auto [i, same] = while_loop([](Tensor i, Tensor) { return tap(i, "i") < 2; },
                                          [](Tensor i, Tensor x) { return std::tuple(i + 1, x); },
                                          std::tuple(Tensor(0), x));
        return same;
      },
      f32());
  for (const bool optimize : {false, true}) {
    int seen = 0;
    RunOptions options;
    options.on_tap = [&](std::string_view, const Literal&) { seen++; };
    compile(f, {.optimize = optimize}).run({Literal::scalar(1.0f)}, options);
    EXPECT_EQ(seen, 3);
  }
}

TEST(Prune, NamesPlacesAndCountsSurvive) {
  const Function f = trace(
      [](Tensor x) {
        const auto [i, a, b] = while_loop(
            [](Tensor i, Tensor, Tensor) { return i < 5; },
            [](Tensor i, Tensor a, Tensor b) { return std::tuple(i + 1, a * 2.0f, b + a); },
            std::tuple(Tensor(0), x, x), {.max_trip_count = 9, .name = "solve"});
        return a;
      },
      f32());
  const Function g = passes::optimize(f);
  const ir::Node *before = find_node(f, "while"), *after = find_node(g, "while");
  EXPECT_EQ(after->location().line, before->location().line);
  EXPECT_EQ(after->regions[1].name(), before->regions[1].name());
  EXPECT_EQ(after->regions[1].param_names(),
            (std::vector<std::string>{before->regions[1].param_names()[0],
                                      before->regions[1].param_names()[1]}));
  const Executable executable = compile(f);
  executable.run({Literal::scalar(1.0f)});
  ASSERT_EQ(executable.stats().loops.size(), 1u);
  EXPECT_EQ(executable.stats().loops[0].name, "solve");
  EXPECT_EQ(executable.stats().loops[0].trips, 5);
}

TEST(Prune, TheSameObjectWhereNothingChanges) {
  const Function f = trace(
      [](Tensor x, Tensor k) {
        return while_loop([&](Tensor s) { return s < k; }, [&](Tensor s) { return s * k + x; }, x);
      },
      f32(), f32());
  EXPECT_TRUE(passes::prune_function(f).same_as(f));
}

}  // namespace
}  // namespace rondo::testing
