// Which parts of an array this process has, and arrays made of them.
#include <algorithm>
#include <map>
#include <string>

#include "device/client_state.h"
#include "device/sharded_array.h"
#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo::pjrt {

namespace {

constexpr std::size_t kNamedSlices = 8;  // in an error

/// `[0:2, 0:3]`
std::string slice_text(const std::vector<std::int64_t>& start, const Shape& shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < start.size(); i++)
    out += fmt::format("{}{}:{}", i == 0 ? "" : ", ", start[i], start[i] + shape[i]);
  return out + "]";
}

std::string device_list(const Mesh& mesh, const std::vector<std::size_t>& places) {
  std::string out;
  for (const std::size_t place : places)
    out += (out.empty() ? "" : ", ") + mesh.devices()[place].str();
  return out;
}

/// The placement that a spec describes; throws ExecutionError if it does not fit.
std::shared_ptr<const Placement> placement_for(const TensorType& whole, const Mesh& mesh,
                                               const PartitionSpec& spec, std::string_view what) {
  ir::Sharding sharding = ir::sharding_of(mesh, spec);
  for (std::size_t i = 0; i < sharding.dims.size(); i++) {
    if (!sharding.dims[i].unconstrained) continue;
    throw ExecutionError(fmt::format(
        "{}: dimension {} is kUnconstrained, which is for programs\n  Give it an axis of the mesh, "
        "or std::nullopt.",
        what, i));
  }
  const std::string fault = ir::sharding_fault(sharding, whole.shape);
  if (!fault.empty()) throw ExecutionError(fmt::format("{}: {}", what, fault));
  return std::make_shared<const Placement>(whole, std::move(sharding));
}

/// An array of part_at(place); devices that have the same part share what was made for the first.
template <class PartAt>
ShardedArray distribute(const Mesh& mesh, std::shared_ptr<const Placement> placement,
                        std::vector<std::size_t> places, const PartAt& part_at) {
  auto state = std::make_shared<ShardedState>(ShardedState{
      mesh, ir::spec_of(placement->sharding()), std::move(placement), std::move(places), {}});
  std::map<std::size_t, Literal> parts;
  for (const std::size_t place : state->places) {
    const auto [part, is_new] = parts.try_emplace(state->placement->first_alike(place));
    if (is_new) part->second = part_at(place);
    state->shards.emplace_back(part->second, mesh.devices()[place]);
  }
  return ShardedAccess::make(std::move(state));
}

void check_part(const Literal& part, const Placement& placement, const Mesh& mesh,
                std::size_t place, std::string_view what) {
  if (part.type() == placement.part()) return;
  throw ExecutionError(fmt::format(
      "{}: the part for {} is {}, and its slice {} of {} is {}\n  Give the elements of the slice, "
      "with the dtype of the whole.",
      what, mesh.devices()[place].str(), part.type().str(),
      slice_text(placement.start_of(place), placement.part().shape), placement.whole().str(),
      placement.part().str()));
}

}  // namespace

std::vector<std::size_t> places_here(const Mesh& mesh, std::string_view what) {
  if (mesh.devices().empty()) {
    throw ExecutionError(
        fmt::format("{}: the mesh {} has no devices\n  Give it some: Mesh(axes, client.devices()).",
                    what, mesh.str()));
  }
  std::vector<std::size_t> places;
  const Device& first = mesh.devices().front();
  for (std::size_t place = 0; place < mesh.devices().size(); place++) {
    const Device& device = mesh.devices()[place];
    if (DeviceAccess::state(device) != DeviceAccess::state(first)) {
      throw ExecutionError(
          fmt::format("{}: the mesh {} has devices of several clients: {} and {}\n  Give devices "
                      "of one pjrt::Client.",
                      what, mesh.str(), first.str(), device.str()));
    }
    if (device.is_addressable()) places.push_back(place);
  }
  if (!places.empty()) return places;
  throw ExecutionError(fmt::format(
      "{}: the mesh {} has no device of this process, {}: {} is one of process {}\n  Give it some "
      "of pjrt::Client::devices().",
      what, mesh.str(), DeviceAccess::state(first)->process_index, first.str(),
      first.process_index()));
}

