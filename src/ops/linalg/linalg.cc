#include "ops/linalg/linalg.h"

#include "ops/linalg/few.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

void check_matrices(const InferContext& context, std::size_t operand) {
  const TensorType& type = context.type(operand);
  const bool wide = type.dtype == DType::kF32 || type.dtype == DType::kF64;
  if (!wide && !is_complex(type.dtype)) {
    context.fail(
        fmt::format("takes floats and complex numbers; the operand is {}\n  Convert it: "
                    "rondo::convert(x, DType::kF32).",
                    type.str()));
  }
  if (type.rank() < 2) {
    context.fail(fmt::format(
        "the operand is {}; it must have 2 axes or more\n  The last two are those of a matrix.",
        type.str()));
  }
}

void check_square(const InferContext& context, std::size_t operand, std::string_view remedy) {
  check_matrices(context, operand);
  const TensorType& type = context.type(operand);
  if (type.shape[type.rank() - 2] == type.shape[type.rank() - 1]) return;
  context.fail(
      fmt::format("the operand is {}; its matrices must be square\n  {}", type.str(), remedy));
}

MatrixSizes::MatrixSizes(const TensorType& type)
    : rows(type.shape[type.rank() - 2]), columns(type.shape[type.rank() - 1]) {
  for (std::int64_t axis = 0; axis + 2 < type.rank(); axis++) count *= type.shape[axis];
}

TensorType with_last_axes(const TensorType& type, std::size_t replaced,
                          std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> dims = type.shape.vector();
  dims.resize(dims.size() - replaced);
  dims.insert(dims.end(), axes.begin(), axes.end());
  return {type.dtype, Shape(dims)};
}

Tensor swapped(const Tensor& x) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.rank()));
  for (std::size_t i = 0; i < order.size(); i++) order[i] = static_cast<std::int64_t>(i);
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return transpose(x, order);
}

Tensor conjugated(const Tensor& x) { return is_complex(x.dtype()) ? conj(x) : x; }
Tensor adjoint(const Tensor& x) { return conjugated(swapped(x)); }

Tensor hermitian_part(const Tensor& x) { return (x + adjoint(x)) * 0.5; }

Tensor positions(const Tensor& x, Triangle triangle) {
  const TensorType type{DType::kS32, {x.dim(x.rank() - 2), x.dim(x.rank() - 1)}};
  const Tensor row = iota(type, 0), column = iota(type, 1);
  Tensor chosen = triangle == Triangle::kBelow ? column < row
                  : triangle == Triangle::kOn  ? column == row
                                               : column <= row;
  return broadcast_to(chosen, x.shape().vector());
}

Tensor diagonals(const Tensor& x) {
  const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  const std::int64_t count = std::min(rows, columns);
  std::vector<std::int64_t> dims(x.shape().begin(), x.shape().end() - 2);
  if (count == 0) {
    dims.push_back(0);
    return zeros({x.dtype(), Shape(dims)});
  }
  // Elements (columns + 1) apart in each matrix.
  dims.push_back(rows * columns);
  const std::size_t rank = dims.size();
  std::vector<std::int64_t> starts(rank, 0), limits = dims, strides(rank, 1);
  limits.back() = (count - 1) * (columns + 1) + 1;
  strides.back() = columns + 1;
  return slice(reshape(x, dims), starts, limits, strides);
}

Tensor identities_like(const Tensor& x) { return convert(positions(x, Triangle::kOn), x.dtype()); }

Tensor permuted_rows(const Tensor& x, const Tensor& permutation) {
  const std::int64_t m = x.dim(x.rank() - 2), n = x.dim(x.rank() - 1);
  if (m > 0 && m <= kFewRows) return selected_rows(x, permutation);
  if (x.rank() == 2) return take(x, permutation, 0);
  // All matrices below one another.
  const std::int64_t count = MatrixSizes(x.type()).count;
  const TensorType numbers{DType::kS64, {count, m}};
  const Tensor places =
      convert(reshape(permutation, {count, m}), DType::kS64) + iota(numbers, 0) * m;
  const Tensor taken = take(reshape(x, {count * m, n}), reshape(places, {count * m}), 0);
  return reshape(taken, x.shape().vector());
}

std::vector<Tensor> each_matrix(std::vector<Tensor> (*f)(const Tensor& matrix), const Tensor& x) {
  if (x.rank() == 2) return f(x);
  const std::int64_t m = x.dim(x.rank() - 2), n = x.dim(x.rank() - 1);
  const std::vector<std::int64_t> leading(x.shape().begin(), x.shape().end() - 2);
  std::vector<Tensor> results =
      map([f](Tensor matrix) { return f(matrix); }, reshape(x, {MatrixSizes(x.type()).count, m, n}),
          {.name = "matrices"});
  for (Tensor& result : results) {
    std::vector<std::int64_t> dims = leading;
    dims.insert(dims.end(), result.shape().begin() + 1, result.shape().end());
    result = reshape(result, dims);
  }
  return results;
}

Tensor in_wide_dtype(const Tensor& x) {
  return in_dtype(x,
                  is_floating(x.dtype()) && byte_width(x.dtype()) <= 2 ? DType::kF32 : x.dtype());
}

Tensor in_dtype(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : convert(x, dtype); }

std::array<Tensor, 2> matched_leading(const Helper& helper, std::string_view name, const Operand& a,
                                      const Operand& b) {
  auto [x, y] = same_dtype({name, name}, a, b);
  for (const Tensor* operand : {&x, &y}) {
    if (operand->rank() >= 2) continue;
    helper.fail(
        fmt::format("{} has no matrices; it must have 2 axes or more\n  Reshape it: a vector is a "
                    "matrix of one "
                    "column, [n, 1].",
                    operand->type().str()));
  }
  const auto leading = [](const Tensor& t) {
    return Shape(t.shape().dims().first(t.shape().size() - 2));
  };
  if (leading(x) == leading(y)) return {x, y};
  const Shape common =
      broadcast_shape(name, {x.dtype(), leading(x)}, {y.dtype(), leading(y)}, helper.at());
  const auto spread = [&](const Tensor& t) {
    std::vector<std::int64_t> dims = common.vector();
    dims.insert(dims.end(), t.shape().end() - 2, t.shape().end());
    return broadcast(t, dims, helper.at());
  };
  return {spread(x), spread(y)};
}

}  // namespace rondo::ops
