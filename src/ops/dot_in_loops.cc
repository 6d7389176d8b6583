// Products that no loops of sums compute.
#include <vector>

#include "ops/dot.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

std::vector<Tensor> dot_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const auto& dims = node.attrs<DotDims>();
  const Tensor &a = operands[0], &b = operands[1];
  if (!is_complex(node.type().dtype) || a.type().elements() == 0 || b.type().elements() == 0)
    return {zeros(node.type())};
  const Tensor re = dot_general(real(a), real(b), dims) - dot_general(imag(a), imag(b), dims);
  const Tensor im = dot_general(real(a), imag(b), dims) + dot_general(imag(a), real(b), dims);
  return {complex(re, im)};
}

}  // namespace rondo::ops
