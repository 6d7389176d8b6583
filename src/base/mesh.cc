#include "rondo/mesh.h"

#include <algorithm>
#include <limits>

#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo {

namespace {

bool is_axis_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

DimPartition::DimPartition(const char* axis) : axes_{axis} {}
DimPartition::DimPartition(std::string axis) : axes_{std::move(axis)} {}
DimPartition::DimPartition(std::string_view axis) : axes_{std::string(axis)} {}
DimPartition::DimPartition(std::initializer_list<std::string_view> axes)
    : axes_(axes.begin(), axes.end()) {}

DimPartition DimPartition::over(std::vector<std::string> axes) {
  DimPartition dim(std::nullopt);
  dim.axes_ = std::move(axes);
  return dim;
}

PartitionSpec::PartitionSpec(std::initializer_list<DimPartition> dims) : dims_(dims) {}
PartitionSpec::PartitionSpec(std::vector<DimPartition> dims) : dims_(std::move(dims)) {}

Mesh::Mesh(std::vector<MeshAxis> axes) : axes_(std::move(axes)) {
  if (axes_.empty())
    throw TraceError("Mesh: it has no axis\n  Give it one with its size: Mesh({{\"data\", 8}}).");
  for (std::size_t i = 0; i < axes_.size(); i++) {
    const MeshAxis& axis = axes_[i];
    if (!is_axis_name(axis.name)) {
      throw TraceError(
          fmt::format("Mesh: \"{}\" is no name of an axis\n  Name it by letters, digits and "
                      "underscores: \"data\".",
                      axis.name));
    }
    if (axis.size < 1) {
      throw TraceError(fmt::format(
          "Mesh: the axis \"{}\" has the size {}\n  Give it the number of devices along it, from 1 "
          "on.",
          axis.name, axis.size));
    }
    for (std::size_t k = 0; k < i; k++) {
      if (axes_[k].name != axis.name) continue;
      throw TraceError(fmt::format(
          "Mesh: two axes are named \"{}\"\n  Give each a name of its own.", axis.name));
    }
    // Devices are numbered with 32 bits.
    if (axis.size > std::numeric_limits<std::int32_t>::max() / size_) {
      throw TraceError(fmt::format(
          "Mesh: {} is more than 2^31 - 1 devices\n  Give it the sizes of a machine.", str()));
    }
    size_ *= axis.size;
  }
}

Mesh::Mesh(std::vector<MeshAxis> axes, std::vector<pjrt::Device> devices) : Mesh(std::move(axes)) {
  devices_ = std::move(devices);
  if (static_cast<std::int64_t>(devices_.size()) != size_) {
    throw TraceError(
        fmt::format("Mesh: {} has {} places, and there are {} devices\n  Give one a place, or the "
                    "axes other sizes.",
                    str(), size_, devices_.size()));
  }
  for (std::size_t i = 0; i < devices_.size(); i++) {
    if (!devices_[i]) {
      throw TraceError(
          fmt::format("Mesh: device {} is none\n  Take those of pjrt::Client::devices().", i));
    }
    const auto first = std::find(devices_.begin(), devices_.end(), devices_[i]) - devices_.begin();
    if (first == static_cast<std::ptrdiff_t>(i)) continue;
    throw TraceError(fmt::format(
        "Mesh: devices {} and {} are the same\n  Give each place a device of its own.", first, i));
  }
}

std::string Mesh::str() const {
  std::string text;
  for (const MeshAxis& axis : axes_)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name, axis.size);
  return text;
}

}  // namespace rondo
