// while_loop against the equivalent plain C++ loops.
#include <chrono>
#include <numeric>

#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_error;
using testing::expect_scalar;
using testing::expect_values;

struct House {
  Tensor step, slab, tank;
};

TEST(While, CountsDownAndUp) {
  auto [i, x] =
      while_loop([](Tensor i, Tensor) { return i > 0; },
                 [](Tensor i, Tensor x) { return std::tuple(i - 1, x + 1); }, std::tuple(10, 3));
  expect_scalar(i, 0);
  expect_scalar(x, 13);
}

TEST(While, PlainCxxLoopUnrollsInTheTrace) {
  auto f = [](Tensor x) {
    for (int i = 0; i < 50; i++) x += 1;
    return x;
  };
  expect_scalar(jit(f)(1), 51);
  EXPECT_EQ(trace(f, s32()).stats().loops, 0);
}

TEST(While, ComparesElements) {
  const Tensor limit = constant({10});
  auto [x, last] = while_loop([](Tensor x, Tensor limit) { return limit[0] >= x[0]; },
                              [](Tensor x, Tensor limit) { return std::tuple(x + 1, limit); },
                              std::tuple(constant({0}), limit));
  expect_values<int>(x, {1}, {11});
  expect_values<int>(last, {1}, {10});
}

TEST(While, ConditionReduces) {
  std::vector<float> start(12);
  std::iota(start.begin(), start.end(), 0.0f);
  auto [iter, x] = while_loop([](Tensor iter, Tensor) { return sum(iter) < 10; },
                              [](Tensor iter, Tensor x) { return std::tuple(iter + 1, sin(x)); },
                              std::tuple(zeros(f32({1})), constant(start, {3, 4})));
  for (float& v : start) {
    for (int k = 0; k < 10; k++) v = std::sin(v);
  }
  expect_values<float>(iter, {1}, {10});
  testing::expect_close<float>(x, {3, 4}, start, 1e-5);
}

TEST(While, CxxIntAsCarry) {
  const Tensor x = ones(f32({3, 4}));
  auto [i, y] =
      while_loop([&](Tensor i, Tensor) { return 2 * i < static_cast<int>(x.dim(0)); },
                 [](Tensor i, Tensor x) { return std::tuple(i + 1, x + convert(i, DType::kF32)); },
                 std::tuple(0, x));
  expect_scalar(i, 2);
  expect_values<float>(y, {3, 4}, std::vector<float>(12, 2.0f));
}

TEST(While, InsideATracedFunctionBesideOtherOps) {
  auto f = [](Tensor x) {
    auto [i, y] =
        while_loop([](Tensor i, Tensor) { return i < 4; },
                   [](Tensor i, Tensor y) { return std::tuple(i + 1, y * 2); }, std::tuple(0, x));
    return std::pair(y, y * y);
  };
  auto [y, squared] = jit(f)(2);
  expect_scalar(y, 32);
  expect_scalar(squared, 1024);
}

TEST(While, NestedTriangle) {
  auto triangle = jit([](Tensor n) {
    return std::get<1>(while_loop(
        [&](Tensor i, Tensor) { return i < n; },
        [](Tensor i, Tensor acc) {
          auto [j, inner] = while_loop(
              [&](Tensor j, Tensor) { return j <= i; },
              [](Tensor j, Tensor acc) { return std::tuple(j + 1, acc + 1); }, std::tuple(0, acc));
          return std::tuple(i + 1, inner);
        },
        std::tuple(0, 0)));
  });
  expect_scalar(triangle(2), 3);
  expect_scalar(triangle(3), 6);
  expect_scalar(triangle(4), 10);
}

TEST(While, StructWithUntouchedField) {
  struct Search {
    Tensor x, count, limit;
  };
  Search end = while_loop([](Search s) { return s.x < s.limit; },
                          [](Search s) {
                            return Search{s.x + 1, s.count + 1, s.limit};
                          },
                          Search{2, 0, 10});
  expect_scalar(end.count, 8);
}

