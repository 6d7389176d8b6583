// Loading and finding plugins, clients and their options, on the fake plugin.
#include <fstream>

#include "pjrt/api.h"
#include "pjrt/fake.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

namespace fs = std::filesystem;
using PluginTest = Fake;

TEST_F(PluginTest, WhatIsNoPluginIsRefused) {
  expect_error<ExecutionError>([] { pjrt::Plugin::load("/no/such/plugin.so"); },
                               {"/no/such/plugin.so", "No such file", "pip install"});
  expect_error<ExecutionError>([] { pjrt::Plugin::load(""); }, {"No such file"});
  expect_error<ExecutionError>([] { pjrt::Plugin::load("/tmp"); }, {"cannot be loaded"});
  const fs::path text = fs::temp_directory_path() / ("rondo_text" + std::to_string(getpid()));
  std::ofstream(text) << "not a library";
  expect_error<ExecutionError>([&] { pjrt::Plugin::load(text.string()); }, {"cannot be loaded"});
  fs::remove(text);
  Dl_info libm{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(static_cast<double (*)(double)>(std::cbrt)), &libm), 0);
  expect_error<ExecutionError>([&] { pjrt::Plugin::load(libm.dli_fname); }, {"GetPjrtApi"});
}

TEST_F(PluginTest, VersionSizeAndFunctionsAreChecked) {
  const FakeCopy copy("rondo_versions");
  FakePlugin& other = copy.state();
  const auto refused = [&](const std::vector<std::string>& parts) {
    expect_error<ExecutionError>([&] { pjrt::Plugin::load(copy.path()); }, parts);
    other = FakePlugin();
  };
  other.minor = 59;
  refused({"version 0.59", "0.60"});
  other.major = 1;
  refused({"version 1.115"});
  other.table_size = 8;
  refused({"version unknown"});
  other.table_size = 700;
  refused({"700 bytes", "776"});
  other.no_table = true;
  refused({"returned nothing"});
  other.missing = pjrt::api::LoadedExecutableExecute::kIndex;
  refused({"lacks function 55"});
  other.failing = pjrt::api::PluginInitialize::kIndex;
  refused({"the fake plugin was told to fail", "INTERNAL", copy.path()});
  EXPECT_EQ(other.errors, 0);
  // It is asked again, and loaded once.
  const pjrt::Plugin plugin = pjrt::Plugin::load(copy.path());
  EXPECT_EQ(plugin.api_major(), 0);
  EXPECT_EQ(plugin.api_minor(), 115);
  other.minor = 3;
  EXPECT_EQ(pjrt::Plugin::load(copy.path()).api_minor(), 115);
}

TEST_F(PluginTest, PluginsAreFoundInPythonEnvironments) {
  const fs::path venv = fs::temp_directory_path() / ("rondo_venv" + std::to_string(getpid()));
  const auto add = [&](const std::string& file) {
    const fs::path path = venv / "lib/python3.12/site-packages" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "";
    return fs::canonical(path).string();
  };
  const std::string cuda = add("jax_plugins/xla_cuda12/xla_cuda_plugin.so");
  const std::string cpu = add("fastatomstruct_xla_cpu/libpjrt_cpu.so");
  add("fastatomstruct_xla_cpu/helper.so");
  const auto set = [](const char* name, const char* value) {
    const char* old = std::getenv(name);
    std::optional<std::string> kept = old ? std::optional<std::string>(old) : std::nullopt;
    value ? setenv(name, value, 1) : unsetenv(name);
    return kept;
  };
  const auto old_env = set("VIRTUAL_ENV", venv.c_str());
  const auto old_named = set("RONDO_PJRT_PLUGIN", "/first.so:/second.so");
  const std::vector<std::string> found = pjrt::find_plugins();
  set("VIRTUAL_ENV", old_env ? old_env->c_str() : nullptr);
  set("RONDO_PJRT_PLUGIN", old_named ? old_named->c_str() : nullptr);
  fs::remove_all(venv);
  ASSERT_GE(found.size(), 4u);
  EXPECT_EQ(found[0], "/first.so");
  EXPECT_EQ(found[1], "/second.so");
  const auto at = [&](const std::string& path) {
    return std::find(found.begin(), found.end(), path) - found.begin();
  };
  EXPECT_LT(at(cpu), at(cuda));
  EXPECT_LT(at(cuda), static_cast<std::ptrdiff_t>(found.size()));
  for (const std::string& path : found) EXPECT_FALSE(path.ends_with("helper.so"));
}

