// The library's interface to an array on a device, implemented in src/pjrt.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "device/client_state.h"
#include "rondo/device.h"

namespace rondo::pjrt {

/// `what` names the public call, for errors.
struct ArrayState {
  std::shared_ptr<const ClientState> client;
  std::size_t device = 0;  // index among the client's devices
  TensorType type;
  mutable std::atomic<bool> donated{false};

  ArrayState() = default;
  ArrayState(const ArrayState&) = delete;
  ArrayState& operator=(const ArrayState&) = delete;
  virtual ~ArrayState();

  /// Whether the elements have been computed; never waits.
  virtual bool ready(const char* what) const = 0;
  /// Waits for the elements.
  virtual void await(const char* what) const = 0;
  /// Waits for the elements, and copies them.
  virtual Literal to_literal(const char* what) const = 0;
  /// A copy on another device of the same client.
  virtual DeviceArray copy_to(std::size_t other, const char* what) const = 0;
};

struct ArrayAccess {
  static DeviceArray make(std::shared_ptr<const ArrayState> state) {
    return DeviceArray(std::move(state));
  }
  static const std::shared_ptr<const ArrayState>& state(const DeviceArray& array) {
    return array.state_;
  }
};

}  // namespace rondo::pjrt
