// Programs on a real plugin, compared with plain C++ and the built-in executors.
#include <cmath>

#include "pjrt/real_plugin.h"
#include "support/compare.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

using RealRun = RealPlugin;

struct House {
  Tensor step, slab, tank;
};

Tensor simulate(Tensor tank) {
  return while_loop([](House h) { return h.step < 20; },
                    [](House h) {
                      return House{h.step + 1, h.slab + 0.1 * (h.tank - h.slab), h.tank * 0.99};
                    },
                    House{0, 20.0, tank}, {.name = "house"})
      .slab;
}

double plain(double tank) {
  double slab = 20;
  for (int i = 0; i < 20; i++) {
    slab += 0.1 * (tank - slab);
    tank *= 0.99;
  }
  return slab;
}

TEST_F(RealRun, ALoopAndItsGradient) {
  const Executable on_xla = compile(trace(simulate, f64()), {.device = device()});
  EXPECT_NEAR(on_xla.run({Literal::scalar(70.0)}).at(0).item<double>(), plain(70), 1e-12);
  const Executable slope = compile(trace(grad(simulate), f64()), {.device = device(3)});
  const double want = (plain(71) - plain(69)) / 2;  // it is linear
  EXPECT_NEAR(slope.run({Literal::scalar(70.0)}).at(0).item<double>(), want, 1e-12);
  EXPECT_NE(on_xla.program().find("stablehlo.while"), std::string::npos);
  EXPECT_EQ(on_xla.program().rfind("// cpu:0", 0), 0u);
  EXPECT_EQ(slope.device().id(), 3);
}

TEST_F(RealRun, JitTakesTheDeviceAsAnOption) {
  auto f = jit(
      [](Tensor x, Tensor y) {
        return std::tuple{dot(x, y), x + 1};
      },
      {.device = device(1)});
  const Tensor x = Tensor(Literal::from<float>({1, 2, 3, 4}, {2, 2}));
  const auto [product, sum] = f(x, x);
  expect_values<float>(product, {2, 2}, {7, 10, 15, 22});
  expect_values<float>(sum, {2, 2}, {2, 3, 4, 5});
}

template <class T>
void round_trip(const pjrt::Device& device, std::vector<T> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  const Literal literal = Literal::from(values, {n});
  const Executable both = compile(trace(
                                      [](Tensor x) {
                                        return std::tuple{x, reverse(x, {0})};
                                      },
                                      TensorType{dtype_of<T>, {n}}),
                                  {.device = device});
  const std::vector<Literal> got = both.run({literal});
  EXPECT_TRUE(got[0].identical(literal)) << got[0].str();
  std::vector<T> reversed(values.rbegin(), values.rend());
  EXPECT_TRUE(got[1].identical(Literal::from(reversed, {n}))) << got[1].str();
}

TEST_F(RealRun, EveryDtypePassesUnchanged) {
  const auto d = device(2);
  round_trip<bool>(d, {true, false, false});
  round_trip<std::int8_t>(d, {-128, 1, 127});
  round_trip<std::int16_t>(d, {-32768, 1, 300});
  round_trip<std::int32_t>(d, {-5, 0, 1 << 30});
  round_trip<std::int64_t>(d, {-5, 0, INT64_MAX});
  round_trip<std::uint8_t>(d, {255, 0, 3});
  round_trip<std::uint16_t>(d, {65535, 0, 3});
  round_trip<std::uint32_t>(d, {4294967295u, 0, 3});
  round_trip<std::uint64_t>(d, {UINT64_MAX, 0, 3});
  round_trip<float16>(d, {float16(1.5f), float16(-2.0f)});
  round_trip<bfloat16>(d, {bfloat16(1.5f), bfloat16(-2.0f)});
  round_trip<float>(d, {1.5f, -INFINITY, 3e38f});
  round_trip<double>(d, {1.5, -INFINITY, 1e308});
  round_trip<std::complex<float>>(d, {{1, 2}, {-3, 4}});
  round_trip<std::complex<double>>(d, {{1, 2}, {-3, 4}});
}

