// Which part of an array each device of a mesh has.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/sharding.h"
#include "ops/kernels/box.h"
#include "rondo/literal.h"

namespace rondo::pjrt {

/// Splits arrays of one type, and puts them together again.
class Placement {
 public:
  /// The sharding fits the type: ir::sharding_fault finds nothing.
  Placement(TensorType whole, ir::Sharding sharding);

  const TensorType& whole() const { return whole_; }
  /// What each device has.
  const TensorType& part() const { return part_; }
  const ir::Sharding& sharding() const { return sharding_; }
  std::size_t devices() const { return offsets_.size(); }
  /// Whether each device has all of it.
  bool is_whole() const { return whole_ == part_; }
  /// The first device that has the same part as this one.
  std::size_t first_alike(std::size_t device) const;

  /// The part of a device; the literal itself where that is all of it.
  Literal part_of(const Literal& whole, std::size_t device) const;
  /// Writes the part of a device to its place.
  void put(const Literal& part, std::size_t device, Literal& whole) const;

 private:
  TensorType whole_, part_;
  ir::Sharding sharding_;
  ops::Box take_, put_;
  std::vector<std::int64_t> offsets_;  // of the part of each device, in bytes of the whole
};

}  // namespace rondo::pjrt
