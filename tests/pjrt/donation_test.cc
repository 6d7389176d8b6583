// Donated arguments: results are written over them, and no other array is touched. Counted on the
// fake plugin, observed by addresses on a real one.
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "pjrt/api.h"
#include "pjrt/array.h"
#include "pjrt/fake.h"
#include "pjrt/real_plugin.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

using Donation = Fake;
using RealDonation = RealPlugin;

constexpr std::int64_t kLarge = 1 << 15;  // of f32: 128 KiB

Literal large(float value) {
  return Literal::from(std::vector<float>(static_cast<std::size_t>(kLarge), value));
}
float first(const Tensor& x) { return x.eval().data<float>()[0]; }

TEST_F(Donation, OfTensorsThatAreMovedIntoACall) {
  const pjrt::Device device = client().devices()[0];
  const auto f = jit([](Tensor x) { return x; }, {.device = device});
  Tensor x = f(Tensor(large(2)));
  EXPECT_EQ(state.donated, 0);  // the plugin read the literal's memory
  for (int i = 0; i < 5; i++) x = f(std::move(x));
  EXPECT_EQ(state.donated, 5);
  EXPECT_EQ(state.compiled, 2);  // with and without
  EXPECT_EQ(state.buffers, 1);
  // A temporary is moved, a variable is not.
  x = f(f(f(x)));
  EXPECT_EQ(state.donated, 7);
  for (int i = 0; i < 5; i++) x = f(x);
  EXPECT_EQ(state.donated, 7);
  EXPECT_EQ(state.left_alone, 0);
  EXPECT_EQ(state.compiled, 2);
  EXPECT_EQ(first(x), 2);
}

TEST_F(Donation, NotWhereSomebodyElseHoldsTheTensorOrItsArray) {
  const pjrt::Device device = client().devices()[0];
  const auto f = jit([](Tensor x) { return x; }, {.device = device});
  Tensor x = f(Tensor(large(2)));
  const Tensor second = x;
  Tensor y = f(std::move(x));
  EXPECT_EQ(state.donated, 0);
  EXPECT_EQ(first(second), 2);
  const pjrt::DeviceArray array(y, device);
  Tensor z = f(std::move(y));
  EXPECT_EQ(state.donated, 0);
  EXPECT_FALSE(array.donated());
  EXPECT_EQ(array.to_literal().data<float>()[9], 2);
  const Tensor waits = z + 1;  // a graph that is not evaluated
  const Tensor last = f(std::move(z));
  EXPECT_EQ(state.donated, 0);
  EXPECT_EQ(first(waits), 3);
  // NOLINTNEXTLINE(bugprone-use-after-move): what it says is tested
  expect_error<TraceError>([&] { f(z); }, {"jit", "empty Tensor", "moved from"});
}

TEST_F(Donation, OfTheLeavesOfTreesEachByItself) {
  struct Pair {
    Tensor x, y;
  };
  const pjrt::Device device = client().devices()[0];
  const auto f = jit([](Pair p) { return p; }, {.device = device});
  const Pair both = f(Pair{Tensor(large(1)), Tensor(large(2))});
  Pair moved = f(both);
  const Tensor held = moved.y;
  moved = f(std::move(moved));
  EXPECT_EQ(state.donated, 1);
  EXPECT_EQ(first(held), 2);
  moved = f(std::move(moved));
  EXPECT_EQ(state.donated, 2);  // the program can use only x
  EXPECT_EQ(state.left_alone, 0);
  EXPECT_EQ(first(both.x), 1);
  EXPECT_EQ(first(moved.x), 1);
  EXPECT_EQ(first(moved.y), 2);
  // A tensor passed twice is held twice.
  const auto g = jit([](Tensor a, Tensor b) { return std::tuple{a, b}; }, {.device = device});
  Tensor x = moved.x;
  moved = Pair();
  Tensor twin = x;
  const auto [a, b] = g(std::move(x), std::move(twin));
  EXPECT_EQ(first(a), 1);
  EXPECT_EQ(first(b), 1);
  EXPECT_EQ(state.donated, 2);
}

TEST_F(Donation, OfArraysThatAreMovedIntoARun) {
  const pjrt::Device device = client().devices()[0];
  const TensorType type = f32({kLarge});
  const Executable executable = compile(trace(
                                            [](Tensor x, Tensor y) {
                                              return std::tuple{x, y};
                                            },
                                            type, type),
                                        {.device = device});
  const auto array = [&](float value) { return pjrt::DeviceArray(large(value), device); };
  std::vector<pjrt::DeviceArray> arguments =
      executable.run_on_device(std::vector{array(1), array(2)});
  const pjrt::DeviceArray held = arguments[0];
  const auto results = executable.run_on_device(std::move(arguments));
  EXPECT_EQ(state.donated, 1);
  EXPECT_FALSE(held.donated());
  EXPECT_EQ(held.to_literal().data<float>()[0], 1);
  EXPECT_EQ(results[1].to_literal().data<float>()[0], 2);
  // Next, the other array is held: the program that overwrites it leaves it unchanged.
  std::vector<pjrt::DeviceArray> others = executable.run_on_device(results);
  const pjrt::DeviceArray other = others[1];
  executable.run_on_device(std::move(others));
  EXPECT_EQ(state.donated, 1);
  EXPECT_EQ(other.to_literal().data<float>()[0], 2);
}

