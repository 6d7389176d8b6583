// A program compiled by a plugin, for one device or several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pjrt/array.h"
#include "pjrt/client.h"

namespace rondo::pjrt {

struct ProgramOptions {
  std::string name = {};  // for messages
  /// Of one client, one for each partition; at least one of this process.
  std::vector<Device> devices = {};
  /// The types of each device's arguments and results: for a partitioned program of its shards. The
  /// plugin accepts any buffer of the same size, so these types are checked.
  std::vector<TensorType> parameters = {};
  std::vector<TensorType> results = {};
  std::vector<bool> donated = {};  // the donated parameters; empty: none
  bool shardy = true;
};

/// Immutable: may run on many threads at once.
class Program {
 public:
  /// Compiles StableHLO text. Throws PluginError with XLA's message if it is rejected, and if the
  /// compiled program's results differ from the options.
  Program(const std::string& text, ProgramOptions options);
  /// Takes ownership of an executable from a cache.
  Program(ProgramOptions options, api::LoadedExecutable* loaded);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// arguments[d] are those of device d of this process, in the order of the options; the same for
  /// results. The program may still be running when they are returned. Throws ExecutionError for
  /// arguments that do not fit, naming them. Donated parameters flagged in `left_alone` are not
  /// overwritten by this run: the plugin copies them first.
  std::vector<std::vector<DeviceArray>> run(std::span<const std::vector<DeviceArray>> arguments,
                                            const std::vector<bool>& left_alone = {}) const;

  /// Throws as run() does for the arguments of one device.
  void check(std::span<const DeviceArray> arguments, std::size_t device) const;

  const std::shared_ptr<const PluginClient>& client() const { return client_; }
  const ProgramOptions& options() const { return options_; }
  /// Bytes that a run takes beside arguments and results; 0 if the plugin does not report it.
  std::int64_t temporary_bytes() const;
  /// Of the code, if the plugin reports it.
  std::int64_t code_bytes() const;
  /// The bytes from which the plugin can load it again; empty if it cannot.
  std::string serialized() const;

 private:
  void take(api::LoadedExecutable* loaded);
  void check_made();
  void release() noexcept;
  std::optional<api::ExecutableGetCompiledMemoryStats> memory() const;
  std::string parameter(std::size_t argument, std::size_t device) const;
  Device device(std::size_t d) const { return DeviceAccess::make(client_, devices_[d]); }

  ProgramOptions options_;
  std::shared_ptr<const PluginClient> client_;
  std::vector<std::size_t> devices_;  // those of this process, as indices among the client's
  api::LoadedExecutable* loaded_ = nullptr;
  api::Executable* executable_ = nullptr;
};

/// The bytes of the options with which such a program is compiled.
std::string compile_options(const ProgramOptions& options);

}  // namespace rondo::pjrt
