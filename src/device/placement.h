// Maps the devices of a mesh to the parts of an array.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/sharding.h"
#include "ops/kernels/box.h"
#include "rondo/literal.h"

namespace rondo::pjrt {

/// Splits arrays of one type into shards, and joins them again.
class Placement {
 public:
  /// The sharding must fit the type: ir::sharding_fault finds nothing.
  Placement(TensorType whole, ir::Sharding sharding);

  const TensorType& whole() const { return whole_; }
  /// The type of each device's shard.
  const TensorType& part() const { return part_; }
  const ir::Sharding& sharding() const { return sharding_; }
  std::size_t devices() const { return offsets_.size(); }
  /// Whether each device has the whole array (replicated).
  bool is_whole() const { return whole_ == part_; }
  /// The position of a device's shard in the whole: its first element, for each dimension.
  std::vector<std::int64_t> start_of(std::size_t device) const;
  /// The first device that has the same shard as this one.
  std::size_t first_alike(std::size_t device) const { return first_alike_[device]; }

  /// The shard of a device; the literal itself if that is the whole array.
  Literal part_of(const Literal& whole, std::size_t device) const;
  /// Writes the shard of a device to its position in the whole.
  void put(const Literal& part, std::size_t device, Literal& whole) const;

 private:
  TensorType whole_, part_;
  ir::Sharding sharding_;
  ops::Box take_, put_;
  std::vector<std::int64_t> offsets_;  // offset of each device's shard, in bytes of the whole
  std::vector<std::size_t> first_alike_;
};

}  // namespace rondo::pjrt
