// Programs whose outermost loops run some trips at a time, so that a run can be ended and report
// progress between chunks.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/run_limits.h"
#include "pjrt/donating_program.h"
#include "pjrt/loop_pieces.h"

namespace rondo::pjrt {

/// A program on one device, compiled in pieces. A loop's carry stays on the device; the host reads
/// one number after each chunk, whose trip count is chosen so that it takes some milliseconds.
class ChunkedProgram {
 public:
  /// `function`: the one that `whole` was compiled from. `whole` must outlive this. Throws
  /// PluginError as Program does, with the places in the user's source, and the errors of
  /// cut_at_loops.
  ChunkedProgram(const Function& function, const DonatingProgram& whole);

  /// Runs as `whole` does. Throws Stopped, DeadlineExceeded and TooManyIterations with the carry of
  /// the outermost loop, whose trips max_iterations counts. A program without loops runs as a
  /// whole.
  std::vector<DeviceArray> run(std::span<const DeviceArray> arguments,
                               const RunOptions& options) const;

 private:
  std::vector<DeviceArray> run_pieces(std::span<const DeviceArray> arguments,
                                      const RunOptions& options, ir::RunLimits& limits) const;

  const DonatingProgram& whole_;
  LoopPieces pieces_;
  std::vector<std::unique_ptr<const DonatingProgram>> programs_;  // of the pieces
};

}  // namespace rondo::pjrt
