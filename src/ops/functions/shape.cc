// Functions that only choose a broadcast or a reshape.
#include "rondo/ops/shape.h"

#include <algorithm>
#include <numeric>

#include "ops/broadcast.h"
#include "ops/permute.h"
#include "ops/support.h"

namespace rondo {

Tensor reshape(const Operand& x, const std::vector<std::int64_t>& dims) {
  const Tensor operand = ops::any_tensor("reshape", x);
  const std::int64_t elements = operand.type().elements();
  auto fail = [&](const std::string& why) {
    ops::fail("reshape",
              fmt::format("{} has {} elements, the shape asked for is [{}]: {}\n  Give sizes whose "
                          "product is {}; one of them may be -1.",
                          operand.type().str(), elements, fmt::join(dims, ","), why, elements),
              x.at());
  };
  std::vector<std::int64_t> sizes = dims;
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  std::int64_t known = empty ? 0 : 1;
  std::size_t inferred = sizes.size();
  for (std::size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == -1) {
      if (inferred != sizes.size()) fail("only one size can be inferred from the others");
      inferred = i;
      continue;
    }
    if (sizes[i] < 0) fail(fmt::format("axis {} has a negative size", i));
    if (__builtin_mul_overflow(known, sizes[i], &known)) fail("it has too many elements");
  }
  if (inferred != sizes.size()) {
    if (known == 0) fail("with an axis of size 0 no other size can be inferred");
    if (elements % known != 0) fail(fmt::format("{} is no multiple of {}", elements, known));
    sizes[inferred] = elements / known;
  } else if (known != elements) {
    fail(fmt::format("it has {}", known));
  }
  return ops::reshape_to(operand, sizes, x.at());
}

Tensor broadcast_to(const Operand& x, const std::vector<std::int64_t>& dims) {
  const Tensor operand = ops::any_tensor("broadcast_to", x);
  const Shape shape(dims);
  const std::int64_t added = shape.rank() - operand.rank();
  bool fits = added >= 0;
  for (std::int64_t i = 0; fits && i < operand.rank(); i++) {
    fits = operand.shape()[i] == 1 || operand.shape()[i] == shape[i + added];
  }
  if (!fits) {
    ops::fail("broadcast_to",
              fmt::format("{} does not broadcast to {}\n  Sizes must be equal, or 1 in the "
                          "operand, counted from the last axis; "
                          "use reshape, expand_dims or broadcast_in_dim to line them up.",
                          operand.type().str(), shape.str()),
              x.at());
  }
  return ops::broadcast(operand, shape, x.at());
}

Tensor broadcast_in_dim(const Operand& x, const std::vector<std::int64_t>& dims,
                        const std::vector<std::int64_t>& map) {
  const Tensor operand = ops::any_tensor("broadcast_in_dim", x);
  const Shape shape(dims);
  auto fail = [&](const std::string& why) {
    ops::fail("broadcast_in_dim",
              fmt::format("{} to {} with the map [{}]: {}\n  Give each axis of the operand a place "
                          "in the result, of its size unless it has one element.",
                          operand.type().str(), shape.str(), fmt::join(map, ","), why),
              x.at());
  };
  if (map.size() != operand.shape().size()) {
    fail(fmt::format("the map must have a place for each of the {} axes, and has {}",
                     operand.rank(), map.size()));
  }
  // The op needs increasing positions: sorting them transposes the operand.
  std::vector<std::int64_t> places, order(map.size());
  for (std::int64_t place : map)
    places.push_back(ops::normal_axis("broadcast_in_dim", place, shape.rank(), x.at()));
  std::iota(order.begin(), order.end(), 0);
  auto place_of = [&](std::int64_t axis) { return places[static_cast<std::size_t>(axis)]; };
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return place_of(a) < place_of(b); });
  std::vector<std::int64_t> kept, kept_places;
  for (std::size_t i = 0; i < order.size(); i++) {
    const std::int64_t axis = order[i], place = place_of(axis), size = operand.shape()[axis];
    if (i > 0 && place == place_of(order[i - 1]))
      fail(fmt::format("axis {} of the result is named twice", place));
    if (size != 1 && size != shape[place]) {
      fail(fmt::format("axis {} of the operand has {} elements, axis {} of the result {}", axis,
                       size, place, shape[place]));
    }
    if (size != shape[place]) continue;  // an axis of size 1 that repeats is dropped first
    kept.push_back(size);
    kept_places.push_back(place);
  }
  const Tensor sorted = ops::transposed(operand, order, x.at());
  if (kept.size() == shape.size()) return ops::reshape_to(sorted, kept, x.at());
  return ops::broadcast_axes(ops::reshape_to(sorted, kept, x.at()), shape, kept_places, x.at());
}

Tensor squeeze(const Operand& x, const Axes& axes) {
  const Tensor operand = ops::any_tensor("squeeze", x);
  std::vector<bool> dropped(operand.shape().size(), false);
  for (std::int64_t i = 0; axes.empty() && i < operand.rank(); i++)
    dropped[static_cast<std::size_t>(i)] = operand.shape()[i] == 1;
  if (!axes.empty()) {
    for (std::int64_t axis : ops::normal_axes("squeeze", axes, operand.rank(), x.at())) {
      if (operand.shape()[axis] != 1) {
        ops::fail(
            "squeeze",
            fmt::format("axis {} of {} has {} elements; only axes of size 1 can be dropped\n  Take "
                        "one element of it (x[i], rondo::take) or reduce it (rondo::sum).",
                        axis, operand.type().str(), operand.shape()[axis]),
            x.at());
      }
      dropped[static_cast<std::size_t>(axis)] = true;
    }
  }
  std::vector<std::int64_t> dims;
  for (std::int64_t i = 0; i < operand.rank(); i++) {
    if (!dropped[static_cast<std::size_t>(i)]) dims.push_back(operand.shape()[i]);
  }
  return ops::reshape_to(operand, dims, x.at());
}

Tensor expand_dims(const Operand& x, std::int64_t axis) {
  const Tensor operand = ops::any_tensor("expand_dims", x);
  std::vector<std::int64_t> dims = operand.shape().vector();
  dims.insert(dims.begin() + ops::normal_axis("expand_dims", axis, operand.rank() + 1, x.at()), 1);
  return ops::reshape_to(operand, dims, x.at());
}

}  // namespace rondo
