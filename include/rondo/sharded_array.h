// Arrays split over the devices of a mesh.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rondo/device.h"
#include "rondo/export.h"
#include "rondo/literal.h"
#include "rondo/mesh.h"
#include "rondo/shape.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

namespace rondo::pjrt {

struct ShardedState;

/// The part of an array that a device of a mesh has: the elements from `start` on.
struct ShardSlice {
  std::size_t place = 0;            // of the device among Mesh::devices()
  std::vector<std::int64_t> start;  // one per dimension of the whole array
  Shape shape;                      // the same for all devices
  friend bool operator==(const ShardSlice&, const ShardSlice&) = default;
};

/// A dense array on the devices of a mesh, with a sharding as in rondo::shard: each device has its
/// part, or the whole if no axis splits it. Copies of the handle share it. It may be a result of a
/// program that is still running: functions that need the elements wait for them. Everything but
/// the conversion to bool throws ExecutionError for a default-constructed one, which is empty.
///
/// On a mesh over several hosts each process has the parts on its own devices. All processes make
/// the same arrays and run the same programs in the same order.
class RONDO_API ShardedArray {
 public:
  ShardedArray() = default;
  /// Splits a host array, and copies each part to its device. On a mesh over several hosts all
  /// processes give the whole array, and the parts of this process's devices are copied. Throws
  /// ExecutionError for a mesh without devices, without devices of this process or with those of
  /// two clients, for a spec that does not fit the array or leaves a dimension to the compiler, and
  /// if the plugin rejects it, with its message.
  ShardedArray(const Literal& literal, const Mesh& mesh, const PartitionSpec& spec);
  /// The array of a tensor that a function jitted for a mesh has returned. Throws ExecutionError
  /// for a tensor whose value is elsewhere.
  explicit ShardedArray(const Tensor& tensor);

  /// An array of the type `whole`, of which this process has only its parts: one for each of its
  /// devices, in the order of Mesh::devices(). Throws ExecutionError as the constructor does, for
  /// another number of parts, and for a part whose type is not that of the slice: the dtype of
  /// `whole` and its shape, with each split dimension divided by its number of devices. That the
  /// parts of a replicated dimension are equal, here and in other processes, is not checked.
  static ShardedArray from_parts(const TensorType& whole, const Mesh& mesh,
                                 const PartitionSpec& spec, const std::vector<Literal>& parts);
  /// The same from a function that returns the part of a slice. It is called once for each slice
  /// that devices of this process have, so a process reads no more than it needs.
  static ShardedArray from_parts(const TensorType& whole, const Mesh& mesh,
                                 const PartitionSpec& spec,
                                 const std::function<Literal(const ShardSlice&)>& part);

  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// The type of the whole array.
  const TensorType& type() const;
  const Mesh& mesh() const;
  const PartitionSpec& spec() const;
  /// The part of each device of the mesh that belongs to this process, in their order.
  const std::vector<DeviceArray>& shards() const;
  /// Which slice of the whole array each of shards() is.
  std::vector<ShardSlice> slices() const;
  /// Whether shards() are the whole array together, so that to_literal() can assemble it: always if
  /// all devices belong to this process, and for replicated arrays.
  bool is_whole_here() const;
  /// A tensor with this value, for functions jitted for the mesh. It is assembled on the host only
  /// if something there needs it.
  Tensor tensor() const;
  /// Whether the elements of shards() are available; never waits.
  bool ready() const;
  /// Waits for the elements. Throws ExecutionError if the program that computes them has failed.
  void await() const;
  /// The whole array on the host, assembled from the parts; waits for them, and throws like
  /// await(). Throws ExecutionError if some parts are only on devices of other processes.
  Literal to_literal() const;
  /// `f32[8,6] on data=4, model=2 as [{"data"}, {}]`
  std::string str() const;

 private:
  friend struct ShardedAccess;
  explicit ShardedArray(std::shared_ptr<const ShardedState> state) : state_(std::move(state)) {}
  std::shared_ptr<const ShardedState> state_;
};

}  // namespace rondo::pjrt
