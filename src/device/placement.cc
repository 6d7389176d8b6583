#include "device/placement.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace rondo::pjrt {

namespace {

TensorType part_type(const TensorType& whole, const ir::Sharding& sharding) {
  std::vector<std::int64_t> dims = whole.shape.vector();
  for (std::size_t i = 0; i < dims.size(); i++) dims[i] /= sharding.parts(i);
  return {whole.dtype, Shape(dims)};
}

ops::Box box_of(const TensorType& part, const Shape& to, const Shape& from) {
  return {part.shape.dims(), ops::dense_strides(to), ops::dense_strides(from),
          byte_width(part.dtype)};
}

/// The position of a device along each axis of the mesh, of which the last varies fastest.
absl::InlinedVector<std::int64_t, 4> place_of_device(const ir::MeshAxes& mesh,
                                                     std::int64_t device) {
  absl::InlinedVector<std::int64_t, 4> place(mesh.size());
  for (std::size_t axis = mesh.size(); axis-- > 0;) {
    place[axis] = device % mesh[axis].second;
    device /= mesh[axis].second;
  }
  return place;
}

}  // namespace

Placement::Placement(TensorType whole, ir::Sharding sharding)
    : whole_(std::move(whole)),
      part_(part_type(whole_, sharding)),
      sharding_(std::move(sharding)),
      take_(box_of(part_, part_.shape, whole_.shape)),
      put_(box_of(part_, whole_.shape, part_.shape)) {
  const ops::Dims strides = ops::dense_strides(whole_.shape);
  absl::flat_hash_map<std::int64_t, std::size_t> first;  // device of each offset
  for (std::int64_t device = 0; device < sharding_.devices(); device++) {
    const std::vector<std::int64_t> start = start_of(static_cast<std::size_t>(device));
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < start.size() && whole_.elements() > 0; dim++)
      offset += start[dim] * strides[dim];
    offsets_.push_back(offset * byte_width(whole_.dtype));
    first_alike_.push_back(first.try_emplace(offset, first_alike_.size()).first->second);
  }
}

std::vector<std::int64_t> Placement::start_of(std::size_t device) const {
  const auto place = place_of_device(sharding_.mesh, static_cast<std::int64_t>(device));
  std::vector<std::int64_t> start;
  for (std::size_t dim = 0; dim < sharding_.dims.size(); dim++) {
    std::int64_t number = 0;  // of the part along this dimension
    for (const std::string& name : sharding_.dims[dim].axes) {
      for (std::size_t axis = 0; axis < place.size(); axis++) {
        const auto& [axis_name, size] = sharding_.mesh[axis];
        if (axis_name == name) number = number * size + place[axis];
      }
    }
    start.push_back(number * part_.shape[dim]);
  }
  return start;
}

Literal Placement::part_of(const Literal& whole, std::size_t device) const {
  if (is_whole()) return whole;
  Literal part = Literal::uninitialized(part_);
  if (part_.elements() > 0) take_.copy(part.mutable_bytes(), whole.bytes() + offsets_[device]);
  return part;
}

void Placement::put(const Literal& part, std::size_t device, Literal& whole) const {
  if (part_.elements() > 0) put_.copy(whole.mutable_bytes() + offsets_[device], part.bytes());
}

}  // namespace rondo::pjrt
