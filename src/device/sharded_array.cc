#include "device/sharded_array.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"
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

ShardedArray split(const Literal& literal, const Mesh& mesh,
                   std::shared_ptr<const Placement> placement) {
  auto state = std::make_shared<ShardedState>(
      ShardedState{mesh, ir::spec_of(placement->sharding()), std::move(placement), {}});
  std::vector<Literal> parts;
  for (std::size_t d = 0; d < state->placement->devices(); d++) {
    const std::size_t first = state->placement->first_alike(d);
    parts.push_back(first == d ? state->placement->part_of(literal, d) : parts[first]);
    state->shards.emplace_back(parts[d], mesh.devices()[d]);
  }
  return ShardedAccess::make(std::move(state));
}

ShardedArray::ShardedArray(const Literal& literal, const Mesh& mesh, const PartitionSpec& spec) {
  if (mesh.devices().empty()) {
    throw ExecutionError(
        fmt::format("pjrt::ShardedArray: the mesh {} has no devices\n  Give it some: Mesh(axes, "
                    "client.devices()).",
                    mesh.str()));
  }
  ir::Sharding sharding = ir::sharding_of(mesh, spec);
  for (std::size_t i = 0; i < sharding.dims.size(); i++) {
    if (!sharding.dims[i].unconstrained) continue;
    throw ExecutionError(fmt::format(
        "pjrt::ShardedArray: dimension {} is kUnconstrained, which is for programs\n  Give it an "
        "axis of the mesh, or std::nullopt.",
        i));
  }
  const std::string fault = ir::sharding_fault(sharding, literal.shape());
  if (!fault.empty()) throw ExecutionError("pjrt::ShardedArray: " + fault);
  *this =
      split(literal, mesh, std::make_shared<const Placement>(literal.type(), std::move(sharding)));
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

bool ShardedArray::ready() const {
  const std::vector<DeviceArray>& parts = shards();
  return std::all_of(parts.begin(), parts.end(),
                     [](const DeviceArray& part) { return part.ready(); });
}

void ShardedArray::await() const {
  for (const DeviceArray& part : shards()) part.await();
}

Literal ShardedArray::to_literal() const {
  const ShardedState& array = held_parts(state_, "pjrt::ShardedArray::to_literal");
  const Placement& placement = *array.placement;
  if (placement.is_whole()) return array.shards.front().to_literal();
  Literal whole = Literal::uninitialized(placement.whole());
  for (std::size_t d = 0; d < array.shards.size(); d++) {
    if (placement.first_alike(d) == d) placement.put(array.shards[d].to_literal(), d, whole);
  }
  return whole;
}

std::string ShardedArray::str() const {
  const ShardedState& array = held_parts(state_, "pjrt::ShardedArray::str");
  std::string spec;
  ir::append_shardy(spec, array.placement->sharding());
  return fmt::format("{} on {} as {}", array.placement->whole().str(), array.mesh.str(), spec);
}

}  // namespace rondo::pjrt
