// Arguments and results of a program over two processes, and of arrays of their parts.
#include "pjrt/several_hosts.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "pjrt/api.h"
#include "pjrt/real_plugin.h"
#include "support/compare.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

std::vector<int> ids(const std::vector<pjrt::Device>& devices) {
  std::vector<int> out;
  for (const pjrt::Device& device : devices) out.push_back(device.id());
  return out;
}

using Ids = std::vector<int>;

TEST_F(SeveralHosts, AClientKnowsTheDevicesOfAll) {
  for (const int process : {0, 1}) {
    const pjrt::Client client = host(process);
    EXPECT_EQ(client.process_index(), process);
    EXPECT_EQ(ids(client.all_devices()), (Ids{0, 1, 2048, 2049}));
    EXPECT_EQ(ids(client.devices()), process == 0 ? (Ids{0, 1}) : (Ids{2048, 2049}));
    for (const pjrt::Device& device : client.all_devices()) {
      EXPECT_EQ(device.process_index(), device.id() / 2048);
      EXPECT_EQ(device.is_addressable(), device.process_index() == process);
      EXPECT_EQ(device.str(), "fake:" + std::to_string(device.id()));
    }
  }
  const pjrt::Client alone = client();
  EXPECT_EQ(alone.all_devices(), alone.devices());
  EXPECT_EQ(alone.process_index(), 0);
  EXPECT_TRUE(alone.devices()[1].is_addressable());
}

TEST_F(SeveralHosts, PluginsThatDoNotTellOfOtherProcesses) {
  for (const int function :
       {pjrt::api::ClientDevices::kIndex, pjrt::api::ClientProcessIndex::kIndex,
        pjrt::api::DeviceDescriptionProcessIndex::kIndex}) {
    const FakeCopy copy("plugin_without_" + std::to_string(function));
    copy.state().missing = function;
    const pjrt::Client client(pjrt::Plugin::load(copy.path()));
    EXPECT_EQ(client.all_devices(), client.devices());
    EXPECT_EQ(client.process_index(), 0);
  }
}

TEST_F(SeveralHosts, BothGiveTheirPartsAndGetTheirResults) {
  state.compute = runs_on_each_shard(rows_of_shard());
  const Literal x = table_of(f32({kTableRows, kTableColumns})), scale = Literal::scalar(2.5f);
  std::vector<Literal> want, got;
  Literal whole = Literal::zeros(x.type());
  for (const int process : {0, 1}) {
    const pjrt::Client client = host(process);
    const Mesh mesh = mesh_of(client);
    const Function f = rows(mesh);
    want = compile(f, {.executor = Executor::kReference}).run({x, scale});
    const Executable executable = compile(f, {.mesh = mesh});
    EXPECT_EQ(state.assignment, (std::vector<std::int64_t>{0, 1, 2048, 2049}));
    std::vector<ShardSlice> asked;
    const auto read = [&](const ShardSlice& slice) {
      asked.push_back(slice);
      return slice_of(x, slice);
    };
    const auto mine =
        ShardedArray::from_parts(x.type(), mesh, executable.argument_specs()[0], read);
    const std::int64_t first = 4 * process;
    const auto place = static_cast<std::size_t>(2 * process);
    EXPECT_EQ(asked, (std::vector<ShardSlice>{{place, {first, 0}, {2, kTableColumns}},
                                              {place + 1, {first + 2, 0}, {2, kTableColumns}}}));
    EXPECT_EQ(mine.slices(), asked);
    EXPECT_FALSE(mine.is_whole_here());
    const ShardedArray factor(scale, mesh, {});
    EXPECT_TRUE(factor.is_whole_here());
    EXPECT_EQ(factor.shards().size(), 2u);
    EXPECT_EQ(factor.to_literal().data<float>()[0], 2.5f);
    EXPECT_EQ(state.buffers, 4);  // nothing for the other's devices

    const ShardedArray y = executable.run_on_mesh({mine, factor})[0];
    const int id = 2048 * process;
    EXPECT_EQ(state.passed, (std::vector<Ids>{{id, id}, {id + 1, id + 1}}));
    EXPECT_EQ(y.type(), x.type());
    EXPECT_EQ(y.slices(), asked);
    ASSERT_EQ(y.shards().size(), 2u);
    for (std::size_t i = 0; i < 2; i++) {
      EXPECT_EQ(y.shards()[i].type(), f32({2, kTableColumns}));
      EXPECT_EQ(y.shards()[i].device(), client.devices()[i]);
      const Literal part = y.shards()[i].to_literal();
      const auto at = static_cast<std::size_t>(y.slices()[i].start[0] * kTableColumns);
      std::memcpy(whole.mutable_data<float>().data() + at, part.bytes(),
                  static_cast<std::size_t>(part.type().bytes()));
    }
  }
  EXPECT_EQ(difference({whole}, want), "");
}

