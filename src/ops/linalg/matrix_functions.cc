// Functions of matrices that need no factorisation but for a solve.
#include "ops/linalg/linalg.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace ops {

namespace {

Tensor with_matrices(const Helper& helper, const Operand& operand, bool square) {
  Tensor x = helper.any(operand);
  const bool fits = x.rank() >= 2 && (!square || x.dim(x.rank() - 2) == x.dim(x.rank() - 1));
  if (!fits) {
    helper.fail(
        fmt::format("the operand is {}; its last two axes must be those of {}\n  Reshape "
                    "it, or take a part of it.",
                    x.type().str(), square ? "square matrices" : "matrices"));
  }
  return x;
}

/// x with axes of size 1 in front up to this rank.
Tensor of_rank(const Tensor& x, std::int64_t rank) {
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank - x.rank()), 1);
  dims.insert(dims.end(), x.shape().begin(), x.shape().end());
  return reshape(x, dims);
}

/// Each axis followed by one of size 1, or after one.
Tensor between_ones(const Tensor& x, bool before) {
  std::vector<std::int64_t> dims;
  for (const std::int64_t size : x.shape()) {
    if (before) dims.push_back(1);
    dims.push_back(size);
    if (!before) dims.push_back(1);
  }
  return reshape(x, dims);
}

}  // namespace

}  // namespace ops

Tensor matrix_power(const Operand& a, std::int64_t n) {
  const ops::Helper helper("matrix_power", a.at());
  const Tensor x = ops::with_matrices(helper, a, true);
  if (n == 0) return ops::identities_like(x);
  Tensor square = n > 0 ? x : inv(x), product;
  for (std::uint64_t left = n > 0 ? static_cast<std::uint64_t>(n)
                                  : 0 - static_cast<std::uint64_t>(n);
       ;) {
    if (left & 1) product = product.empty() ? square : matmul(product, square);
    left >>= 1;
    if (left == 0) return product;
    square = matmul(square, square);
  }
}

Tensor matrix_trace(const Operand& a) {
  const ops::Helper helper("matrix_trace", a.at());
  return sum(ops::diagonals(ops::with_matrices(helper, a, false)), {-1});
}

Tensor kron(const Operand& a, const Operand& b) {
  const ops::Helper helper("kron", a.at());
  auto [x, y] = ops::same_dtype({"kron", "kron"}, a, b);
  const std::int64_t rank = std::max(x.rank(), y.rank());
  x = ops::of_rank(x, rank), y = ops::of_rank(y, rank);
  std::vector<std::int64_t> dims;
  for (std::int64_t axis = 0; axis < rank; axis++) dims.push_back(x.dim(axis) * y.dim(axis));
  return reshape(ops::between_ones(x, false) * ops::between_ones(y, true), dims);
}

Tensor cross(const Operand& a, const Operand& b) {
  const ops::Helper helper("cross", a.at());
  const auto [x, y] = ops::matched({"cross", "cross"}, a, b);
  if (x.rank() == 0 || x.dim(x.rank() - 1) != 3) {
    helper.fail(
        fmt::format("{} and {} hold no vectors of 3 elements along their last axis\n  "
                    "Transpose them, or pad vectors of 2 by a 0.",
                    a.any().type().str(), b.any().type().str()));
  }
  const std::int64_t last = x.rank() - 1;
  // Elements 1, 2, 0 and 2, 0, 1.
  const Tensor x1 = roll(x, -1, last), x2 = roll(x, 1, last);
  const Tensor y1 = roll(y, -1, last), y2 = roll(y, 1, last);
  return x1 * y2 - x2 * y1;
}

}  // namespace rondo
