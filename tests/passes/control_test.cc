#include "passes/control.h"

#include "control_flow/fori.h"
#include "control_flow/while.h"
#include "passes/check.h"

namespace rondo::testing {
namespace {

TEST(Decide, AConditionalWithAKnownPredicateIsItsBranch) {
  for (const bool p : {false, true}) {
    const Function f = trace(
        [&](Tensor x) {
          return cond(
              Tensor(p) & Tensor(true), [](Tensor x) { return std::tuple(sin(x), x); },
              [](Tensor x) { return std::tuple(x, cos(x)); }, x);
        },
        f32());
    const Function g = expect_same_results(f, {Literal::scalar(0.5f)});
    EXPECT_EQ(count(g, "conditional"), 0);
    EXPECT_EQ(count(g, "sin"), p ? 1 : 0);
    EXPECT_EQ(count(g, "cos"), p ? 0 : 1);
  }
}

TEST(Decide, ASwitchWithAKnownIndex) {
  for (const int index : {-7, 0, 1, 2, 9}) {
    const Function f = trace(
        [&](Tensor x) {
          return switch_case(
              Tensor(index),
              std::tuple([](Tensor x) { return x + 1.0f; }, [](Tensor x) { return x * 2.0f; },
                         [](Tensor x) { return exp(x); }),
              x);
        },
        f32());
    const Function g = expect_same_results(f, {Literal::scalar(0.5f)});
    EXPECT_EQ(count(g, "conditional"), 0);
    EXPECT_EQ(count_computed(g), 1);
  }
}

TEST(Decide, AConditionalThatFollowsFromAnOuterOne) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 3,
            [](Tensor, Tensor s, Tensor flag) {
              return std::tuple(
                  cond(
                      flag, [](Tensor s) { return s * 2.0f; }, [](Tensor s) { return sin(s); }, s),
                  flag);
            },
            std::tuple(x, Tensor(true)));
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(0.5f)});
  EXPECT_EQ(count(g, "conditional"), 0);
  EXPECT_EQ(count(g, "sin"), 0);
}

TEST(Decide, LoopsWithoutTripsAreTheirInits) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor a = fori_loop(
            3, 3, [](Tensor, Tensor s) { return sin(s); }, x);
        const Tensor b = fori_loop(
            5, 2, [](Tensor, Tensor s) { return sin(s); }, x + 1.0f);
        const auto [c, ys] =
            scan([](Tensor s) { return std::pair(sin(s), s); }, a, std::tuple<>{}, {.length = 0});
        const auto [i, d] = while_loop([](Tensor i, Tensor s) { return (i * 2 < 7) & (s == s); },
                                       [](Tensor i, Tensor s) { return std::tuple(i + 1, sin(s)); },
                                       std::tuple(Tensor(4), x));
        const auto [j, e] = while_loop([](Tensor i, Tensor) { return i * 2 < 7; },
                                       [](Tensor i, Tensor s) { return std::tuple(i + 1, exp(s)); },
                                       std::tuple(Tensor(4), x));
        return std::tuple(b, c, ys, d, e);
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(0.5f)});
  EXPECT_EQ(count(g, "fori_loop") + count(g, "scan") + count(g, "exp"), 0);
  EXPECT_EQ(count(g, "while"), 1);  // whether s == s is unknown
}

TEST(Decide, ATapInAConditionThatIsFalseAtOnce) {
  const Function f = trace(
      [](Tensor x) {
        return std::get<1>(while_loop([](Tensor i, Tensor) { return tap(i, "i") < 0; },
                                      [](Tensor i, Tensor s) { return std::tuple(i, sin(s)); },
                                      std::tuple(Tensor(1), x)));
      },
      f32());
  int seen = 0;
  RunOptions options;
  options.on_tap = [&](std::string_view, const Literal&) { seen++; };
  compile(f).run({Literal::scalar(1.0f)}, options);
  EXPECT_EQ(seen, 1);
}

TEST(Decide, ATapInTheBranchThatIsTaken) {
  const Function f = trace(
      [](Tensor x) {
        return std::get<0>(cond(
            Tensor(true), [](Tensor x) { return std::tuple(x, tap(x, "x")); },
            [](Tensor x) { return std::tuple(x, x); }, x));
      },
      f32());
  int seen = 0;
  RunOptions options;
  options.on_tap = [&](std::string_view, const Literal&) { seen++; };
  compile(f).run({Literal::scalar(1.0f)}, options);
  EXPECT_EQ(seen, 1);
}

/// The number of trips of a plain C++ loop of the type; nullopt beyond a million.
template <class T, class Test>
std::optional<std::int64_t> trips_of_plain_loop(T i, Test test, T step) {
  for (std::int64_t trips = 0; trips < 1000000; trips++) {
    if (!test(i)) return trips;
    i = static_cast<T>(static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(step));
  }
  return std::nullopt;
}

