// Arrays sharded over the devices of a mesh.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/placement.h"
#include "rondo/sharded_array.h"

namespace rondo::pjrt {

struct ShardedState {
  Mesh mesh;
  PartitionSpec spec;
  std::shared_ptr<const Placement> placement;
  std::vector<std::size_t> places;  // of this process's devices in the mesh, ascending
  std::vector<DeviceArray> shards;  // for each of these
};

struct ShardedAccess {
  static ShardedArray make(std::shared_ptr<const ShardedState> state) {
    return ShardedArray(std::move(state));
  }
  static const std::shared_ptr<const ShardedState>& state(const ShardedArray& array) {
    return array.state_;
  }
};

/// The places of this process's devices in a mesh. Throws ExecutionError if the mesh has no
/// devices, none of this process, or those of several clients. `what` names the public call.
std::vector<std::size_t> places_here(const Mesh& mesh, std::string_view what);

/// Copies the literal, of the placement's type, to the devices of the mesh that are this process's.
ShardedArray split(const Literal& literal, const Mesh& mesh,
                   std::shared_ptr<const Placement> placement);

/// Whether the shards at these places are all of the array.
bool is_whole_at(const Placement& placement, const std::vector<std::size_t>& places);
/// `f32[8,3] on data=4 as [{"data"}, {}]`
std::string placed_text(const Mesh& mesh, const Placement& placement);
/// For errors, where they are not: ` is not all here: process 0 has [0:2, 0:3] on cpu:0, ...`.
std::string slices_text(const Mesh& mesh, const Placement& placement,
                        const std::vector<std::size_t>& places);

}  // namespace rondo::pjrt
