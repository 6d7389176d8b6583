// Real XLA, through a PJRT plugin: a shared library that is loaded at run time. With a device of a
// plugin as CompileOptions::device the same programs run there.
//
//     rondo::pjrt::Client client(rondo::pjrt::load_plugin());
//     auto on_xla = rondo::jit(f, {.device = client.devices()[0]});
//
// `pip install --no-deps lammps-jax-pjrt-cpu` is enough for the CPU. docs/pjrt.md has the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rondo/device.h"
#include "rondo/error.h"
#include "rondo/export.h"

namespace rondo::pjrt {

struct PluginState;

/// An error that a plugin reports, with its message.
class RONDO_API PluginError : public ExecutionError {
 public:
  PluginError(const std::string& message, int code, SourceLocation at = {})
      : ExecutionError(message, at), code_(code) {}
  ~PluginError() override;
  /// The status code (absl::StatusCode): 3 for an invalid argument, 8 for out of memory, 12 for
  /// what the plugin does not support.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A plugin that was loaded; it stays loaded until the process ends.
class RONDO_API Plugin {
 public:
  /// Loads a plugin, once however often it is requested. Throws ExecutionError with the reason:
  /// there is no such file, it is no plugin, it is older than API 0.60, it lacks a function.
  static Plugin load(const std::string& path);

  const std::string& path() const;
  /// The version of the C API that it implements: 0 and 115 for 0.115.
  int api_major() const;
  int api_minor() const;

 private:
  friend class Client;
  explicit Plugin(const PluginState* state) : state_(state) {}
  const PluginState* state_;
};

/// Plugins on this machine, as paths, in order of preference: those that the environment variable
/// RONDO_PJRT_PLUGIN names (several with `:` between), whether or not they exist; then those of pip
/// packages, in the Python environments VIRTUAL_ENV, CONDA_PREFIX and ./build/xla-venv and beside
/// each python3 in PATH; CPU plugins before others. Loads nothing and starts no Python.
RONDO_API std::vector<std::string> find_plugins();
/// Loads the first plugin of find_plugins. Throws ExecutionError with the pip command if there is
/// none.
RONDO_API Plugin load_plugin();

/// The value of a client's option.
using OptionValue =
    std::variant<std::string, std::int64_t, std::vector<std::int64_t>, double, bool>;
/// Options of a client by name. For the CPU: `cpu_device_count`, into how many devices it divides
/// the machine (from 1; its default is 4). For GPUs: `allocator` (default, platform, bfc,
/// cuda_async or vmm), `preallocate`, `memory_fraction` (above 0, at most 1), `visible_devices`;
/// with a KeyValueStore, `node_id` (from 0) and `num_nodes` (from 1).
using ClientOptions = std::map<std::string, OptionValue>;

/// A store of keys and values that the processes of several hosts share, by which the plugins'
/// clients in them find one another: your own server, etcd, a service of your cluster. All three
/// functions, or none. They are called from any thread, as long as the client exists; an exception
/// that one throws becomes an error of the plugin's, with its message.
struct KeyValueStore {
  /// The value of a key, which another process may not have stored yet: waits for at most this many
  /// milliseconds, and then returns nothing.
  std::function<std::optional<std::string>(const std::string& key, std::int64_t milliseconds)> get;
  /// The value of a key, or nothing, without waiting.
  std::function<std::optional<std::string>(const std::string& key)> try_get;
  std::function<void(const std::string& key, const std::string& value)> put;

  /// A store in this process's memory, for clients in it. Copies are the same store.
  RONDO_API static KeyValueStore in_process();
};

/// Statistics of the compiled programs on disk, since this process began. If the environment
/// variable RONDO_CACHE_DIR names a folder, programs for devices are kept there for other
/// processes, by plugin, processor, options and text, up to RONDO_CACHE_BYTES (1 GiB).
struct DiskCacheStats {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  /// Files that could not be written, and those that the plugin rejected.
  std::int64_t failures = 0;
};
/// The statistics of the programs on disk now, of all threads together; all 0 without
/// RONDO_CACHE_DIR.
RONDO_API DiskCacheStats disk_cache();

/// A running plugin. Copies are the same client. Devices, arrays and programs keep it alive; those
/// of one client cannot be used with another. A child process cannot use the client of its parent:
/// there everything throws. With `node_id`, `num_nodes` and a store, the clients of several
/// processes run programs together, each on its own devices.
class RONDO_API Client {
 public:
  /// Throws ExecutionError for an option that is unknown, of another type or out of range, and for
  /// a store that lacks a function; PluginError if the plugin finds no device.
  explicit Client(const Plugin& plugin, const ClientOptions& options = {},
                  KeyValueStore store = {});

  /// The devices that this process may use, at least one.
  std::vector<Device> devices() const;
  /// The devices of all processes, by their numbers: in each process the same list, from which each
  /// can make the same mesh. Those of devices() if there is one process.
  std::vector<Device> all_devices() const;
  /// The number of this process among those of the client, from 0; 0 if the plugin knows of none.
  int process_index() const;
  /// `cpu`, `cuda`, `tpu`.
  const std::string& platform() const;
  const std::string& platform_version() const;
  Plugin plugin() const;
  bool operator==(const Client&) const = default;

 private:
  friend struct ClientAccess;
  explicit Client(std::shared_ptr<const ClientState> state) : state_(std::move(state)) {}
  std::shared_ptr<const ClientState> state_;
};

}  // namespace rondo::pjrt