TEST_F(PluginTest, ClientsKnowTheirDevices) {
  const pjrt::Client one = client();
  EXPECT_EQ(one.platform(), "fake");
  EXPECT_EQ(one.platform_version(), "fake");
  ASSERT_EQ(one.devices().size(), 2u);
  const pjrt::Device device = one.devices()[1];
  EXPECT_EQ(device.id(), 1);
  EXPECT_EQ(device.kind(), "pretender");
  EXPECT_EQ(device.str(), "fake:1");
  EXPECT_TRUE(device.client() == one);
  EXPECT_TRUE(device == one.devices()[1]);
  EXPECT_FALSE(device == one.devices()[0]);
  EXPECT_FALSE(device == client().devices()[1]);
  EXPECT_TRUE(static_cast<bool>(device));
  EXPECT_EQ(state.clients, 1);
}

TEST_F(PluginTest, OptionsAreCheckedByNameAndTypeAndRange) {
  const pjrt::Plugin plugin = pjrt::Plugin::load(RONDO_FAKE_PLUGIN);
  const auto refused = [&](const pjrt::ClientOptions& options,
                           const std::vector<std::string>& parts) {
    expect_error<ExecutionError>([&] { pjrt::Client(plugin, options); }, parts);
    EXPECT_EQ(state.clients, 0);
  };
  refused({{"cpu_devices", 8}}, {"no option 'cpu_devices'", "cpu_device_count"});
  refused({{"cpu_device_count", "8"}}, {"'cpu_device_count'", "an integer"});
  refused({{"cpu_device_count", 0}}, {"from 1"});
  refused({{"cpu_device_count", -1}}, {"from 1"});
  refused({{"cpu_device_count", true}}, {"an integer"});
  refused({{"allocator", "mine"}}, {"bfc"});
  refused({{"memory_fraction", 1.5}}, {"at most 1"});
  refused({{"visible_devices", std::vector<std::int64_t>{0, -1}}}, {"from 0"});
  const pjrt::Client client(plugin, {{"cpu_device_count", 8},
                                     {"allocator", "bfc"},
                                     {"preallocate", false},
                                     {"memory_fraction", 0.5},
                                     {"visible_devices", std::vector<std::int64_t>{0, 1}}});
  EXPECT_EQ(state.clients, 1);
}

TEST_F(PluginTest, AnOptionThatThePluginDoesNotHaveIsToBeLeftOut) {
  const pjrt::Plugin plugin = pjrt::Plugin::load(RONDO_FAKE_PLUGIN);
  state.failing = pjrt::api::ClientCreate::kIndex;
  state.code = 3;
  state.message = "Unexpected option name: num_nodes";
  expect_error<pjrt::PluginError>(
      [&] {
        pjrt::Client(plugin, {{"num_nodes", 2}});
      },
      {"Unexpected option name: num_nodes (INVALID_ARGUMENT)\n  Leave "
       "out the option that the plugin names"});
  EXPECT_EQ(state.clients, 0);
}

TEST_F(PluginTest, HandlesThatHoldNothingSaySo) {
  const pjrt::Device none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.str(), "no device");
  expect_error<ExecutionError>([&] { none.id(); }, {"pjrt::Device::id", "devices()"});
  expect_error<ExecutionError>([&] { none.kind(); }, {"none"});
  expect_error<ExecutionError>([&] { none.platform(); }, {"none"});
  expect_error<ExecutionError>([&] { none.client(); }, {"none"});
  expect_error<ExecutionError>([&] { pjrt::DeviceArray(Literal::scalar(1), none); }, {"none"});
  expect_error<TraceError>([] { pjrt::DeviceArray(Tensor(), client().devices()[0]); },
                           {"pjrt::DeviceArray: an operand is an empty Tensor", "Give it a value"});
  const pjrt::DeviceArray nothing;
  EXPECT_EQ(nothing.str(), "no array");
  expect_error<ExecutionError>([&] { nothing.type(); }, {"holds nothing"});
  expect_error<ExecutionError>([&] { nothing.device(); }, {"holds nothing"});
  expect_error<ExecutionError>([&] { nothing.ready(); }, {"holds nothing"});
  expect_error<ExecutionError>([&] { nothing.await(); }, {"holds nothing"});
  expect_error<ExecutionError>([&] { nothing.to_literal(); }, {"holds nothing"});
  expect_error<ExecutionError>([&] { nothing.copy_to(none); }, {"holds nothing"});
  expect_error<ExecutionError>([&] { nothing.tensor(); }, {"holds nothing"});
  expect_error<ExecutionError>([&] { nothing.donated(); }, {"holds nothing"});
  const pjrt::DeviceArray array(Literal::scalar(1), client().devices()[0]);
  expect_error<ExecutionError>([&] { array.copy_to(none); }, {"none"});
  Literal moved = Literal::scalar(1);
  const Literal taken = std::move(moved);
  // NOLINTNEXTLINE(bugprone-use-after-move): what it says is tested
  expect_error<ExecutionError>([&] { pjrt::DeviceArray(moved, client().devices()[0]); },
                               {"moved from"});
}

}  // namespace
}  // namespace rondo::testing
