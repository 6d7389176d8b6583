// compile, run, jit, lazy tensors, eager evaluation.
#include <thread>

#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_error;
using testing::expect_scalar;
using testing::expect_values;

struct Point {
  Tensor x, y;
};

TEST(Run, ArgumentsAreChecked) {
  const Executable run =
      compile(trace([](Point p, Tensor k) { return p.x * k + p.y; }, Point{1.0f, 2.0f}, f32()));
  const Literal one = Literal::scalar(1.0f);
  expect_values<float>(run.run({one, one, one})[0], {}, {2});
  expect_error<ExecutionError>(
      [&] {
        run.run({one, one});
      },
      {"number of arguments is 2", "takes 3 (f32[], f32[], f32[])"});
  expect_error<ExecutionError>(
      [&] {
        run.run({one, Literal::scalar(1), one});
      },
      {"argument 1 ('arg0.y') is s32[]", "takes f32[]"});
  expect_error<ExecutionError>(
      [&] {
        run.run({one, one, Literal::zeros(f32({2}))});
      },
      {"argument 2 ('arg1') is f32[2]"});
  expect_error<ExecutionError>([] { Executable().run(std::vector<Literal>{}); },
                               {"empty", "compile"});
}

TEST(Run, LimitsBelowZeroAreRefused) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 3, [](Tensor, Tensor s) { return s + 1; }, x);
      },
      f32());
  const Executable program = compile(f);
  const auto refused = [&](const RunOptions& options, const std::vector<std::string>& parts) {
    expect_error<ExecutionError>([&] { program.run({Literal::scalar(1.0f)}, options); }, parts);
    const float x = 1;
    float result = 0;
    const std::byte* from = reinterpret_cast<const std::byte*>(&x);
    std::byte* to = reinterpret_cast<std::byte*>(&result);
    expect_error<ExecutionError>([&] { program.run_on_memory(&from, &to, options); }, parts);
    expect_error<ExecutionError>(
        [&] {
          const RunScope scope(options);
          program.run({Literal::scalar(1.0f)});
        },
        parts);
  };
  refused({.max_iterations = -1}, {"RunOptions::max_iterations is -1", "Give 0 or more"});
  refused({.threads = -1}, {"RunOptions::threads is -1", "Give 1 or more"});
  // 0 trips are a valid limit.
  expect_error<TooManyIterations>(
      [&] { program.run({Literal::scalar(1.0f)}, {.max_iterations = 0}); }, {"max_iterations = 0"});
  expect_error<ExecutionError>([&] { (void)compile(f, {.memory_limit = -1}); },
                               {"CompileOptions::memory_limit is -1", "0 or more"});
  expect_error<ExecutionError>([&] { (void)compile(f, {.memory_limit = 0}); },
                               {"memory_limit is 0", "for its results"});
  const Function without_results = trace([](Tensor) { return std::vector<Tensor>(); }, f32());
  EXPECT_NO_THROW((void)compile(without_results, {.memory_limit = 0}));
}

TEST(Run, ArgumentsStayAsTheyWere) {
  const Literal x = Literal::from<int>({1, 2, 3}, {3});
  const Executable run = compile(trace([](Tensor x) { return update(x, 0, 9) + 1; }, s32({3})));
  expect_values<int>(run.run({x})[0], {3}, {10, 3, 4});
  expect_values<int>(x, {3}, {1, 2, 3});
  expect_values<int>(run.run({x})[0], {3}, {10, 3, 4});
}

TEST(Run, ResultsDoNotChangeWithASpanOfAnArgument) {
  Literal argument = Literal::from<float>({1, 2, 3}, {3});
  const std::span<float> values = argument.mutable_data<float>();
  const Executable same = compile(trace([](Tensor x) { return x; }, f32({3})));
  const Literal result = same.run({argument})[0];
  const Tensor lazy = Tensor(argument) + 0.0f;
  const Literal evaluated = (lazy * 1.0f).eval();
  values[0] = 100;
  EXPECT_EQ(result.data<float>()[0], 1);
  EXPECT_EQ(evaluated.data<float>()[0], 1);
  EXPECT_EQ(lazy.eval().data<float>()[0], 1);
}

TEST(Run, PeakBytesAreCounted) {
  const Executable run =
      compile(trace([](Tensor x) { return sum((x + 1) * (x + 2)); }, f32({1 << 16})),
              {.optimize = false, .executor = Executor::kReference});
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  run.run({Literal::zeros(f32({1 << 16}))}, options);
  EXPECT_GE(stats.peak_bytes, 3 * (1 << 18));
  EXPECT_LE(stats.peak_bytes, 6 * (1 << 18));
}

