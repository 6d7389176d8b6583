// Counted loops over single elements: they are vectorized over their trips where these do not wait
// for one another.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"
#include "executor/on_threads.h"
#include "rondo/rondo.h"
#include "support/far_limits.h"

namespace rondo {
namespace {

constexpr std::int64_t kElements = 1000, kSide = 40;

TensorType floats_of(Shape shape) { return {DType::kF32, std::move(shape)}; }

/// Numbers without order.
Literal mixed(const Shape& shape, unsigned seed = 1) {
  std::mt19937 bits(seed);
  Literal x = Literal::zeros({DType::kF32, shape});
  for (float& element : x.mutable_data<float>())
    element = static_cast<float>(static_cast<int>(bits() % 2000) - 1000) / 64.0f;
  return x;
}

struct ElementLoop {
  std::string name;
  std::function<Tensor(Tensor, Tensor)> body;  // of the index and the array
  std::int64_t lower = 0, upper = kElements;
};

Function with_body(const ElementLoop& loop) {
  return trace([&](Tensor x) { return fori_loop(loop.lower, loop.upper, loop.body, x); },
               floats_of({kElements}));
}

/// Loops whose trips touch elements of their own.
std::vector<ElementLoop> independent_loops() {
  const auto half = [](Tensor i) { return i / 2; };
  return {
      {"scale", [](Tensor i, Tensor x) { return update(x, i, x[i] * 2.0f + 1.0f); }},
      {"index", [](Tensor i, Tensor x) { return update(x, i, convert(i, DType::kF32)); }},
      {"from the middle", [](Tensor i, Tensor x) { return update(x, i, -x[i]); }, 300, 801},
      {"every third", [](Tensor i, Tensor x) { return update(x, 3 * i + 1, x[3 * i]); }, 0, 300},
      {"halves", [](Tensor i, Tensor x) { return update(x, i, x[i + 500] + x[i]); }, 0, 500},
      {"backwards",
       [](Tensor i, Tensor x) { return update(x, kElements - 1 - i, abs(x[999 - i])); }},
      // A trip stores what the ones before it have loaded.
      {"shift", [](Tensor i, Tensor x) { return update(x, i, x[i + 1]); }, 0, kElements - 1},
      {"sum of the next ones",
       [](Tensor i, Tensor x) {
         const auto add = [&](Tensor k, Tensor sum) { return sum + x[500 + i + k] * x[k + 500]; };
         return update(x, i, fori_loop(0, 5, add, Tensor(0.0f)));
       },
       0, 400},
      {"branch",
       [](Tensor i, Tensor x) {
         return cond(
             x[i] > 0.0f, [&] { return update(x, i, x[i] * 3.0f); }, [&] { return x; });
       }},
      {"branches",
       [half](Tensor i, Tensor x) {
         return cond(
             x[i] > 0.0f,
             [&] {
               return cond(
                   half(i) * 2 == i, [&] { return update(x, i, sqrt(x[i])); },
                   [&] { return update(x, i, x[i] + 1.0f); });
             },
             [&] { return update(x, i, Tensor(0.5f)); });
       }},
  };
}

/// Loops of which a trip touches what another one writes.
std::vector<ElementLoop> dependent_loops() {
  return {
      {"running sum", [](Tensor i, Tensor x) { return update(x, i, x[i - 1] + x[i]); }, 1,
       kElements},
      {"loaded after a store",
       [](Tensor i, Tensor x) {
         const Tensor stored = update(x, i, x[i] + 1.0f);
         return update(stored, i, stored[i + 1] * 0.5f);
       },
       0, kElements - 1},
      {"one element", [](Tensor i, Tensor x) { return update(x, 7, x[7] * 0.5f + x[i]); }},
      {"overlapping halves", [](Tensor i, Tensor x) { return update(x, i + 499, x[i]); }, 0, 501},
      {"scatter",
       [](Tensor i, Tensor x) {
         const Tensor to = convert(abs(x[i]), DType::kS32) % 10;
         return update(x, to, x[to] + 1.0f);
       }},
  };
}

TEST(ElementLoops, RunAsLanesWhereTripsAreIndependent) {
  for (const ElementLoop& loop : independent_loops()) {
    SCOPED_TRACE(loop.name);
    const Function f = with_body(loop);
    const testing::Lowered lowered(f);
    EXPECT_EQ(lowered.loops_by_trips(), 1) << lowered;
    testing::expect_agreement(f, {mixed({kElements})});
  }
}

TEST(ElementLoops, RunInOrderWhereTripsDependOnOneAnother) {
  for (const ElementLoop& loop : dependent_loops()) {
    SCOPED_TRACE(loop.name);
    const Function f = with_body(loop);
    const testing::Lowered lowered(f);
    EXPECT_EQ(lowered.loops_by_trips(), 0) << lowered;
    testing::expect_agreement(f, {mixed({kElements})});
  }
}

using Three = std::tuple<Tensor, Tensor, Tensor>;

/// The element that a branch reads may be none if the branch is not taken.
TEST(ElementLoops, ReadNothingInABranchThatIsNotTaken) {
  const auto body = [](Tensor seven, Tensor places) {
    const auto pick = [&](Tensor i, Tensor y) {
      const Tensor place = places[i];
      return cond(
          place >= 0, [&] { return update(y, i, seven[place % 7]); }, [&] { return y; });
    };
    return fori_loop(0, kElements, pick, zeros(floats_of({kElements})));
  };
  const Function f = trace(body, floats_of({7}), TensorType{DType::kS32, {kElements}});
  const testing::Lowered lowered(f);
  EXPECT_EQ(lowered.loops_by_trips(), 0) << lowered;
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < kElements; i++) places.push_back(i * 7919 % 200'000 - 100'000);
  testing::expect_agreement(f, {mixed({7}), Literal::from(places)});
}

/// A while that counts, with or without a promise.
TEST(ElementLoops, OfAWhileCountAndCheckItsPromise) {
  const auto halved = [](const WhileOptions& options) {
    return trace(
        [&](Tensor n, Tensor x) {
          using State = std::tuple<Tensor, Tensor>;
          const auto body = [](State state) {
            const auto [i, y] = state;
            return State(i + 1, update(y, i, y[i] * 0.5f));
          };
          const Tensor most = minimum(n, int{kElements});
          const auto goes_on = [&](State state) { return std::get<0>(state) < most; };
          return std::get<1>(while_loop(goes_on, body, State(Tensor(0), x), options));
        },
        TensorType{DType::kS32, {}}, floats_of({kElements}));
  };
  const testing::Lowered lowered(halved({}));
  EXPECT_EQ(lowered.loops_by_trips(), 1) << lowered;
  testing::expect_agreement(halved({}), {Literal::scalar(777), mixed({kElements})});
  const Function promised = halved({.max_trip_count = 100});
  testing::expect_agreement(promised, {Literal::scalar(100), mixed({kElements})});
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    EXPECT_THROW(
        compile(promised, {.executor = executor}).run({Literal::scalar(101), mixed({kElements})}),
        ExecutionError);
  }
}

