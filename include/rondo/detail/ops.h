// Ops with a lambda of the user on scalars, on leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rondo/export.h"
#include "rondo/tensor.h"

namespace rondo {
struct ScatterDims;
struct WindowDims;
}  // namespace rondo

namespace rondo::detail {

/// Operands of one shape, an initial scalar for each (a C++ scalar takes the operand's dtype), and
/// the combiner on their dtypes: (accumulators, elements) -> accumulators.
RONDO_API std::vector<Tensor> reduce_leaves(
    std::vector<Tensor> operands, std::vector<Tensor> inits, const std::vector<std::int64_t>& axes,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& combine, SourceLocation at);
/// Operands of one shape and a comparator on two trees of their scalars, in sequence: (a leaves, b
/// leaves) -> pred.
RONDO_API std::vector<Tensor> sort_leaves(
    std::vector<Tensor> operands, std::int64_t axis,
    const std::function<Tensor(std::span<const Tensor>)>& less, bool stable, SourceLocation at);
RONDO_API Tensor scatter_with(
    const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& combine);

/// As reduce_leaves.
RONDO_API std::vector<Tensor> reduce_window_leaves(
    std::vector<Tensor> operands, std::vector<Tensor> inits, const WindowDims& window,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& combine, SourceLocation at);
RONDO_API Tensor select_and_scatter_with(
    const Operand& x, const Operand& source, const Operand& init, const WindowDims& window,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& select,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& scatter);

}  // namespace rondo::detail
