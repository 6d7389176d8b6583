// The library's interface to a client of devices, implemented in src/pjrt.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rondo/device.h"

namespace rondo::ir {
class Backend;
}  // namespace rondo::ir

namespace rondo::pjrt {

struct ClientState : std::enable_shared_from_this<ClientState> {
  struct DeviceState {
    int id = 0;
    std::string kind;
    int process = 0;
  };

  std::vector<DeviceState> devices;  // those of this process first
  std::size_t addressable = 0;       // their number
  int process_index = 0;
  std::string platform;
  std::string version;

  ClientState() = default;
  ClientState(const ClientState&) = delete;
  ClientState& operator=(const ClientState&) = delete;
  virtual ~ClientState();

  /// Throws ExecutionError if this process cannot use the client.
  virtual void check_process() const = 0;
  /// Throws ExecutionError if the device of this index belongs to another process. `what` names the
  /// public call.
  void check_addressable(std::size_t device, std::string_view what) const;
  /// Copies a literal to the device of this index, one of this process.
  virtual DeviceArray upload(const Literal& literal, std::size_t device) const = 0;
  /// Prepares programs for its devices.
  virtual const ir::Backend& backend() const = 0;
};

struct DeviceAccess {
  static Device make(std::shared_ptr<const ClientState> client, std::size_t index) {
    return {std::move(client), index};
  }
  static const std::shared_ptr<const ClientState>& state(const Device& device) {
    return device.client_;
  }
  static std::size_t index(const Device& device) { return device.index_; }
};

}  // namespace rondo::pjrt