TEST_F(SeveralHosts, AJittedFunctionTakesPartsAndWholeArrays) {
  state.compute = runs_on_each_shard(
      trace([](Tensor t, Tensor scale) { return t * scale; }, f32({2, kTableColumns}), f32()));
  const pjrt::Client client = host(1);
  const Mesh mesh = mesh_of(client);
  const Literal x = table_of(f32({kTableRows, kTableColumns}));
  const auto f = jit(
      [&](Tensor t, Tensor scale) { return shard(shard(t, mesh, kByRow) * scale, mesh, kByRow); },
      {.mesh = mesh});
  const auto mine = ShardedArray::from_parts(
      x.type(), mesh, kByRow, [&](const ShardSlice& slice) { return slice_of(x, slice); });
  for (const Tensor& given : {mine.tensor(), Tensor(x)}) {
    const Tensor y = f(f(given, Tensor(2.0f)), Tensor(3.0f));
    const ShardedArray parts(y);
    ASSERT_EQ(parts.slices(), mine.slices());
    for (std::size_t i = 0; i < 2; i++) {
      const Literal want = (Tensor(slice_of(x, parts.slices()[i])) * 2 * 3).eval();
      EXPECT_TRUE(parts.shards()[i].to_literal().identical(want));
    }
    expect_error<ExecutionError>([&] { (void)y.eval(); }, {"is not all here", "Take shards()"});
  }
  expect_error<ExecutionError>([] { (void)ShardedArray(Tensor(1.5f)); },
                               {"the value of this tensor is not on a mesh"});
}

TEST_F(SeveralHosts, DevicesInAnyOrder) {
  state.compute = runs_on_each_shard(rows_of_shard());
  const pjrt::Client client = host(1);
  const std::vector<pjrt::Device> all = client.all_devices();
  const Mesh mesh({{"data", 4}}, {all[3], all[0], all[2], all[1]});
  const Literal x = table_of(f32({kTableRows, kTableColumns}));
  const Executable executable = compile(rows(mesh), {.mesh = mesh});
  EXPECT_EQ(state.assignment, (std::vector<std::int64_t>{2049, 0, 2048, 1}));
  const ShardedArray mine(x, mesh, kByRow);
  EXPECT_EQ(state.buffers, 2);
  EXPECT_EQ(mine.slices(), (std::vector<ShardSlice>{{0, {0, 0}, {2, 3}}, {2, {4, 0}, {2, 3}}}));
  const ShardedArray y =
      executable.run_on_mesh({mine, ShardedArray(Literal::scalar(1.0f), mesh, {})})[0];
  EXPECT_EQ(state.passed, (std::vector<Ids>{{2049, 2049}, {2048, 2048}}));
  EXPECT_EQ(y.shards()[1].device(), all[2]);
  const Tensor part(slice_of(x, y.slices()[1]));
  EXPECT_EQ(difference({y.shards()[1].to_literal()}, {(part + tanh(part)).eval()}), "");
}

TEST_F(SeveralHosts, WhatIsSplitWithinEachHostAndReplicatedOverThemIsWholeOnEach) {
  const Literal x = table_of(f32({kTableRows, kTableColumns}));
  for (const int process : {0, 1}) {
    const pjrt::Client client = host(process);
    const Mesh grid({{"hosts", 2}, {"local", 2}}, client.all_devices());
    int asked = 0;
    const auto read = [&](const ShardSlice& slice) {
      asked++;
      return slice_of(x, slice);
    };
    const auto halves = ShardedArray::from_parts(x.type(), grid, {"local", std::nullopt}, read);
    EXPECT_EQ(asked, 2);
    EXPECT_TRUE(halves.is_whole_here());
    EXPECT_TRUE(halves.to_literal().identical(x));
    // Split over the hosts: both devices of one have the same half, which is read once.
    const auto half = ShardedArray::from_parts(x.type(), grid, {"hosts", std::nullopt}, read);
    EXPECT_EQ(asked, 3);
    EXPECT_FALSE(half.is_whole_here());
    EXPECT_EQ(half.slices()[0].start, half.slices()[1].start);
    EXPECT_EQ(half.slices()[0].start[0], 4 * process);
  }
}

