#include "ir/sharding.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "fmt/format.h"
#include "ir/attributes.h"
#include "ir/function_data.h"
#include "ir/node.h"

namespace rondo::ir {

namespace {

std::int64_t device_count(const MeshAxes& mesh) {
  std::int64_t count = 1;
  for (const auto& axis : mesh) count *= axis.second;
  return count;
}

std::string dims_text(const Sharding& sharding) {
  std::string text;
  append_field(text, sharding.dims);
  return text;
}

/// The position of an axis in the mesh; the mesh's size if it has no such axis.
std::size_t place_of_axis(const MeshAxes& mesh, std::string_view name) {
  const auto is_it = [&](const auto& axis) { return axis.first == name; };
  return static_cast<std::size_t>(std::find_if(mesh.begin(), mesh.end(), is_it) - mesh.begin());
}

/// The sharding of an argument or result: unconstrained dimensions are not split there.
Sharding at_boundary(Sharding sharding) {
  for (DimSharding& dim : sharding.dims) dim.unconstrained = false;
  return sharding;
}

const Sharding* sharding_of_node(const Node* node) {
  return node->op->text.sharding ? &node->op->text.sharding(*node) : nullptr;
}

}  // namespace

std::string axes_text(const MeshAxes& mesh) {
  std::string text;
  for (const auto& [name, size] : mesh)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, size);
  return text;
}

MeshAxes mesh_axes(const Mesh& mesh) {
  MeshAxes axes;
  for (const MeshAxis& axis : mesh.axes()) axes.emplace_back(axis.name, axis.size);
  return axes;
}

Sharding sharding_of(const Mesh& mesh, const PartitionSpec& spec) {
  Sharding sharding{mesh_axes(mesh), {}};
  for (const DimPartition& dim : spec.dims())
    sharding.dims.push_back({dim.axes(), dim.unconstrained()});
  return sharding;
}

PartitionSpec spec_of(const Sharding& sharding) {
  std::vector<DimPartition> dims;
  for (const DimSharding& dim : sharding.dims) {
    if (dim.unconstrained)
      dims.emplace_back(kUnconstrained);
    else
      dims.push_back(DimPartition::over(dim.axes));
  }
  return dims;
}

void field_value(FieldText& text, DimSharding& dim) {
  text.piece("{");
  const bool unconstrained = text.piece_if(dim.unconstrained, "?");
  if (text.reads()) dim.unconstrained = unconstrained;
  field_items(text, dim.axes, ", ", "}");
}

std::int64_t Sharding::devices() const { return device_count(mesh); }
std::int64_t ProgramSharding::devices() const { return device_count(mesh); }

std::int64_t Sharding::axis_size(std::string_view name) const {
  const std::size_t place = place_of_axis(mesh, name);
  return place == mesh.size() ? 0 : mesh[place].second;
}

std::int64_t Sharding::parts(std::size_t dim) const {
  std::int64_t count = 1;
  for (const std::string& axis : dims[dim].axes) count *= axis_size(axis);
  return count;
}

bool Sharding::uses(std::string_view axis) const {
  return std::any_of(dims.begin(), dims.end(), [&](const DimSharding& dim) {
    return std::find(dim.axes.begin(), dim.axes.end(), axis) != dim.axes.end();
  });
}

std::string sharding_fault(const Sharding& sharding, const Shape& shape) {
  if (sharding.dims.size() != shape.size()) {
    return fmt::format(
        "the spec {} has {} entries for an array of {} dimensions, {}\n  Give one entry a "
        "dimension: an axis of the mesh, or std::nullopt where each device has all of it.",
        dims_text(sharding), sharding.dims.size(), shape.size(), shape.str());
  }
  absl::flat_hash_map<std::string_view, std::size_t> used;
  for (std::size_t dim = 0; dim < sharding.dims.size(); dim++) {
    for (const std::string& axis : sharding.dims[dim].axes) {
      if (sharding.axis_size(axis) == 0) {
        return fmt::format("the mesh has no axis \"{}\"\n  Its axes are {}.", axis,
                           axes_text(sharding.mesh));
      }
      const auto [first, is_new] = used.emplace(axis, dim);
      if (!is_new) {
        return fmt::format(
            "the axis \"{}\" is used by dimension {} and again by dimension {}\n  An axis can "
            "split one dimension: give the other std::nullopt, or another axis ({}).",
            axis, first->second, dim, axes_text(sharding.mesh));
      }
    }
    const std::int64_t parts = sharding.parts(dim);
    if (parts > 0 && shape[dim] % parts == 0) continue;
    return fmt::format(
        "dimension {} of {} has {} elements, which {} devices cannot share evenly\n  Pad it to a "
        "multiple of {} (rondo::pad), choose another dimension, or a mesh whose axis divides it.",
        dim, shape.str(), shape[dim], parts, parts);
  }
  return {};
}

