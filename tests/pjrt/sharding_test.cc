// Programs on a mesh of eight devices, compared with one device and plain C++.
#include "ir/sharding.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "device/placement.h"
#include "errors/message.h"
#include "ir/lazy.h"
#include "pjrt/program.h"
#include "pjrt/real_plugin.h"
#include "support/compare.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

class RealMesh : public RealPlugin {
 protected:
  static Mesh grid() { return Mesh({{"data", 4}, {"model", 2}}, client().devices()); }
  static Mesh line() { return Mesh({{"data", 8}}, client().devices()); }
};

Literal uniform(int seed, const TensorType& type) {
  return random::uniform(random::key(seed), type, -1, 1).eval();
}

void expect_same(const Literal& got, const Tensor& want) {
  const std::string what = difference({got}, {want.eval()}, {.rtol = 1e-6});
  EXPECT_TRUE(what.empty()) << what;
}

/// Eight devices give the results of the reference on one.
void expect_same_as_one_device(const Function& f, const Mesh& mesh,
                               const std::vector<Literal>& arguments) {
  const std::vector<Literal> want = compile(f, {.executor = Executor::kReference}).run(arguments);
  for (const bool optimize : {true, false}) {
    const Executable on_mesh = compile(f, {.optimize = optimize, .mesh = mesh});
    const std::string what = difference(on_mesh.run(arguments), want, {.rtol = 1e-5, .atol = 1e-6});
    EXPECT_TRUE(what.empty()) << what << on_mesh.program();
  }
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    found++;
  return found;
}

