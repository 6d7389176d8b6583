// C++ functions as ops.
#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "ops/vectors.h"
#include "support/derivative_check.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;

std::atomic<int> cube_runs = 0;

/// x^3, and the sum of x in s32.
void run_cube(const Call& call) {
  cube_runs++;
  const auto x = call.operand<double>(0);
  const auto y = call.result<double>(0);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); i++) {
    y[i] = x[i] * x[i] * x[i];
    sum += x[i];
  }
  call.result<int>(1)[0] = static_cast<int>(sum);
}

std::vector<TensorType> infer_cube(std::span<const TensorType> types) { return {types[0], s32()}; }

/// Registered once for all tests of this program.
void register_cubes() {
  static const bool once = [] {
    register_call("test_cube",
                  {.infer = infer_cube,
                   .run = run_cube,
                   .jvp = [](const CallTangents& c) -> std::vector<Tensor> {
                     return {3 * c.operands[0] * c.operands[0] * c.tangents[0], Tensor()};
                   }});
    register_call("test_cube_of_lanes", {.infer = infer_cube,
                                         .run = run_cube,
                                         .batch = [](const CallLanes& c) -> std::vector<Tensor> {
                                           const Tensor& x = c.operands[0];  // of all lanes at once
                                           const Tensor y = custom_call("test_cube", {x})[0];
                                           return {y, convert(sum(x, {1}), DType::kS32)};
                                         }});
    // a x + b, by operands of two dtypes and of none.
    register_call("test_affine", {.run = [](const Call& call) {
                    const auto x = call.operand<float>(0);
                    const int a = call.operand<int>(1)[0];
                    const auto y = call.result<float>(0);
                    for (std::size_t i = 0; i < x.size(); i++)
                      y[i] = static_cast<float>(a) * x[i] + std::stof(std::string(call.config()));
                  }});
    register_call("test_refusing", {.run = [](const Call& call) {
                    if (call.operand<float>(0)[0] > 2) throw std::out_of_range("above 2");
                    call.result<float>(0)[0] = call.operand<float>(0)[0];
                  }});
    register_call("test_endless", {.run = [](const Call& call) {
                    for (;;) call.poll();
                  }});
    register_call("test_wrong", {.run =
                                     [](const Call& call) {
                                       if (call.config() == "dtype") (void)call.operand<double>(0);
                                       (void)call.result<float>(3);
                                     },
                                 .jvp = [](const CallTangents& c) -> std::vector<Tensor> {
                                   return {sum(c.tangents[0])};
                                 }});
    register_call("test_without_run", {.infer = [](std::span<const TensorType> types) {
                    return std::vector<TensorType>(types.begin(), types.end());
                  }});
    return true;
  }();
  (void)once;
}

class CustomCall : public ::testing::Test {
 protected:
  void SetUp() override { register_cubes(); }
};

Tensor cube(const Tensor& x) { return custom_call("test_cube", {x})[0]; }
Tensor affine(const Tensor& x, const Tensor& a) {
  return custom_call("test_affine", {x, a}, {x.type()}, "0.5")[0];
}

TEST_F(CustomCall, RunsTheFunction) {
  const Tensor x = vec<double>({1, -2, 3});
  const std::vector<Tensor> results = custom_call("test_cube", {x});
  expect_vec<double>(results[0], {1, -8, 27});
  expect_scalar(results[1], 2);
  expect_vec<float>(affine(vec<float>({1, 2}), Tensor(3)), {3.5f, 6.5f});
  EXPECT_EQ(cube(zeros(f64({0, 2}))).eval().elements(), 0);
}

TEST_F(CustomCall, RunsInLoopsAndBesideOtherOps) {
  const auto f = jit([](const Tensor& x) {
    return fori_loop(
        0, 3, [](Tensor i, Tensor v) { return affine(v - 1, i) * 2; }, x);
  });
  // v -> 2 (i (v - 1) + 0.5)
  float v = 5;
  for (int i = 0; i < 3; i++) v = 2 * (static_cast<float>(i) * (v - 1) + 0.5f);
  expect_vec<float>(f(vec<float>({5, 5})), {v, v});
}

TEST_F(CustomCall, IsPure) {
  const auto f = jit([](const Tensor& x) { return cube(x) + cube(x); });
  cube_runs = 0;
  expect_vec<double>(f(vec<double>({2})), {16});
  EXPECT_EQ(cube_runs, 1);
}

TEST_F(CustomCall, HasTheDerivativeOfItsRule) {
  const auto f = [](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{cube(sin(x[0])) * x[0]};
  };
  EXPECT_EQ(derivative_error(f, {Literal::from<double>({0.3, -1.2, 2})}), "");
  expect_vec<double>(grad([](const Tensor& x) { return sum(cube(x)); })(vec<double>({2, -3})),
                     {12, 27});
  expect_error([] { grad([](const Tensor& x) { return affine(x, 2); })(Tensor(1.0f)); },
               {"custom_call: `test_affine` has no derivative", "Give the rule", "`jvp`"});
  expect_error(
      [] {
        grad([](const Tensor& x) { return sum(custom_call("test_wrong", {x}, {x.type()})[0]); })(
            vec<float>({1, 2}));
      },
      {"the jvp rule of `test_wrong` gives f32[] for result 0, where f32[2] is meant"});
}

