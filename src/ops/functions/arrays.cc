#include "rondo/ops/arrays.h"

#include <algorithm>
#include <numeric>

#include "ops/broadcast.h"
#include "ops/functions/helpers.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

/// The slice [begin, end) of one axis.
Tensor part_of_axis(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> starts(x.shape().size(), 0), limits = x.shape().vector();
  starts[static_cast<std::size_t>(axis)] = begin;
  limits[static_cast<std::size_t>(axis)] = end;
  return slice(x, starts, limits);
}

/// n * d: the inverse of the lowest frequency of n samples.
Tensor frequency_unit(const ops::Helper& helper, std::int64_t n, const Operand& d, DType dtype) {
  if (n < 1) helper.fail(fmt::format("{} samples\n  Give one or more.", n));
  if (!is_floating(dtype)) {
    helper.fail(
        fmt::format("frequencies of {}; the dtype must be a floating one\n  Give DType::kF32 "
                    "or another one.",
                    dtype_name(dtype)));
  }
  const Tensor distance = d.as(dtype);
  if (distance.type() != TensorType{dtype, {}}) {
    helper.fail(
        fmt::format("d is {}; it must be {}\n  Give the distance of the samples in that "
                    "dtype.",
                    distance.type().str(), TensorType{dtype, {}}.str()));
  }
  return distance * static_cast<double>(n);
}

/// pred of x's last two axes: whether column - row <= k.
Tensor on_or_below(const ops::Helper& helper, const Tensor& x, std::int64_t k) {
  if (x.rank() < 2) {
    helper.fail(fmt::format("the operand is {}; it must have two axes or more\n  Give a matrix.",
                            x.type().str()));
  }
  const TensorType type{DType::kS64, {x.dim(-2), x.dim(-1)}};
  return broadcast_to(iota(type, 1) - iota(type, 0) <= k, x.shape());
}

/// An index in the range of an axis; `is_number` says whether it was a C++ integer.
Tensor normal_index(const ops::Helper& helper, const Tensor& x, const Tensor& index,
                    std::int64_t axis, bool is_number) {
  if (index.empty() || !is_integer(index.dtype()) || index.rank() != 0) {
    helper.fail(fmt::format(
        "index {} is {}; it must be an integer scalar\n  For arrays of indices use rondo::take.",
        axis, index.empty() ? std::string("an empty tensor") : index.type().str()));
  }
  const std::int64_t size = x.dim(axis);
  const Literal* known = is_number ? ir::known_value(index) : nullptr;
  if (!known) {
    if (size == 0)
      helper.fail(fmt::format("axis {} of {} has no elements\n  Give an array that has some.", axis,
                              x.type().str()));
    return index;
  }
  const auto value = for_any_dtype(known->dtype(), [&]<class T>() -> std::int64_t {
    if constexpr (is_integer(dtype_of<T>))
      return static_cast<std::int64_t>(known->item<T>());
    else
      throw InternalError("an index of a dtype that is none");
  });
  const bool past = known->dtype() == DType::kU64 && value < 0;
  if (past || value < -size || value >= size) {
    helper.fail(
        fmt::format("index {} of axis {} of {}, whose indices are {} to {}\n  Negative ones "
                    "count from the end.",
                    value, axis, x.type().str(), -size, size - 1));
  }
  return Tensor(value < 0 ? value + size : value);
}

/// The start of a part at the indices of the first axes.
std::vector<Tensor> starts_of(const ops::Helper& helper, const Tensor& x,
                              const std::vector<Tensor>& indices) {
  if (static_cast<std::int64_t>(indices.size()) > x.rank()) {
    helper.fail(fmt::format("{} indices for {}, which has {} axes\n  Give at most one for each.",
                            indices.size(), x.type().str(), x.rank()));
  }
  std::vector<Tensor> starts;
  for (std::size_t i = 0; i < indices.size(); i++)
    starts.push_back(normal_index(helper, x, indices[i], static_cast<std::int64_t>(i),
                                  indices[i].is_scalar_literal()));
  starts.resize(x.shape().size(), Tensor(0));
  return starts;
}

/// The shape of a part at `count` indices, with axes of size 1 for these.
std::vector<std::int64_t> part_sizes(const Tensor& x, std::size_t count) {
  std::vector<std::int64_t> sizes = x.shape().vector();
  std::fill_n(sizes.begin(), count, 1);
  return sizes;
}

}  // namespace

Tensor linspace(const Operand& lo, const Operand& hi, std::int64_t n, DType dtype) {
  const ops::Helper helper("linspace", lo.at());
  if (!is_floating(dtype)) {
    helper.fail(
        fmt::format("numbers of {}; the dtype must be a floating one\n  Convert the result: "
                    "rondo::convert(x, DType::kS32).",
                    dtype_name(dtype)));
  }
  if (n < 0)
    helper.fail(fmt::format("{} numbers; how many must not be negative\n  Give 0 or more.", n));
  const Tensor first = lo.as(dtype), last = hi.as(dtype);
  for (const Tensor& end : {first, last}) {
    if (end.dtype() != dtype || end.rank() != 0) {
      helper.fail(
          fmt::format("an end is {}; both must be {}\n  Convert it: rondo::convert(x, "
                      "DType::k{}).",
                      end.type().str(), TensorType{dtype, {}}.str(), ops::dtype_constant(dtype)));
    }
  }
  if (n == 0) return zeros({dtype, {0}});
  if (n == 1) return reshape(first, {1});
  const Tensor fraction = arange(n - 1, dtype) / static_cast<double>(n - 1);
  const Tensor inner = first * (1 - fraction) + last * fraction;
  return concatenate({inner, reshape(last, {1})}, 0);
}

