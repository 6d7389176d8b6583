// Meshes of devices, and the shardings of arrays over them.
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

/// An axis of a mesh, and the number of devices along it.
struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

/// Devices in a grid whose axes have names. The last axis varies fastest: with {"data", 4},
/// {"model", 2} the devices 0 and 1 have the same position along data. Cheap to copy compared with
/// its uses.
class RONDO_API Mesh {
 public:
  /// A grid of names and sizes: all that a program and its text need. Throws TraceError for no axis
  /// at all, a size below 1, a name that occurs twice, and names that are not letters, digits and
  /// underscores.
  explicit Mesh(std::vector<MeshAxis> axes);
  /// The same with its devices, in the order of the grid: a program that is compiled for it runs on
  /// them. They may be those of all hosts (pjrt::Client::all_devices()), at least one of them of
  /// this process; all processes give the same ones in the same order. Throws TraceError if their
  /// number differs from the grid's size, for a default-constructed device and for one that occurs
  /// twice.
  Mesh(std::vector<MeshAxis> axes, std::vector<pjrt::Device> devices);

  const std::vector<MeshAxis>& axes() const noexcept { return axes_; }
  /// Empty for a mesh of names only.
  const std::vector<pjrt::Device>& devices() const noexcept { return devices_; }
  /// The number of devices in the grid: the product of the sizes.
  std::int64_t size() const noexcept { return size_; }
  /// `data=4, model=2`
  std::string str() const;

  /// Whether axes and devices are equal.
  bool operator==(const Mesh&) const = default;

 private:
  std::vector<MeshAxis> axes_;
  std::vector<pjrt::Device> devices_;
  std::int64_t size_ = 1;
};

/// For a dimension that the compiler may split as it chooses.
struct Unconstrained {};
/// The entry of a PartitionSpec for such a dimension.
inline constexpr Unconstrained kUnconstrained{};

/// How one dimension of an array is split: over a mesh axis, over several of them ({"data",
/// "model"}, of which the first varies slowest), over none (std::nullopt: replicated), or as the
/// compiler chooses (kUnconstrained).
class DimPartition {
 public:
  // Not explicit: each is written in its own form.
  DimPartition(std::nullopt_t) {}                        // NOLINT
  RONDO_API DimPartition(const char* axis);              // NOLINT
  RONDO_API DimPartition(std::string axis);              // NOLINT
  RONDO_API DimPartition(std::string_view axis);         // NOLINT
  DimPartition(Unconstrained) : unconstrained_(true) {}  // NOLINT
  RONDO_API DimPartition(std::initializer_list<std::string_view> axes);

  /// The same from a list that is known only at run time; an empty one is std::nullopt.
  RONDO_API static DimPartition over(std::vector<std::string> axes);

  const std::vector<std::string>& axes() const noexcept { return axes_; }
  bool unconstrained() const noexcept { return unconstrained_; }

 private:
  std::vector<std::string> axes_;
  bool unconstrained_ = false;
};

/// One entry per dimension.
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