// Every start, bound and step of 8 bits would take long; these include all the edges.
template <class T>
void check_counters() {
  using L = std::numeric_limits<T>;
  const std::vector<T> edges{
      L::min(), static_cast<T>(L::min() + 1), 0,  1, 2, 7, static_cast<T>(L::max() - 1),
      L::max(), static_cast<T>(-3),           100};
  const std::vector<T> steps{0, 1, 2, 3, static_cast<T>(-1), static_cast<T>(-2), 50, L::max()};
  int known = 0;
  for (T start : edges) {
    for (T bound : edges) {
      for (T step : steps) {
        for (int kind = 0; kind < 6; kind++) {
          auto test = [&](const auto& i, const auto& limit) {
            switch (kind) {
              case 0:
                return i < limit;
              case 1:
                return i <= limit;
              case 2:
                return i > limit;
              case 3:
                return i >= limit;
              case 4:
                return i != limit;
              default:
                return i == limit;
            }
          };
          const Tensor init = constant(Literal::scalar(start)),
                       limit = constant(Literal::scalar(bound)),
                       by = constant(Literal::scalar(step));
          const bool swapped = (start ^ bound) & 1;  // step + i as well
          const Function f = trace(
              [&](Tensor x) {
                return std::get<1>(while_loop([&](Tensor i, Tensor) { return test(i, limit); },
                                              [&](Tensor i, Tensor s) {
                                                return std::tuple(swapped ? by + i : i + by,
                                                                  s * 2.0f);
                                              },
                                              std::tuple(init, x)));
              },
              f32());
          const auto wanted = trips_of_plain_loop<T>(
              start, [&](T i) { return test(i, bound); }, step);
          const Function g = passes::count_trips(f);
          const auto counted =
              find_node(g, "while")->attrs<control_flow::WhileAttributes>().trip_count;
          if (!counted) continue;  // never wrong, but may be unknown: for counters that wrap
          known++;
          EXPECT_EQ(counted, wanted)
              << +start << " step " << +step << " bound " << +bound << " kind " << kind;
        }
      }
    }
  }
  EXPECT_GT(known, 1000);
}

TEST(CountTrips, AsAPlainLoopOfSignedCounters) { check_counters<std::int8_t>(); }
TEST(CountTrips, AsAPlainLoopOfUnsignedCounters) { check_counters<std::uint8_t>(); }

TEST(CountTrips, OfWideCounters) {
  auto trips = [](auto start, auto bound, auto step) {
    const Function f = trace(
        [&](Tensor x) {
          return std::get<1>(
              while_loop([&](Tensor i, Tensor) { return constant(Literal::scalar(bound)) > i; },
                         [&](Tensor i, Tensor s) {
                           return std::tuple(i - constant(Literal::scalar(step)), s * 2.0f);
                         },
                         std::tuple(constant(Literal::scalar(start)), x)));
        },
        f32());
    return find_node(passes::optimize(f), "while")
        ->attrs<control_flow::WhileAttributes>()
        .trip_count;
  };
  EXPECT_EQ(trips(std::int64_t{0}, std::int64_t{10}, std::int64_t{-3}), 4);
  EXPECT_EQ(trips(std::int32_t{-5}, std::int32_t{2000000000}, std::int32_t{-1}), 2000000005);
  EXPECT_EQ(trips(std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}),
            std::nullopt);  // 2^64 - 1
  EXPECT_EQ(trips(std::int32_t{0}, std::int32_t{10}, std::int32_t{3}),
            std::nullopt);  // down, until it wraps
}

TEST(CountTrips, NotOfOtherLoops) {
  const Function f = trace(
      [](Tensor x, Tensor n) {
        const auto a = while_loop([&](Tensor i, Tensor) { return i < n; },
                                  [](Tensor i, Tensor s) { return std::tuple(i + 1, s); },
                                  std::tuple(Tensor(0), x));
        const auto b = while_loop([](Tensor i, Tensor) { return i < 10; },
                                  [](Tensor i, Tensor s) { return std::tuple(i * 2, s); },
                                  std::tuple(Tensor(1), x));
        const auto c = while_loop([](Tensor i, Tensor s) { return (i < 10) & (s < 3.0f); },
                                  [](Tensor i, Tensor s) { return std::tuple(i + 1, s); },
                                  std::tuple(Tensor(1), x));
        const auto d = while_loop([](Tensor i, Tensor) { return i < 10; },
                                  [](Tensor i, Tensor j) { return std::tuple(j + 1, i); },
                                  std::tuple(Tensor(1), n));
        return std::tuple(std::get<0>(a), std::get<0>(b), std::get<0>(c), std::get<0>(d));
      },
      f32(), s32());
  const Function g = passes::optimize(f);
  for (const ir::Node* node : g.body()) {
    if (node->op->name == "while") {
      EXPECT_FALSE(node->attrs<control_flow::WhileAttributes>().trip_count);
    }
  }
}

TEST(CountTrips, OfAForiWhoseBoundsBecomeConstants) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(Tensor(1) + 1, Tensor(3) * 4, [](Tensor, Tensor s) { return s * 2.0f; }, x,
                         {.step = 3});
      },
      f32());
  EXPECT_FALSE(find_node(f, "fori_loop")->attrs<control_flow::ForiAttributes>().trip_count);
  const Function g = expect_same_results(f, {Literal::scalar(1.0f)});
  EXPECT_EQ(find_node(g, "fori_loop")->attrs<control_flow::ForiAttributes>().trip_count, 4);
}

}  // namespace
}  // namespace rondo::testing