TEST(RunConcurrent, OneExecutableOnManyThreads) {
  const Executable run = compile(trace(
      [](Tensor n) {
        return fori_loop(
            0, n, [](Tensor i, Tensor rows) { return update(rows, i % 8, i); }, zeros(s32({8})));
      },
      s32()));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 50; k++) {
        const Literal rows = run.run({Literal::scalar(8 + t)})[0];
        for (int i = 0; i < 8; i++) {
          const int want = i < t ? i + 8 : i;
          if (rows.data<int>()[static_cast<std::size_t>(i)] != want) wrong++;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Jit, TracesOncePerInputType) {
  int traces = 0;
  const auto count_traces = [&](Tensor x) {
    traces++;
    return x + 1;
  };
  auto f = jit(count_traces, {.check_captures = false});
  expect_scalar(f(1), 2);
  expect_scalar(f(5), 6);
  expect_scalar(f(1.5f), 2.5f);
  auto copy = f;
  expect_scalar(copy(2.5f), 3.5f);
  EXPECT_EQ(traces, 2);
  expect_values<int>(f(constant({1, 2})), {2}, {2, 3});
  EXPECT_EQ(traces, 3);
}

TEST(Jit, TreesOfAnyKind) {
  auto f = jit([](std::vector<Tensor> v, std::map<std::string, Tensor> m) {
    Tensor total = m.at("a");
    for (const Tensor& t : v) total += t;
    return std::pair(total, v);
  });
  auto [total, v] = f(std::vector<Tensor>{1, 2}, std::map<std::string, Tensor>{{"a", 10}});
  expect_scalar(total, 13);
  ASSERT_EQ(v.size(), 2u);
  auto [total3, v3] = f(std::vector<Tensor>{1, 2, 3}, std::map<std::string, Tensor>{{"a", 10}});
  expect_scalar(total3, 16);
  EXPECT_EQ(v3.size(), 3u);
}

TEST(Jit, InsideAnotherTraceItIsInlined) {
  auto inner = jit([](Tensor x) { return x * 2; });
  auto outer = jit([&](Tensor x) { return inner(x) + inner(Tensor(1.0f)); });
  expect_scalar(outer(3.0f), 8.0f);
}

TEST(Jit, CapturesLazyTensors) {
  const Tensor weights = arange(4) * 10;
  auto f = jit([&](Tensor i) { return weights[i]; });
  expect_scalar(f(3), 30);
}

TEST(JitConcurrent, FirstCallsFromManyThreads) {
  std::atomic<int> traces{0};
  const auto count_traces = [&](Tensor x) {
    traces++;
    return fori_loop(
        0, 10, [](Tensor i, Tensor x) { return x + i; }, x);
  };
  auto f = jit(count_traces, {.check_captures = false});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      if (f(t).item<int>() != 45 + t) wrong++;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(traces, 1);
}

TEST(Lazy, EvaluatedNodesKeepTheirValue) {
  Tensor x = arange(4);
  for (int i = 0; i < 20; i++) {
    x = x * 2 % 1000 + 1;
    x.eval();
  }
  std::vector<int> want{0, 1, 2, 3};
  for (int& v : want) {
    for (int i = 0; i < 20; i++) v = v * 2 % 1000 + 1;
  }
  expect_values<int>(x, {4}, want);
}

TEST(LazyConcurrent, OneGraphFromManyThreads) {
  for (int round = 0; round < 20; round++) {
    Tensor x = arange(100);
    for (int i = 0; i < 30; i++) x = x + 1;
    const Tensor a = x * 2, b = x * 3;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; t++) {
      threads.emplace_back([&, t] {
        if ((t % 2 ? a : b).eval().data<int>()[10] != 40 * (t % 2 ? 2 : 3)) wrong++;
        if (x.eval().data<int>()[0] != 30) wrong++;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Lazy, EmptyTensorSaysSo) {
  expect_error([] { Tensor().eval(); }, {"empty Tensor", "execute_test.cc:"});
  expect_error([] { Tensor() + 1; }, {"add", "empty Tensor"});
  expect_error([] { (void)Tensor().type(); }, {"empty"});
}

TEST(Lazy, PrintsTensors) {
  std::ostringstream out;
  out << constant({1, 2}) + 1;
  EXPECT_EQ(out.str(), "s32[2] {2, 3}");
  std::ostringstream traced;
  trace(
      [&](Point p) {
        traced << p.x << "; " << p.x + 1;
        return p.x;
      },
      Point{1.0f, 2.0f});
  EXPECT_EQ(traced.str().substr(0, 12 + 7), "f32[] arg0.x; f32[]");
}

TEST(Eager, BodiesSeeValues) {
  EagerScope eager;
  std::vector<int> seen;
  const Tensor x = fori_loop(
      0, 4,
      [&](Tensor i, Tensor x) {
        seen.push_back(i.item<int>());
        return x + i;
      },
      0);
  expect_scalar(x, 6);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3}));
  int calls = 0;
  auto f = jit([&](Tensor x) {
    calls += x.item<int>();
    return x + 1;
  });
  f(5);
  f(6);
  EXPECT_EQ(calls, 11);
}

TEST(Eager, ChecksCarriesInTheSameWay) {
  EagerScope eager;
  expect_error(
      [] {
        fori_loop(
            0, 3, [](Tensor, Tensor x) { return convert(x, DType::kF32); }, 1);
      },
      {"changes the carry", "carry: s32[] goes in, f32[] comes out"});
}

TEST(Trace, MixedTracesAreRefused) {
  expect_error(
      [] {
        trace(
            [](Tensor x) {
              trace([&](Tensor y) { return x + y; }, f32());
              return x;
            },
            f32());
      },
      {"mixed traces", "arg0"});
}

TEST(Trace, FailedTracesLeaveNothingBehind) {
  for (int i = 0; i < 3; i++) {
    EXPECT_THROW(trace(
                     [](Tensor x) {
                       return x + constant({1, 2, 3}) + constant({1, 2});
                     },
                     s32()),
                 TraceError);
    auto f = jit([&](Tensor x) { return i == 1 ? x + 1.5f : x; });
    if (i == 1)
      EXPECT_THROW(f(1), TraceError);
    else
      expect_scalar(f(1), 1);
  }
}

}  // namespace
}  // namespace rondo