TEST(ElementLoops, ReduceIntegersAndExtremesInAnyOrder) {
  const Function f = trace(
      [](Tensor x) {
        const auto body = [&](Tensor i, Three carry) {
          const auto [count, most, bits] = carry;
          const Tensor chosen = x[i] > 1.0f;
          return Three(where(chosen, count + 1, count), maximum(most, x[i]),
                       bits ^ bitcast_convert(x[i], DType::kS32));
        };
        return fori_loop(
            0, kElements, body,
            Three(Tensor(3), Tensor(-std::numeric_limits<float>::infinity()), Tensor(0x5a5a)));
      },
      floats_of({kElements}));
  const testing::Lowered lowered(f);
  EXPECT_EQ(lowered.loops_by_trips(), 1) << lowered;
  testing::expect_agreement(f, {mixed({kElements})});
}

TEST(ElementLoops, CarryWhatTheTripBeforeHasStored) {
  const std::vector<std::pair<ElementLoop, int>> loops = {
      {{"up", [](Tensor i, Tensor x) { return update(x, i, x[i - 1] * 0.5f + x[i]); }, 1,
        kElements},
       1},
      {{"down",
        [](Tensor i, Tensor x) { return update(x, 998 - i, x[999 - i] * 0.5f + x[998 - i]); }, 0,
        kElements - 1},
       1},
      {{"no trip", [](Tensor i, Tensor x) { return update(x, i, x[i - 1]); }, 7, 7}, 0},
      {{"from two trips before",
        [](Tensor i, Tensor x) { return update(x, i, x[i - 2] * 0.5f + x[i]); }, 2, kElements},
       2},
      {{"stored by another",
        [](Tensor i, Tensor x) {
          const Tensor stored = update(x, i, x[i - 1] + 1.0f);
          return update(stored, kElements - i, stored[i] * 0.5f);
        },
        1, kElements},
       2},
  };
  for (const auto& [loop, loads] : loops) {
    SCOPED_TRACE(loop.name);
    const Function f = with_body(loop);
    const testing::Lowered lowered(f);
    EXPECT_EQ(lowered.count_in_loops(lower::Opcode::kLoad), loads) << lowered;
    testing::expect_agreement(f, {mixed({kElements})});
  }
}

