#include "ops/linalg/few.h"

#include "ops/linalg/linalg.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

bool is_small(const TensorType& type) {
  const MatrixSizes sizes(type);
  return std::max(sizes.rows, sizes.columns) <= kFewRows;
}

}  // namespace

bool is_of_few(const Node& node, const ir::LoopCode& loops) {
  if (!loops.is_native || is_complex(node.type().dtype) || node.type().elements() == 0)
    return false;
  return is_small(node.operand_type(0)) && is_small(node.type());
}

Elements::Elements(const TensorType& type)
    : type_(type), element_type_(with_last_axes(type, 2, {})) {
  const MatrixSizes sizes(type);
  rows_ = sizes.rows;
  columns_ = sizes.columns;
  elements_.resize(static_cast<std::size_t>(sizes.elements()));
}

Elements::Elements(const Tensor& matrices) : Elements(matrices.type()) {
  // All elements of a matrix along one axis, as `joined` leaves them: a slice of those is one.
  std::vector<std::int64_t> limits = element_type_.shape.vector();
  limits.push_back(rows_ * columns_);
  const Tensor all = reshape(matrices, limits);
  std::vector<std::int64_t> starts(limits.size(), 0);
  for (std::size_t k = 0; k < elements_.size(); k++) {
    starts.back() = static_cast<std::int64_t>(k);
    limits.back() = static_cast<std::int64_t>(k) + 1;
    elements_[k] = reshape(slice(all, starts, limits), element_type_.shape);
  }
}

Tensor Elements::joined() const { return reshape(side_by_side(elements_), type_.shape); }

Tensor selected_rows(const Tensor& x, const Tensor& permutation) {
  const auto axis = static_cast<std::size_t>(x.rank() - 2);
  const std::int64_t m = x.dim(x.rank() - 2);
  std::vector<std::int64_t> starts(axis + 2, 0), limits = x.shape().vector();
  const auto row = [&](std::int64_t i) {
    starts[axis] = i;
    limits[axis] = i + 1;
    return slice(x, starts, limits);
  };
  const Tensor places = expand_dims(permutation, -1);
  Tensor taken = broadcast_to(row(0), x.shape().vector());
  for (std::int64_t i = 1; i < m; i++) taken = where(places >= i, row(i), taken);
  return taken;
}

Tensor side_by_side(const std::vector<Tensor>& elements) {
  std::vector<std::int64_t> dims = elements[0].shape().vector();
  dims.push_back(1);
  std::vector<Tensor> parts;
  for (const Tensor& element : elements) parts.push_back(reshape(element, dims));
  return concatenate(parts, std::ssize(dims) - 1);
}

}  // namespace rondo::ops
