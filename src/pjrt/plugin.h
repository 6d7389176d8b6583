// A loaded plugin: its functions, wrapped so that errors and C++ exceptions become PluginError.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "pjrt/api.h"
#include "rondo/pjrt.h"

namespace rondo::pjrt {

/// The error for a plugin that contradicts itself or returns nothing, which only another plugin
/// remedies.
PluginError plugin_fault(const std::string& what);

/// The remedy for a status of the C API, as the last line of a message; empty if it depends on more
/// than the status.
std::string_view advice_on(int code) noexcept;

/// Exists until the process ends, as the plugin does.
struct PluginState {
  std::string path;  // without symbolic links
  const api::Api* api = nullptr;
  /// The number of forks before its first client, which starts threads; -1: none yet.
  mutable std::atomic<std::int64_t> process{-1};

  bool has(int function) const noexcept;
  template <class Args>
  bool has() const noexcept {
    return has(Args::kIndex);
  }
  /// Throws PluginError beginning with `what`, the failed operation, if the plugin returns an error
  /// or throws.
  template <class Args>
  void call(Args& args, std::string_view what) const {
    invoke(
        Args::kIndex, [&] { return function<Args>()(&args); }, what);
  }
  /// Ignores errors: a failed release has no remedy. Does nothing once the process ends and the
  /// plugin may be gone.
  template <class Args>
  void release(Args args) const noexcept {
    ignore_failure([&] { return function<Args>()(&args); });
  }
  /// Throws the message of a plugin's error, and releases it.
  [[noreturn]] void fail(api::Error* error, std::string_view what) const;
  void destroy(api::Error* error) const;

 private:
  using Called = absl::FunctionRef<api::Error*()>;

  template <class Args, class Result = api::Error*>
  auto function() const {
    return reinterpret_cast<Result (*)(Args*)>(api->functions[Args::kIndex]);
  }
  void invoke(int index, Called called, std::string_view what) const;
  void ignore_failure(Called called) const noexcept;
};

}  // namespace rondo::pjrt
