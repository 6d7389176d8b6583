#include "device/sharded_array.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "ir/lazy.h"
#include "rondo/error.h"

namespace rondo::pjrt {

namespace {

const ShardedState& held_parts(const std::shared_ptr<const ShardedState>& state, const char* what) {
  if (state) return *state;
  throw ExecutionError(fmt::format(
      "{}: this pjrt::ShardedArray holds nothing\n  Make one of a literal, a mesh and a spec.",
      what));
}

}  // namespace

ShardedArray::ShardedArray(const Tensor& tensor) {
  const ShardedArray* array = tensor.empty() ? nullptr : ir::mesh_value(tensor);
  if (!array) {
    throw ExecutionError(
        "pjrt::ShardedArray: the value of this tensor is not on a mesh\n  Give a result of a "
        "function jitted for one, or a literal, a mesh and a spec.");
  }
  *this = *array;
}

const TensorType& ShardedArray::type() const {
  return held_parts(state_, "pjrt::ShardedArray::type").placement->whole();
}
const Mesh& ShardedArray::mesh() const {
  return held_parts(state_, "pjrt::ShardedArray::mesh").mesh;
}
const PartitionSpec& ShardedArray::spec() const {
  return held_parts(state_, "pjrt::ShardedArray::spec").spec;
}
const std::vector<DeviceArray>& ShardedArray::shards() const {
  return held_parts(state_, "pjrt::ShardedArray::shards").shards;
}

std::vector<ShardSlice> ShardedArray::slices() const {
  const ShardedState& array = held_parts(state_, "pjrt::ShardedArray::slices");
  std::vector<ShardSlice> slices;
  for (const std::size_t place : array.places)
    slices.push_back({place, array.placement->start_of(place), array.placement->part().shape});
  return slices;
}

bool ShardedArray::is_whole_here() const {
  const ShardedState& array = held_parts(state_, "pjrt::ShardedArray::is_whole_here");
  return is_whole_at(*array.placement, array.places);
}

Tensor ShardedArray::tensor() const {
  held_parts(state_, "pjrt::ShardedArray::tensor");
  return ir::make_mesh_value(*this);
}

bool ShardedArray::ready() const {
  const std::vector<DeviceArray>& parts = shards();
  return std::all_of(parts.begin(), parts.end(),
                     [](const DeviceArray& part) { return part.ready(); });
}

void ShardedArray::await() const {
  for (const DeviceArray& part : shards()) part.await();
}

Literal ShardedArray::to_literal() const {
  constexpr const char* what = "pjrt::ShardedArray::to_literal";
  const ShardedState& array = held_parts(state_, what);
  const Placement& placement = *array.placement;
  if (placement.is_whole()) return array.shards.front().to_literal();
  if (!is_whole_at(placement, array.places)) {
    throw ExecutionError(
        fmt::format("{}: {}{}\n  Take shards() and slices() in each process, or return it from a "
                    "program replicated, without a shard().",
                    what, str(), slices_text(array.mesh, placement, array.places)));
  }
  Literal whole = Literal::uninitialized(placement.whole());
  std::vector<bool> is_put(placement.devices());
  for (std::size_t i = 0; i < array.shards.size(); i++) {
    const std::size_t part = placement.first_alike(array.places[i]);
    if (!is_put[part]) placement.put(array.shards[i].to_literal(), part, whole);
    is_put[part] = true;
  }
  return whole;
}

std::string ShardedArray::str() const {
  const ShardedState& array = held_parts(state_, "pjrt::ShardedArray::str");
  return placed_text(array.mesh, *array.placement);
}

}  // namespace rondo::pjrt