TEST(Placement, GivesEachDeviceItsPart) {
  const ir::MeshAxes mesh{{"a", 2}, {"b", 3}};
  Literal x = Literal::uninitialized(s32({4, 6}));
  for (std::int32_t i = 0; i < 24; i++)
    x.mutable_data<std::int32_t>()[static_cast<std::size_t>(i)] = i;
  const auto first = [&](const pjrt::Placement& placement) {
    std::vector<std::int32_t> elements;
    for (std::size_t d = 0; d < 6; d++) {
      const Literal part = placement.part_of(x, d);
      EXPECT_EQ(part.type(), placement.part());
      elements.push_back(part.data<std::int32_t>()[0]);
    }
    Literal back = Literal::zeros(x.type());
    for (std::size_t d = 0; d < 6; d++) {
      if (placement.first_alike(d) == d) placement.put(placement.part_of(x, d), d, back);
    }
    EXPECT_TRUE(back.identical(x));
    return elements;
  };
  using Elements = std::vector<std::int32_t>;
  // Device 3 is at (1, 0): row 2, column 0.
  EXPECT_EQ(first({x.type(), {mesh, {{{"a"}}, {{"b"}}}}}), (Elements{0, 2, 4, 12, 14, 16}));
  EXPECT_EQ(first({x.type(), {mesh, {{{"a"}}, {}}}}), (Elements{0, 0, 0, 12, 12, 12}));
  EXPECT_EQ(first({x.type(), {mesh, {{}, {{"b"}}}}}), (Elements{0, 2, 4, 0, 2, 4}));
  // Over both: a varies slowest in the one, b in the other.
  EXPECT_EQ(first({x.type(), {mesh, {{}, {{"a", "b"}}}}}), (Elements{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(first({x.type(), {mesh, {{}, {{"b", "a"}}}}}), (Elements{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(first({x.type(), {mesh, {{}, {}}}}), (Elements{0, 0, 0, 0, 0, 0}));
}

TEST(Placement, OfArraysWithoutElements) {
  const pjrt::Placement empty(f32({0, 3}), {{{"a", 2}}, {{{"a"}}, {}}});
  Literal x = Literal::zeros(f32({0, 3}));
  EXPECT_EQ(empty.part_of(x, 1).type(), f32({0, 3}));
  empty.put(x, 1, x);
}

TEST_F(RealMesh, Matmul) {
  const Mesh mesh = grid();
  const Function f = trace(
      [&](Tensor x, Tensor w) {
        return shard(
            matmul(shard(x, mesh, {"data", std::nullopt}), shard(w, mesh, {std::nullopt, "model"})),
            mesh, {"data", "model"});
      },
      f32({16, 8}), f32({8, 6}));
  expect_same_as_one_device(f, mesh, {uniform(0, f32({16, 8})), uniform(1, f32({8, 6}))});
}

TEST_F(RealMesh, ATrainingStepOverTheRowsOfABatch) {
  const Mesh mesh = grid();
  const auto loss = [&](Tensor w, Tensor x, Tensor y) {
    const Tensor hidden = tanh(matmul(x, w));
    return mean(square(sum(hidden, {1}) - y));
  };
  const auto step = [&](Tensor w, Tensor x, Tensor y) {
    w = shard(w, mesh, {std::nullopt, "model"});
    x = shard(x, mesh, {"data", std::nullopt});
    y = shard(y, mesh, {"data"});
    const auto [value, gradient] = value_and_grad(loss)(w, x, y);
    return std::tuple(value, shard(w - 0.1 * gradient, mesh, {std::nullopt, "model"}));
  };
  const Function f = trace(step, f32({8, 6}), f32({32, 8}), f32({32}));
  expect_same_as_one_device(
      f, mesh, {uniform(0, f32({8, 6})), uniform(1, f32({32, 8})), uniform(2, f32({32}))});
}

TEST_F(RealMesh, AStencilWhoseCarryIsSplitInsideOfAWhile) {
  const Mesh mesh = line();
  const PartitionSpec rows{"data", std::nullopt};
  const auto heat = [&](Tensor u, Tensor steps) {
    return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < steps; },
                                  [&](Tensor i, Tensor c) {
                                    const Tensor next =
                                        c + 0.1 * (roll(c, 1, 0) + roll(c, -1, 0) - 2 * c);
                                    return std::tuple(i + 1, shard(next, mesh, rows));
                                  },
                                  std::tuple(Tensor(0), shard(u, mesh, rows))));
  };
  const Function f = trace(heat, f32({32, 3}), s32());
  const Literal u = uniform(0, f32({32, 3})), steps = Literal::scalar(7);
  expect_same_as_one_device(f, mesh, {u, steps});
  // And plain C++.
  std::vector<double> rod(32);
  for (std::size_t i = 0; i < 32; i++) rod[i] = static_cast<double>(u.data<float>()[3 * i]);
  for (int step = 0; step < 7; step++) {
    std::vector<double> next = rod;
    for (std::size_t i = 0; i < 32; i++)
      next[i] += 0.1 * (rod[(i + 31) % 32] + rod[(i + 1) % 32] - 2 * rod[i]);
    rod = next;
  }
  const Literal got = compile(f, {.mesh = mesh}).run({u, steps})[0];
  for (std::size_t i = 0; i < 32; i++)
    EXPECT_NEAR(static_cast<double>(got.data<float>()[3 * i]), rod[i], 1e-5);
}

TEST_F(RealMesh, AThermalEnsembleAndItsGradient) {
  const Mesh mesh = grid();
  const auto house = [&](Tensor tank) {
    return fori_loop(
        0, 20, [&](Tensor, Tensor slab) { return shard(slab + 0.1 * (tank - slab), mesh, {}); },
        20 * ones(f32()));
  };
  const auto slabs = [&](Tensor tanks) { return vmap(house, {.axis_name = "data"})(tanks); };
  const Function f = trace(
      [&](Tensor tanks) {
        tanks = shard(tanks, mesh, {"data"});
        const Tensor slope = grad([&](Tensor t) { return sum(square(slabs(t))); })(tanks);
        return std::tuple(shard(slabs(tanks), mesh, {"data"}), slope);
      },
      f32({64}));
  const Literal tanks = random::uniform(random::key(3), f32({64}), 30, 70).eval();
  expect_same_as_one_device(f, mesh, {tanks});
  const Literal got = compile(f, {.mesh = mesh}).run({tanks})[0];
  for (std::size_t lane = 0; lane < 64; lane++) {
    double slab = 20;
    for (int i = 0; i < 20; i++)
      slab += 0.1 * (static_cast<double>(tanks.data<float>()[lane]) - slab);
    EXPECT_NEAR(static_cast<double>(got.data<float>()[lane]), slab, 1e-4);
  }
}

TEST_F(RealMesh, AScanWithSplitWeightsAndItsGradient) {
  const Mesh mesh = grid();
  const auto network = [&](Tensor h, Tensor weights) {
    weights = shard(weights, mesh, {std::nullopt, std::nullopt, "model"});
    const auto layer = [&](Tensor c, Tensor w) {
      const Tensor next = tanh(matmul(shard(c, mesh, {"data", std::nullopt}), w));
      return std::pair(next, sum(next));
    };
    return sum(scan(layer, h, weights).first);
  };
  const Function f = trace(
      [&](Tensor h, Tensor w) { return std::tuple(network(h, w), grad<0, 1>(network)(h, w)); },
      f32({8, 4}), f32({5, 4, 4}));
  expect_same_as_one_device(f, mesh, {uniform(0, f32({8, 4})), uniform(1, f32({5, 4, 4}))});
}

TEST_F(RealMesh, CollectivesOverTheAxisOfLanes) {
  const Mesh mesh = line();
  const auto centred = [](Tensor x) { return x - axis_mean(x, "data"); };
  const Function f = trace(
      [&](Tensor xs) {
        return shard(vmap(centred, {.axis_name = "data"})(shard(xs, mesh, {"data", std::nullopt})),
                     mesh, {"data", std::nullopt});
      },
      f32({16, 3}));
  expect_same_as_one_device(f, mesh, {uniform(0, f32({16, 3}))});
}

TEST_F(RealMesh, JitTakesTheMeshAsAnOption) {
  const Mesh mesh = line();
  const auto f = [&](Tensor x) { return shard(x, mesh, {"data"}) * 2; };
  const Tensor x = Tensor(uniform(0, f32({16})));
  expect_values<float>(jit(f, {.mesh = mesh})(x) - jit(f)(x), {16}, std::vector<float>(16));
}

TEST_F(RealMesh, JitKeepsValuesInPartsBetweenCalls) {
  const Mesh mesh = grid();
  const PartitionSpec columns{std::nullopt, "model"};
  const auto step = jit(
      [&](Tensor w, Tensor x) {
        w = shard(w, mesh, columns);
        x = shard(x, mesh, {"data", std::nullopt});
        const auto loss = [&](Tensor v) { return mean(square(tanh(matmul(x, v)) - 0.5)); };
        return shard(w - 0.5 * grad(loss)(w), mesh, columns);
      },
      {.mesh = mesh});
  const Literal w0 = uniform(0, f32({4, 6})), x = uniform(1, f32({8, 4}));
  Tensor w = w0;
  for (int i = 0; i < 5; i++) {
    w = step(w, x);
    const pjrt::ShardedArray* parts = ir::mesh_value(w);
    ASSERT_NE(parts, nullptr);
    EXPECT_EQ(parts->shards()[1].type(), f32({4, 3}));
  }
  // Plain C++: d/dw mean((tanh(x w) - 1/2)^2).
  std::vector<double> want(w0.data<float>().begin(), w0.data<float>().end());
  for (int i = 0; i < 5; i++) {
    std::vector<double> gradient(24);
    for (std::size_t row = 0; row < 8; row++) {
      for (std::size_t column = 0; column < 6; column++) {
        double sum = 0;
        for (std::size_t k = 0; k < 4; k++)
          sum += static_cast<double>(x.data<float>()[row * 4 + k]) * want[k * 6 + column];
        const double y = std::tanh(sum);
        for (std::size_t k = 0; k < 4; k++) {
          gradient[k * 6 + column] += 2.0 / 48 * (y - 0.5) * (1 - y * y) *
                                      static_cast<double>(x.data<float>()[row * 4 + k]);
        }
      }
    }
    for (std::size_t k = 0; k < 24; k++) want[k] -= 0.5 * gradient[k];
  }
  const Literal got = w.eval();
  for (std::size_t k = 0; k < 24; k++)
    EXPECT_NEAR(static_cast<double>(got.data<float>()[k]), want[k], 1e-5);
  // Ops on it outside of jit, and a jitted function without a mesh, accept it like any tensor.
  expect_same((w + 1).eval(), Tensor(got) + 1);
  expect_same(jit([](Tensor v) { return v * 2; })(w).eval(), Tensor(got) * 2);
  expect_same(jit([](Tensor v) { return v * 2; }, {.device = device(3)})(w).eval(),
              Tensor(got) * 2);
}

TEST_F(RealMesh, TellsHowItsArgumentsLie) {
  const Mesh mesh = line();
  const Executable f = compile(
      trace([&](Tensor x, Tensor y) { return shard(x, mesh, {"data"}) + y; }, f32({8}), f32()),
      {.mesh = mesh});
  ASSERT_EQ(f.argument_specs().size(), 2u);
  const pjrt::ShardedArray x(uniform(0, f32({8})), *f.mesh(), f.argument_specs()[0]);
  EXPECT_EQ(x.shards()[0].type(), f32({1}));
  EXPECT_TRUE(f.argument_specs()[1].dims().empty());
  EXPECT_EQ(compile(trace([](Tensor t) { return t; }, f32())).mesh(), nullptr);
}

TEST_F(RealMesh, WhatIsCheckedToBeFiniteRunsOnTheReference) {
  const Mesh mesh = line();
  const Executable f =
      compile(trace([&](Tensor x) { return shard(1 / shard(x, mesh, {"data"}), mesh, {"data"}); },
                    f32({8})),
              {.mesh = mesh});
  RunOptions options;
  options.check_finite = true;
  const pjrt::ShardedArray ones_on_mesh(ones(f32({8})).eval(), mesh, {"data"});
  EXPECT_EQ(f.run_on_mesh({ones_on_mesh}, options)[0].shards()[0].type(), f32({1}));
  const pjrt::ShardedArray zeros_on_mesh(Literal::zeros(f32({8})), mesh, {"data"});
  EXPECT_THROW((void)f.run_on_mesh({zeros_on_mesh}, options), ExecutionError);
}

TEST_F(RealMesh, DevicesInAnotherOrder) {
  std::vector<pjrt::Device> devices = client().devices();
  std::reverse(devices.begin(), devices.end());
  std::swap(devices[1], devices[4]);
  const Mesh mesh({{"data", 4}, {"model", 2}}, devices);
  const Function f = trace(
      [&](Tensor x) {
        return shard(shard(x, mesh, {"model", "data"}) + 1, mesh, {"data", "model"});
      },
      f32({8, 12}));
  expect_same_as_one_device(f, mesh, {uniform(0, f32({8, 12}))});
  const pjrt::ShardedArray x(uniform(1, f32({8, 12})), mesh, {"model", "data"});
  const pjrt::ShardedArray y = compile(f, {.mesh = mesh}).run_on_mesh({x})[0];
  for (std::size_t d = 0; d < 8; d++) EXPECT_EQ(y.shards()[d].device(), devices[d]);
}

TEST_F(RealMesh, HalfOfTheDevices) {
  std::vector<pjrt::Device> devices = client().devices();
  devices.erase(devices.begin(), devices.begin() + 4);
  const Mesh mesh({{"data", 4}}, devices);
  const Function f = trace([&](Tensor x) { return sum(shard(x, mesh, {"data"})); }, f32({16}));
  expect_same_as_one_device(f, mesh, {uniform(0, f32({16}))});
}

TEST_F(RealMesh, EveryDtypeIsSplitAndPutTogether) {
  const Mesh mesh = grid();
  for (int dtype = 0; dtype < kDTypeCount; dtype++) {
    const TensorType type{static_cast<DType>(dtype), {4, 2, 3}};
    const Literal x = convert(Tensor(uniform(dtype, f32({4, 2, 3}))) * 100, type.dtype).eval();
    const Function f = trace(
        [&](Tensor t) {
          return shard(t, mesh, {"data", "model", std::nullopt});
        },
        type);
    EXPECT_TRUE(compile(f, {.mesh = mesh}).run({x})[0].identical(x)) << type.str();
  }
}

TEST_F(RealMesh, ResultsStayInPartsForTheNextRun) {
  const Mesh mesh = grid();
  const PartitionSpec rows{"data", std::nullopt};
  const Function f =
      trace([&](Tensor x) { return shard(shard(x, mesh, rows) + 1, mesh, rows); }, f32({8, 6}));
  const Executable step = compile(f, {.mesh = mesh});
  const Literal x = uniform(0, f32({8, 6}));
  pjrt::ShardedArray array(x, mesh, rows);
  EXPECT_EQ(array.str(), "f32[8,6] on data=4, model=2 as [{\"data\"}, {}]");
  for (int i = 0; i < 3; i++) array = step.run_on_mesh({array})[0];
  array.await();
  EXPECT_TRUE(array.ready());
  EXPECT_EQ(array.type(), f32({8, 6}));
  ASSERT_EQ(array.shards().size(), 8u);
  for (std::size_t d = 0; d < 8; d++) {
    EXPECT_EQ(array.shards()[d].type(), f32({2, 6}));
    EXPECT_EQ(array.shards()[d].device(), mesh.devices()[d]);
  }
  expect_same(array.to_literal(), Tensor(x) + 1 + 1 + 1);
  // Arrays with another sharding are resharded.
  const pjrt::ShardedArray columns(x, mesh, {std::nullopt, "model"});
  expect_same(step.run_on_mesh({columns})[0].to_literal(), Tensor(x) + 1);
}

TEST_F(RealMesh, ArgumentsThatAShardMeetsBehindACheckpointAreSplit) {
  const Mesh mesh = line();
  const auto inner = checkpoint([&](Tensor x) { return sin(shard(x, mesh, {"data"})); });
  expect_same_as_one_device(trace([&](Tensor x) { return inner(x); }, f32({16})), mesh,
                            {uniform(0, f32({16}))});
}

TEST_F(RealMesh, ProgramsThatSplitNothingRunOnAllDevices) {
  const Function f = trace([](Tensor x) { return std::tuple(x * 2, sum(x)); }, f32({5}));
  expect_same_as_one_device(f, grid(), {uniform(0, f32({5}))});
  const pjrt::ShardedArray x(uniform(0, f32({5})), grid(), {std::nullopt});
  const auto results = compile(f, {.mesh = grid()}).run_on_mesh({x});
  EXPECT_EQ(results[0].shards()[7].type(), f32({5}));
}

TEST_F(RealMesh, OneDeviceRunsTheSameProgram) {
  const Mesh mesh({{"data", 8}});
  const Function f = trace([&](Tensor x) { return shard(x, mesh, {"data"}) + 1; }, f32({8}));
  const Literal x = uniform(0, f32({8}));
  expect_same(compile(f, {.device = device(2)}).run({x})[0], Tensor(compile(f).run({x})[0]));
}

TEST_F(RealMesh, DonatedParametersAreGivenAway) {
  const Mesh mesh = line();
  const Function f = trace(
      [&](Tensor x) { return shard(shard(x, mesh, {"data"}) + 1, mesh, {"data"}); }, f32({64}));
  const pjrt::ShardedArray x(uniform(0, f32({64})), mesh, {"data"});
  const auto y = compile(f, {.mesh = mesh, .donate = {0}}).run_on_mesh({x});
  EXPECT_TRUE(x.shards()[3].donated());
  expect_same(y[0].to_literal(), Tensor(uniform(0, f32({64}))) + 1);
  EXPECT_THROW((void)x.to_literal(), ExecutionError);
}

TEST_F(RealMesh, GspmdTakesTheSameProgram) {
  const Mesh mesh = grid();
  const Function f = trace(
      [&](Tensor x) {
        return shard(fori_loop(
                         0, 3,
                         [&](Tensor, Tensor c) {
                           return shard(sin(c), mesh, {{"model", "data"}, kUnconstrained});
                         },
                         shard(x, mesh, {"data", "model"})),
                     mesh, {std::nullopt, {"data"}});
      },
      f32({8, 4}));
  const std::string text = to_stablehlo_text(f, {.partitioner = Partitioner::kGspmd});
  EXPECT_EQ(count(text, "@Sharding"), 3u);
  const pjrt::Program program(text, {.name = "gspmd",
                                     .devices = mesh.devices(),
                                     .parameters = {f32({2, 2})},
                                     .results = {f32({8, 1})},
                                     .donated = {},
                                     .shardy = false});
  const Literal x = uniform(0, f32({8, 4}));
  const pjrt::ShardedArray split(x, mesh, {"data", "model"});
  std::vector<std::vector<pjrt::DeviceArray>> arguments;
  for (const pjrt::DeviceArray& part : split.shards()) arguments.push_back({part});
  const auto results = program.run(arguments);
  Literal whole = Literal::zeros(f32({8, 4}));
  const pjrt::Placement columns(f32({8, 4}), ir::sharding_of(mesh, {std::nullopt, "data"}));
  for (std::size_t d = 0; d < 8; d++) columns.put(results[d][0].to_literal(), d, whole);
  const std::string what = difference({whole}, {sin(sin(sin(Tensor(x)))).eval()}, {.rtol = 1e-5});
  EXPECT_TRUE(what.empty()) << what;
}

template <class Call>
void expect_refused(const Call& call, const std::vector<std::string>& parts) {
  expect_parts(message_of<Error>(call), parts);
}

TEST_F(RealMesh, RefusesMeshesThatDoNotFit) {
  const Mesh mesh = grid();
  const Function f = trace([&](Tensor x) { return shard(x, mesh, {"data"}); }, f32({8}));
  const Mesh other({{"data", 8}});
  expect_refused([&] { (void)compile(f, {.mesh = other}); },
                 {"compile of 'main': the mesh data=8 has no devices"});
  expect_refused([&] { (void)compile(f, {.mesh = line()}); },
                 {"shard: its mesh is data=4, model=2, and that which the program is compiled for "
                  "is data=8"});
  expect_refused([&] { (void)compile(f, {.device = device(), .mesh = mesh}); },
                 {"CompileOptions has a mesh and a device"});
  expect_refused([&] { (void)compile(f, {.executor = Executor::kCompiled, .mesh = mesh}); },
                 {"CompileOptions has an executor and a mesh"});
  expect_refused(
      [&] {
        (void)Mesh({{"data", 4}}, client().devices());
      },
      {"Mesh: data=4 has 4 places, and there are 8 devices"});
  expect_refused(
      [&] {
        (void)Mesh({{"data", 2}}, {device(), device()});
      },
      {"Mesh: devices 0 and 1 are the same"});
  expect_refused(
      [&] {
        (void)Mesh({{"data", 2}}, {device(), pjrt::Device()});
      },
      {"Mesh: device 1 is none"});
}

TEST_F(RealMesh, RefusesArraysThatDoNotFit) {
  const Mesh mesh = line();
  const Executable f =
      compile(trace([&](Tensor x) { return shard(x, mesh, {"data"}); }, f32({8})), {.mesh = mesh});
  const Literal x = uniform(0, f32({8}));
  expect_refused([&] { (void)f.run_on_mesh({}); }, {"the number of arguments is 0"});
  expect_refused([&] { (void)f.run_on_mesh({pjrt::ShardedArray()}); },
                 {"argument 0 is an empty pjrt::ShardedArray, the program takes f32[8]"});
  expect_refused(
      [&] { (void)f.run_on_mesh({pjrt::ShardedArray(uniform(0, f64({8})), mesh, {"data"})}); },
      {"argument 0 is f64[8]", "the program takes f32[8]"});
  expect_refused([&] { (void)f.run_on_device({pjrt::DeviceArray(x, device())}); },
                 {"run_on_device of 'main', which was compiled for no device"});
  expect_refused([&] { (void)compile(trace([](Tensor t) { return t; }, f32())).run_on_mesh({}); },
                 {"run_on_mesh of 'main', which was compiled for no mesh"});
  expect_refused([&] { (void)pjrt::ShardedArray(x, mesh, {kUnconstrained}); },
                 {"dimension 0 is kUnconstrained, which is for programs"});
  expect_refused([&] { (void)pjrt::ShardedArray(x, mesh, {"rows"}); },
                 {"pjrt::ShardedArray: the mesh has no axis \"rows\""});
  expect_refused(
      [&] {
        (void)pjrt::ShardedArray(x, Mesh({{"data", 8}}), {"data"});
      },
      {"pjrt::ShardedArray: the mesh data=8 has no devices"});
  expect_refused([&] { (void)pjrt::ShardedArray().to_literal(); },
                 {"this pjrt::ShardedArray holds nothing"});
}

}  // namespace
}  // namespace rondo::testing