TEST(While, RotatesManyCarries) {
  std::vector<Tensor> init;
  for (int i = 0; i < 256; i++) init.push_back(i);
  struct State {
    Tensor trip;
    std::vector<Tensor> ring;
  };
  State end = while_loop([](State s) { return s.trip < 3; },
                         [](State s) {
                           std::rotate(s.ring.begin(), s.ring.begin() + 1, s.ring.end());
                           return State{s.trip + 1, s.ring};
                         },
                         State{0, init});
  for (int i = 0; i < 256; i++) expect_scalar(end.ring[static_cast<std::size_t>(i)], (i + 3) % 256);
}

TEST(While, SwapsTwoCarries) {
  auto [i, a, b] = while_loop([](Tensor i, Tensor, Tensor) { return i < 3; },
                              [](Tensor i, Tensor a, Tensor b) { return std::tuple(i + 1, b, a); },
                              std::tuple(0, constant({1, 2}), constant({3, 4})));
  expect_values<int>(a, {2}, {3, 4});
  expect_values<int>(b, {2}, {1, 2});
}

TEST(While, OneCarryTwice) {
  auto [a, b] =
      while_loop([](Tensor a, Tensor) { return a < 100; },
                 [](Tensor a, Tensor b) { return std::tuple(a + b, a + b); }, std::tuple(1, 1));
  expect_scalar(a, 128);
  expect_scalar(b, 128);
}

TEST(While, ZeroTripsReturnInit) {
  const Tensor x = constant({1.5f, 2.5f});
  Tensor y = while_loop([](Tensor) { return false; }, [](Tensor x) { return x * 2; }, x);
  expect_values<float>(y, {2}, {1.5f, 2.5f});
}

TEST(While, NarrowCarriesStayNarrow) {
  Tensor x = while_loop([](Tensor x) { return x < 100; }, [](Tensor x) { return x + 7; },
                        convert(1, DType::kS16));
  EXPECT_EQ(x.type(), s16());
  expect_scalar(x, static_cast<std::int16_t>(106));
}

TEST(While, ScalarsReturnedByTheBodyTakeTheCarrysDtype) {
  House end = while_loop([](House h) { return h.step < 2; },
                         [](House h) {
                           return House{h.step + 1, 0.5, h.tank};
                         },
                         House{0, 20.0f, 1.0f});
  expect_scalar(end.slab, 0.5f);
}

TEST(While, CapturesByValueAndByReference) {
  auto f = jit([](Tensor a, Tensor b) {
    const Tensor twice = a * 2;
    return while_loop([&](Tensor x) { return x < b; }, [=](Tensor x) { return x + twice + a; },
                      0.0f);
  });
  float x = 0;
  while (x < 20.0f) x += 1.5f * 2 + 1.5f;
  expect_scalar(f(1.5f, 20.0f), x);
}

TEST(While, EmptyTupleIsACarry) {
  auto nothing = while_loop([](std::tuple<>) { return false; }, [](std::tuple<> s) { return s; },
                            std::tuple<>());
  static_assert(std::is_same_v<decltype(nothing), std::tuple<>>);
}

TEST(While, ReportsTripsPerLoop) {
  auto f = [](Tensor n) {
    return while_loop([&](Tensor x) { return x < n; },
                      [](Tensor x) {
                        return while_loop([](Tensor y) { return y % 3 != 0; },
                                          [](Tensor y) { return y + 1; }, x + 1, {.name = "inner"});
                      },
                      0, {.name = "outer"});
  };
  const Executable run = compile(trace(f, s32()), {.executor = Executor::kReference});
  expect_values<int>(run.run({Literal::scalar(9)})[0], {}, {9});
  const RunStats stats = run.stats();
  ASSERT_EQ(stats.loops.size(), 2u);
  EXPECT_EQ(stats.loops[0].name, "outer");
  EXPECT_EQ(stats.loops[0].trips, 3);
  EXPECT_EQ(stats.loops[1].name, "inner");
  EXPECT_EQ(stats.loops[1].trips, 6);
  EXPECT_GT(stats.op_evaluations, 9);
}

