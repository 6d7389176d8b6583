// Meshes of devices, and how arrays are spread over them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rondo/device.h"
#include "rondo/export.h"

namespace rondo {

/// A direction of a mesh: so many devices lie along it.
struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

/// Devices in a grid whose axes have names. The last axis varies fastest: of {"data", 4}, {"model",
/// 2} the devices 0 and 1 have one place along data. Cheap to copy next to what it is used for.
class RONDO_API Mesh {
 public:
  /// A grid of names and sizes: all that a program and its text need. Throws TraceError for no axis
  /// at all, a size below 1, a name that stands twice, and names that are not letters, digits and
  /// underscores.
  explicit Mesh(std::vector<MeshAxis> axes);
  /// The same with the devices that stand there, in the order of the grid: a program that is
  /// compiled for it runs on them. Throws TraceError where there are more or fewer of them than
  /// places, for one that is none and for one that stands twice.
  Mesh(std::vector<MeshAxis> axes, std::vector<pjrt::Device> devices);

  const std::vector<MeshAxis>& axes() const noexcept { return axes_; }
  /// Empty for a mesh of names alone.
  const std::vector<pjrt::Device>& devices() const noexcept { return devices_; }
  /// The number of places for devices: the product of the sizes.
  std::int64_t size() const noexcept { return size_; }
  /// `data=4, model=2`
  std::string str() const;

  /// Of the same axes and devices.
  bool operator==(const Mesh&) const = default;

 private:
  std::vector<MeshAxis> axes_;
  std::vector<pjrt::Device> devices_;
  std::int64_t size_ = 1;
};

/// Of a dimension that the compiler may spread as it likes.
struct Unconstrained {};
inline constexpr Unconstrained kUnconstrained{};

/// How one dimension of an array is spread: over a mesh axis, over several of them ({"data",
/// "model"}, of which the first varies slowest), over none (std::nullopt: each device has all of
/// it), or as the compiler likes (kUnconstrained).
class DimPartition {
 public:
  // Not explicit: each is written as what it is.
  DimPartition(std::nullopt_t) {}                        // NOLINT
  RONDO_API DimPartition(const char* axis);              // NOLINT
  RONDO_API DimPartition(std::string axis);              // NOLINT
  RONDO_API DimPartition(std::string_view axis);         // NOLINT
  DimPartition(Unconstrained) : unconstrained_(true) {}  // NOLINT
  RONDO_API DimPartition(std::initializer_list<std::string_view> axes);

  /// The same from a list that is known only when the program runs; of none: as std::nullopt.
  RONDO_API static DimPartition over(std::vector<std::string> axes);

  const std::vector<std::string>& axes() const noexcept { return axes_; }
  bool unconstrained() const noexcept { return unconstrained_; }

 private:
  std::vector<std::string> axes_;
  bool unconstrained_ = false;
};

/// One entry a dimension.
class PartitionSpec {
 public:
  PartitionSpec() = default;
  RONDO_API PartitionSpec(std::initializer_list<DimPartition> dims);
  RONDO_API PartitionSpec(std::vector<DimPartition> dims);  // NOLINT: not explicit

  const std::vector<DimPartition>& dims() const noexcept { return dims_; }

 private:
  std::vector<DimPartition> dims_;
};

}  // namespace rondo
