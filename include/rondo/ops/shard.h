// Shardings of arrays over a mesh of devices.
#pragma once

#include "rondo/export.h"
#include "rondo/mesh.h"
#include "rondo/tensor.h"

namespace rondo {

/// x, split over the devices of a mesh: one entry of `spec` per dimension. The value does not
/// depend on the sharding; on one device, and in the built-in executors, this does nothing.
/// Tangents, cotangents and batches of x are sharded alike.
///
/// An argument that is passed directly to a shard() is sharded from the start, and a result that
/// comes from one stays sharded; other arguments and results are replicated.
///
///     Mesh mesh({{"data", 4}, {"model", 2}});
///     x = shard(x, mesh, {"data", std::nullopt});  // f32[128, 64]: 32 rows on each device
///
/// Throws TraceError if the spec does not have one entry per dimension, for an axis that the mesh
/// does not have, for one that is used twice, and for a dimension whose size its devices do not
/// divide.
[[nodiscard(
    "rondo: a shard that nothing uses does nothing: x = rondo::shard(x, ...)")]] RONDO_API Tensor
shard(const Operand& x, const Mesh& mesh, const PartitionSpec& spec);

}  // namespace rondo
