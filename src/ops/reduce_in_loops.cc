// Reductions by any combiner of any number of arrays, element by element.
#include <numeric>
#include <vector>

#include "ir/function_data.h"
#include "ir/region.h"
#include "ops/create.h"
#include "ops/reduce.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "rondo/ops/slices.h"

namespace rondo::ops {

namespace {

using Totals = std::vector<Tensor>;

/// x with the elements of a result in each row.
Tensor rows_of_results(const Tensor& x, const std::vector<std::int64_t>& reduced) {
  std::vector<std::int64_t> order;
  std::int64_t count = 1;
  for (std::int64_t axis = 0; axis < x.rank(); axis++) {
    if (std::find(reduced.begin(), reduced.end(), axis) != reduced.end()) continue;
    order.push_back(axis);
    count *= x.dim(axis);
  }
  order.insert(order.end(), reduced.begin(), reduced.end());
  const std::int64_t elements = count == 0 ? 0 : x.type().elements() / count;
  return reshape(transpose(x, order), {count, elements});
}

/// Complex numbers, in double precision as in the kernel.
Tensor sum_of_parts(const Node& node, std::span<const Tensor> operands) {
  const auto& axes = node.attrs<ReduceAttributes>().dimensions;
  const auto total = [&](const Tensor& x, const Tensor& start) {
    const Tensor wide = convert(x, DType::kF64);
    const Tensor added = axes.empty() ? wide : sum(wide, axes);
    return convert(convert(start, DType::kF64) + added, x.dtype());
  };
  return complex(total(real(operands[0]), real(operands[1])),
                 total(imag(operands[0]), imag(operands[1])));
}

}  // namespace

std::vector<Tensor> reduce_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const std::size_t count = node.types.size();
  if (node.type().elements() == 0) {
    std::vector<Tensor> results;
    for (const TensorType& type : node.types) results.push_back(zeros(type));
    return results;
  }
  if (count == 1 && is_complex(node.type().dtype) && is_sum(node))
    return {sum_of_parts(node, operands)};
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < count; i++)
    rows.push_back(rows_of_results(operands[i], node.attrs<ReduceAttributes>().dimensions));
  const Totals starts(operands.begin() + static_cast<std::ptrdiff_t>(count), operands.end());
  const auto reduced = [&](const Tensor& row) {
    const auto combine = [&](const Tensor& column, Totals totals) {
      for (std::size_t i = 0; i < count; i++) totals.push_back(slice(rows[i], row, column));
      return ir::Replay::inline_call(node.regions[0], totals);
    };
    return fori_loop(0, rows[0].dim(1), combine, starts, {.name = "reduce"});
  };
  if (rows[0].dim(0) == 1) {
    Totals results = reduced(Tensor(0));
    for (std::size_t i = 0; i < count; i++)
      results[i] = reshape(results[i], node.types[i].shape.vector());
    return results;
  }
  Totals results;
  for (std::size_t i = 0; i < count; i++)
    results.push_back(unset({node.types[i].dtype, {rows[0].dim(0)}}, node.location()));
  const auto reduce_row = [&](const Tensor& row, Totals all) {
    const Totals totals = reduced(row);
    for (std::size_t i = 0; i < count; i++) all[i] = update(all[i], row, totals[i]);
    return all;
  };
  results = fori_loop(0, rows[0].dim(0), reduce_row, results, {.name = "reduced_rows"});
  for (std::size_t i = 0; i < count; i++)
    results[i] = reshape(results[i], node.types[i].shape.vector());
  return results;
}

}  // namespace rondo::ops
