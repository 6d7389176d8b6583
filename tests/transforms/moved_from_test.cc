// Calls without a function: objects of transforms that were moved from, and functions that are
// empty from the start. They throw, without reading missing memory.
#include <functional>
#include <utility>
#include <vector>

#include "support/expect.h"

// NOLINTBEGIN(bugprone-use-after-move): the point
namespace rondo::testing {
namespace {

/// `call` works before `callable` is moved from, on its copy, and on the object it was moved to;
/// after that it throws in the name of `made_by`.
template <class Callable, class Call>
void expect_refused_when_moved_from(Callable callable, const char* made_by, const Call& call) {
  call(callable);
  const Callable copy = callable;
  const Callable moved = std::move(callable);
  expect_error<TraceError>(
      [&] { call(callable); },
      {std::string(made_by) + ": this function was moved from", "Copy it", "moved_from_test.cc"});
  call(copy);
  call(moved);
  const Callable again = std::as_const(moved);
  call(again);
}

Tensor sum_of_all(const std::vector<Tensor>& all) {
  Tensor total = all[0];
  for (std::size_t i = 1; i < all.size(); i++) total = total + all[i];
  return total;
}

TEST(MovedFrom, WhatTransformsReturnIsRefused) {
  // A moved-from vector is empty: reading its first element would be out of bounds.
  const std::vector<Tensor> held{1.0f, 2.0f};
  const auto f = [held](Tensor x) { return x * sum_of_all(held); };
  const auto call = [](const auto& g) { (void)g(2.0f); };
  expect_refused_when_moved_from(jit(f), "jit", call);
  expect_refused_when_moved_from(jit(f).with({.max_iterations = 3}), "jit", call);
  expect_refused_when_moved_from(grad(f), "grad", call);
  expect_refused_when_moved_from(value_and_grad(f), "value_and_grad", call);
  expect_refused_when_moved_from(jacfwd(f), "jacfwd", call);
  expect_refused_when_moved_from(jacrev(f), "jacrev", call);
  expect_refused_when_moved_from(hessian(f), "jacfwd", call);
  expect_refused_when_moved_from(checkpoint(f), "checkpoint", call);
  expect_refused_when_moved_from(
      custom_jvp(f, [](const auto& p,
                       const auto& t) { return std::pair(std::get<0>(p), std::get<0>(t)); }),
      "custom_jvp", call);
  expect_refused_when_moved_from(custom_vjp(
                                     f, [](Tensor x) { return std::pair(x, x); },
                                     [](const Tensor&, const Tensor& c) { return std::tuple(c); }),
                                 "custom_vjp", call);
  const auto on_rows = [](const auto& g) { (void)g(constant({1.0f, 2.0f})); };
  expect_refused_when_moved_from(vmap(f), "vmap", on_rows);
  expect_refused_when_moved_from(vmap(f), "vmap", [](const auto& g) {
    (void)explain_batching(g, constant({1.0f, 2.0f}));
  });
  expect_refused_when_moved_from(vjp(f, 2.0f).second, "vjp", [](const auto& g) { (void)g(1.0f); });
  expect_refused_when_moved_from(
      vjp([](std::vector<Tensor> x) { return x; }, std::vector<Tensor>{Tensor(1.0f)}).second, "vjp",
      [](const auto& g) { (void)g(std::vector<Tensor>{Tensor(1.0f)}); });
}

TEST(MovedFrom, ProgramsAreRefused) {
  const auto f = [](Tensor x) { return x + 1; };
  const auto call = [](const auto& g) { EXPECT_EQ(g(2.0f), 3); };
  expect_refused_when_moved_from(native<float(float)>(f), "native", call);
  const auto look = [](const auto& g) { (void)g.executable().program(); };
  expect_refused_when_moved_from(native<float(float)>(f), "native", look);
  const auto call_program = [](const auto& g) { (void)g(2.0f); };
  expect_refused_when_moved_from(compile_as(f, f32()), "compile_as", call_program);
  expect_refused_when_moved_from(compile_as(f, f32()), "compile_as", look);
  expect_refused_when_moved_from(compile_as(f, f32()), "compile_as",
                                 [](const auto& g) { (void)g.with({.max_iterations = 1})(2.0f); });
}

TEST(MovedFrom, OneThatIsAssignedToWorksAgain) {
  const std::function<Tensor(Tensor)> f = [](Tensor x) { return x * x; };
  auto g = grad(f);
  auto h = std::move(g);
  g = h;
  EXPECT_EQ(g(3.0f).item<float>(), 6);
  h = std::move(g);
  EXPECT_EQ(h(3.0f).item<float>(), 6);
  EXPECT_THROW((void)g(3.0f), TraceError);
}

// A null pointer to a function, or a std::function without a target.
TEST(EmptyFunctions, AreRefusedWhereverAFunctionIsTaken) {
  using Function1 = std::function<Tensor(Tensor)>;
  using Pointer = Tensor (*)(Tensor);
  const auto check = [](const auto& f) {
    const auto refused = [](const char* made_by, const auto& call) {
      expect_error<TraceError>(call, {std::string(made_by) + ": the function is empty",
                                      "Give it a function", "moved_from_test.cc"});
    };
    const auto refused_in_a_loop = [](const auto& call) {
      expect_error<TraceError>(
          call, {"empty", "std::function", "Give it a function", "moved_from_test.cc"});
    };
    refused("jit", [&] { (void)jit(f)(1.0f); });
    refused("jit", [&] { (void)jit([&](Tensor x) { return jit(f)(x); })(1.0f); });
    refused("trace", [&] { (void)rondo::trace(f, f32()); });
    refused("compile_as", [&] { (void)compile_as(f, f32()); });
    refused("native", [&] { (void)native<float(float)>(f); });
    refused("value_and_grad", [&] { (void)value_and_grad(f)(1.0f); });
    refused("jacrev", [&] { (void)jacrev(f)(1.0f); });
    refused("jvp", [&] { (void)jvp(f, std::tuple(1.0f), std::tuple(1.0f)); });
    refused("vjp", [&] { (void)vjp(f, 1.0f); });
    refused("vmap", [&] { (void)vmap(f)(constant({1.0f})); });
    refused("checkpoint", [&] { (void)checkpoint(f)(1.0f); });
    refused("check_grads", [&] { check_grads(f, std::tuple(1.0)); });
    refused_in_a_loop(
        [&] { (void)fori_loop(0, 3, static_cast<Tensor (*)(Tensor, Tensor)>(nullptr), 1.0f); });
    refused_in_a_loop([&] {
      (void)while_loop(
          f, [](Tensor x) { return x; }, 1.0f);
    });
    refused_in_a_loop([&] { (void)while_loop([](Tensor x) { return x < 1; }, f, 1.0f); });
    refused_in_a_loop([&] {
      (void)scan(static_cast<std::pair<Tensor, Tensor> (*)(Tensor, Tensor)>(nullptr), 1.0f,
                 arange(3));
    });
    refused_in_a_loop([&] { (void)rondo::map(f, arange(3)); });
    refused_in_a_loop([&] {
      (void)cond(
          Tensor(true), f, [](Tensor x) { return x; }, Tensor(1));
    });
    refused_in_a_loop([&] { (void)switch_case(Tensor(1), std::vector{f, f}, Tensor(1)); });
    refused("associative_scan",
            [&] { (void)associative_scan(std::function<Tensor(Tensor, Tensor)>(), arange(3)); });
  };
  check(Function1());
  check(Pointer());
}

TEST(EmptyFunctions, AnExecutableWithoutAProgramIsRefused) {
  const Executable empty;
  expect_error<ExecutionError>([&] { (void)empty.run({}); }, {"empty", "rondo::compile"});
  expect_error<ExecutionError>([&] { empty.run_on_memory(nullptr, nullptr); },
                               {"empty", "rondo::compile"});
  expect_error<ExecutionError>([&] { (void)empty.run_on_device(std::vector<pjrt::DeviceArray>()); },
                               {"empty", "rondo::compile"});
  expect_error<ExecutionError>([&] { (void)empty.run_on_mesh(std::vector<pjrt::ShardedArray>()); },
                               {"empty", "rondo::compile"});
  expect_error<ExecutionError>([&] { (void)empty.function(); }, {"empty", "rondo::compile"});
  EXPECT_EQ(empty.program(), "");
  EXPECT_EQ(empty.bytes(), 0);
  EXPECT_FALSE(empty.runs_on_memory());
  EXPECT_TRUE(empty.stats().loops.empty());
  EXPECT_TRUE(empty.memory_plan().empty());
}

}  // namespace
}  // namespace rondo::testing
// NOLINTEND(bugprone-use-after-move)
