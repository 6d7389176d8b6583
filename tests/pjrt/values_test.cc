// Values that stay on a device between calls, on the fake plugin (counted) and on a real one.
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "pjrt/api.h"
#include "pjrt/array.h"
#include "pjrt/fake.h"
#include "pjrt/real_plugin.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

namespace fs = std::filesystem;
using Values = Fake;
using RealValues = RealPlugin;

TEST_F(Values, ResultsStayOnTheDeviceBetweenCalls) {
  const auto f = jit([](Tensor x) { return x; }, {.device = client().devices()[0]});
  Tensor x = f(Tensor(Literal::from<float>({1, 2}, {2})));
  // From here on neither copies to a device nor from it are allowed.
  state.failing = pjrt::api::BufferFromHostBuffer::kIndex;
  for (int i = 0; i < 5; i++) x = f(x);
  state.failing = pjrt::api::BufferUnsafePointer::kIndex;
  for (int i = 0; i < 5; i++) x = f(x);
  EXPECT_EQ(state.buffers, 1);
  state.failing = -1;
  expect_values<float>(x, {2}, {1, 2});
  state.failing = pjrt::api::BufferUnsafePointer::kIndex;
  expect_values<float>(x, {2}, {1, 2});  // once it is on the host it stays there as well
  expect_values<float>(x + 1, {2}, {2, 3});
  state.failing = -1;
  const pjrt::DeviceArray array(x, client().devices()[0]);
  EXPECT_TRUE(array.to_literal().identical(x.eval()));
}

TEST_F(Values, AThousandCallsLeaveNothingBehind) {
  const pjrt::Device device = client().devices()[0];
  const auto f = jit([](Tensor x, Tensor n) { return std::tuple{x, n}; }, {.device = device});
  for (int i = 0; i < 1000; i++) {
    const auto [x, n] = f(Tensor(Literal::from<float>({1, 2}, {2})), Tensor(i));
    EXPECT_EQ(n.item<int>(), i);
  }
  EXPECT_EQ(state.buffers, 0);
  EXPECT_EQ(state.events, 0);
  EXPECT_EQ(state.loaded, 1);
}

TEST_F(Values, AThousandExecutablesAreReleased) {
  const pjrt::Device device = client().devices()[0];
  std::vector<Executable> executables;
  for (std::int64_t i = 1; i <= 1000; i++)
    executables.push_back(compile(trace([](Tensor x) { return x; }, f32({i})), {.device = device}));
  EXPECT_EQ(state.loaded, 1000);
  EXPECT_EQ(executables[6].run({Literal::zeros(f32({7}))})[0].elements(), 7);
  executables.clear();
  EXPECT_EQ(state.loaded, 0);
  EXPECT_EQ(state.executables, 0);
}

TEST_F(Values, LazyTensorsStayOnTheDeviceOfTheirScope) {
  const pjrt::Device device = client().devices()[0];
  const pjrt::DeviceScope scope(device);
  // The fake plugin's programs return their arguments.
  Tensor x = sin(Tensor(Literal::from<float>({1, 2}, {2})));
  pjrt::DeviceArray(x, device).await();
  // From here on neither copies to a device nor from it are allowed.
  state.failing = pjrt::api::BufferFromHostBuffer::kIndex;
  for (int i = 0; i < 5; i++) {
    x = sin(x);
    pjrt::DeviceArray(x, device).await();
  }
  state.failing = pjrt::api::BufferUnsafePointer::kIndex;
  const auto jitted = jit([](Tensor y) { return y; }, {.device = device});
  {
    const EagerScope eager;
    for (int i = 0; i < 5; i++) x = cos(x);
    for (int i = 0; i < 5; i++) x = jitted(x);
  }
  const Tensor last = jitted(sin(x));
  EXPECT_LE(state.buffers, 3);  // x, what it is computed from, and last
  state.failing = -1;
  expect_values<float>(last, {2}, {1, 2});
  expect_values<float>(x, {2}, {1, 2});
  clear_executable_cache();  // it holds the programs of lazy tensors
}

/// Ends the process with the result of `status`, as the last object of static storage.
struct Last {
  int (*status)();
  ~Last() { _exit(status()); }
};