TEST_F(RealRun, ArraysWithoutElementsAndProgramsWithoutArguments) {
  const Executable empty = compile(trace(
                                       [](Tensor x) {
                                         return std::tuple{x + 1, sum(x)};
                                       },
                                       f32({0, 3})),
                                   {.device = device()});
  const auto got = empty.run({Literal::zeros(f32({0, 3}))});
  EXPECT_EQ(got[0].type(), f32({0, 3}));
  EXPECT_EQ(got[1].item<float>(), 0);
  const Executable constant =
      compile(Function::make("constant", {}, {Tensor(Literal::from<int>({1, 2}, {2}))}),
              {.device = device()});
  expect_values<int>(constant.run({}).at(0), {2}, {1, 2});
}

TEST_F(RealRun, MinimumAndMaximumKeepNaN) {
  const Executable f = compile(trace(
                                   [](Tensor x, Tensor y) {
                                     return std::tuple{minimum(x, y), maximum(x, y)};
                                   },
                                   f32({2}), f32({2})),
                               {.device = device()});
  const auto got =
      f.run({Literal::from<float>({NAN, 1}, {2}), Literal::from<float>({1, NAN}, {2})});
  expect_values<float>(got[0], {2}, {NAN, NAN});
  expect_values<float>(got[1], {2}, {NAN, NAN});
}

TEST_F(RealRun, ArgumentsAreCheckedBeforeThePluginSeesThem) {
  const Executable f =
      compile(trace([](Tensor x) { return x * 2; }, f32({4})), {.device = device()});
  expect_error<ExecutionError>([&] { f.run({Literal::zeros(s32({4}))}); }, {"s32[4]", "f32[4]"});
  expect_error<ExecutionError>([&] { f.run({Literal::zeros(f32({2, 2}))}); }, {"f32[2,2]"});
  using Arrays = std::vector<pjrt::DeviceArray>;
  const auto array = [&](const TensorType& type, std::size_t place) {
    return pjrt::DeviceArray(Literal::zeros(type), device(place));
  };
  expect_error<ExecutionError>([&] { f.run_on_device(Arrays{array(s32({4}), 0)}); },
                               {"argument 0", "s32[4]", "f32[4]"});
  expect_error<ExecutionError>(
      [&] {
        f.run_on_device(Arrays{array(f32({2, 2}), 0)});
      },
      {"argument 0", "f32[2,2]"});
  expect_error<ExecutionError>([&] { f.run_on_device(Arrays{array(f32({4}), 1)}); },
                               {"cpu:1", "cpu:0", "copy_to"});
  expect_error<ExecutionError>([&] { f.run_on_device(Arrays{}); }, {"number of arguments is 0"});
  expect_error<ExecutionError>([&] { f.run_on_device(Arrays{{}}); }, {"holds nothing"});
  const pjrt::Client other(pjrt::load_plugin());
  expect_error<ExecutionError>(
      [&] {
        f.run_on_device(Arrays{{Literal::zeros(f32({4})), other.devices().front()}});
      },
      {"argument 0", "copy_to"});
}

TEST_F(RealRun, WhatAPluginCannotDoIsAnError) {
  const auto tapped = [](Tensor x) {
    return fori_loop(0, 3, [](Tensor, Tensor s) { return tap(s * 2, "s"); }, x, {.name = "grow"});
  };
  expect_error<TraceError>([&] { compile(trace(tapped, f32()), {.device = device()}); },
                           {"tap", "loop 'grow'", "cpu:0", "run_test.cc:", "built-in"});
  expect_error<TraceError>(
      [&] {
        compile(trace([](Tensor x) { return print(x, "x is {}"); }, f32()), {.device = device()});
      },
      {"print", "run_test.cc:"});
  const auto growing = [](Tensor x) {
    return while_loop([](Tensor s) { return s < 10; }, [&](Tensor s) { return s * x; }, x,
                      {.checkpoint = Checkpoint::tape(), .name = "grow"});
  };
  expect_error<TraceError>([&] { compile(trace(grad(growing), f32()), {.device = device()}); },
                           {"grow", "tape()", "online"});
  expect_error<ExecutionError>(
      [&] {
        compile(trace(simulate, f64()), {.executor = Executor::kReference, .device = device()});
      },
      {"an executor and a device"});
  expect_error<ExecutionError>([&] { compile(trace(simulate, f64()), {.donate = {0}}); },
                               {"donate", "device"});
  expect_error<ExecutionError>(
      [&] {
        compile(trace([](Tensor x) { return sum(sort(x * 2)); }, f32({1 << 16})),
                {.memory_limit = 1000, .device = device()});
      },
      {"memory_limit is 1000"});
}

}  // namespace
}  // namespace rondo::testing