TEST(While, MaxTripCountIsAPromise) {
  auto f = [](Tensor n) {
    return while_loop([&](Tensor x) { return x < n; }, [](Tensor x) { return x + 1; }, 0,
                      {.max_trip_count = 5, .name = "promised"});
  };
  const Executable run = compile(trace(f, s32()));
  expect_values<int>(run.run({Literal::scalar(5)})[0], {}, {5});
  expect_error<ExecutionError>([&] { run.run({Literal::scalar(6)}); },
                               {"promised", "max_trip_count", "5 trips"});
}

// Errors.

TEST(WhileErrors, EveryChangedLeafIsListed) {
  expect_error(
      [] {
        while_loop([](House h) { return h.step < 20; },
                   [](House h) {
                     return House{h.step + 1, convert(h.slab, DType::kF64), reshape(h.tank, {1})};
                   },
                   House{0, 20.0f, 70.0f}, {.name = "house"});
      },
      {"while_loop 'house'", "carry.slab: f32[] goes in, f64[] comes out",
       "made by convert at while_test.cc:", "carry.tank: f32[] goes in, f32[1] comes out",
       "at while_test.cc:", "convert"});
}

TEST(WhileErrors, StructureOfAVectorCarry) {
  expect_error(
      [] {
        while_loop([](std::vector<Tensor> v) { return v[0] < 3; },
                   [](std::vector<Tensor> v) {
                     v.push_back(v[0]);
                     return v;
                   },
                   std::vector<Tensor>{1, 2});
      },
      {"structure: 2 leaves go in, 3 come out", "new: carry[2]"});
}

TEST(WhileErrors, ConditionMustBeAScalarPred) {
  expect_error(
      [] {
        while_loop([](Tensor x) { return x < 3; }, [](Tensor x) { return x; }, constant({1, 2}));
      },
      {"the condition of while_loop must be a scalar pred[], it is pred[2]", "compare",
       "while_test.cc:", "rondo::any"});
  expect_error([] { while_loop([](Tensor x) { return x; }, [](Tensor x) { return x; }, 1); },
               {"must be a scalar pred[], it is s32[]"});
}

TEST(WhileErrors, EscapedTensorNamesBothPlaces) {
  Tensor leaked;
  while_loop([](Tensor x) { return x < 3; },
             [&](Tensor x) {
               leaked = x * 2;
               return x + 1;
             },
             0, {.name = "first"});
  expect_error([&] { leaked.eval(); },
               {"escaped", "carry", "the body of while_loop 'first'", "while_test.cc:"});
  expect_error([&] { jit([&](Tensor y) { return y + leaked; })(1); },
               {"escaped", "the body of while_loop 'first'", "traced function"});
}

TEST(WhileErrors, EvalInsideATrace) {
  expect_error(
      [] {
        while_loop([](Tensor x) { return x < 3; },
                   [](Tensor x) { return x.item<int>() > 1 ? x + 1 : x + 2; }, 0);
      },
      {"eval inside a trace", "the body of while_loop", "rondo::cond"});
}

TEST(WhileErrors, LimitsNameTheLoopAndItsTrip) {
  const Executable run = compile(trace(
      [](Tensor x) {
        return while_loop([](Tensor x) { return x >= 0; }, [](Tensor x) { return x * 0.5f; }, x,
                          {.name = "endless"});
      },
      f32()));
  const std::vector<Literal> one{Literal::scalar(1.0f)};
  RunOptions limited;
  limited.max_iterations = 1000;
  expect_error<ExecutionError>(
      [&] { run.run(one, limited); },
      {"the loop 'endless'", "max_iterations = 1000", "trip 1001", "while_test.cc:"});
  RunOptions hurried;
  hurried.deadline = std::chrono::milliseconds(20);
  expect_error<ExecutionError>([&] { run.run(one, hurried); },
                               {"the loop 'endless'", "deadline of 0.02 s", "trip"});
  std::stop_source source;
  source.request_stop();
  RunOptions stopped;
  stopped.stop_token = source.get_token();
  expect_error<ExecutionError>([&] { run.run(one, stopped); },
                               {"stop token", "'endless'", "trip 1"});
}

}  // namespace
}  // namespace rondo
