#include "pjrt/plugin.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"

namespace rondo::pjrt {

namespace {

constexpr int kOldestMinor = 60;
/// Functions that every plugin of these versions has, and that are required.
constexpr std::array kRequired = {
    api::ErrorDestroy::kIndex,
    api::ErrorMessage::kIndex,
    api::ErrorGetCode::kIndex,
    api::PluginInitialize::kIndex,
    api::EventDestroy::kIndex,
    api::EventIsReady::kIndex,
    api::EventError::kIndex,
    api::EventAwait::kIndex,
    api::ClientCreate::kIndex,
    api::ClientDestroy::kIndex,
    api::ClientPlatformName::kIndex,
    api::ClientPlatformVersion::kIndex,
    api::ClientAddressableDevices::kIndex,
    api::ClientCompile::kIndex,
    api::BufferFromHostBuffer::kIndex,
    api::DeviceGetDescription::kIndex,
    api::DeviceDescriptionId::kIndex,
    api::DeviceDescriptionKind::kIndex,
    api::ExecutableDestroy::kIndex,
    api::ExecutableNumOutputs::kIndex,
    api::ExecutableOutputElementTypes::kIndex,
    api::ExecutableOutputDimensions::kIndex,
    api::LoadedExecutableDestroy::kIndex,
    api::LoadedExecutableGetExecutable::kIndex,
    api::LoadedExecutableAddressableDevices::kIndex,
    api::LoadedExecutableExecute::kIndex,
    api::BufferDestroy::kIndex,
    api::BufferCopyToDevice::kIndex,
    api::BufferToHostBuffer::kIndex,
    api::BufferReadyEvent::kIndex,
};
constexpr std::size_t kTableOffset = offsetof(api::Api, functions);
constexpr std::size_t kSmallestTable = kTableOffset + 92 * sizeof(void*);

/// The names of absl::StatusCode.
std::string_view code_name(int code) {
  constexpr std::array<std::string_view, 17> names = {"OK",
                                                      "CANCELLED",
                                                      "UNKNOWN",
                                                      "INVALID_ARGUMENT",
                                                      "DEADLINE_EXCEEDED",
                                                      "NOT_FOUND",
                                                      "ALREADY_EXISTS",
                                                      "PERMISSION_DENIED",
                                                      "RESOURCE_EXHAUSTED",
                                                      "FAILED_PRECONDITION",
                                                      "ABORTED",
                                                      "OUT_OF_RANGE",
                                                      "UNIMPLEMENTED",
                                                      "INTERNAL",
                                                      "UNAVAILABLE",
                                                      "DATA_LOSS",
                                                      "UNAUTHENTICATED"};
  const auto index = static_cast<std::size_t>(code);
  return index < names.size() ? names[index] : "UNKNOWN";
}

/// Set at the end of the process, before the plugins' own objects of static storage are destroyed.
std::atomic<bool> plugins_end{false};

[[noreturn]] void refuse_plugin(const std::string& path, const std::string& why) {
  throw ExecutionError(fmt::format("the PJRT plugin {}: {}", path, why));
}

const api::Api* open_plugin(const std::string& path) {
  // It is never closed: closing an unused plugin may terminate the process, and a used one stays
  // loaded anyway.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* error = dlerror();
    refuse_plugin(path, fmt::format("it cannot be loaded: {}\n  Give the shared library of a "
                                    "plugin for this machine, such as find_plugins() names.",
                                    error ? error : "no reason was given"));
  }
  const auto get_api = reinterpret_cast<api::GetApi>(dlsym(library, "GetPjrtApi"));
  if (!get_api) {
    refuse_plugin(path,
                  "it has no function GetPjrtApi, so it is no plugin\n  Give the shared library "
                  "of a plugin, such as find_plugins() names.");
  }
  const api::Api* api = nullptr;
  try {
    api = get_api();
  } catch (const std::exception& error) {
    refuse_plugin(path, fmt::format("GetPjrtApi threw an exception: {}\n  Install another one.",
                                    error.what()));
  } catch (...) {
    refuse_plugin(path, "GetPjrtApi threw an exception\n  Install another one.");
  }
  if (!api) refuse_plugin(path, "GetPjrtApi returned nothing\n  Install another one.");
  return api;
}

void check_plugin(const PluginState& plugin) {
  const api::Api& api = *plugin.api;
  const bool has_version = api.size >= kTableOffset;
  if (!has_version || api.version.major != 0 || api.version.minor < kOldestMinor) {
    refuse_plugin(
        plugin.path,
        fmt::format(
            "it speaks version {} of the PJRT API; 0.{} and later 0.x are "
            "known\n  Install a plugin of another version.",
            has_version ? fmt::format("{}.{}", api.version.major, api.version.minor) : "unknown",
            kOldestMinor));
  }
  if (api.size < kSmallestTable) {
    refuse_plugin(plugin.path, fmt::format("its table of functions has {} bytes; {} are the least "
                                           "of its version\n  Install another one.",
                                           api.size, kSmallestTable));
  }
  for (const int function : kRequired) {
    if (plugin.has(function)) continue;
    refuse_plugin(plugin.path, fmt::format("it lacks function {} of the PJRT API\n  Install "
                                           "another one.",
                                           function));
  }
}

}  // namespace

