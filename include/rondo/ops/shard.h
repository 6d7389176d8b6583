// Where arrays lie on a mesh of devices.
#pragma once

#include "rondo/export.h"
#include "rondo/mesh.h"
#include "rondo/tensor.h"

namespace rondo {

/// x, spread over the devices of a mesh: one entry of `spec` a dimension. The value is the same
/// wherever it lies; on one device, and in the executors that are built in, this does nothing.
/// Tangents, cotangents and batches of x are spread likewise.
///
/// An argument that goes straight into a shard() is spread like that from the start, and a result
/// that comes from one stays so; other arguments and results are whole on each device.
///
///     Mesh mesh({{"data", 4}, {"model", 2}});
///     x = shard(x, mesh, {"data", std::nullopt});  // f32[128, 64]: 32 rows on each device
///
/// Throws TraceError where the spec has not one entry a dimension, for an axis that the mesh does
/// not have, for one that is used twice, and for a dimension that its devices do not divide.
[[nodiscard(
    "rondo: a shard that nothing uses does nothing: x = rondo::shard(x, ...)")]] RONDO_API Tensor
shard(const Operand& x, const Mesh& mesh, const PartitionSpec& spec);

}  // namespace rondo
