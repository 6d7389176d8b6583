// The devices of a client: those of this process, and those of the other processes that it joined.
#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "pjrt/client.h"

namespace rondo::pjrt {

namespace {

constexpr std::string_view kWhat = "pjrt::Client: its devices";

template <class List>
std::vector<api::Device*> listed(const PluginClient& state) {
  List list;
  list.client = state.client;
  state.plugin->call(list, kWhat);
  if (!list.devices) return {};
  return {list.devices, list.devices + list.count};
}

void add_device(PluginClient& state, api::Device* device) {
  api::DeviceGetDescription description;
  description.device = device;
  api::DeviceDescriptionId id;
  api::DeviceDescriptionKind kind;
  if (device) {
    state.plugin->call(description, kWhat);
    id.description = kind.description = description.description;
  }
  if (!id.description) throw plugin_fault(fmt::format("{}: one is missing", kWhat));
  state.plugin->call(id, kWhat);
  state.plugin->call(kind, kWhat);
  api::DeviceDescriptionProcessIndex process;
  process.description = description.description;
  if (state.plugin->has<api::DeviceDescriptionProcessIndex>()) state.plugin->call(process, kWhat);
  state.handles.push_back(device);
  state.devices.push_back({id.id,
                           kind.text ? std::string(kind.text, kind.text_size) : std::string(),
                           process.process_index});
}

}  // namespace

void find_devices(PluginClient& state) {
  for (api::Device* device : listed<api::ClientAddressableDevices>(state))
    add_device(state, device);
  if (state.devices.empty())
    throw PluginError(
        "pjrt::Client: the plugin has no device in this process\n  Install one for this machine, "
        "or make its devices visible.",
        5);
  state.addressable = state.devices.size();
  // Plugins for one process may lack what follows: it tells them nothing.
  if (state.plugin->has<api::ClientProcessIndex>()) {
    api::ClientProcessIndex process;
    process.client = state.client;
    state.plugin->call(process, kWhat);
    state.process_index = process.process_index;
  }
  if (!state.plugin->has<api::ClientDevices>()) return;
  for (api::Device* device : listed<api::ClientDevices>(state)) {
    const auto here = state.handles.begin() + static_cast<std::ptrdiff_t>(state.addressable);
    if (std::find(state.handles.begin(), here, device) == here) add_device(state, device);
  }
}

std::vector<Device> Client::devices() const {
  std::vector<Device> devices;
  for (std::size_t i = 0; i < state_->addressable; i++)
    devices.push_back(DeviceAccess::make(state_, i));
  return devices;
}

std::vector<Device> Client::all_devices() const {
  std::vector<Device> devices;
  for (std::size_t i = 0; i < state_->devices.size(); i++)
    devices.push_back(DeviceAccess::make(state_, i));
  std::stable_sort(devices.begin(), devices.end(),
                   [](const Device& a, const Device& b) { return a.id() < b.id(); });
  return devices;
}

int Client::process_index() const { return state_->process_index; }

}  // namespace rondo::pjrt