TEST(ElementLoops, AddFloatsInOrder) {
  const auto body = [](Tensor x) {
    return fori_loop(
        0, kElements, [&](Tensor i, Tensor sum) { return sum + x[i]; }, Tensor(0.0f));
  };
  const Function f = trace(body, floats_of({kElements}));
  EXPECT_EQ(testing::Lowered(f).loops_by_trips(), 0);
  testing::expect_agreement(f, {mixed({kElements})});
}

TEST(ElementLoops, KnowTheCountersThatTheyCarry) {
  const Function f = trace(
      [](Tensor x) {
        const auto body = [&](Tensor i, Three carry) {
          const auto [to, step, y] = carry;
          return Three(to - 2, step + 3, update(y, to, x[i] + convert(step, DType::kF32)));
        };
        return fori_loop(0, kElements / 2, body, Three(Tensor(int{kElements} - 1), Tensor(5), x));
      },
      floats_of({kElements}));
  const testing::Lowered lowered(f);
  EXPECT_EQ(lowered.loops_by_trips(), 1) << lowered;
  const Literal x = mixed({kElements});
  // Odd elements are written that later trips read, at half of their number.
  const std::vector<Literal> got = testing::expect_agreement(f, {x});
  EXPECT_EQ(got[0].item<int>(), -1);
  EXPECT_EQ(got[1].item<int>(), 5 + 3 * kElements / 2);
}

/// Both the loop that keeps what its derivative needs, and the one back over it.
TEST(ElementLoops, AreVectorizedInGradients) {
  const auto cubes = [](Tensor x) {
    const auto body = [&](Tensor i, Tensor y) { return update(y, i, x[i] * x[i] * y[i]); };
    return sum(fori_loop(0, kElements, body, x));
  };
  const Function f = trace([&](Tensor x) { return grad(cubes)(x); }, floats_of({kElements}));
  const testing::Lowered lowered(f);
  EXPECT_EQ(lowered.loops_by_trips(), 2) << lowered;
  const Literal x = mixed({kElements});
  const std::vector<Literal> got = testing::expect_agreement(f, {x});
  const auto from = x.data<float>(), slopes = got[0].data<float>();
  for (std::size_t i = 0; i < from.size(); i++)
    EXPECT_NEAR(slopes[i], 3 * from[i] * from[i], 1e-3) << from[i];
}

/// xs that follow from their indices are computed, not loaded.
TEST(ElementLoops, OfAScanOverIndicesKnowThem) {
  const auto gathered = [](Tensor x) {
    const auto body = [&](Tensor carry, Tensor i) { return std::pair(carry, x[i] * 2.0f); };
    return scan(body, Tensor(0), iota({DType::kS32, {kElements / 2}}, 0) * 2 + 1).second;
  };
  const Function f = trace(gathered, floats_of({kElements}));
  const testing::Lowered lowered(f);
  EXPECT_EQ(lowered.count_in_loops(lower::Opcode::kLoad), 1) << lowered;
  testing::expect_agreement(f, {mixed({kElements})});
}