ShardedArray split(const Literal& literal, const Mesh& mesh,
                   std::shared_ptr<const Placement> placement) {
  const Placement& parts = *placement;
  return distribute(mesh, std::move(placement), places_here(mesh, "pjrt::ShardedArray"),
                    [&](std::size_t place) { return parts.part_of(literal, place); });
}

ShardedArray::ShardedArray(const Literal& literal, const Mesh& mesh, const PartitionSpec& spec) {
  constexpr std::string_view what = "pjrt::ShardedArray";
  static_cast<void>(places_here(mesh, what));  // the mesh's faults come before the spec's
  *this = split(literal, mesh, placement_for(literal.type(), mesh, spec, what));
}

ShardedArray ShardedArray::from_parts(const TensorType& whole, const Mesh& mesh,
                                      const PartitionSpec& spec,
                                      const std::vector<Literal>& parts) {
  constexpr std::string_view what = "pjrt::ShardedArray::from_parts";
  const std::vector<std::size_t> places = places_here(mesh, what);
  const auto placement = placement_for(whole, mesh, spec, what);
  if (parts.size() != places.size()) {
    throw ExecutionError(fmt::format(
        "{}: the number of parts is {}, and {} devices of the mesh {} are this process's: {}\n  "
        "Give one part for each of them, in this order.",
        what, parts.size(), places.size(), mesh.str(), device_list(mesh, places)));
  }
  for (std::size_t i = 0; i < parts.size(); i++)
    check_part(parts[i], *placement, mesh, places[i], what);
  auto state = std::make_shared<ShardedState>(
      ShardedState{mesh, ir::spec_of(placement->sharding()), placement, places, {}});
  for (std::size_t i = 0; i < parts.size(); i++)
    state->shards.emplace_back(parts[i], mesh.devices()[places[i]]);
  return ShardedAccess::make(std::move(state));
}

ShardedArray ShardedArray::from_parts(const TensorType& whole, const Mesh& mesh,
                                      const PartitionSpec& spec,
                                      const std::function<Literal(const ShardSlice&)>& part) {
  constexpr std::string_view what = "pjrt::ShardedArray::from_parts";
  std::vector<std::size_t> places = places_here(mesh, what);
  if (!part) {
    throw ExecutionError(fmt::format(
        "{}: the function is empty\n  Give one that returns the part of a slice.", what));
  }
  const auto placement = placement_for(whole, mesh, spec, what);
  return distribute(mesh, placement, std::move(places), [&](std::size_t place) {
    Literal made = part({place, placement->start_of(place), placement->part().shape});
    check_part(made, *placement, mesh, place, what);
    return made;
  });
}

bool is_whole_at(const Placement& placement, const std::vector<std::size_t>& places) {
  std::vector<bool> is_here(placement.devices());
  for (const std::size_t place : places) is_here[placement.first_alike(place)] = true;
  for (std::size_t place = 0; place < is_here.size(); place++) {
    if (!is_here[placement.first_alike(place)]) return false;
  }
  return true;
}

std::string placed_text(const Mesh& mesh, const Placement& placement) {
  std::string spec;
  ir::append_shardy(spec, placement.sharding());
  return fmt::format("{} on {} as {}", placement.whole().str(), mesh.str(), spec);
}

std::string slices_text(const Mesh& mesh, const Placement& placement,
                        const std::vector<std::size_t>& places) {
  std::string out = fmt::format(" is not all here: process {} has ",
                                DeviceAccess::state(mesh.devices().front())->process_index);
  for (std::size_t i = 0; i < std::min(places.size(), kNamedSlices); i++) {
    out += fmt::format("{}{} on {}", i == 0 ? "" : ", ",
                       slice_text(placement.start_of(places[i]), placement.part().shape),
                       mesh.devices()[places[i]].str());
  }
  if (places.size() > kNamedSlices)
    out += fmt::format(" and {} more", places.size() - kNamedSlices);
  return out;
}

}  // namespace rondo::pjrt
