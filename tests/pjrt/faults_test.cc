// A plugin that fails at each of its functions: errors, exceptions, late events, wrong answers.
// Each becomes an error of Rondo's, and what the plugin had created is released.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "pjrt/api.h"
#include "pjrt/fake.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

namespace api = pjrt::api;
using Faults = Fake;

constexpr const char* kAtFault = "\n  The plugin is at fault: install another version of it.";

/// All uses of a client.
void use_all(const pjrt::Client& client, const Function& program,
             const std::vector<Literal>& arguments) {
  const pjrt::Device device = client.devices()[0];
  const Executable executable = compile(program, {.device = device});
  const std::vector<Literal> results = executable.run(arguments);
  EXPECT_TRUE(results.at(0).identical(arguments[0]));
  EXPECT_TRUE(results.at(1).identical(arguments[1]));
  const pjrt::DeviceArray array(arguments[0], device);
  array.ready();
  array.await();
  const pjrt::DeviceArray copy = array.copy_to(client.devices()[1]);
  EXPECT_TRUE(copy.to_literal().identical(arguments[0]));
}

TEST_F(Faults, NothingFails) {
  use_all(client(), identity(), arguments());
  state.not_on_cpu = true;
  use_all(client(), identity(), arguments());
}

TEST_F(Faults, EachFunctionThatReturnsAnErrorOrThrows) {
  int refused = 0;
  for (int function = 4; function < 100; function++) {
    const bool releases =
        function == api::EventDestroy::kIndex || function == api::ClientDestroy::kIndex ||
        function == api::ExecutableDestroy::kIndex ||
        function == api::LoadedExecutableDestroy::kIndex || function == api::BufferDestroy::kIndex;
    if (releases) continue;  // NothingIsSaidOfWhatCannotBeReleased
    for (const int passes : {0, 1, 2}) {
      for (const int how : {0, 1, 2}) {
        SCOPED_TRACE(::testing::Message() << function << " " << passes << " " << how);
        state.failing = function;
        state.passes = passes;
        state.throws = how == 1;
        state.throws_int = how == 2;
        state.not_on_cpu = function == api::BufferToHostBuffer::kIndex;
        try {
          use_all(client(), identity(), arguments());
        } catch (const pjrt::PluginError& error) {
          refused++;
          EXPECT_EQ(error.code(), 13);
          const std::string what = error.what();
          const char* part = how == 2 ? "threw an exception" : "told to fail";
          EXPECT_NE(what.find(part), std::string::npos) << what;
        }
        expect_nothing_left();
        state = FakePlugin();
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(Faults, NothingIsSaidOfWhatCannotBeReleased) {
  for (const int function :
       {api::EventDestroy::kIndex, api::ClientDestroy::kIndex, api::ExecutableDestroy::kIndex,
        api::LoadedExecutableDestroy::kIndex, api::BufferDestroy::kIndex}) {
    for (const bool throws : {false, true}) {
      state.failing = function;
      state.throws = throws;
      use_all(client(), identity(), arguments());
      expect_nothing_left();
      state = FakePlugin();
    }
  }
}

TEST_F(Faults, AProgramThatFailsLate) {
  const pjrt::Device device = client().devices()[0];
  const Executable executable = compile(identity(), {.device = device});
  state.late = true;
  expect_error<pjrt::PluginError>([&] { executable.run(arguments()); },
                                  {"late: out of memory", "RESOURCE_EXHAUSTED"});
  const auto results = executable.run_on_device(
      std::vector<pjrt::DeviceArray>{{arguments()[0], device}, {arguments()[1], device}});
  expect_error<pjrt::PluginError>([&] { results[0].await(); }, {"late: out of memory"});
  expect_error<pjrt::PluginError>([&] { results[1].tensor().item<int>(); },
                                  {"late: out of memory"});
  const auto jitted = jit([](Tensor x) { return x; }, {.device = device});
  const Tensor lazy = jitted(Tensor(1.5f));
  expect_error<pjrt::PluginError>([&] { (lazy + 1).eval(); }, {"late: out of memory"});
}

TEST_F(Faults, AnswersThatDoNotFit) {
  const pjrt::Device device = client().devices()[0];
  state.other_result_type = true;
  expect_error<pjrt::PluginError>([&] { compile(identity(), {.device = device}); },
                                  {"s64[2]", "f32[2]", kAtFault});
  state = FakePlugin{.clients = state.clients};
  state.other_device = true;
  expect_error<pjrt::PluginError>([&] { compile(identity(), {.device = device}); },
                                  {"other devices", kAtFault});
  state.other_device = false;
  const Executable executable = compile(identity(), {.device = device});
  state.no_result = true;
  expect_error<pjrt::PluginError>([&] { executable.run(arguments()); },
                                  {"0 of 2 results", kAtFault});
  state.no_result = false;
  state.not_on_cpu = true;
  state.extra_bytes = 4;
  expect_error<pjrt::PluginError>([&] { executable.run(arguments()); },
                                  {"12 bytes", "f32[2]", kAtFault});
  state.no_devices = true;
  expect_error<pjrt::PluginError>([&] { client(); }, {"no device"});
}

TEST_F(Faults, FunctionsThatDoNothing) {
  const std::vector<std::pair<int, std::string>> all = {
      {api::ClientCreate::kIndex, "pjrt::Client: the plugin made none"},
      {api::DeviceGetDescription::kIndex, "pjrt::Client: its devices: one is missing"},
      {api::ClientAddressableDevices::kIndex, "the plugin has no device in this process"},
      {api::ClientCompile::kIndex, "the plugin compiled to nothing"},
      {api::LoadedExecutableGetExecutable::kIndex, "for fake:0: the plugin compiled to nothing"},
      {api::ExecutableOutputElementTypes::kIndex, "the plugin contradicts itself"},
      {api::BufferFromHostBuffer::kIndex, "copying an array to a device: the plugin gave no array"},
      {api::LoadedExecutableExecute::kIndex, "run of 'main': the plugin gave 0 of 2 results"}};
  for (const auto& [function, part] : all) {
    SCOPED_TRACE(part);
    state.idle = function;
    try {
      use_all(client(), identity(), arguments());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const pjrt::PluginError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_TRUE(has_remedy(error.what())) << error.what();
    }
    expect_nothing_left();
    state = FakePlugin();
  }
}

TEST_F(Faults, AStatusThatSaysEnoughComesWithARemedy) {
  const auto said = [&](int function, int code) -> std::string {
    state.failing = function;
    state.code = code;
    std::string what;
    try {
      use_all(client(), identity(), arguments());
    } catch (const pjrt::PluginError& error) {
      EXPECT_EQ(error.code(), code);
      what = error.what();
    }
    state = FakePlugin();
    return what;
  };
  using ::testing::EndsWith;
  for (const int function : {api::BufferFromHostBuffer::kIndex, api::ClientCompile::kIndex,
                             api::LoadedExecutableExecute::kIndex}) {
    EXPECT_THAT(said(function, 8),
                EndsWith("told to fail (RESOURCE_EXHAUSTED)\n  Make the arrays smaller, or release "
                         "others first."));
    for (const auto& [code, name] :
         {std::pair(2, "UNKNOWN"), std::pair(12, "UNIMPLEMENTED"), std::pair(13, "INTERNAL")}) {
      EXPECT_THAT(said(function, code),
                  EndsWith("told to fail (" + std::string(name) +
                           ")\n  Install another version of the plugin, or run the program without "
                           "a device: on the built-in executor."));
    }
    // For others the plugin gives the remedy.
    EXPECT_THAT(said(function, 3), EndsWith("told to fail (INVALID_ARGUMENT)"));
  }
}

TEST_F(Faults, ARefusedProgramNamesTheOpTheLoopAndTheLine) {
  const pjrt::Device device = client().devices()[0];
  const int refused_line = __LINE__ + 1;
  const auto next = [](Tensor s) { return tanh(s) * 3; };
  const auto f = [&](Tensor x) {
    return while_loop([](Tensor s) { return s < 100; }, next, x, {.name = "solve"});
  };
  const Function program = trace(f, f32());
  const std::string text = to_stablehlo_text(program, {.optimize = true});
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.find("stablehlo.tanh"); i++) line += text[i] == '\n';
  const std::string message = "-:" + std::to_string(line) + ":9: error: 'stablehlo.tanh' op no";
  for (const int code : {3, 12}) {
    state.failing = api::ClientCompile::kIndex;
    state.code = code;
    state.message = message.c_str();
    state.passes = 0;
    try {
      compile(program, {.device = device});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const pjrt::PluginError& error) {
      EXPECT_EQ(error.code(), code);
      const std::string what = error.what();
      for (const char* part : {"'stablehlo.tanh' op no", "in stablehlo.tanh", "in loop 'solve'",
                               "at faults_test.cc:", "compiling 'main' for fake:0"})
        EXPECT_NE(what.find(part), std::string::npos) << part << " in " << what;
      EXPECT_NE(what.find("at faults_test.cc:" + std::to_string(refused_line)), std::string::npos)
          << what;
      // The remedy comes last, and once, whatever the status says itself.
      const std::string advice = "\n  Install another version of the plugin, or run the";
      EXPECT_GT(what.find(advice), what.find("\n  of the text: ")) << what;
      EXPECT_EQ(what.find(advice), what.rfind(advice)) << what;
    }
  }
  // A line number that the text does not have is kept.
  state.message = "-:99999:1: error: beyond";
  state.passes = 0;
  expect_error<pjrt::PluginError>([&] { compile(program, {.device = device}); }, {"beyond"});
}

TEST_F(Faults, AChildProcessCannotUseTheClientOfItsParent) {
  const pjrt::Client parent = client();
  const pjrt::DeviceArray array(arguments()[0], parent.devices()[0]);
  const Executable executable = compile(identity(), {.device = parent.devices()[0]});
  const FakeCopy other("rondo_forked");  // the parent has no client of it
  pjrt::Plugin::load(other.path());
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    const auto refused = [&](auto call) {
      try {
        call();
        wrong++;
      } catch (const ExecutionError& error) {
        wrong += std::string(error.what()).find("forked") == std::string::npos;
      }
    };
    refused([&] { array.to_literal(); });
    refused([&] { array.await(); });
    refused([&] { executable.run(arguments()); });
    refused([&] { pjrt::DeviceArray(arguments()[0], parent.devices()[0]); });
    refused([&] { compile(identity(), {.device = parent.devices()[0]}); });
    refused([&] { client(); });  // a fork does not copy a plugin's threads
    const pjrt::Client own(pjrt::Plugin::load(other.path()));
    wrong += own.devices().size() != 2;
    _exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(array.to_literal().identical(arguments()[0]));
}

TEST_F(Faults, ThreadsUseOneExecutable) {
  const pjrt::Client shared = client();
  const Executable executable = compile(identity(), {.device = shared.devices()[0]});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 16; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; i++) {
        const auto results =
            executable.run({Literal::from<float>({1, 2}, {2}), Literal::scalar(t * 1000 + i)});
        wrong += results[1].item<int>() != t * 1000 + i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace rondo::testing
