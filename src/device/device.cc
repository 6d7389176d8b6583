#include "rondo/device.h"

#include <utility>

#include "device/client_state.h"
#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo::pjrt {

namespace {

const ClientState& some(const std::shared_ptr<const ClientState>& client, const char* what) {
  if (client) return *client;
  throw ExecutionError(
      fmt::format("{}: this pjrt::Device is none\n  Take one of pjrt::Client::devices().", what));
}

/// Not destroyed with its thread: a scope of static storage ends after that, and must still find
/// it.
union InnermostDevice {
  Device device;
  InnermostDevice() noexcept : device() {}
  ~InnermostDevice() {}
};

Device& innermost_device() noexcept {
  thread_local InnermostDevice innermost;
  return innermost.device;
}

}  // namespace

ClientState::~ClientState() = default;

void ClientState::check_addressable(std::size_t device, std::string_view what) const {
  if (device < addressable) return;
  throw ExecutionError(
      fmt::format("{}: {}:{} is a device of process {}, and this is process {}\n  Take one of "
                  "pjrt::Client::devices().",
                  what, platform, devices[device].id, devices[device].process, process_index));
}

int Device::id() const { return some(client_, "pjrt::Device::id").devices[index_].id; }
int Device::process_index() const {
  return some(client_, "pjrt::Device::process_index").devices[index_].process;
}
bool Device::is_addressable() const {
  return index_ < some(client_, "pjrt::Device::is_addressable").addressable;
}
const std::string& Device::kind() const {
  return some(client_, "pjrt::Device::kind").devices[index_].kind;
}
const std::string& Device::platform() const {
  return some(client_, "pjrt::Device::platform").platform;
}
std::string Device::str() const {
  return client_ ? fmt::format("{}:{}", client_->platform, client_->devices[index_].id)
                 : "no device";
}

DeviceScope::DeviceScope(Device device)
    : outer_(std::exchange(innermost_device(), std::move(device))) {}
DeviceScope::~DeviceScope() { innermost_device() = std::move(outer_); }
const Device& DeviceScope::current() noexcept { return innermost_device(); }

}  // namespace rondo::pjrt
