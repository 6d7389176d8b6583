// Programs that write results over arguments which are not used again.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "pjrt/program.h"

namespace rondo::pjrt {

/// Whether an array is not used again after a run: it has no more handles than those, which go with
/// the run, and the plugin does not read it in a literal's memory.
bool is_unused(const DeviceArray& array, long handles);

/// A program in two forms. One leaves its arguments alone, but for those that its options donate.
/// The other writes results over more of them, and is compiled when a run could do that for the
/// first time: a plugin that is told to leave an argument of it alone makes a copy of that, so it
/// cannot stand for the first.
class DonatingProgram {
 public:
  /// Of StableHLO text. Throws as Program.
  DonatingProgram(std::string text, ProgramOptions options);

  /// As Program::run. `unused[i]` says that argument i is not used again, on any device; empty:
  /// none.
  std::vector<std::vector<DeviceArray>> run(std::span<const std::vector<DeviceArray>> arguments,
                                            const std::vector<bool>& unused) const;

  /// Throws as run() for arguments of one device that do not fit.
  void check(std::span<const DeviceArray> arguments) const { plain_->check(arguments, 0); }

  const ProgramOptions& options() const { return plain_->options(); }
  const std::string& text() const { return text_; }
  std::int64_t temporary_bytes() const { return plain_->temporary_bytes(); }
  /// Of the text, and of the code where the plugin says.
  std::int64_t bytes() const;

 private:
  const Program* second(const std::vector<bool>& unused) const;

  std::string text_;
  std::unique_ptr<const Program> plain_;
  std::vector<bool> candidates_;  // the parameters that a result could be written over
  mutable std::mutex mutex_;      // held while the second form is compiled
  mutable std::unique_ptr<const Program> second_;
};

}  // namespace rondo::pjrt
