// How a program splits arrays over a mesh of devices: names and sizes, no devices. The record of an
// op with a sharding returns it (OpText::sharding); texts and executors use these functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/field_text.h"
#include "rondo/function.h"
#include "rondo/mesh.h"
#include "rondo/shape.h"

namespace rondo::ir {

using MeshAxes = std::vector<std::pair<std::string, std::int64_t>>;  // name and size

struct DimSharding {
  std::vector<std::string> axes;  // of the mesh, the slowest first; empty: not split
  bool unconstrained = false;     // as the compiler chooses
  friend bool operator==(const DimSharding&, const DimSharding&) = default;
};
/// `{"data"}`, `{}`, `{?}`
void field_value(FieldText& text, DimSharding& dim);

/// An attribute: one entry per dimension.
struct Sharding {
  MeshAxes mesh;  // the last axis varies fastest
  std::vector<DimSharding> dims;
  friend bool operator==(const Sharding&, const Sharding&) = default;

  std::int64_t devices() const;
  /// 0 for a name that the mesh does not have.
  std::int64_t axis_size(std::string_view name) const;
  /// The number of parts that a dimension is split into.
  std::int64_t parts(std::size_t dim) const;
  bool uses(std::string_view axis) const;
};

MeshAxes mesh_axes(const Mesh& mesh);
Sharding sharding_of(const Mesh& mesh, const PartitionSpec& spec);
PartitionSpec spec_of(const Sharding& sharding);
/// `data=4, model=2`
std::string axes_text(const MeshAxes& mesh);

/// The error for an array of this shape, with the remedy in further lines; empty if there is none.
std::string sharding_fault(const Sharding& sharding, const Shape& shape);

/// The mesh of a program, and the shardings of its arguments and results: of those that are passed
/// directly to a node with a sharding, or come from one. The others are replicated.
struct ProgramSharding {
  MeshAxes mesh;
  std::vector<Sharding> arguments;
  std::vector<Sharding> results;
  std::int64_t devices() const;
};
/// For a program that has a sharding, at any depth, or that is compiled for a mesh. Throws
/// TraceError if two of its nodes have different meshes, or one differs from `meant`.
std::optional<ProgramSharding> program_sharding(const Function& entry,
                                                const std::optional<Mesh>& meant = std::nullopt);

/// Shardy: `["data"=4, "model"=2]` for a mesh, `[{"data"}, {}]` for an array.
void append_shardy_mesh(std::string& out, const MeshAxes& mesh);
void append_shardy(std::string& out, const Sharding& sharding);
/// GSPMD: `{devices=[4,1,2]<=[8] last_tile_dim_replicate}`. Unconstrained dimensions are written as
/// not split.
void append_gspmd(std::string& out, const Sharding& sharding);
/// `unspecified_dims=[0,1]`: the unconstrained ones; empty if there are none.
void append_gspmd_unconstrained(std::string& out, const Sharding& sharding);

}  // namespace rondo::ir
