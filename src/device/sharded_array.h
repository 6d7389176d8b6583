// Arrays sharded over the devices of a mesh.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "device/placement.h"
#include "rondo/sharded_array.h"

namespace rondo::pjrt {

struct ShardedState {
  Mesh mesh;
  PartitionSpec spec;
  std::shared_ptr<const Placement> placement;
  std::vector<DeviceArray> shards;
};

struct ShardedAccess {
  static ShardedArray make(std::shared_ptr<const ShardedState> state) {
    return ShardedArray(std::move(state));
  }
  static const std::shared_ptr<const ShardedState>& state(const ShardedArray& array) {
    return array.state_;
  }
};

/// Copies the literal, of the placement's type, to the devices of the mesh.
ShardedArray split(const Literal& literal, const Mesh& mesh,
                   std::shared_ptr<const Placement> placement);

}  // namespace rondo::pjrt