TEST_F(SeveralHosts, ReplicatedResultsAreReadOnEveryHost) {
  const pjrt::Client client = host(1);
  const Mesh mesh = mesh_of(client);
  const std::vector<Literal> results = compile(identity(), {.mesh = mesh}).run(arguments());
  EXPECT_TRUE(results[0].identical(arguments()[0]));
  const auto f = jit([](Tensor x) { return x; }, {.mesh = mesh});
  EXPECT_EQ(f(Tensor(1.5f)).item<float>(), 1.5f);
}

TEST_F(SeveralHosts, DonatedParametersAreGivenAway) {
  const pjrt::Client client = host(0);
  const Mesh mesh = mesh_of(client);
  const Function f = trace([&](Tensor x) { return shard(shard(x, mesh, kByRow), mesh, kByRow); },
                           f32({kTableRows, kTableColumns}));
  const ShardedArray x(table_of(f32({kTableRows, kTableColumns})), mesh, kByRow);
  const auto y = compile(f, {.mesh = mesh, .donate = {0}}).run_on_mesh({x});
  EXPECT_EQ(state.donated, 2);
  EXPECT_TRUE(x.shards()[1].donated());
  EXPECT_FALSE(y[0].shards()[1].donated());
}

TEST_F(SeveralHosts, CompiledProgramsOnDiskAreThoseOfAProcess) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("several_hosts_" + std::to_string(::getpid()));
  setenv("RONDO_CACHE_DIR", folder.c_str(), 1);
  for (const int time : {0, 1}) {
    for (const int process : {0, 1}) {
      const auto before = pjrt::disk_cache();
      const Executable executable = compile(identity(), {.mesh = mesh_of(host(process))});
      EXPECT_EQ(pjrt::disk_cache().hits - before.hits, time);
      EXPECT_TRUE(executable.run(arguments())[0].identical(arguments()[0]));
      EXPECT_EQ(state.passed[0][0], 2048 * process);
    }
  }
  unsetenv("RONDO_CACHE_DIR");
  std::filesystem::remove_all(folder);
}

/// On real XLA in one process, all of whose devices are here.
using RealParts = RealPlugin;

TEST_F(RealParts, OneProcessHasAllDevices) {
  EXPECT_EQ(client().all_devices(), client().devices());
  EXPECT_EQ(client().process_index(), 0);
  for (const pjrt::Device& each : client().devices()) EXPECT_EQ(each.process_index(), 0);
}

TEST_F(RealParts, MakeTheArrayThatIsSplit) {
  const Mesh mesh({{"data", 4}, {"model", 2}}, client().all_devices());
  const Literal x = table_of(f32({8, 6})), w = table_of(f32({6, 4}));
  const auto part = [](const Literal& whole) {
    return [&whole](const ShardSlice& slice) { return slice_of(whole, slice); };
  };
  const auto rows = ShardedArray::from_parts(x.type(), mesh, kByRow, part(x));
  const auto columns = ShardedArray::from_parts(w.type(), mesh, {std::nullopt, "model"}, part(w));
  EXPECT_TRUE(rows.to_literal().identical(x));
  EXPECT_TRUE(columns.to_literal().identical(w));
  std::vector<Literal> parts;
  for (const ShardSlice& slice : columns.slices()) parts.push_back(slice_of(w, slice));
  EXPECT_TRUE(ShardedArray::from_parts(w.type(), mesh, {std::nullopt, "model"}, parts)
                  .to_literal()
                  .identical(w));
  // A product and its sum over all devices.
  const auto f = jit(
      [&](Tensor a, Tensor b) {
        const Tensor c =
            shard(matmul(shard(a, mesh, kByRow), shard(b, mesh, {std::nullopt, "model"})), mesh,
                  {"data", "model"});
        return std::tuple(c, sum(c));
      },
      {.mesh = mesh});
  const auto [c, total] = f(rows.tensor(), columns.tensor());
  const Tensor want = matmul(Tensor(x), Tensor(w));
  EXPECT_EQ(difference({ShardedArray(c).to_literal()}, {want.eval()}, {.rtol = 1e-6}), "");
  EXPECT_EQ(difference({total.eval()}, {sum(want).eval()}, {.rtol = 1e-6}), "");
}

}  // namespace
}  // namespace rondo::testing
