// The plugin with real XLA that the tests use.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "rondo/rondo.h"

namespace rondo::testing {

/// One client with eight CPU devices, created once for the test program; nullopt if this machine
/// has no plugin.
inline const std::optional<pjrt::Client>& real_client() {
  static const std::optional<pjrt::Client> client = []() -> std::optional<pjrt::Client> {
    if (pjrt::find_plugins().empty()) return std::nullopt;
    return pjrt::Client(pjrt::load_plugin(), {{"cpu_device_count", 8}});
  }();
  return client;
}

/// The fixture of tests that need real XLA, which fail without it. If CMake finds no plugin it
/// reports that and leaves them out, unless CI requires them.
class RealPlugin : public ::testing::Test {
 protected:
  void SetUp() override {
    if (real_client()) return;
    FAIL() << "There is no PJRT plugin to run on. scripts/oracle installs one, or `pip install "
              "--no-deps lammps-jax-pjrt-cpu`; RONDO_PJRT_PLUGIN names one.";
  }
  static pjrt::Client client() { return real_client().value(); }
  static pjrt::Device device(std::size_t index = 0) { return client().devices().at(index); }
};

}  // namespace rondo::testing