TEST_F(CustomCall, InLanes) {
  const Tensor lanes = constant({{1.0, 2.0}, {3.0, 4.0}, {-1.0, 0.5}});
  const auto both = [](const char* name) {
    return [name](const Tensor& x) {
      const std::vector<Tensor> results = custom_call(name, {x});
      return std::pair(results[0], results[1]);
    };
  };
  for (const auto& [name, runs] : {std::pair{"test_cube", 3}, {"test_cube_of_lanes", 1}}) {
    SCOPED_TRACE(name);
    cube_runs = 0;
    const auto [y, sums] = vmap(both(name))(lanes);
    expect_values<double>(y, {3, 2}, {1, 8, 27, 64, -1, 0.125});
    EXPECT_EQ(cube_runs, runs);
    expect_vec<int>(sums, {3, 7, 0});
  }
  // Operands that are the same in all lanes.
  expect_vec<float>(vmap([](const Tensor& a) { return affine(Tensor(2.0f), a); })(vec<int>({1, 5})),
                    {2.5f, 10.5f});
}

TEST_F(CustomCall, RunsOnSeveralThreads) {
  const auto f = jit([](const Tensor& x) { return cube(x) + 1; });
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      register_call("test_thread_" + std::to_string(t), {.run = run_cube});
      for (int i = 0; i < 20; i++)
        right += f(Tensor(static_cast<double>(i))).eval().item<double>() == i * i * i + 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

TEST_F(CustomCall, EndsRunsByWhatItThrows) {
  const auto f = jit([](const Tensor& x) {
    return fori_loop(
        0, 5, [](Tensor, Tensor v) { return custom_call("test_refusing", {v}, {f32()})[0] + 1; },
        x);
  });
  EXPECT_THROW(f(0.0f).eval(), std::out_of_range);
  expect_scalar(f(-4.0f), 1.0f);
  const auto endless =
      jit([](const Tensor& x) { return custom_call("test_endless", {x}, {x.type()})[0]; });
  EXPECT_THROW((void)endless.with({.deadline = std::chrono::milliseconds(5)})(1.0f).eval(),
               DeadlineExceeded);
}

TEST_F(CustomCall, SaysWhatIsMissing) {
  const Tensor x = vec<float>({1, 2});
  expect_error([&] { custom_call("test_affine", {x}); },
               {"custom_call: the results of `test_affine` are not known", "{x.type()}"});
  expect_error(
      [&] {
        custom_call("test_cube", {x}, {f32({3}), s32()});
      },
      {"the results of `test_cube` are f32[2] s32[]; other types are given"});
  expect_error([] { register_call("test_cube", {}); }, {"`test_cube` has been registered"});
  expect_error([] { register_call("", {}); }, {"the name is empty"});
  const auto message = [&](const std::function<Tensor()>& f) -> std::string {
    try {
      f().eval();
    } catch (const ExecutionError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message([&] { return custom_call("test_unregistered", {x}, {x.type()})[0]; }),
      "no C++ function is registered as `test_unregistered`");
  has(message([&] { return custom_call("test_without_run", {x})[0]; }),
      "there is no `run` in the rule of `test_without_run`");
  has(message([&] { return custom_call("test_wrong", {x}, {x.type()})[0]; }),
      "`test_wrong` asks for result 3, and there are 1");
  has(message([&] { return custom_call("test_wrong", {x}, {x.type()}, "dtype")[0]; }),
      "asks for the elements of operand 0 as f64; it is f32[2]");
}

TEST_F(CustomCall, Text) {
  const Function f = trace(
      [](const Tensor& x) {
        const std::vector<Tensor> both = custom_call("a \"b\"", {x}, {f32({3}), s32()}, "k=2");
        return std::pair(both[0], custom_call("plain", {both[1], x}, {f64()})[0]);
      },
      f32({2}));
  const std::string hlo = to_hlo_text(f), stablehlo = to_stablehlo_text(f);
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(hlo,
      "(f32[3], s32[]) custom-call(arg0), custom_call_target=\"a \\\"b\\\"\", "
      "backend_config=\"k=2\"");
  has(hlo, "custom_call_target=\"plain\"\n");
  has(stablehlo,
      "\"stablehlo.custom_call\"(%arg0) <{call_target_name = \"a \\\"b\\\"\", "
      "backend_config = \"k=2\"}> : (tensor<2xf32>) -> (tensor<3xf32>, tensor<i32>)");
}

}  // namespace
}  // namespace rondo
