// Programs that write results over arguments at their last use (donation).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pjrt/program.h"
#include "rondo/function.h"
#include "rondo/mesh.h"

namespace rondo::pjrt {

/// Flags for the parameters, from CompileOptions::donate. Throws TraceError for a number without a
/// parameter.
std::vector<bool> donated_parameters(const Function& function,
                                     std::span<const std::int64_t> donate);

/// Whether a run is the last use of an array: the array has no other handles than those released
/// with the run, and the plugin does not read it in a literal's memory.
bool is_unused(const DeviceArray& array, long handles);

/// A program in two forms. One keeps its arguments, except those that its options donate. The other
/// donates more of them, and is compiled when a run can use it for the first time. It cannot
/// replace the first: a plugin that is told not to donate one of its arguments copies that
/// argument.
class DonatingProgram {
 public:
  /// From a program, for the mesh if it is partitioned. Throws as Program does.
  DonatingProgram(Function function, std::optional<Mesh> mesh, ProgramOptions options);

  /// As Program::run. `unused[i]` says that this run is the last use of argument i, on any device;
  /// empty: of none.
  std::vector<std::vector<DeviceArray>> run(std::span<const std::vector<DeviceArray>> arguments,
                                            const std::vector<bool>& unused) const;

  /// Throws as run() does for arguments of one device that do not fit.
  void check(std::span<const DeviceArray> arguments) const { plain_->check(arguments, 0); }

  const ProgramOptions& options() const { return plain_->options(); }
  /// The StableHLO text of the first form.
  const std::string& text() const { return text_; }
  std::int64_t temporary_bytes() const { return plain_->temporary_bytes(); }
  /// Of the text, and of the code if the plugin reports it.
  std::int64_t bytes() const;

 private:
  const Program* second(const std::vector<bool>& unused) const;

  Function function_;
  std::optional<Mesh> mesh_;
  std::string text_;
  std::unique_ptr<const Program> plain_;
  std::vector<bool> candidates_;  // the parameters that a result could reuse
  mutable std::mutex mutex_;      // held while the second form is compiled
  mutable std::unique_ptr<const Program> second_;
};

}  // namespace rondo::pjrt