TEST_F(Donation, ARunThatDoesNotBeginTakesNothing) {
  const pjrt::Device device = client().devices()[0];
  const Executable executable =
      compile(trace([](Tensor x) { return x; }, f32({kLarge})), {.device = device});
  std::vector<pjrt::DeviceArray> arguments =
      executable.run_on_device(std::vector{pjrt::DeviceArray(large(3), device)});
  state.failing = pjrt::api::LoadedExecutableExecute::kIndex;
  expect_error<pjrt::PluginError>([&] { executable.run_on_device(std::move(arguments)); },
                                  {"told to fail"});
  state.failing = -1;
  EXPECT_EQ(state.donated, 0);
}

TEST_F(Donation, OfThePartsOnAMesh) {
  const Mesh mesh({{"data", 2}}, client().devices());
  const auto f = jit([](Tensor x) { return x; }, {.mesh = mesh});
  Tensor x = f(Tensor(large(2)));
  for (int i = 0; i < 3; i++) x = f(std::move(x));
  EXPECT_EQ(state.donated, 6);
  const Tensor held = x;
  x = f(std::move(x));
  EXPECT_EQ(state.donated, 6);
  EXPECT_EQ(first(held), 2);
  EXPECT_EQ(first(x), 2);
}

TEST_F(Donation, NotOfWhatIsSplitAnewOnTheWayIn) {
  const std::vector<pjrt::Device> devices = client().devices();
  const Mesh mesh({{"data", 2}}, devices), other({{"rows", 2}}, devices);
  const Function f = trace([](Tensor x) { return x; }, f32({kLarge}));
  const pjrt::ShardedArray x(large(2), other, {std::nullopt});
  auto arguments = compile(f, {.mesh = other}).run_on_mesh({x});
  const auto results = compile(f, {.mesh = mesh}).run_on_mesh(std::move(arguments));
  EXPECT_EQ(state.donated, 0);  // the plugin reads a literal that two devices share
  EXPECT_EQ(results[0].to_literal().data<float>()[1], 2);
}

TEST_F(Donation, OfSmallArraysAndThoseOfAnotherTypeThanTheResultsThereIsNone) {
  const pjrt::Device device = client().devices()[0];
  const auto f = jit([](Tensor x) { return x; }, {.device = device});
  Tensor x = f(Tensor(Literal::from<float>({1, 2})));
  for (int i = 0; i < 3; i++) x = f(std::move(x));
  EXPECT_EQ(state.donated, 0);
  EXPECT_EQ(state.compiled, 1);
}

TEST_F(Donation, OfLazyValuesThatNothingHoldsAnyMore) {
  const pjrt::Device device = client().devices()[0];
  const pjrt::DeviceScope scope(device);
  const auto compute = [&](const Tensor& x) { pjrt::DeviceArray(x, device).await(); };
  Tensor x = sin(Tensor(large(2)));
  compute(x);
  for (int i = 0; i < 5; i++) {
    x = cos(sin(x));  // values in between have no handle
    compute(x);
  }
  EXPECT_EQ(state.donated, 5);
  EXPECT_EQ(state.buffers, 1);
  const Tensor held = x;
  x = sin(x);
  compute(x);
  EXPECT_EQ(state.donated, 5);
  EXPECT_EQ(first(held), 2);
  const Tensor waits = cos(x);  // a graph that is not evaluated
  x = sin(x);
  compute(x);
  EXPECT_EQ(state.donated, 5);
  compute(waits);  // now its operand is not needed elsewhere
  EXPECT_EQ(state.donated, 6);
  EXPECT_EQ(first(waits), 2);
  const pjrt::DeviceArray array(x, device);
  x = sin(x);
  compute(x);
  EXPECT_EQ(state.donated, 6);
  EXPECT_EQ(array.to_literal().data<float>()[0], 2);
  // Operands of a run that fails are available for the next one.
  x = sin(x);
  compute(x);
  EXPECT_EQ(state.donated, 7);
  x = sin(x);
  state.failing = pjrt::api::LoadedExecutableExecute::kIndex;
  expect_error<pjrt::PluginError>([&] { compute(x); }, {"told to fail"});
  state.failing = -1;
  EXPECT_EQ(first(x), 2);
  EXPECT_EQ(state.donated, 8);
  clear_executable_cache();  // it holds the programs of lazy tensors
}

