// Arrays on devices, as the rest of this folder sees them.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "pjrt/client.h"
#include "rondo/device.h"

namespace rondo::pjrt {

struct ArrayState {
  std::shared_ptr<const ClientState> client;
  std::size_t device = 0;
  TensorType type;
  api::Buffer* buffer = nullptr;
  bool lent = false;  // it may be read in the memory of a literal
  mutable std::atomic<bool> donated{false};

  ArrayState() = default;
  ArrayState(const ArrayState&) = delete;
  ArrayState& operator=(const ArrayState&) = delete;
  ~ArrayState();
};

struct ArrayAccess {
  static DeviceArray make(std::shared_ptr<const ArrayState> state) {
    return DeviceArray(std::move(state));
  }
  static const std::shared_ptr<const ArrayState>& state(const DeviceArray& array) {
    return array.state_;
  }
};

/// The C API's number of an element type, and back; PluginError for one that Rondo does not have.
std::int32_t element_type(DType dtype);
DType dtype_of_element(std::int32_t type);

/// An array that takes over a buffer of the plugin. Throws PluginError where there is none.
DeviceArray own(std::shared_ptr<const ClientState> client, std::size_t device, TensorType type,
                api::Buffer* buffer, std::string_view what, bool lent = false);
/// Copies a literal to a device.
DeviceArray upload(const Literal& literal, const std::shared_ptr<const ClientState>& client,
                   std::size_t device);

}  // namespace rondo::pjrt