PluginError::~PluginError() = default;

PluginError plugin_fault(const std::string& what) {
  return {what + "\n  The plugin is at fault: install another version of it.", 13};
}

std::string_view advice_on(int code) noexcept {
  switch (code) {
    case 8:  // resource exhausted
      return "\n  Make the arrays smaller, or release others first.";
    case 2:   // unknown
    case 12:  // unimplemented
    case 13:  // internal
      return "\n  Install another version of the plugin, or run the program without a device: on "
             "the built-in executor.";
    default:
      return {};
  }
}

bool PluginState::has(int function) const noexcept {
  const auto index = static_cast<std::size_t>(function);
  return index < api::kFunctions && kTableOffset + (index + 1) * sizeof(void*) <= api->size &&
         api->functions[index] != nullptr;
}

void PluginState::invoke(int index, Called called, std::string_view what) const {
  if (!has(index)) {
    throw PluginError(
        fmt::format("{}: the plugin {} has no function for it\n  Install a newer one.", what, path),
        12);
  }
  api::Error* error = nullptr;
  try {
    error = called();
  } catch (const std::exception& thrown) {
    throw PluginError(
        fmt::format("{}: the plugin {} threw an exception: {}\n  Install another one.", what, path,
                    thrown.what()),
        13);
  } catch (...) {
    throw PluginError(
        fmt::format("{}: the plugin {} threw an exception\n  Install another one.", what, path),
        13);
  }
  if (error) fail(error, what);
}

void PluginState::ignore_failure(Called called) const noexcept {
  // Objects of static storage that exist before the plugin is loaded are destroyed after it.
  if (plugins_end.load(std::memory_order_acquire)) return;
  try {
    if (api::Error* error = called()) destroy(error);
  } catch (...) {  // an exception of the plugin here means that something is not released
  }
}

void PluginState::destroy(api::Error* error) const {
  api::ErrorDestroy args;
  args.error = error;
  function<api::ErrorDestroy, void>()(&args);
}

void PluginState::fail(api::Error* error, std::string_view what) const {
  std::string message;
  int code = 2;
  try {
    api::ErrorMessage said;
    said.error = error;
    function<api::ErrorMessage, void>()(&said);
    if (said.message) message.assign(said.message, said.message_size);
    api::ErrorGetCode got;
    got.error = error;
    if (api::Error* other = function<api::ErrorGetCode>()(&got))
      destroy(other);
    else
      code = got.code;
    destroy(error);
  } catch (...) {
    message += " (and the plugin threw an exception when it was asked about this)";
  }
  while (!message.empty() && message.back() == '\n') message.pop_back();
  if (message.empty()) message = "the plugin gives no reason";
  throw PluginError(fmt::format("{}: {} ({}){}", what, message, code_name(code), advice_on(code)),
                    code);
}

Plugin Plugin::load(const std::string& path) {
  static std::mutex mutex;
  // Never destroyed: clients of static storage may be destroyed late.
  static auto* plugins = new absl::flat_hash_map<std::string, std::unique_ptr<const PluginState>>;
  const std::unique_ptr<char, void (*)(void*)> whole(realpath(path.c_str(), nullptr), std::free);
  if (!whole) {
    refuse_plugin(path, fmt::format("{}\n  Install one with `pip install --no-deps "
                                    "lammps-jax-pjrt-cpu`, and give the path that find_plugins() "
                                    "names.",
                                    std::strerror(errno)));
  }
  const std::lock_guard lock(mutex);
  const auto found = plugins->find(whole.get());
  if (found != plugins->end()) return Plugin(found->second.get());
  auto state = std::make_unique<PluginState>();
  state->path = whole.get();
  state->api = open_plugin(state->path);
  check_plugin(*state);
  api::PluginInitialize initialize;
  state->call(initialize, "the PJRT plugin " + state->path);
  std::atexit([] { plugins_end.store(true, std::memory_order_release); });
  const Plugin plugin(state.get());
  plugins->emplace(plugin.path(), std::move(state));
  return plugin;
}

const std::string& Plugin::path() const { return state_->path; }
int Plugin::api_major() const { return state_->api->version.major; }
int Plugin::api_minor() const { return state_->api->version.minor; }

}  // namespace rondo::pjrt
