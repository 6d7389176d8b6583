#include "ops/linalg/blocks.h"

#include <vector>

#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

Blocks Blocks::of(const Tensor& x, std::int64_t size) {
  const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  const auto part = [&](std::int64_t top, std::int64_t bottom, std::int64_t left,
                        std::int64_t right) {
    if (top == bottom || left == right) return Tensor();
    std::vector<std::int64_t> starts(x.shape().size(), 0), limits = x.shape().vector();
    starts[starts.size() - 2] = top;
    limits[limits.size() - 2] = bottom;
    starts.back() = left;
    limits.back() = right;
    return slice(x, starts, limits);
  };
  return {part(0, size, 0, size), part(0, size, size, columns), part(size, rows, 0, size),
          part(size, rows, size, columns)};
}

Tensor Blocks::joined() const {
  const auto beside = [](const Tensor& left, const Tensor& right) {
    return right.empty() ? left : concatenate({left, right}, -1);
  };
  const Tensor upper = beside(upper_left, upper_right);
  return lower_left.empty() ? upper : concatenate({upper, beside(lower_left, lower_right)}, -2);
}

}  // namespace rondo::ops
