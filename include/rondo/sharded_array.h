// Arrays split over the devices of a mesh.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rondo/device.h"
#include "rondo/export.h"
#include "rondo/literal.h"
#include "rondo/mesh.h"
#include "rondo/type.h"

namespace rondo::pjrt {

struct ShardedState;

/// A dense array on the devices of a mesh, with a sharding as in rondo::shard: each device has its
/// part, or the whole if no axis splits it. Copies of the handle share it. It may be a result of a
/// program that is still running: functions that need the elements wait for them. Everything but
/// the conversion to bool throws ExecutionError for a default-constructed one, which is empty.
class RONDO_API ShardedArray {
 public:
  ShardedArray() = default;
  /// Splits a host array, and copies each part to its device. Throws ExecutionError for a mesh
  /// without devices, a spec that does not fit the array or leaves a dimension to the compiler, and
  /// if the plugin rejects it, with its message.
  ShardedArray(const Literal& literal, const Mesh& mesh, const PartitionSpec& spec);

  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// The type of the whole array.
  const TensorType& type() const;
  const Mesh& mesh() const;
  const PartitionSpec& spec() const;
  /// The part of each device of the mesh, in their order.
  const std::vector<DeviceArray>& shards() const;
  /// Whether the elements are available on all devices; never waits.
  bool ready() const;
  /// Waits for the elements. Throws ExecutionError if the program that computes them has failed.
  void await() const;
  /// The whole array on the host, assembled from the parts; waits for them, and throws like
  /// await().
  Literal to_literal() const;
  /// `f32[8,6] on data=4, model=2 as [{"data"}, {}]`
  std::string str() const;

 private:
  friend struct ShardedAccess;
  explicit ShardedArray(std::shared_ptr<const ShardedState> state) : state_(std::move(state)) {}
  std::shared_ptr<const ShardedState> state_;
};

}  // namespace rondo::pjrt
