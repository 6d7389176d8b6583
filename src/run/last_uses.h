// Values on a device whose last use is an evaluation of lazy tensors, which can donate them.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "ir/function_data.h"
#include "rondo/device.h"

namespace rondo::ir {

/// Finds the values of a graph that are unreachable once the tensors `kept` have their values: only
/// definitions that are then released hold them. While it exists, other threads that need these
/// tensors wait, so that none of them reads a value that is being overwritten.
class LastUses {
 public:
  LastUses(const LazyProgram& program, std::span<const Tensor> kept);

  /// For each of the program's values, how many handles of its array the evaluation releases,
  /// including those of arrays_on(); 0 if the value may still be needed. Empty: all may be.
  const std::vector<long>& handles() const { return handles_; }
  /// Gives the tensors `kept` their values: all results of the first, then of the next. Returns the
  /// remaining ones.
  std::vector<pjrt::DeviceArray> keep(std::vector<pjrt::DeviceArray> results);

 private:
  bool claim();

  std::span<const Tensor> kept_;
  std::vector<std::unique_lock<std::mutex>> claims_;  // of the cells of `kept`, or none
  std::vector<long> handles_;
};

}  // namespace rondo::ir
