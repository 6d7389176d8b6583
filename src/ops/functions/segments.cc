#include "rondo/ops/segments.h"

#include <algorithm>

#include "ops/combiners.h"
#include "ops/functions/helpers.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

Tensor combined_segments(const char* name, ops::Combiner combiner, const Operand& operand,
                         const Operand& numbers, std::int64_t count) {
  const ops::Helper helper(name, operand.at());
  const bool is_extreme =
      combiner == ops::Combiner::kMaximum || combiner == ops::Combiner::kMinimum;
  Tensor x = helper.any(operand);
  const Tensor ids = helper.any(numbers);
  if (x.rank() == 0)
    helper.fail("the operand is a scalar, which has no rows\n  Give an array of one axis or more.");
  if (!is_integer(ids.dtype()) || ids.shape() != Shape{x.dim(0)}) {
    helper.fail(
        fmt::format("the operand is {}, ids are {}; there must be an integer for each of "
                    "the {} rows\n  Give ids of s32[{}].",
                    x.type().str(), ids.type().str(), x.dim(0), x.dim(0)));
  }
  if (count < 0) {
    helper.fail(fmt::format(
        "{} segments; their number must not be negative\n  Give how many there are.", count));
  }
  if (is_extreme && is_complex(x.dtype())) {
    helper.fail(
        fmt::format("the operand is {}; complex numbers have no order\n  Take a real "
                    "number of it: rondo::real(x) or rondo::abs(x).",
                    x.type().str()));
  }
  if (!is_extreme && is_pred(x.dtype())) x = convert(x, DType::kS32);
  TensorType result = x.type();
  std::vector<std::int64_t> dims = x.shape().vector(), windows;
  dims[0] = count;
  result.shape = Shape(dims);
  for (std::int64_t axis = 1; axis < x.rank(); axis++) windows.push_back(axis);
  const Tensor identity = full(result, Tensor(ops::combiner_identity(combiner, x.dtype())));
  return scatter(identity, reshape(ids, {-1, 1}), x,
                 {.update_window_dims = windows,
                  .inserted_window_dims = {0},
                  .scatter_dims_to_operand_dims = {0},
                  .index_vector_dim = 1},
                 [&](const Tensor& a, const Tensor& b) {
                   return ops::combined(combiner, a, b, operand.at());
                 });
}

}  // namespace

Tensor segment_sum(const Operand& x, const Operand& ids, std::int64_t num_segments) {
  return combined_segments("segment_sum", ops::Combiner::kAdd, x, ids, num_segments);
}
Tensor segment_prod(const Operand& x, const Operand& ids, std::int64_t num_segments) {
  return combined_segments("segment_prod", ops::Combiner::kMultiply, x, ids, num_segments);
}
Tensor segment_max(const Operand& x, const Operand& ids, std::int64_t num_segments) {
  return combined_segments("segment_max", ops::Combiner::kMaximum, x, ids, num_segments);
}
Tensor segment_min(const Operand& x, const Operand& ids, std::int64_t num_segments) {
  return combined_segments("segment_min", ops::Combiner::kMinimum, x, ids, num_segments);
}

}  // namespace rondo