TEST_F(Values, AScopeOfStaticStorageEndsAfterItsThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const FakeCopy other("rondo_exit");
  static const FakePlugin* plugin = nullptr;
  const auto leave = [&] {
    plugin = &other.state();
    static const Last last{[] { return plugin->clients == 1 ? 0 : 1; }};
    const pjrt::Client held(pjrt::Plugin::load(other.path()));
    fs::remove(other.path());
    static const pjrt::DeviceScope scope(held.devices()[0]);
    std::exit(0);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

TEST_F(Values, ArraysOfStaticStorageMayEndAfterThePlugin) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const FakeCopy other("rondo_late");
  const auto leave = [&] {
    static const Last last{[] { return 0; }};
    static pjrt::DeviceArray array;
    const pjrt::Plugin plugin = pjrt::Plugin::load(other.path());
    fs::remove(other.path());
    array = pjrt::DeviceArray(Literal::scalar(1), pjrt::Client(plugin).devices()[0]);
    std::exit(0);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

TEST_F(Values, LargeArraysAreLentToThePlugin) {
  const pjrt::Device device = client().devices()[0];
  Literal literal = Literal::from(std::vector<float>(1 << 15, 2.0f));
  {
    const pjrt::DeviceArray array(literal, device);
    EXPECT_EQ(state.lent, 1);
    literal.mutable_data<float>()[0] = 5;
    EXPECT_EQ(array.to_literal().data<float>()[0], 2);
  }
  EXPECT_EQ(state.lent, 0);
  // A span that was requested before may still be written through.
  const std::span<float> elements = literal.mutable_data<float>();
  {
    const pjrt::DeviceArray array(literal, device);
    elements[1] = 7;
    EXPECT_EQ(array.to_literal().data<float>()[1], 2);
  }
  // The literal may be destroyed before the array, and vice versa.
  {
    const pjrt::DeviceArray array(Literal::from(std::vector<float>(1 << 15, 3.0f)), device);
    EXPECT_EQ(array.to_literal().data<float>()[9], 3);
  }
  EXPECT_EQ(state.changed, 0);
  for (const int function :
       {pjrt::api::BufferFromHostBuffer::kIndex, pjrt::api::EventOnReady::kIndex}) {
    state.failing = function;
    expect_error<pjrt::PluginError>([&] { pjrt::DeviceArray(literal, device); }, {"told to fail"});
    EXPECT_EQ(state.lent, 0);
    EXPECT_EQ(state.buffers, 0);
    state.passes = 0;
  }
  state.failing = -1;
}

TEST_F(RealValues, LargeArraysAreReadWhereTheyAreAndDonationLeavesThem) {
  const Literal literal = Literal::from(std::vector<float>(1 << 16, 2.0f));
  const pjrt::DeviceArray x(literal, device());
  pjrt::api::BufferUnsafePointer place;
  place.buffer = pjrt::plugin_array(x)->buffer;
  pjrt::plugin_array(x)->plugin_client().plugin->call(place, "test");
  EXPECT_EQ(place.pointer, reinterpret_cast<std::uintptr_t>(literal.bytes()));
  const Executable executable =
      compile(trace([](Tensor x, Tensor y) { return x + y; }, literal.type(), literal.type()),
              {.device = device(), .donate = {0}});
  const pjrt::DeviceArray y(literal, device());
  const pjrt::DeviceArray sum = executable.run_on_device(std::vector{x, y}).at(0);
  EXPECT_TRUE(sum.to_literal().identical(Literal::from(std::vector<float>(1 << 16, 4.0f))));
  EXPECT_TRUE(literal.identical(Literal::from(std::vector<float>(1 << 16, 2.0f))));
}

TEST_F(RealValues, WhatIsNotFiniteIsFoundByTheReference) {
  const auto f =
      jit([](Tensor x) { return log(x) * 2; }, {.run = {.check_finite = true}, .device = device()});
  expect_scalar<double>(f(Tensor(1.0)), 0);
  expect_error<ExecutionError>([&] { f(Tensor(-1.0)); }, {"log", "values_test.cc:"});
}

TEST_F(RealValues, ADeviceArrayIsATensorAndBack) {
  const Literal literal = Literal::from<float>({1, 2, 3}, {3});
  const pjrt::DeviceArray array(literal, device(2));
  EXPECT_EQ(array.str(), "f32[3] on cpu:2");
  EXPECT_TRUE(array.device() == device(2));
  array.await();
  EXPECT_TRUE(array.ready());
  EXPECT_TRUE(array.to_literal().identical(literal));
  const Tensor tensor = array.tensor();
  EXPECT_EQ(tensor.type(), f32({3}));
  expect_values<float>(tensor * 2, {3}, {2, 4, 6});
  const pjrt::DeviceArray moved = pjrt::DeviceArray(tensor, device(5));
  EXPECT_EQ(moved.device().id(), 5);
  EXPECT_TRUE(moved.to_literal().identical(literal));
  const pjrt::Client other(pjrt::load_plugin());
  EXPECT_TRUE(array.copy_to(other.devices()[0]).to_literal().identical(literal));
  // A lazy tensor is evaluated.
  EXPECT_TRUE(pjrt::DeviceArray(tensor + 1, device())
                  .to_literal()
                  .identical(Literal::from<float>({2, 3, 4}, {3})));
}

TEST_F(RealValues, ALoopInCppOverCallsOnTheDevice) {
  const auto step = jit(
      [](Tensor x, Tensor v) {
        return std::tuple{x + 0.1 * v, v - 0.1 * x};
      },
      {.device = device()});
  Tensor x = 1.0, v = 0.0;
  double px = 1, pv = 0;
  for (int i = 0; i < 100; i++) {
    std::tie(x, v) = step(x, v);
    const double nx = px + 0.1 * pv;
    pv -= 0.1 * px;
    px = nx;
  }
  EXPECT_NEAR(x.item<double>(), px, 1e-12);
  EXPECT_NEAR(v.item<double>(), pv, 1e-12);
}

TEST_F(RealValues, RunsAreAsynchronous) {
  const auto slow = [](Tensor x) {
    return fori_loop(
        0, 200, [](Tensor, Tensor s) { return sin(matmul(s, s)); }, x);
  };
  const TensorType type = f64({128, 128});
  const Executable executable = compile(trace(slow, type), {.device = device()});
  const std::vector<pjrt::DeviceArray> argument = {{Literal::zeros(type), device()}};
  const pjrt::DeviceArray result = executable.run_on_device(argument).at(0);
  EXPECT_FALSE(result.ready());
  result.await();
  EXPECT_TRUE(result.ready());
}

TEST_F(RealValues, DonatedArgumentsAreGone) {
  const Executable executable =
      compile(trace([](Tensor x, Tensor y) { return x + y; }, f32({1000}), f32({1000})),
              {.device = device(), .donate = {0}});
  const auto ones = [&] {
    return pjrt::DeviceArray(Literal::from(std::vector<float>(1000, 1.0f)), device());
  };
  const pjrt::DeviceArray x = ones(), y = ones();
  const pjrt::DeviceArray sum = executable.run_on_device(std::vector{x, y}).at(0);
  EXPECT_EQ(sum.to_literal().data<float>()[999], 2.0f);
  EXPECT_TRUE(x.donated());
  EXPECT_FALSE(y.donated());
  expect_error<ExecutionError>([&] { x.to_literal(); }, {"donated", "CompileOptions::donate"});
  expect_error<ExecutionError>(
      [&] {
        executable.run_on_device(std::vector{x, y});
      },
      {"argument 0", "donated"});
  expect_error<ExecutionError>(
      [&] {
        executable.run_on_device(std::vector{y, y});
      },
      {"arguments 0 and 1 are one array"});
  EXPECT_FALSE(y.donated());
  EXPECT_EQ(y.to_literal().data<float>()[0], 1.0f);
  expect_error<TraceError>(
      [&] {
        compile(trace([](Tensor a) { return a; }, f32()), {.device = device(), .donate = {1}});
      },
      {"donate has 1", "1 parameters"});
  EXPECT_EQ(executable.run({ones().to_literal(), ones().to_literal()})[0].data<float>()[5], 2.0f);
}

TEST_F(RealValues, LazyTensorsAreEvaluatedInADeviceScope) {
  const Tensor x = Tensor(Literal::from<double>({1, 2, 3}, {3}));
  // Only the plugin's programs flush denormals to zero, which shows where the value was computed.
  const Tensor tiny = Tensor(Literal::scalar(1e-310)) * 1.0;
  {
    const pjrt::DeviceScope scope(device());
    EXPECT_TRUE(pjrt::DeviceScope::current() == device());
    EXPECT_EQ((x * x).eval().data<double>()[2], 9);
    EXPECT_EQ((tiny * 0.5).item<double>(), 0);
    {
      const pjrt::DeviceScope inner{pjrt::Device()};
      EXPECT_EQ((Tensor(Literal::scalar(1e-310)) * 0.5).item<double>(), 0.5e-310);
    }
    expect_error<TraceError>([&] { tap(x + 1, "x").eval(); }, {"tap"});
  }
  EXPECT_EQ((Tensor(Literal::scalar(1e-310)) * 0.5).item<double>(), 0.5e-310);
}

TEST_F(RealValues, ThreadsUseOneExecutable) {
  const auto f = [](Tensor n) {
    return while_loop([&](std::array<Tensor, 2> s) { return s[0] < n; },
                      [](std::array<Tensor, 2> s) {
                        return std::array{s[0] + 1, s[1] + s[0]};
                      },
                      std::array<Tensor, 2>{0, 0})[1];
  };
  const Executable executable = compile(trace(f, s32()), {.device = device()});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 16; t++) {
    threads.emplace_back([&, t] {
      for (int n = t; n < t + 40; n++)
        wrong += executable.run({Literal::scalar(n)})[0].item<int>() != n * (n - 1) / 2;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace rondo::testing
