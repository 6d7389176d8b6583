// The client of a plugin and its devices.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "device/client_state.h"
#include "pjrt/plugin.h"

namespace rondo::pjrt {

struct PluginClient final : ClientState {
  const PluginState* plugin = nullptr;
  api::Client* client = nullptr;
  std::int64_t process = 0;           // the number of forks before the client was created
  std::vector<api::Device*> handles;  // for each device
  KeyValueStore store;                // which the plugin may query until the client is destroyed

  PluginClient() = default;
  ~PluginClient() override;

  /// Throws ExecutionError in a child of the process that created the client: the client depends on
  /// threads that the child does not have.
  void check_process() const override;
  DeviceArray upload(const Literal& literal, std::size_t device) const override;
  const ir::Backend& backend() const override;

  /// The same as a bool: objects of a parent's client cannot even be released.
  bool in_own_process() const noexcept;
  template <class Args>
  void release(const Args& args) const noexcept {
    if (in_own_process()) plugin->release(args);
  }
  /// The device that the plugin identifies by this; throws PluginError if it is none of the
  /// client's.
  std::size_t index_of(const api::Device* device) const;
  std::shared_ptr<const PluginClient> shared() const {
    return std::static_pointer_cast<const PluginClient>(shared_from_this());
  }
};

/// Null for no device. Plugins use all devices that there are.
inline std::shared_ptr<const PluginClient> plugin_client(const Device& device) {
  return std::static_pointer_cast<const PluginClient>(DeviceAccess::state(device));
}

struct ClientAccess {
  static Client make(std::shared_ptr<const ClientState> state) { return Client(std::move(state)); }
};

/// Lists the devices of the client, of this process and of others. Throws PluginError if this
/// process has none.
void find_devices(PluginClient& state);
/// Waits for an event, and releases it. Throws PluginError if it ends in an error.
void await_event(const PluginClient& client, api::Event* event, std::string_view what);

}  // namespace rondo::pjrt
