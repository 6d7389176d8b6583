// Small matrices as their elements: factorisations as straight-line code, which executors fuse into
// the loops around it and keep in registers. A call of a kernel takes longer than its work.
#pragma once

#include <vector>

#include "ir/node.h"
#include "ir/op_execution.h"
#include "rondo/tensor.h"

namespace rondo::ops {

/// Threshold: Rows and columns of matrices that are factored, and right sides of systems that are
/// solved, as straight-line code: its size, which grows with their cube, against a kernel call.
/// Set by solves in scans as in bench/small_matrices_bench.cc, of the kernels' time: 0.6 at 9 rows
/// by lu and 0.5 by cholesky, 1.1 and 0.5 at 12.
inline constexpr std::int64_t kFewRows = 8;

/// Whether a node, whose operand 0 holds the matrices to factor or to solve with, is better as such
/// code: they are small and real, and this is machine code.
bool is_of_few(const ir::Node& node, const ir::LoopCode& loops);

/// Matrices by their elements, of which each has the shape of the leading axes.
class Elements {
 public:
  Elements(const TensorType& type);
  explicit Elements(const Tensor& matrices);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  const TensorType& element_type() const { return element_type_; }
  Tensor& at(std::int64_t row, std::int64_t column) {
    return elements_[static_cast<std::size_t>(row * columns_ + column)];
  }
  const Tensor& at(std::int64_t row, std::int64_t column) const {
    return elements_[static_cast<std::size_t>(row * columns_ + column)];
  }
  /// The matrices of these elements.
  Tensor joined() const;

 private:
  TensorType type_, element_type_;
  std::int64_t rows_, columns_;
  std::vector<Tensor> elements_;
};

/// The rows that a permutation names (permuted_rows), by selects: loops over lanes can make those,
/// unlike reads at an index.
Tensor selected_rows(const Tensor& x, const Tensor& permutation);

/// A tensor of these along a new last axis.
Tensor side_by_side(const std::vector<Tensor>& elements);

}  // namespace rondo::ops
