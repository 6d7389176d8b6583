// Products of any arrays in loops: sums of a few terms at a time, which a loop can contain.
#include <vector>

#include "ops/dot.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

/// Threshold: Terms that are added before they join the total: passes over the result against the
/// length of the code. Products of so few terms are always loops (dot_loops). Not measured.
constexpr std::int64_t kTermsTogether = 8;

std::int64_t product_of(const Shape& shape, const std::vector<std::int64_t>& axes) {
  std::int64_t product = 1;
  for (const std::int64_t axis : axes) product *= shape[axis];
  return product;
}

/// x as an array of three axes, each of these axes of x joined.
Tensor joined_axes(const Tensor& x, const std::vector<std::int64_t>& a,
                   const std::vector<std::int64_t>& b, const std::vector<std::int64_t>& c) {
  std::vector<std::int64_t> order = a;
  order.insert(order.end(), b.begin(), b.end());
  order.insert(order.end(), c.begin(), c.end());
  return reshape(transpose(x, order),
                 {product_of(x.shape(), a), product_of(x.shape(), b), product_of(x.shape(), c)});
}

/// The product of a[batch, m, k] and b[batch, k, n].
Tensor product_by_blocks(const Tensor& a, const Tensor& b) {
  const std::int64_t batch = a.dim(0), m = a.dim(1), terms = a.dim(2), n = b.dim(2);
  const auto block = [&](const Tensor& first, std::int64_t count) {
    const Tensor zero(0);
    return dot_general(dynamic_slice(a, {zero, zero, first}, {batch, m, count}),
                       dynamic_slice(b, {zero, first, zero}, {batch, count, n}),
                       {{0}, {0}, {2}, {1}});
  };
  const std::int64_t blocks = terms / kTermsTogether, rest = terms % kTermsTogether;
  Tensor total = zeros({a.dtype(), {batch, m, n}});
  const auto add = [&](const Tensor& i, const Tensor& sum) {
    return sum + block(i * kTermsTogether, kTermsTogether);
  };
  if (blocks > 0) total = fori_loop(0, blocks, add, total, {.name = "products"});
  if (rest > 0) total = total + block(Tensor(blocks * kTermsTogether), rest);
  return total;
}

Tensor product_of_parts(const Tensor& a, const Tensor& b, const DotDims& dims) {
  const Tensor re = dot_general(real(a), real(b), dims) - dot_general(imag(a), imag(b), dims);
  const Tensor im = dot_general(real(a), imag(b), dims) + dot_general(imag(a), real(b), dims);
  return complex(re, im);
}

}  // namespace

std::vector<Tensor> dot_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const auto& dims = node.attrs<DotDims>();
  const Tensor &a = operands[0], &b = operands[1];
  const DType dtype = node.type().dtype;
  if (a.type().elements() == 0 || b.type().elements() == 0) return {zeros(node.type())};
  if (is_complex(dtype)) return {product_of_parts(a, b, dims)};
  if (is_floating(dtype) && byte_width(dtype) == 2) {
    const Tensor wide = dot_general(convert(a, DType::kF32), convert(b, DType::kF32), dims);
    return {convert(wide, dtype)};
  }
  const Tensor left =
      joined_axes(a, dims.lhs_batch, free_axes(a.rank(), dims.lhs_batch, dims.lhs_contracting),
                  dims.lhs_contracting);
  const Tensor right = joined_axes(b, dims.rhs_batch, dims.rhs_contracting,
                                   free_axes(b.rank(), dims.rhs_batch, dims.rhs_contracting));
  return {reshape(product_by_blocks(left, right), node.type().shape.vector())};
}

}  // namespace rondo::ops
