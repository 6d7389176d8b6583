// Windows that move over an array: reductions, pooling, convolution. The shapes are those of XLA's
// ReduceWindow, SelectAndScatter and Conv (openxla.org/xla/operation_semantics).
//
// Along an axis of n elements, base dilation d puts d - 1 gaps between neighbours and padding (low,
// high) adds elements at the ends, or removes them if it is negative: m = (n - 1) d + 1 + low +
// high positions, low + high without elements. A window of size w with window dilation e covers
// every e-th of (w - 1) e + 1 positions, and moves by the stride s: there are (m - (w - 1) e - 1) /
// s + 1 windows, rounded down, and none if the window does not fit. Gaps and padding are never
// combined: a window sees the elements of the array that it covers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rondo/detail/leaves.h"
#include "rondo/detail/ops.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// A window over every axis of an array. Lists have an entry for each axis; an empty list is 1 (or
/// no padding) for all axes.
struct WindowDims {
  std::vector<std::int64_t> size;
  std::vector<std::int64_t> stride = {};
  std::vector<std::pair<std::int64_t, std::int64_t>> padding = {};  // low and high
  std::vector<std::int64_t> base_dilation = {};
  std::vector<std::int64_t> window_dilation = {};
  bool operator==(const WindowDims&) const = default;
};

/// Combines the elements of each window of one or several arrays of one shape: `combine(acc, x)`
/// takes two trees of scalars of the structure of `x` and returns a third. It must be associative
/// and may capture only constants. Each window starts from `init`, scalars of the operands' dtypes,
/// and combines its elements in row-major order, grouped in any way: f16 and bf16 are added and
/// multiplied in f32.
///
/// The tangent of a maximum or minimum is that of the first element of the window that equals it.
/// Throws TraceError if the window does not have an entry for each axis, if a size, stride or
/// dilation is not positive, if `combine` returns other types than it takes, or if it uses an op
/// that is not elementwise.
template <TensorTree T, TensorTree Inits, class Combine>
[[nodiscard("rondo: reduce_window returns the combined windows; use them")]] traced_t<T>
reduce_window(const T& x, const Inits& init, const WindowDims& window, Combine&& combine,
              SourceLocation at = SourceLocation::current()) {
  using Traced = traced_t<T>;
  static_assert(std::is_invocable_v<Combine&, const Traced&, const Traced&>,
                "rondo: the combiner of reduce_window takes two values of the structure of x: "
                "(accumulator, element).");
  std::vector<Tensor> leaves = detail::leaf_tensors(x, at);
  const std::size_t n = leaves.size();
  const TreeStructure structure = TreeStructure::of(x);
  const std::vector<Tensor> results = detail::reduce_window_leaves(
      std::move(leaves), detail::leaf_tensors(init, at), window,
      [&](std::span<const Tensor> p) {
        const Traced combined = tree_cast<Traced>(combine(detail::whole_tree_from(x, p.first(n)),
                                                          detail::whole_tree_from(x, p.subspan(n))),
                                                  at);
        detail::check_same_structure("reduce_window: the result of the combiner", structure,
                                     TreeStructure::of(combined), "", at);
        return detail::leaf_tensors(combined, at);
      },
      at);
  return detail::whole_tree_from(x, results);
}

/// For each window of x (without dilation) an element is selected: that which remains if `select(a,
/// b)`, a pred, tells of the one selected so far and the next one whether the first stays. The
/// element of `source` for that window is combined by `scatter` with what the result has at the
/// selected place; everywhere the result starts from `init`. With select a >= b and scatter a + b
/// it is the gradient of max pooling.
///
/// x and the result have one type; `source` has an element for each window. Throws TraceError as
/// reduce_window, and for dilations.
template <class Select, class Scatter>
Tensor select_and_scatter(const Operand& x, const Operand& source, const Operand& init,
                          const WindowDims& window, Select&& select, Scatter&& scatter) {
  static_assert(
      std::is_invocable_r_v<Tensor, Select&, const Tensor&, const Tensor&>,
      "rondo: the selection takes two scalar Tensors (selected, next) and returns a pred.");
  static_assert(std::is_invocable_r_v<Tensor, Scatter&, const Tensor&, const Tensor&>,
                "rondo: the combiner takes two scalar Tensors (element, source) and returns one.");
  return detail::select_and_scatter_with(
      x, source, init, window,
      [&](std::span<const Tensor> p) { return std::vector<Tensor>{select(p[0], p[1])}; },
      [&](std::span<const Tensor> p) { return std::vector<Tensor>{scatter(p[0], p[1])}; });
}

/// The greatest element of each window of x, of dims (batch, spatial axes..., features): `window`
/// and `strides` have an entry for each spatial axis; no strides are 1. A window of padding alone
/// has the least value of the dtype. Throws TraceError if the numbers of axes differ, and for
/// complex numbers.
RONDO_API Tensor max_pool(const Operand& x, const std::vector<std::int64_t>& window,
                          const std::vector<std::int64_t>& strides = {},
                          const std::vector<std::pair<std::int64_t, std::int64_t>>& padding = {});
/// The mean of each window; padding counts as zeros. Throws TraceError also for dtypes that are
/// neither floating nor complex.
RONDO_API Tensor avg_pool(const Operand& x, const std::vector<std::int64_t>& window,
                          const std::vector<std::int64_t>& strides = {},
                          const std::vector<std::pair<std::int64_t, std::int64_t>>& padding = {});

/// A convolution. Lists have an entry for each spatial axis; an empty list is 1 (or no padding) for
/// all.
struct ConvDims {
  std::vector<std::int64_t> strides = {};
  std::vector<std::pair<std::int64_t, std::int64_t>> padding = {};  // low and high
  std::vector<std::int64_t> lhs_dilation = {};
  std::vector<std::int64_t> rhs_dilation = {};
  std::int64_t feature_groups = 1;
  std::int64_t batch_groups = 1;
  /// The axes of x, of the kernel and of the result, in XLA's letters: b batch, f feature, i and o
  /// the kernel's input and output features, 0, 1, ... the spatial axes.
  std::string layout = "b01f_01io->b01f";
  bool operator==(const ConvDims&) const = default;
};

/// The correlation of x with a kernel, as in neural networks (the kernel is not reversed): each
/// element of the result is the sum over a window of x and over its input features of x times the
/// kernel. Integers wrap; f16 and bf16 are accumulated in f32; gaps and padding are zeros.
///
/// With feature_groups = g, x and the output features are split into g groups, of which each result
/// group sees its own: the kernel has 1/g of x's features as input features. With batch_groups = g
/// the batch is split instead, and the result has 1/g of it. Throws TraceError if the dtypes differ
/// or are pred, if the layout does not name each axis once, or if sizes do not fit.
RONDO_API Tensor convolution(const Operand& x, const Operand& kernel, const ConvDims& dims = {});

}  // namespace rondo
