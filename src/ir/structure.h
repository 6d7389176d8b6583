// When two programs are equal: equal ops, attributes, types, constants and wiring, in all regions.
// Names of functions and parameters, source locations and the order in which independent nodes were
// created do not count; the order of what is observable (taps, prints, loops in the statistics)
// does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/function_data.h"
#include "ir/node.h"

namespace rondo::ir {

/// The structure of a function or of a part of one, as a value: equal if and only if the structures
/// are.
class Structure {
 public:
  friend bool operator==(const Structure& a, const Structure& b) {
    return a.wiring_ == b.wiring_ && a.attributes_ == b.attributes_;
  }
  std::size_t hash() const noexcept { return hash_; }
  template <class H>
  friend H AbslHashValue(H state, const Structure& structure) {
    return H::combine(std::move(state), structure.hash_);
  }
  /// Adds what it holds. Attributes, and with them constants, are those of the nodes.
  void count_held(HeldBytes& held) const {
    held.text(wiring_);
    held.elements(attributes_);
  }

 private:
  friend class StructureWriter;
  std::string wiring_;  // numbers: ops, types, operands, regions
  std::vector<Attributes> attributes_;
  std::size_t hash_ = 0;
};

/// Numbers functions by structure, counting from 0 in the order of first occurrence.
class StructureTable {
 public:
  /// Equal for two functions if and only if they have the same structure.
  std::uint32_t number(const Function& function);
  std::uint32_t size() const { return static_cast<std::uint32_t>(numbers_.size()); }

 private:
  friend class StructureWriter;
  class Numbering;

  absl::flat_hash_map<Structure, std::uint32_t> numbers_;
  absl::flat_hash_map<const void*, std::uint32_t> by_identity_;
  std::vector<Function> kept_;  // keeps identities from being reused
};

/// How many structures of functions and graphs this thread has computed.
std::uint64_t structures_made() noexcept;
/// The structure of a function with all its regions.
Structure structure_of(const Function& function);
/// The structure of what computes `outputs` from `program.values`, whose types are `types`.
Structure structure_of(const LazyProgram& program, std::span<const TensorType> types,
                       std::span<const Tensor> outputs);

}  // namespace rondo::ir
