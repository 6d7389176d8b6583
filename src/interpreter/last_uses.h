// Values on a device that an evaluation of lazy tensors is the last to use.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "ir/function_data.h"
#include "rondo/device.h"

namespace rondo::ir {

/// Finds the values of a graph that nobody can ask for once the tensors `kept` have theirs: they
/// are held by nothing but definitions that go then. While it lives, threads that want to compute
/// these tensors as well wait, so that none of them comes to a value that is being written over.
class LastUses {
 public:
  LastUses(const LazyProgram& program, std::span<const Tensor> kept);

  /// For each of the program's values, how many handles of its array go with the evaluation, those
  /// of arrays_on() included; 0 where somebody else may want it. Empty: all may be wanted.
  const std::vector<long>& handles() const { return handles_; }
  /// Gives the tensors `kept` their values, all results of the first, then of the next. What is
  /// left is returned.
  std::vector<pjrt::DeviceArray> keep(std::vector<pjrt::DeviceArray> results);

 private:
  bool claim();

  std::span<const Tensor> kept_;
  std::vector<std::unique_lock<std::mutex>> claims_;  // of the cells of `kept`, or none
  std::vector<long> handles_;
};

}  // namespace rondo::ir
