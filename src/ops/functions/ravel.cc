// Trees as vectors.
#include "ops/support.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"
#include "rondo/tree_tools.h"

namespace rondo::detail {

Tensor ravel(const Leaves& leaves, SourceLocation at) {
  if (leaves.values.empty()) return zeros(f32({0}), at);
  std::vector<Tensor> parts;
  const DType dtype = ir::checked(leaves.values[0], "ravel", at).dtype();
  for (std::size_t i = 0; i < leaves.values.size(); i++) {
    const Tensor& leaf = ir::checked(leaves.values[i], "ravel", at);
    if (leaf.dtype() != dtype) {
      ir::fail(
          "ravel",
          fmt::format("{} is {}, {} is {}; one vector has one dtype\n  Convert the leaves first: "
                      "rondo::map_leaves([](Tensor x) {{ return rondo::convert(x, DType::k{}); "
                      "}}, tree).",
                      leaves.paths[0], leaves.values[0].type().str(), leaves.paths[i],
                      leaf.type().str(), ops::dtype_constant(dtype)),
          at);
    }
    parts.push_back(reshape({leaf, at}, {leaf.shape().elements()}));
  }
  return parts.size() == 1 ? parts[0] : concatenate(parts, 0);
}

std::vector<Tensor> unravel(const Tensor& vector, std::span<const TensorType> types,
                            SourceLocation at) {
  std::int64_t elements = 0;
  for (const TensorType& type : types) elements += type.elements();
  const TensorType& given = ir::checked(vector, "unravel", at).type();
  if (given.rank() != 1 || given.shape[0] != elements) {
    ir::fail("unravel",
             fmt::format("takes a vector of {} elements, as the tree has; it is {}\n  Give what "
                         "ravel returned, or a vector of the same length.",
                         elements, given.str()),
             at);
  }
  std::vector<Tensor> leaves;
  std::int64_t begin = 0;
  for (const TensorType& type : types) {
    const std::int64_t end = begin + type.elements();
    leaves.push_back(reshape({slice({vector, at}, {begin}, {end}), at}, type.shape.vector()));
    begin = end;
  }
  return leaves;
}

}  // namespace rondo::detail
