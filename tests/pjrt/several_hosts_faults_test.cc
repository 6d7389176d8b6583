// What is refused of meshes over two processes, and of the parts of arrays on them.
#include "errors/message.h"
#include "pjrt/several_hosts.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

using SeveralHostsFaults = SeveralHosts;

TEST_F(SeveralHostsFaults, RefusesPartsThatDoNotFit) {
  const pjrt::Client client = host(1);
  const Mesh mesh = mesh_of(client);
  const TensorType whole = f32({kTableRows, kTableColumns});
  const Literal part = table_of(f32({2, kTableColumns}));
  const auto refused = [&](const std::vector<Literal>& parts, const std::string& message) {
    expect_error<ExecutionError>(
        [&] { (void)ShardedArray::from_parts(whole, mesh, kByRow, parts); },
        {"pjrt::ShardedArray::from_parts: ", message});
  };
  refused({part},
          "the number of parts is 1, and 2 devices of the mesh data=4 are this process's: "
          "fake:2048, fake:2049");
  refused({part, part, part, part}, "the number of parts is 4");
  refused({part, table_of(f32({kTableRows, kTableColumns}))},
          "the part for fake:2049 is f32[8,3], and its slice [6:8, 0:3] of f32[8,3] is f32[2,3]");
  refused({Literal::zeros(s32({2, kTableColumns})), part}, "the part for fake:2048 is s32[2,3]");
  EXPECT_EQ(state.buffers, 0);
  expect_error<ExecutionError>(
      [&] {
        (void)ShardedArray::from_parts(whole, mesh, kByRow,
                                       [&](const ShardSlice&) { return table_of(whole); });
      },
      {"the part for fake:2048 is f32[8,3]"});
  expect_error<ExecutionError>(
      [&] {
        (void)ShardedArray::from_parts(whole, mesh, kByRow,
                                       std::function<Literal(const ShardSlice&)>());
      },
      {"the function is empty"});
  expect_error<ExecutionError>(
      [&] {
        (void)ShardedArray::from_parts(f32({6, 3}), mesh, kByRow, {part, part});
      },
      {"pjrt::ShardedArray::from_parts: "});
  EXPECT_EQ(ShardedArray::from_parts(whole, mesh, kByRow, {part, part}).shards().size(), 2u);
}

TEST_F(SeveralHostsFaults, RefusesMeshesOfOthersDevicesOrOfTwoClients) {
  const pjrt::Client client = host(0), other = host(1);
  const auto all = client.all_devices();
  const Mesh theirs({{"data", 2}}, {all[2], all[3]});
  const std::string none = "no device of this process, 0: fake:2048 is one of process 1";
  const Literal x = table_of(f32({2, 2}));
  expect_error<ExecutionError>([&] { (void)compile(identity(), {.mesh = theirs}); },
                               {"compile of 'main'", none});
  expect_error<ExecutionError>([&] { (void)ShardedArray(x, theirs, kByRow); }, {none});
  expect_error<ExecutionError>(
      [&] { (void)ShardedArray::from_parts(x.type(), theirs, kByRow, std::vector<Literal>()); },
      {none});
  const Mesh mixed({{"data", 2}}, {all[0], other.devices()[0]});
  expect_error<ExecutionError>([&] { (void)compile(identity(), {.mesh = mixed}); },
                               {"devices of several clients: fake:0 and fake:2048"});
  expect_error<ExecutionError>([&] { (void)ShardedArray(x, mixed, kByRow); },
                               {"devices of several clients"});
}

TEST_F(SeveralHostsFaults, RefusesAnothersDevice) {
  const pjrt::Client client = host(0);
  const pjrt::Device theirs = client.all_devices()[3];
  const std::string says = "fake:2049 is a device of process 1, and this is process 0";
  expect_error<ExecutionError>([&] { (void)pjrt::DeviceArray(Literal::scalar(1), theirs); },
                               {says, "pjrt::Client::devices()"});
  const pjrt::DeviceArray mine(Literal::scalar(1), client.devices()[0]);
  expect_error<ExecutionError>([&] { (void)mine.copy_to(theirs); }, {says});
  expect_error<ExecutionError>([&] { (void)compile(identity(), {.device = theirs}); },
                               {"'main' is for no device of this process, 0"});
}

TEST_F(SeveralHostsFaults, RefusesToGatherWhatIsElsewhere) {
  state.compute = runs_on_each_shard(rows_of_shard());
  const pjrt::Client client = host(1);
  const Mesh mesh = mesh_of(client);
  const Literal x = table_of(f32({kTableRows, kTableColumns}));
  const ShardedArray mine(x, mesh, kByRow);
  const std::string here =
      "is not all here: process 1 has [4:6, 0:3] on fake:2048, [6:8, 0:3] on fake:2049";
  const std::string array = "f32[8,3] on data=4 as [{\"data\"}, {}]";
  expect_error<ExecutionError>([&] { (void)mine.to_literal(); },
                               {"pjrt::ShardedArray::to_literal: " + array, here,
                                "Take shards() and slices() in each process", "replicated"});
  // Nothing runs of a program whose results cannot be returned, nor where an argument would have to
  // be split in another way.
  const Executable executable = compile(rows(mesh), {.mesh = mesh});
  expect_error<ExecutionError>(
      [&] {
        (void)executable.run({x, Literal::scalar(1.0f)});
      },
      {"run of 'main': result 0, " + array, here, "run_on_mesh"});
  const Function whole = trace([&](Tensor t) { return t; }, f32({kTableRows, kTableColumns}));
  expect_error<ExecutionError>(
      [&] { (void)compile(whole, {.mesh = mesh}).run_on_mesh({mine}); },
      {"the program takes argument 0 as f32[8,3] on data=4 as [{}, {}]", here, "argument_specs()"});
  EXPECT_TRUE(state.passed.empty());
}

}  // namespace
}  // namespace rondo::testing