Tensor outer(const Operand& a, const Operand& b) {
  const ops::Helper helper("outer", a.at());
  return reshape(helper.any(a), {-1, 1}) * reshape(helper.any(b), {1, -1});
}

Tensor diag(const Operand& operand, std::int64_t k) {
  const ops::Helper helper("diag", operand.at());
  const Tensor x = helper.any(operand);
  if (x.rank() == 1) {
    const std::int64_t n = x.dim(0), size = n + std::abs(k);
    // Element i is in row i for k >= 0, in column i for k < 0.
    const Tensor padded = pad(x, 0, {0}, {size - n});
    const std::int64_t axis = k >= 0 ? 0 : 1;
    const Tensor spread = broadcast_in_dim(padded, {size, size}, {axis});
    const TensorType places{DType::kS64, {size, size}};
    return where(iota(places, 1) - iota(places, 0) == k, spread, 0);
  }
  if (x.rank() != 2) {
    helper.fail(
        fmt::format("the operand is {}; it must be a vector or a matrix\n  Reshape it, or "
                    "take a part of it.",
                    x.type().str()));
  }
  const std::int64_t rows = x.dim(0), columns = x.dim(1);
  const std::int64_t row = std::max<std::int64_t>(-k, 0), col = std::max<std::int64_t>(k, 0);
  const std::int64_t length = std::max<std::int64_t>(std::min(rows - row, columns - col), 0);
  if (length == 0) return zeros({x.dtype(), {0}});
  const std::int64_t start = row * columns + col;
  return slice(reshape(x, {-1}), {start}, {start + (length - 1) * (columns + 1) + 1},
               {columns + 1});
}

Tensor tril(const Operand& operand, std::int64_t k) {
  const ops::Helper helper("tril", operand.at());
  const Tensor x = helper.any(operand);
  return where(on_or_below(helper, x, k), x, 0);
}

Tensor triu(const Operand& operand, std::int64_t k) {
  const ops::Helper helper("triu", operand.at());
  const Tensor x = helper.any(operand);
  return where(on_or_below(helper, x, k - 1), Operand(0).as(x.dtype()), x);
}

Tensor matrix(std::initializer_list<std::initializer_list<Tensor>> rows, SourceLocation at) {
  const ops::Helper helper("matrix", at);
  const std::size_t columns = rows.size() ? rows.begin()->size() : 0;
  if (columns == 0) helper.fail("there are no elements\n  Give one row or more: {{a, b}, {c, d}}.");
  const Tensor* known = rows.begin()->begin();  // whose dtype C++ scalars get
  for (const auto& row : rows) {
    if (row.size() != columns)
      helper.fail(fmt::format("a row has {} elements, the first has {}\n  Give rows of one length.",
                              row.size(), columns));
    for (const Tensor& x : row) {
      const Tensor& element = ir::checked(x, "matrix", at);
      if (element.rank() != 0)
        helper.fail(
            fmt::format("an element is {}; all must be scalars\n  For rows use rondo::stack.",
                        element.type().str()));
      if (known->is_scalar_literal()) known = &x;
    }
  }
  std::vector<Tensor> elements;
  for (const auto& row : rows) {
    for (const Tensor& x : row)
      elements.push_back(reshape(ops::adopt_dtype(x, known->dtype(), at), {1}));
  }
  return reshape(concatenate(elements, 0), {static_cast<std::int64_t>(rows.size()), -1});
}

std::pair<Tensor, Tensor> meshgrid(const Operand& xs, const Operand& ys) {
  const ops::Helper helper("meshgrid", xs.at());
  const Tensor x = helper.any(xs), y = helper.any(ys);
  helper.check_rank(x, "x", 1);
  helper.check_rank(y, "y", 1);
  const Shape grid{y.dim(0), x.dim(0)};
  return {broadcast_in_dim(x, grid, {1}), broadcast_in_dim(y, grid, {0})};
}

Tensor fftfreq(std::int64_t n, const Operand& d, DType dtype) {
  const ops::Helper helper("fftfreq", d.at());
  const Tensor unit = frequency_unit(helper, n, d, dtype), i = arange(n, DType::kS64);
  return convert(where(i < (n + 1) / 2, i, i - n), dtype) / unit;
}

Tensor rfftfreq(std::int64_t n, const Operand& d, DType dtype) {
  const ops::Helper helper("rfftfreq", d.at());
  const Tensor unit = frequency_unit(helper, n, d, dtype);
  return arange(n / 2 + 1, dtype) / unit;
}