/// Rows are loaded, although their elements follow from no index but are constants.
TEST(ElementLoops, OfAScanOverConstantRowsLoadThem) {
  const auto sums = [] {
    const Tensor rows = full({DType::kS32, {6, 4}}, 3) + full({DType::kS32, {6, 4}}, 4);
    const auto body = [](Tensor carry, Tensor row) { return std::pair(carry + sum(row), row * 2); };
    return scan(body, Tensor(0), rows);
  };
  const Function f = trace(sums);
  for (const bool optimize : {false, true}) {
    for (const Executor executor :
         {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
      const std::vector<Literal> got =
          compile(f, {.optimize = optimize, .executor = executor}).run({});
      EXPECT_EQ(got[0].item<int>(), 6 * 4 * 7);
      EXPECT_EQ(got[1].data<int>()[23], 14);
    }
  }
}

/// The innermost loop of an elimination: rows below the pivot's, columns after it.
TEST(ElementLoops, RunTheInnermostOfATriangularNest) {
  const auto eliminated = [](Tensor a) {
    const auto row = [](Tensor k, Tensor i, Tensor x) {
      const auto element = [&](Tensor j, Tensor m) {
        return update(m, {i, j}, m[i][j] - m[i][k] * m[k][j] * 0.01f);
      };
      return fori_loop(k + 1, kSide, element, x);
    };
    return fori_loop(
        0, kSide,
        [&](Tensor k, Tensor x) {
          return fori_loop(
              k + 1, kSide, [&](Tensor i, Tensor y) { return row(k, i, y); }, x);
        },
        a);
  };
  const Function f = trace(eliminated, floats_of({kSide, kSide}));
  const testing::Lowered lowered(f);
  EXPECT_EQ(lowered.loops_by_trips(), 1) << lowered;
  testing::expect_agreement(f, {mixed({kSide, kSide})});
}

TEST(ElementLoops, CountTheirTripsAndKeepLimits) {
  const Function f = with_body(independent_loops()[0]);
  const Literal x = mixed({kElements});
  const std::vector<Literal> want = compile(f, {.executor = Executor::kReference}).run({x});
  const testing::FarLimits limits;
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable program = compile(f, {.contract = false, .executor = executor});
    RunStats stats;
    program.run({x}, {.stats = &stats});
    ASSERT_EQ(stats.loops.size(), 1u);
    EXPECT_EQ(stats.loops[0].trips, kElements);
    for (unsigned kinds = 0; kinds <= testing::FarLimits::kAll; kinds++)
      testing::expect_equal(program.run({x}, limits.options(kinds))[0], want[0]);
    EXPECT_TRUE(program.run({x}, {.max_iterations = kElements})[0].identical(want[0]));
    EXPECT_THROW(program.run({x}, {.max_iterations = kElements - 1}), TooManyIterations);
  }
}

TEST(ElementLoops, CountTheTripsOfLoopsInTheirTrips) {
  const auto body = [](Tensor i, Tensor x) {
    const auto power = [&](Tensor, Tensor y) { return y * x[i]; };
    return update(x, i, fori_loop(0, 3, power, Tensor(1.0f), {.name = "inner"}));
  };
  const Function f =
      trace([&](Tensor x) { return fori_loop(0, kElements, body, x, {.name = "outer"}); },
            floats_of({kElements}));
  EXPECT_EQ(testing::Lowered(f).loops_by_trips(), 1);
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    RunStats stats;
    compile(f, {.executor = executor}).run({mixed({kElements})}, {.stats = &stats});
    ASSERT_EQ(stats.loops.size(), 2u);
    for (const auto& loop : stats.loops)
      EXPECT_EQ(loop.trips, loop.name == "outer" ? kElements : 3 * kElements) << loop.name;
  }
}

