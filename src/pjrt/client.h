// A client and its devices, as the rest of this folder sees them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/plugin.h"

namespace rondo::pjrt {

struct ClientState {
  struct DeviceState {
    api::Device* device = nullptr;
    int id = 0;
    std::string kind;
  };

  const PluginState* plugin = nullptr;
  api::Client* client = nullptr;
  std::int64_t process = 0;  // the number of forks before it was made
  std::vector<DeviceState> devices;
  KeyValueStore store;  // which the plugin may ask until the client is destroyed
  std::string platform;
  std::string version;

  ClientState() = default;
  ClientState(const ClientState&) = delete;
  ClientState& operator=(const ClientState&) = delete;
  ~ClientState();

  /// Throws ExecutionError in a child of the process that made the client: what the client does it
  /// does with threads that the child does not have.
  void check_process() const;
  /// The same as an answer: what belongs to the client of a parent cannot even be released.
  bool in_own_process() const noexcept;
  template <class Args>
  void release(const Args& args) const noexcept {
    if (in_own_process()) plugin->release(args);
  }
  /// The device that the plugin calls this; throws PluginError if it is none of the client's.
  std::size_t index_of(const api::Device* device) const;
};

struct DeviceAccess {
  static Device make(std::shared_ptr<const ClientState> client, std::size_t index) {
    return {std::move(client), index};
  }
  static Client client(std::shared_ptr<const ClientState> state) {
    return Client(std::move(state));
  }
  static const std::shared_ptr<const ClientState>& state(const Device& device) {
    return device.client_;
  }
  static const std::shared_ptr<const ClientState>& state(const Client& client) {
    return client.state_;
  }
  static std::size_t index(const Device& device) { return device.index_; }
};

/// Waits for an event, and releases it. Throws PluginError where it ends in an error.
void await_event(const ClientState& client, api::Event* event, std::string_view what);

}  // namespace rondo::pjrt
