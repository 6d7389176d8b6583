// Arrays on the devices of a plugin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "device/array_state.h"
#include "pjrt/client.h"

namespace rondo::pjrt {

struct PluginArray final : ArrayState {
  api::Buffer* buffer = nullptr;
  bool lent = false;  // it may be read in the memory of a literal

  PluginArray() = default;
  ~PluginArray() override;

  bool ready(const char* what) const override;
  void await(const char* what) const override;
  Literal to_literal(const char* what) const override;
  DeviceArray copy_to(std::size_t other, const char* what) const override;

  const PluginClient& plugin_client() const { return static_cast<const PluginClient&>(*client); }

 private:
  api::Event* ready_event(const char* what) const;
};

/// Null for an empty array.
inline std::shared_ptr<const PluginArray> plugin_array(const DeviceArray& array) {
  return std::static_pointer_cast<const PluginArray>(ArrayAccess::state(array));
}

/// The C API's number of an element type, and back; PluginError for one that Rondo does not have.
std::int32_t element_type(DType dtype);
DType dtype_of_element(std::int32_t type);

/// An array that owns a buffer of the plugin. Throws PluginError if there is none.
DeviceArray own(std::shared_ptr<const PluginClient> client, std::size_t device, TensorType type,
                api::Buffer* buffer, std::string_view what, bool lent = false);

}  // namespace rondo::pjrt
