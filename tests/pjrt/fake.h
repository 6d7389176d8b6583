// Loads the fake plugin: its settings and its counters.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "pjrt/fake_plugin/fake_plugin.h"
#include "rondo/rondo.h"

namespace rondo::testing {

/// The fake plugin at another path is another plugin, for what is determined on loading.
class FakeCopy {
 public:
  explicit FakeCopy(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              (name + std::to_string(::getpid()) + ".so")) {
    std::filesystem::copy_file(RONDO_FAKE_PLUGIN, path_,
                               std::filesystem::copy_options::overwrite_existing);
  }
  ~FakeCopy() { std::filesystem::remove(path_); }
  FakeCopy(const FakeCopy&) = delete;
  FakeCopy& operator=(const FakeCopy&) = delete;
  std::string path() const { return path_.string(); }
  FakePlugin& state() const { return state_at(path_.string()); }

  static FakePlugin& state_at(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    return *reinterpret_cast<FakePlugin* (*)()>(dlsym(library, "rondo_fake_plugin_state"))();
  }

 private:
  std::filesystem::path path_;
};

/// A fixture whose tests release everything of the plugin's.
class Fake : public ::testing::Test {
 protected:
  Fake() : state(FakeCopy::state_at(RONDO_FAKE_PLUGIN)) { state = FakePlugin(); }
  ~Fake() override { state = FakePlugin(); }
  void TearDown() override { expect_nothing_left(); }
  void expect_nothing_left() const {
    EXPECT_EQ(state.errors, 0);
    EXPECT_EQ(state.events, 0);
    EXPECT_EQ(state.clients, 0);
    EXPECT_EQ(state.executables, 0);
    EXPECT_EQ(state.loaded, 0);
    EXPECT_EQ(state.buffers, 0);
    EXPECT_EQ(state.serialized, 0);
  }
  static pjrt::Client client() { return pjrt::Client(pjrt::Plugin::load(RONDO_FAKE_PLUGIN)); }
  /// On f32[2] and s32[]: the fake plugin's programs return their arguments.
  static Function identity() {
    return trace([](Tensor x, Tensor n) { return std::tuple{x, n}; }, f32({2}), s32());
  }
  static std::vector<Literal> arguments() {
    return {Literal::from<float>({1.5f, -2}, {2}), Literal::scalar(7)};
  }

  FakePlugin& state;
};

}  // namespace rondo::testing
