// A program that a plugin has compiled, for one device or several.
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
  std::string name = {};             // for messages
  std::vector<Device> devices = {};  // of one client, one for each partition; at least one
  /// What each device takes and gives: of a partitioned program its shards. The plugin runs on
  /// anything of the same size, so these are what is checked.
  std::vector<TensorType> parameters = {};
  std::vector<TensorType> results = {};
  std::vector<bool> donated = {};  // the parameters that may be written over; empty: none
  bool shardy = true;
};

/// Immutable: runs on many threads at once.
class Program {
 public:
  /// Compiles StableHLO text. Throws PluginError with XLA's message where it is refused, and where
  /// what was made gives other results than the options say.
  Program(const std::string& text, ProgramOptions options);
  /// Takes over what an executable cache has kept.
  Program(ProgramOptions options, api::LoadedExecutable* loaded);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// arguments[d] are those of device d, in the order of the options, and so are the results. The
  /// program may still run when they are returned. Throws ExecutionError for arguments that do not
  /// fit, naming them. What `left_alone` flags of the donated parameters is not written over by
  /// this run: the plugin copies it first.
  std::vector<std::vector<DeviceArray>> run(std::span<const std::vector<DeviceArray>> arguments,
                                            const std::vector<bool>& left_alone = {}) const;

  /// Throws as run() for the arguments of one device.
  void check(std::span<const DeviceArray> arguments, std::size_t device) const;

  const std::shared_ptr<const PluginClient>& client() const { return client_; }
  const ProgramOptions& options() const { return options_; }
  /// Bytes that a run takes beside arguments and results; 0 where the plugin does not say.
  std::int64_t temporary_bytes() const;
  /// Of the code, where the plugin says.
  std::int64_t code_bytes() const;
  /// The bytes from which the plugin makes it again; empty where it cannot.
  std::string serialized() const;

 private:
  void take(api::LoadedExecutable* loaded);
  void check_made();
  void release() noexcept;
  std::optional<api::ExecutableGetCompiledMemoryStats> memory() const;
  std::string parameter(std::size_t argument, std::size_t device) const;

  ProgramOptions options_;
  std::shared_ptr<const PluginClient> client_;
  std::vector<std::size_t> devices_;  // among the client's
  api::LoadedExecutable* loaded_ = nullptr;
  api::Executable* executable_ = nullptr;
};

/// The bytes of the options that such a program is compiled with.
std::string compile_options(const ProgramOptions& options);

}  // namespace rondo::pjrt
