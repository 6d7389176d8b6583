// Errors at run time: arguments that do not fit, and loops that run too long.
#include <chrono>
#include <stop_token>

#include "errors/message.h"

namespace rondo {
namespace {

using testing::expect_parts;
using testing::message_of;

std::string run_error(const Executable& run, const std::vector<Literal>& arguments,
                      const RunOptions& options = {}) {
  return message_of<ExecutionError>([&] { run.run(arguments, options); });
}

struct Hotel {
  Tensor step, slab, tank;
};

class RunErrors : public ::testing::Test {
 protected:
  Executable program =
      compile(trace([](Hotel h, Tensor k) { return h.slab * k; }, Hotel{0, 1.0f, 2.0f}, f32({2})));
  Literal step = Literal::scalar(0), one = Literal::scalar(1.0f), two = Literal::zeros(f32({2}));
};

TEST_F(RunErrors, CountOfArguments) {
  constexpr char kTakes[] = "the program takes 4 (s32[], f32[], f32[], f32[2])";
  expect_parts(run_error(program, {step, one}),
               {"run of 'main': the number of arguments is 2", kTakes,
                "one literal for each parameter", "'arg0.tank' is the first without one"});
  expect_parts(run_error(program, {}),
               {"number of arguments is 0", kTakes, "'arg0.step' is the first"});
  expect_parts(run_error(program, {step, one, one, two, one}),
               {"number of arguments is 5", kTakes, "'arg1' is the last that takes one"});
  const Executable none = compile(trace([] { return Tensor(1); }));
  expect_parts(run_error(none, {one}),
               {"the number of arguments is 1, the program takes 0", "it takes none"});
}

TEST_F(RunErrors, DtypeAndShapeOfAnArgument) {
  expect_parts(run_error(program, {step, Literal::scalar(1.0), one, two}),
               {"argument 1 ('arg0.slab') is f64[], the program takes f32[]",
                "Convert the literal, or trace the program for this type"});
  expect_parts(run_error(program, {one, one, one, two}),
               {"argument 0 ('arg0.step') is f32[], the program takes s32[]"});
  expect_parts(run_error(program, {step, one, one, Literal::zeros(f32({3}))}),
               {"argument 3 ('arg1') is f32[3], the program takes f32[2]"});
  expect_parts(run_error(program, {step, one, one, one}), {"argument 3 ('arg1') is f32[]"});
  // Without the passes the message is the same.
  const Executable plain = compile(program.function(), {.optimize = false});
  expect_parts(run_error(plain, {step, one}),
               {"number of arguments is 2", "'arg0.tank' is the first"});
}

TEST_F(RunErrors, EmptyHandles) {
  expect_parts(run_error(Executable(), {one}), {"this Executable is empty", "rondo::compile"});
  expect_parts(message_of([] { compile(Function()); }), {"this Function is empty", "rondo::trace"});
  expect_parts(message_of([] { to_hlo_text(Function()); }), {"this Function is empty"});
}

TEST_F(RunErrors, ReadingALiteralAsAnotherType) {
  expect_parts(message_of([&] { one.item<double>(); }), {"f32[]", "double", "float"});
  expect_parts(message_of([&] { two.item<float>(); }),
               {"item()", "f32[2]", "2 elements, not one", "data<float>()"});
  expect_parts(message_of([&] { two.data<int>(); }), {"f32[2]", "Ask for data<float>()"});
  expect_parts(message_of([] {
                 Literal::from<float>({1, 2}, {3});
               }),
               {"Literal::from: 2 values do not fill f32[3], which has 3 elements"});
}

class LimitErrors : public ::testing::Test {
 protected:
  /// A loop that never ends, and its line.
  LimitErrors() {
    program = compile(trace(
        [&](Tensor x) {
          auto go = [](Tensor y) { return y >= 0; };
          auto half = [](Tensor y) { return y * 0.5f; };
          return line = RONDO_HERE, while_loop(go, half, x, {.name = "endless"});
        },
        f32()));
  }
  std::string line;
  Executable program;
  std::vector<Literal> one = {Literal::scalar(1.0f)};
};

TEST_F(LimitErrors, MaxIterations) {
  RunOptions options;
  options.max_iterations = 1000;
  expect_parts(run_error(program, one, options),
               {"the loop 'endless' (" + line + ")", "exceeded max_iterations = 1000",
                "it would begin trip 1001", "Raise RunOptions::max_iterations",
                "does it ever become false?"});
  options.max_iterations = 0;
  expect_parts(run_error(program, one, options), {"max_iterations = 0", "trip 1"});
}

TEST_F(LimitErrors, MaxIterationsOfEveryConstruct) {
  RunOptions options;
  options.max_iterations = 10;
  auto add = [](Tensor, Tensor x) { return x + 1; };
  auto fori = [&](Tensor n) { return fori_loop(0, n, add, 1, {.name = "steps"}); };
  expect_parts(run_error(compile(trace(fori, s32())), {Literal::scalar(50)}, options),
               {"the loop 'steps' (run_test.cc:", "max_iterations = 10", "trip 11"});
  expect_parts(
      message_of<ExecutionError>([&] {
        compile(trace(fori, s32()), {.optimize = false}).run({Literal::scalar(50)}, options);
      }),
      {"the loop 'steps' (run_test.cc:", "trip 11"});
  auto rows = [](Tensor xs) {
    auto step = [](Tensor c, Tensor x) { return std::pair(c + x, c); };
    return scan(step, 0.0f, xs, {.name = "rows"});
  };
  expect_parts(run_error(compile(trace(rows, f32({50}))), {Literal::zeros(f32({50}))}, options),
               {"the loop 'rows' (run_test.cc:", "trip 11"});
  // No more trips than the limit: no error.
  compile(trace(fori, s32())).run({Literal::scalar(10)}, options);
}

TEST_F(LimitErrors, NestedLoopsNameTheLoopsAroundToo) {
  auto nested = [](Tensor x) {
    auto body = [](Tensor, Tensor c) {
      auto go = [](Tensor y) { return y >= 0; };
      auto half = [](Tensor y) { return y * 0.5f; };
      return while_loop(go, half, c, {.name = "inner"});
    };
    return fori_loop(0, 3, body, x, {.name = "outer"});
  };
  RunOptions options;
  options.max_iterations = 100;
  expect_parts(run_error(compile(trace(nested, f32())), one, options),
               {"the loop 'inner' (run_test.cc:", "trip 101",
                "in the loop 'outer' (run_test.cc:", "trip 1"});
}

TEST_F(LimitErrors, Deadline) {
  RunOptions options;
  options.deadline = std::chrono::milliseconds(20);
  expect_parts(run_error(program, one, options),
               {"the loop 'endless' (" + line + ")", "ran past the deadline of 0.02 s",
                "it is at trip", "Raise RunOptions::deadline"});
}

TEST_F(LimitErrors, StopToken) {
  std::stop_source source;
  source.request_stop();
  RunOptions options;
  options.stop_token = source.get_token();
  expect_parts(run_error(program, one, options),
               {"stop token", "'endless' (" + line + ")", "trip"});
}

TEST_F(LimitErrors, PromisedTripCount) {
  auto go = [](Tensor x) { return x >= 0; };
  auto add = [](Tensor x) { return x + 1; };
  std::string at;
  auto promised = [&](Tensor x) {
    const WhileOptions options{.max_trip_count = 5, .name = "promised"};
    return at = RONDO_HERE, while_loop(go, add, x, options);
  };
  const Executable run = compile(trace(promised, f32()));
  expect_parts(run_error(run, one),
               {"the loop 'promised' (" + at + ")", "after 5 trips", "max_trip_count",
                "Raise max_trip_count", "A C++ variable in it keeps one value"});
  EagerScope eager;
  expect_parts(message_of<ExecutionError>([&] { promised(1.0f); }),
               {"while_loop 'promised'", "after 5 trips", at, "Raise max_trip_count"});
}

TEST_F(LimitErrors, LoopCanBeRunAgainAfterIt) {
  auto count = [](Tensor n) {
    return while_loop([&](Tensor x) { return x < n; }, [](Tensor x) { return x + 1; }, 0);
  };
  const Executable run = compile(trace(count, s32()));
  RunOptions options;
  options.max_iterations = 10;
  expect_parts(run_error(run, {Literal::scalar(11)}, options), {"max_iterations = 10"});
  EXPECT_EQ(run.run({Literal::scalar(10)}, options).at(0).item<int>(), 10);
  EXPECT_EQ(run.run({Literal::scalar(11)}).at(0).item<int>(), 11);
}

}  // namespace
}  // namespace rondo