/// What is left of a run that a limit ends is what the loop had after so many trips.
TEST(ElementLoops, LeaveTheStateOfTheTripThatALimitEnded) {
  const auto body = [](Tensor i, std::tuple<Tensor, Tensor> carry) {
    const auto [x, counter] = carry;
    return std::tuple(update(x, i, x[i] * 2.0f), counter + 3);
  };
  const Function f =
      trace([&](Tensor x) { return fori_loop(0, 10'000, body, std::tuple(x, Tensor(1))); },
            floats_of({10'000}));
  const Literal x = mixed({10'000});
  const auto ended = [&](Executor executor, std::int64_t most) {
    try {
      compile(f, {.executor = executor}).run({x}, {.max_iterations = most});
    } catch (const TooManyIterations& error) {
      return error;
    }
    throw Error("the limit does not end the run");
  };
  for (const std::int64_t most : {0, 1, 5000}) {
    const TooManyIterations want = ended(Executor::kReference, most);
    for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
      const TooManyIterations got = ended(executor, most);
      EXPECT_EQ(got.trip(), want.trip());
      ASSERT_EQ(got.carry().size(), want.carry().size());
      for (std::size_t i = 0; i < want.carry().size(); i++)
        EXPECT_TRUE(got.carry()[i].second.identical(want.carry()[i].second)) << most << ", " << i;
    }
  }
}

TEST(ElementLoops, GiveTheSameOnSeveralThreads) {
  const auto body = [](Tensor i, std::tuple<Tensor, Tensor> carry) {
    const auto [x, count] = carry;
    return std::tuple(update(x, i, exp(sin(x[i]))), where(x[i] > 0.0f, count + 1, count));
  };
  constexpr std::int64_t kMany = 1 << 16;
  testing::expect_same_on_threads(
      trace([&](Tensor x) { return fori_loop(0, kMany, body, std::tuple(x, Tensor(0))); },
            floats_of({kMany})),
      {mixed({kMany})});
}

// Random loops.

class RandomLoop {
 public:
  using State = std::tuple<Tensor, Tensor, Tensor, Tensor>;
  static constexpr std::int64_t kSize = 64;

  explicit RandomLoop(unsigned seed) : bits_(seed) {}

  /// One or two nested loops over arrays x and y and counters, by random statements.
  Function make() {
    return trace(
        [&](Tensor x, Tensor y) {
          const bool nested = draw(2) == 0;
          const int lower = draw(4), upper = lower + draw(60);
          return fori_loop(
              lower, upper,
              [&](Tensor i, State state) {
                if (!nested) return trip(i, i, state);
                const Tensor first = draw(2) == 0 ? i + draw(3) : Tensor(draw(3));
                return fori_loop(
                    first, draw(2) == 0 ? Tensor(upper) : Tensor(draw(70)),
                    [&](Tensor j, State inner) { return trip(i, j, inner); }, state);
              },
              State(x, y, Tensor(draw(5)), Tensor(1)));
        },
        floats_of({kSize}), floats_of({kSize}));
  }

 private:
  int draw(int below) { return static_cast<int>(bits_() % static_cast<unsigned>(below)); }

  Tensor place(const Tensor& i, const Tensor& j, const Tensor& counter) {
    switch (draw(7)) {
      case 0:
        return j * 2 + draw(3);
      case 1:
        return 63 - j;
      case 2:
        return i + draw(4);
      case 3:
        return counter;
      case 4:
        return i + j;
      default:
        return j + (draw(5) - 2);
    }
  }

  State trip(const Tensor& i, const Tensor& j, State state) {
    auto [x, y, counter, sum] = state;
    const int statements = 1 + draw(3);
    for (int s = 0; s < statements; s++) {
      const Tensor value = (draw(2) == 0 ? x : y)[place(i, j, counter)];
      const Tensor to = place(i, j, counter);
      Tensor& target = draw(2) == 0 ? x : y;
      Tensor made = draw(3) == 0 ? value * 0.5f : value + target[to];
      if (draw(4) == 0) {
        const Tensor from = place(i, j, counter), array = draw(2) == 0 ? x : y;
        const auto add = [&](Tensor k, Tensor total) { return total + array[from + k] * 0.25f; };
        made = fori_loop(0, draw(5), add, made);
      }
      switch (draw(4)) {
        case 0:
          target = cond(
              value > 0.0f, [&] { return update(target, to, made); }, [&] { return target; });
          break;
        case 1:
          sum = draw(2) == 0 ? where(value > 1.0f, sum + j, sum) : sum + draw(9);
          break;
        default:
          target = update(target, to, made);
      }
    }
    return {x, y, draw(2) == 0 ? counter + (draw(5) - 2) : counter, sum};
  }

  std::mt19937 bits_;
};

TEST(ElementLoops, OfRandomStatementsAgreeOnAllExecutors) {
  const testing::FarLimits limits;
  std::ptrdiff_t vectorized = 0;
  for (unsigned seed = 0; seed < 300; seed++) {
    SCOPED_TRACE(seed);
    const Function f = RandomLoop(seed).make();
    const std::vector<Literal> arguments{mixed({64}, seed), mixed({64}, seed + 1)};
    const std::vector<Literal> want = compile(f, {.executor = Executor::kReference}).run(arguments);
    for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
      const Executable program = compile(f, {.contract = false, .executor = executor});
      const std::vector<Literal> got = program.run(arguments);
      const std::vector<Literal> limited =
          program.run(arguments, limits.options(testing::FarLimits::kAll));
      for (std::size_t i = 0; i < want.size(); i++) {
        ASSERT_TRUE(got[i].identical(want[i])) << testing::Lowered(f);
        ASSERT_TRUE(limited[i].identical(want[i])) << testing::Lowered(f);
      }
    }
    vectorized += testing::Lowered(f).loops_by_trips();
  }
  // Else the generator no longer makes what it is for.
  EXPECT_GE(vectorized, 50);
}

}  // namespace
}  // namespace rondo