std::optional<ProgramSharding> program_sharding(const Function& entry,
                                                const std::optional<Mesh>& meant) {
  std::optional<MeshAxes> mesh;
  std::string whose = "that which the program is compiled for";
  if (meant) mesh = mesh_axes(*meant);
  for (const Function& function : regions_inside_out(entry)) {
    for (const Node* node : function.body()) {
      const Sharding* sharding = sharding_of_node(node);
      if (!sharding || mesh == sharding->mesh) continue;
      if (!mesh) {
        mesh = sharding->mesh;
        whose = "that of " + node->location().str();
        continue;
      }
      fail(node->op->name,
           fmt::format("its mesh is {}, and {} is {}\n  A program runs on one mesh: give all of "
                       "them the same.",
                       axes_text(sharding->mesh), whose, axes_text(*mesh)),
           node->location());
    }
  }
  if (!mesh) return std::nullopt;
  ProgramSharding found{std::move(*mesh), {}, {}};
  absl::flat_hash_map<const Node*, std::size_t> index;
  for (const Tensor& parameter : entry.parameters()) {
    index.emplace(parameter.node(), found.arguments.size());
    found.arguments.push_back({found.mesh, std::vector<DimSharding>(parameter.shape().size())});
  }
  absl::flat_hash_set<const Node*> seen;  // the first one that an argument is passed to counts
  for (const Node* node : entry.body()) {
    const Sharding* sharding = sharding_of_node(node);
    if (!sharding) continue;
    const auto argument = index.find(node->operand(0).node());
    if (argument == index.end() || !seen.insert(argument->first).second) continue;
    found.arguments[argument->second] = at_boundary(*sharding);
  }
  for (const Tensor& result : entry.outputs()) {
    const Sharding* sharding = sharding_of_node(result.node());
    found.results.push_back(
        sharding ? at_boundary(*sharding)
                 : Sharding{found.mesh, std::vector<DimSharding>(result.shape().size())});
  }
  return found;
}

void append_shardy_mesh(std::string& out, const MeshAxes& mesh) {
  out += '[';
  for (std::size_t i = 0; i < mesh.size(); i++)
    out += fmt::format("{}\"{}\"={}", i == 0 ? "" : ", ", mesh[i].first, mesh[i].second);
  out += ']';
}

void append_shardy(std::string& out, const Sharding& sharding) {
  out += '[';
  for (std::size_t i = 0; i < sharding.dims.size(); i++) {
    if (i > 0) out += ", ";
    append_field(out, sharding.dims[i]);
  }
  out += ']';
}

void append_gspmd(std::string& out, const Sharding& sharding) {
  // The devices of a tile assignment are those of the mesh, with its axes in the order in which
  // dimensions use them. Axes that no dimension uses come last, and are replicated over.
  absl::InlinedVector<std::int64_t, 6> tiles, sizes;
  absl::InlinedVector<std::size_t, 6> order;
  for (std::size_t dim = 0; dim < sharding.dims.size(); dim++) {
    tiles.push_back(sharding.parts(dim));
    for (const std::string& axis : sharding.dims[dim].axes)
      order.push_back(place_of_axis(sharding.mesh, axis));
  }
  if (std::all_of(tiles.begin(), tiles.end(), [](std::int64_t parts) { return parts == 1; })) {
    out += "{replicated}";
    return;
  }
  std::int64_t copies = 1;
  for (std::size_t i = 0; i < sharding.mesh.size(); i++) {
    sizes.push_back(sharding.mesh[i].second);
    if (std::find(order.begin(), order.end(), i) != order.end()) continue;
    order.push_back(i);
    copies *= sharding.mesh[i].second;
  }
  if (copies > 1) tiles.push_back(copies);
  out += fmt::format("{{devices=[{}]<=[", fmt::join(tiles, ","));
  if (std::is_sorted(order.begin(), order.end()))
    out += fmt::format("{}]", sharding.devices());
  else
    out += fmt::format("{}]T({})", fmt::join(sizes, ","), fmt::join(order, ","));
  out += copies > 1 ? " last_tile_dim_replicate}" : "}";
}

void append_gspmd_unconstrained(std::string& out, const Sharding& sharding) {
  bool any = false;
  for (std::size_t i = 0; i < sharding.dims.size(); i++) {
    if (!sharding.dims[i].unconstrained) continue;
    out += fmt::format("{}{}", any ? "," : "unspecified_dims=[", i);
    any = true;
  }
  if (any) out += ']';
}

}  // namespace rondo::ir
