// A loaded plugin: its functions, called so that errors and C++ exceptions come out as PluginError.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "pjrt/api.h"
#include "rondo/pjrt.h"

namespace rondo::pjrt {

/// The error of a plugin that contradicts itself or gives nothing, which only another one remedies.
PluginError plugin_fault(const std::string& what);

/// What to do about a status of the C API, as a line to end a message with; empty where that
/// depends on more than the status.
std::string_view advice_on(int code) noexcept;

/// Lives to the end of the process, as the plugin does.
struct PluginState {
  std::string path;  // without symbolic links
  const api::Api* api = nullptr;
  /// The number of forks before its first client, from which on it has threads; -1: none yet.
  mutable std::atomic<std::int64_t> process{-1};

  bool has(int function) const noexcept;
  template <class Args>
  bool has() const noexcept {
    return has(Args::kIndex);
  }
  /// Throws PluginError beginning with `what`, who failed, where the plugin returns an error or
  /// throws.
  template <class Args>
  void call(Args& args, std::string_view what) const {
    invoke(
        Args::kIndex, [&] { return function<Args>()(&args); }, what);
  }
  /// Ignores errors: nobody could do anything about what cannot be released. Does nothing once the
  /// process ends and the plugin may be gone.
  template <class Args>
  void release(Args args) const noexcept {
    ignore_failure([&] { return function<Args>()(&args); });
  }
  /// Throws what an error of the plugin says, and releases it.
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