Tensor fftshift(const Operand& operand, const Axes& axes) {
  const ops::Helper helper("fftshift", operand.at());
  Tensor x = helper.any(operand);
  for (const std::int64_t axis : helper.axes(axes, x)) x = roll(x, x.dim(axis) / 2, axis);
  return x;
}

Tensor ifftshift(const Operand& operand, const Axes& axes) {
  const ops::Helper helper("ifftshift", operand.at());
  Tensor x = helper.any(operand);
  for (const std::int64_t axis : helper.axes(axes, x)) x = roll(x, -(x.dim(axis) / 2), axis);
  return x;
}

Tensor roll(const Operand& operand, std::int64_t shift, std::int64_t axis) {
  const ops::Helper helper("roll", operand.at());
  Tensor x = helper.any(operand);
  axis = helper.axis(axis, x);
  const std::int64_t size = x.dim(axis);
  if (size == 0) return x;
  const std::int64_t split = ((-shift % size) + size) % size;
  if (split == 0) return x;
  return concatenate({part_of_axis(x, axis, split, size), part_of_axis(x, axis, 0, split)}, axis);
}

Tensor flip(const Operand& x, const Axes& axes) { return reverse(x, axes); }

Tensor tile(const Operand& operand, const std::vector<std::int64_t>& reps) {
  const ops::Helper helper("tile", operand.at());
  const Tensor x = helper.any(operand);
  const std::size_t rank = std::max(reps.size(), x.shape().size());
  std::vector<std::int64_t> repeats(rank - reps.size(), 1), sizes(rank - x.shape().size(), 1);
  repeats.insert(repeats.end(), reps.begin(), reps.end());
  sizes.insert(sizes.end(), x.shape().begin(), x.shape().end());
  std::vector<std::int64_t> spread, result, map;
  for (std::size_t i = 0; i < rank; i++) {
    if (repeats[i] < 0)
      helper.fail(fmt::format(
          "{} repetitions; their number must not be negative\n  Give 0 or more.", repeats[i]));
    spread.push_back(repeats[i]);
    map.push_back(static_cast<std::int64_t>(spread.size()));
    spread.push_back(sizes[i]);
    result.push_back(repeats[i] * sizes[i]);
  }
  return reshape(broadcast_in_dim(reshape(x, sizes), spread, map), result);
}

Tensor repeat(const Operand& operand, std::int64_t n, std::int64_t axis) {
  const ops::Helper helper("repeat", operand.at());
  const Tensor x = helper.any(operand);
  axis = helper.axis(axis, x);
  if (n < 0)
    helper.fail(
        fmt::format("{} repetitions; their number must not be negative\n  Give 0 or more.", n));
  std::vector<std::int64_t> spread = x.shape().vector(), result = spread, map(spread.size());
  spread.insert(spread.begin() + axis + 1, n);
  result[static_cast<std::size_t>(axis)] *= n;
  std::iota(map.begin(), map.end(), 0);
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < map.size(); i++) map[i]++;
  return reshape(broadcast_in_dim(x, spread, map), result);
}

Tensor diff(const Operand& operand, std::int64_t axis) {
  const ops::Helper helper("diff", operand.at());
  const Tensor x = helper.any(operand);
  axis = helper.axis(axis, x);
  const std::int64_t size = x.dim(axis);
  if (size == 0)
    helper.fail(
        fmt::format("axis {} of {} has no elements\n  Give one or more.", axis, x.type().str()));
  const Tensor left = part_of_axis(x, axis, 0, size - 1), right = part_of_axis(x, axis, 1, size);
  return is_pred(x.dtype()) ? right != left : right - left;
}

Tensor column(const Operand& operand, const Operand& j) {
  const ops::Helper helper("column", operand.at());
  const Tensor x = helper.any(operand);
  if (x.rank() < 2) {
    helper.fail(
        fmt::format("{} has no axis 1\n  Take an element of a vector by x[i].", x.type().str()));
  }
  std::vector<Tensor> starts(x.shape().size(), Tensor(0));
  starts[1] = normal_index(helper, x, j.any(), 1, j.is_scalar());
  std::vector<std::int64_t> sizes = x.shape().vector();
  sizes[1] = 1;
  return squeeze(dynamic_slice(x, starts, sizes), {1});
}

Tensor at(const Operand& operand, const std::vector<Tensor>& indices) {
  const ops::Helper helper("at", operand.at());
  const Tensor x = helper.any(operand);
  const Tensor part =
      dynamic_slice(x, starts_of(helper, x, indices), part_sizes(x, indices.size()));
  return reshape(part, Shape(x.shape().dims().subspan(indices.size())));
}

Tensor update(const Operand& operand, const std::vector<Tensor>& indices, const Operand& value) {
  const ops::Helper helper("update", operand.at());
  const Tensor x = helper.any(operand);
  const std::vector<Tensor> starts = starts_of(helper, x, indices);
  const Tensor element = value.is_scalar() ? value.as(x.dtype()) : helper.any(value);
  const Shape part(x.shape().dims().subspan(indices.size()));
  return dynamic_update_slice(
      x, reshape(broadcast_to(element, part), part_sizes(x, indices.size())), starts);
}

}  // namespace rondo
