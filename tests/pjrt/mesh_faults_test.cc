// Failures on a mesh become errors, and everything of the plugin's is released.
#include <chrono>
#include <stop_token>

#include "errors/message.h"
#include "pjrt/api.h"
#include "pjrt/fake.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

class MeshFaults : public Fake {
 protected:
  static Mesh pair() { return Mesh({{"data", 2}}, client().devices()); }
};

template <class Exception, class Call>
void expect_error_of(const Call& call, const std::vector<std::string>& parts) {
  expect_parts(message_of<Exception>(call), parts);
}

TEST_F(MeshFaults, NothingIsLeftOfRunsThatGoWell) {
  const Mesh mesh = pair();
  const Executable executable = compile(identity(), {.mesh = mesh});
  for (int i = 0; i < 100; i++) {
    const std::vector<Literal> results = executable.run(arguments());
    EXPECT_TRUE(results[0].identical(arguments()[0]));
    EXPECT_TRUE(results[1].identical(arguments()[1]));
  }
  EXPECT_EQ(state.buffers, 0);
  const auto f = jit([](Tensor x) { return x; }, {.mesh = mesh});
  for (int i = 0; i < 100; i++) EXPECT_EQ(f(Tensor(1.5f)).item<float>(), 1.5f);
  EXPECT_EQ(state.buffers, 0);
}

TEST_F(MeshFaults, AnUploadThatFailsHalfWay) {
  const Executable executable = compile(identity(), {.mesh = pair()});
  for (const int passes : {0, 1, 2, 3}) {
    state.failing = pjrt::api::BufferFromHostBuffer::kIndex;
    state.passes = passes;
    expect_error_of<pjrt::PluginError>([&] { (void)executable.run(arguments()); },
                                       {"the fake plugin was told to fail"});
    EXPECT_EQ(state.buffers, 0) << passes;
  }
  state.failing = -1;
  EXPECT_EQ(executable.run(arguments()).size(), 2u);
}

TEST_F(MeshFaults, ARunThatFailsAtOnceOrLate) {
  const Mesh mesh = pair();
  const Executable executable = compile(identity(), {.mesh = mesh});
  state.failing = pjrt::api::LoadedExecutableExecute::kIndex;
  expect_error_of<pjrt::PluginError>([&] { (void)executable.run(arguments()); },
                                     {"the fake plugin was told to fail"});
  state.failing = -1;
  state.late = true;
  expect_error_of<pjrt::PluginError>([&] { (void)executable.run(arguments()); },
                                     {"late: out of memory"});
  const auto results =
      executable.run_on_mesh({pjrt::ShardedArray(arguments()[0], mesh, {std::nullopt}),
                              pjrt::ShardedArray(arguments()[1], mesh, {})});
  expect_error_of<pjrt::PluginError>([&] { results[0].await(); }, {"late: out of memory"});
  expect_error_of<pjrt::PluginError>([&] { (void)results[1].to_literal(); },
                                     {"late: out of memory"});
  const auto f = jit([](Tensor x) { return x; }, {.mesh = mesh});
  const Tensor y = f(Tensor(1.5f));
  expect_error_of<pjrt::PluginError>([&] { (void)y.eval(); }, {"late: out of memory"});
  expect_error_of<pjrt::PluginError>([&] { (void)(y + 1).eval(); }, {"late: out of memory"});
}

TEST_F(MeshFaults, AnswersThatDoNotFit) {
  const Mesh mesh = pair();
  state.other_device = true;
  expect_error_of<pjrt::PluginError>([&] { (void)compile(identity(), {.mesh = mesh}); },
                                     {"other devices"});
  state.other_device = false;
  const Executable executable = compile(identity(), {.mesh = mesh});
  state.no_result = true;
  expect_error_of<pjrt::PluginError>([&] { (void)executable.run(arguments()); },
                                     {"0 of 2 results"});
}

TEST_F(MeshFaults, LimitsOfARunAreRefused) {
  const Executable executable = compile(identity(), {.mesh = pair()});
  const auto refused = [&](const RunOptions& options, const std::string& name) {
    expect_error_of<ExecutionError>(
        [&] { (void)executable.run(arguments(), options); },
        {"run of 'main': RunOptions::" + name + " is set", "mesh data=2", "Leave it out"});
  };
  refused({.max_iterations = 5}, "max_iterations");
  refused({.deadline = std::chrono::seconds(1)}, "deadline");
  refused({.stop_token = std::stop_source().get_token()}, "stop_token");
  refused({.on_progress = [](const Progress&) {}}, "on_progress");
  refused({.threads = 2}, "threads");
}

TEST_F(MeshFaults, DevicesOfSeveralClients) {
  const Mesh mesh({{"data", 2}}, {client().devices()[0], client().devices()[1]});
  expect_error_of<ExecutionError>([&] { (void)compile(identity(), {.mesh = mesh}); },
                                  {"Give devices of one pjrt::Client"});
}

}  // namespace
}  // namespace rondo::testing
