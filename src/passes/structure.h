// When two programs are the same: equal ops, attributes, types, constants and wiring, in all
// regions. Names of functions and parameters, source locations and the order in which independent
// nodes were made do not count; the order of what the outside can see (taps, prints, loops in the
// statistics) does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "rondo/function.h"

namespace rondo::passes {

/// Bytes that are equal for two functions just when they have the same structure. Constants are in
/// it by content. Not made for reading or for files: ops are told apart by name, attributes by
/// their text.
std::string structural_key(const Function& function);

/// Numbers functions by structure, counting from 0 in the order in which structures are first met.
class StructureTable {
 public:
  /// Equal for two functions just when they have the same structure.
  std::uint32_t number(const Function& function);
  std::uint32_t size() const { return static_cast<std::uint32_t>(by_key_.size()); }

 private:
  friend std::string structural_key(const Function& function);

  absl::flat_hash_map<std::string, std::uint32_t> by_key_;
  absl::flat_hash_map<const void*, std::uint32_t> by_identity_;
  std::vector<Function> kept_;  // so that an identity stays the one of its function
};

}  // namespace rondo::passes
