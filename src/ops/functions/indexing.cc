// Reads and replaces rows.
#include "rondo/ops/indexing.h"

#include "ops/broadcast.h"
#include "ops/dynamic_slice.h"
#include "ops/slice.h"
#include "ops/support.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

/// The number of a row from a C++ integer, which may count from the end.
std::int64_t row_number(std::string_view op, const Tensor& x, const Operand& i) {
  const Scalar& index = i.scalar();
  if (!is_integer(index.dtype))
    ops::fail(op,
              fmt::format("the index is a C++ {}; it must be an integer\n  Write an int, or "
                          "rondo::convert(i, DType::kS32) of a tensor.",
                          dtype_name(index.dtype)),
              i.at());
  const std::int64_t rows = x.shape()[0];
  const bool past =
      index.dtype == DType::kU64 && index.integer < 0;  // a std::size_t beyond the range of s64
  if (past || index.integer < -rows || index.integer >= rows) {
    const std::string number = past ? fmt::format("{}", static_cast<std::uint64_t>(index.integer))
                                    : fmt::format("{}", index.integer);
    ops::fail(
        op,
        rows == 0
            ? fmt::format(
                  "index {} of {}, which has no rows\n  Take rows of an array that has some.",
                  number, x.type().str())
            : fmt::format("index {} of {}, whose rows are {} to {}\n  Rows count from 0, or from "
                          "the end: -1 is the last. An index that is a tensor is clamped.",
                          number, x.type().str(), -rows, rows - 1),
        i.at());
  }
  return index.integer < 0 ? index.integer + rows : index.integer;
}

/// The starts of row `i`, an integer scalar tensor.
std::vector<Tensor> row_starts(std::string_view op, const Tensor& x, const Tensor& i,
                               SourceLocation at) {
  if (!is_integer(i.dtype()) || i.rank() != 0) {
    ops::fail(op,
              fmt::format("the index is {}; it must be an integer scalar\n  For arrays of indices "
                          "use rondo::take; rondo::convert makes integers of floats.",
                          i.type().str()),
              at);
  }
  if (x.shape()[0] == 0)
    ops::fail(op,
              fmt::format("{} has no rows\n  Take rows of an array that has some.", x.type().str()),
              at);
  std::vector<Tensor> starts(x.shape().size(), Tensor(0, at));
  starts[0] = i;
  return starts;
}

}  // namespace

Tensor Tensor::operator[](const Operand& index) const {
  const SourceLocation at = index.at();
  ir::checked(*this, "[]", at);
  if (rank() == 0)
    ops::fail("[]",
              fmt::format("{} is a scalar and has no rows\n  Use it as it is, or give it axes: "
                          "rondo::reshape(x, {{1}}).",
                          type().str()),
              at);
  if (index.is_scalar()) return ops::row_of(*this, row_number("[]", *this, index), at);
  const Tensor i = ops::any_tensor("[]", index);
  std::vector<std::int64_t> sizes = shape().vector();
  sizes[0] = 1;
  const Tensor row = dynamic_slice(Operand(*this, at), row_starts("[]", *this, i, at), sizes);
  return ops::reshape_to(row, Shape(shape().dims().subspan(1)), at);
}

Tensor update(const Operand& x, const Operand& i, const Operand& row) {
  const Tensor operand = ops::any_tensor("update", x);
  if (operand.rank() == 0)
    ops::fail(
        "update",
        fmt::format("{} is a scalar and has no rows\n  Put the new value in its place: x = value.",
                    operand.type().str()),
        x.at());
  const Tensor value = row.is_scalar() ? row.as(operand.dtype()) : ops::any_tensor("update", row);
  if (value.dtype() != operand.dtype()) {
    ops::fail(
        "update",
        fmt::format("the row is {}, the array {}; their dtypes must be equal\n  Convert the row: "
                    "rondo::convert(row, DType::k{}).",
                    value.type().str(), operand.type().str(), ops::dtype_constant(operand.dtype())),
        x.at());
  }
  const Shape row_shape(operand.shape().dims().subspan(1));
  bool fits = value.rank() <= row_shape.rank();
  for (std::int64_t axis = 1; fits && axis <= value.rank(); axis++) {
    const std::int64_t size = value.shape()[value.rank() - axis];
    fits = size == 1 || size == row_shape[row_shape.rank() - axis];
  }
  if (!fits) {
    ops::fail("update",
              fmt::format("the row is {}; it does not broadcast to {}, a row of {}\n  Give a row "
                          "of that shape; rondo::reshape and rondo::sum change shapes.",
                          value.type().str(), TensorType{operand.dtype(), row_shape}.str(),
                          operand.type().str()),
              x.at());
  }
  std::vector<std::int64_t> part = operand.shape().vector();
  part[0] = 1;
  const bool whole = value.type().elements() == Shape(part).elements();
  const Tensor shaped =
      whole ? ops::reshape_to(value, part, x.at()) : ops::broadcast(value, part, x.at());
  const Tensor number = i.is_scalar() ? Tensor(row_number("update", operand, i), i.at())
                                      : ops::any_tensor("update", i);
  return dynamic_update_slice(Operand(operand, x.at()), Operand(shaped, x.at()),
                              row_starts("update", operand, number, i.at()));
}

Tensor take(const Operand& x, const Operand& indices, std::int64_t axis) {
  const Tensor operand = ops::any_tensor("take", x);
  const Tensor places = ops::any_tensor("take", indices);
  const std::int64_t along = ops::normal_axis("take", axis, operand.rank(), x.at());
  if (!is_integer(places.dtype())) {
    ops::fail("take",
              fmt::format("the indices are {}; they must be integers\n  Convert them: "
                          "rondo::convert(i, DType::kS32).",
                          places.type().str()),
              indices.at());
  }
  std::vector<std::int64_t> sizes = operand.shape().vector(), dims = sizes;
  dims.erase(dims.begin() + along);
  dims.insert(dims.begin() + along, places.shape().begin(), places.shape().end());
  if (operand.shape()[along] == 0) {
    if (places.type().elements() != 0) {
      ops::fail("take",
                fmt::format("axis {} of {} has no elements to take\n  Give an array that has some.",
                            along, operand.type().str()),
                x.at());
    }
    return zeros({operand.dtype(), Shape(dims)}, x.at());
  }
  sizes[static_cast<std::size_t>(along)] = 1;
  if (places.rank() == 0) {
    std::vector<Tensor> starts(operand.shape().size(), Tensor(0, x.at()));
    starts[static_cast<std::size_t>(along)] = places;
    return ops::reshape_to(dynamic_slice(Operand(operand, x.at()), starts, sizes), dims, x.at());
  }
  GatherDims gather_dims{.collapsed_slice_dims = {along},
                         .start_index_map = {along},
                         .index_vector_dim = places.rank()};
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(dims.size()); i++) {
    if (i < along || i >= along + places.rank()) gather_dims.offset_dims.push_back(i);
  }
  return gather(Operand(operand, x.at()), Operand(places, x.at()), gather_dims, sizes);
}

}  // namespace rondo
