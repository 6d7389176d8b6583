// What a stable sort with the positions of its elements gives: partitions and distinct values.
#include <limits>
#include <numeric>

#include "ops/functions/helpers.h"
#include "ops/sort.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/order.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/search.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

/// x[n] with x[places[i]] = updates[i]; places out of range are dropped.
Tensor put_at_places(const Tensor& x, const Tensor& places, const Tensor& updates) {
  return scatter(
      x, reshape(places, {-1, 1}), updates,
      {.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1},
      [](const Tensor&, const Tensor& update) { return update; });
}

void check_size(const ops::Helper& helper, std::int64_t size) {
  if (size < 0)
    helper.fail(
        fmt::format("the size is {}; it must not be negative\n  Give how many there are at "
                    "most.",
                    size));
}

/// All elements, in row-major order, which are counted in s32.
Tensor flattened(const ops::Helper& helper, const Operand& operand) {
  const Tensor x = helper.any(operand);
  if (x.type().elements() > std::numeric_limits<std::int32_t>::max()) {
    helper.fail(
        fmt::format("the operand is {}, whose elements are counted in s32\n  Take parts of "
                    "it.",
                    x.type().str()));
  }
  return reshape(x, {x.type().elements()});
}

/// `fill` is null for the least value.
Unique distinct(const Operand& operand, std::int64_t size, const Operand* fill) {
  const ops::Helper helper("unique", operand.at());
  const Tensor x = flattened(helper, operand);
  check_size(helper, size);
  const std::int64_t n = x.dim(0);
  const TensorType scalar{x.dtype(), {}};
  Tensor rest = fill ? fill->as(x.dtype()) : n > 0 ? Tensor() : zeros(scalar);
  if (!rest.empty() && rest.type() != scalar) {
    helper.fail(
        fmt::format("fill is {}; it must be {}, a scalar like the operand's elements\n  "
                    "Convert or reshape it.",
                    rest.type().str(), scalar.str()));
  }
  const Shape& shape = operand.any().shape();
  if (n == 0) {
    return {broadcast_to(rest, {size}), zeros(s32({size})), zeros({DType::kS32, shape})};
  }
  const auto [sorted, places] = ops::sorted_and_places("unique", x, 0, false, operand.at());
  if (rest.empty()) rest = sorted[0];
  const Tensor left = slice(sorted, {0}, {n - 1}), right = slice(sorted, {1}, {n});
  Tensor changes = left != right;
  if (is_floating(x.dtype()) || is_complex(x.dtype()))
    changes = changes & !(is_nan(left) & is_nan(right));
  // The number of the run that each sorted element is in.
  const Tensor run = concatenate({zeros(s32({1})), cumsum(convert(changes, DType::kS32), 0)}, 0);
  const Tensor counts = bincount(run, size);
  const Tensor starts = cumsum(counts, 0) - counts;
  return {where(counts > 0, take(sorted, starts), broadcast_to(rest, {size})), counts,
          reshape(put_at_places(zeros(s32({n})), places, run), shape)};
}

}  // namespace

Tensor argpartition(const Operand& operand, std::int64_t k, std::int64_t axis) {
  const ops::Helper helper("argpartition", operand.at());
  const Tensor x = helper.any(operand);
  axis = helper.axis(axis, x);
  const std::int64_t n = x.dim(axis);
  if (k < -n || k >= n) {
    helper.fail(
        fmt::format("k is {}, axis {} of {} has {} elements\n  Give a position on that axis; "
                    "negative ones count from the end.",
                    k, axis, x.type().str(), n));
  }
  return ops::sorted_and_places("argpartition", x, axis, false, operand.at()).places;
}

Unique unique(const Operand& x, std::int64_t size) { return distinct(x, size, nullptr); }
Unique unique(const Operand& x, std::int64_t size, const Operand& fill) {
  return distinct(x, size, &fill);
}

Tensor argwhere(const Operand& operand, std::int64_t size, const Operand& fill) {
  const ops::Helper helper("argwhere", operand.at());
  const Tensor x = flattened(helper, operand);
  check_size(helper, size);
  const Tensor rest = fill.as(DType::kS32);
  if (rest.type() != s32()) {
    helper.fail(
        fmt::format("fill is {}; it must be an integer scalar\n  Convert it: "
                    "rondo::convert(fill, DType::kS32).",
                    rest.type().str()));
  }
  const Shape& shape = operand.any().shape();
  const std::int64_t n = x.dim(0);
  if (shape.empty() || n == 0) return broadcast_to(rest, {size, shape.rank()});
  const Tensor found = is_pred(x.dtype()) ? x : x != 0;
  const Tensor number = cumsum(convert(found, DType::kS32), 0);
  const Tensor places =
      put_at_places(zeros(s32({size})), where(found, number - 1, size), arange(n));
  std::vector<Tensor> columns;
  std::int64_t stride = n;
  for (const std::int64_t dim : shape) {
    stride /= dim;
    columns.push_back(places / stride % dim);
  }
  const Tensor is_known = arange(size) < number[n - 1];
  return where(expand_dims(is_known, 1), stack(columns, 1), rest);
}

}  // namespace rondo
