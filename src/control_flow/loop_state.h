// The state of a loop that the library generates, as a list of named leaves.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "control_flow/region_trace.h"

namespace rondo::control_flow {

class LoopState {
 public:
  void add(std::string name, Tensor value) {
    leaves_.values.push_back(std::move(value));
    leaves_.paths.push_back(std::move(name));
  }
  /// Adds several values under one name, numbered.
  void add(const std::string& name, std::span<const Tensor> values) {
    for (std::size_t i = 0; i < values.size(); i++) add(name + std::to_string(i), values[i]);
  }
  const Leaves& leaves() const { return leaves_; }

 private:
  Leaves leaves_;
};

/// Reads values from a list in the order in which they were added.
class LeafReader {
 public:
  explicit LeafReader(std::span<const Tensor> leaves) : rest_(leaves) {}
  Tensor next() { return next(1)[0]; }
  std::vector<Tensor> next(std::size_t count) {
    std::vector<Tensor> all(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count));
    rest_ = rest_.subspan(count);
    return all;
  }

 private:
  std::span<const Tensor> rest_;
};

}  // namespace rondo::control_flow