TEST_F(Donation, ThreadsThatComputeOneTensorAllGetIt) {
  const pjrt::Device device = client().devices()[0];
  Tensor x;
  std::atomic<int> wrong{0};
  const auto ask = [&](const Tensor& y, bool on_device) {
    const pjrt::DeviceScope scope(on_device ? device : pjrt::Device());
    try {
      wrong += first(y) != 0;
    } catch (const Error& error) {
      wrong++;
      ADD_FAILURE() << error.what();
    }
  };
  {
    const pjrt::DeviceScope scope(device);
    x = sin(Tensor(large(0)));
    pjrt::DeviceArray(x, device).await();
  }
  for (int i = 0; i < 200; i++) {
    x = sin(x);  // 0, which the fake plugin returns
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++) threads.emplace_back([&, t] { ask(x, t != 2); });
    for (std::thread& thread : threads) thread.join();
    const pjrt::DeviceScope scope(device);
    x = pjrt::DeviceArray(x, device).tensor();
  }
  EXPECT_EQ(wrong, 0);
  x = Tensor();
  clear_executable_cache();
}

std::uintptr_t address(const Tensor& x, const pjrt::Device& device) {
  const pjrt::DeviceArray array(x, device);
  array.await();
  pjrt::api::BufferUnsafePointer place;
  place.buffer = pjrt::plugin_array(array)->buffer;
  pjrt::plugin_array(array)->plugin_client().plugin->call(place, "test");
  return place.pointer;
}

TEST_F(Donation, ByNumberOfATensorThatIsUsedAgainNamesTheArgument) {
  const auto f = jit([](Tensor x) { return x; },
                     {.compile = {.donate = {0}}, .device = client().devices()[0]});
  const Tensor x = f(Tensor(large(2)));
  const Tensor y = f(x);
  expect_error<ExecutionError>([&] { f(x); }, {"run of 'main': argument 0 was donated"});
  EXPECT_EQ(first(y), 2);
}

TEST_F(RealDonation, AResultIsWrittenOverWhatWasMovedIntoTheCall) {
  const auto f = jit([](Tensor x) { return x * 2 + 1; }, {.device = device()});
  Tensor x = f(Tensor(large(1)));
  const std::uintptr_t place = address(x, device());
  for (int i = 0; i < 4; i++) {
    x = f(std::move(x));
    EXPECT_EQ(address(x, device()), place) << i;
  }
  const Tensor held = x;
  x = f(std::move(x));
  EXPECT_NE(address(x, device()), place);
  EXPECT_EQ(first(held), 63);
  EXPECT_EQ(first(x), 127);
}

TEST_F(RealDonation, OfOneOfTwoArgumentsWhileTheOtherIsHeld) {
  const auto f = jit(
      [](Tensor x, Tensor y) {
        return std::tuple{x + y, x - y};
      },
      {.device = device()});
  auto [x, y] = f(Tensor(large(3)), Tensor(large(1)));  // 4 and 2
  std::tie(x, y) = f(std::move(x), std::move(y));       // 6 and 2
  const Tensor held = x;
  std::tie(x, y) = f(std::move(x), std::move(y));  // 8 and 4
  EXPECT_EQ(first(held), 6);
  EXPECT_EQ(first(x), 8);
  EXPECT_EQ(first(y), 4);
}

std::int64_t resident_bytes() {
  std::int64_t pages = 0;
  std::ifstream in("/proc/self/statm");
  in >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST_F(RealDonation, AThousandCallsLeaveNothingBehind) {
  constexpr std::int64_t kMegabyte = 1 << 20;
  const auto f = jit([](Tensor x) { return x + 1; }, {.device = device()});
  Tensor x = f(Tensor(Literal::zeros(f32({kMegabyte / 4}))));
  const auto call = [&](int count, bool moves) {
    for (int i = 0; i < count; i++) x = moves ? f(std::move(x)) : f(x);
    pjrt::DeviceArray(x, device()).await();
  };
  call(50, false);
  call(50, true);
  const std::int64_t before = resident_bytes();
  call(500, false);
  call(500, true);
  EXPECT_LT(resident_bytes() - before, 100 * kMegabyte);
  EXPECT_EQ(first(x), 1101);
}

TEST_F(RealDonation, OfLazyValuesOfAnOrdinaryLoop) {
  const pjrt::DeviceScope scope(device());
  Tensor x = Tensor(large(1)) * 2.0f;
  const std::uintptr_t place = address(x, device());
  for (int i = 0; i < 4; i++) {
    x = x * 2.0f + 1.0f;
    EXPECT_EQ(address(x, device()), place) << i;
  }
  const Tensor held = x;
  const Tensor y = x - 1.0f;
  x = x + y;
  EXPECT_EQ(first(x), 93);
  EXPECT_EQ(first(y), 46);
  EXPECT_EQ(first(held), 47);
}

TEST_F(RealDonation, OfThePartsOnAMesh) {
  const Mesh mesh({{"data", 8}}, client().devices());
  const auto f = jit([&](Tensor x) { return shard(x, mesh, {"data"}) * 2; }, {.mesh = mesh});
  const std::int64_t n = 8 * kLarge;
  Tensor x = f(Tensor(Literal::from(std::vector<float>(static_cast<std::size_t>(n), 1.0f))));
  for (int i = 0; i < 3; i++) x = f(std::move(x));
  const Tensor held = x;
  x = f(std::move(x));
  EXPECT_EQ(first(held), 16);
  EXPECT_EQ(x.eval().data<float>()[static_cast<std::size_t>(n) - 1], 32);
}

}  // namespace
}  // namespace rondo::testing
