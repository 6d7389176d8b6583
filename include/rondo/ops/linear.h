// Products of vectors, matrices and arrays.
//
// Both operands have one dtype, which is the result's: integers wrap in it, f16 and bf16 are
// accumulated in f32 and rounded once, other floats are accumulated in their own dtype, in blocks.
// A sum of no products is 0.
#pragma once

#include <cstdint>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// The paired axes of a product: the i-th of each list of the left operand with the i-th of the
/// right one's. Axes may be negative.
struct DotDims {
  // Batch axes: one product for each index.
  std::vector<std::int64_t> lhs_batch = {}, rhs_batch = {};
  // Contracted axes: multiplied and summed over.
  std::vector<std::int64_t> lhs_contracting = {}, rhs_contracting = {};
  bool operator==(const DotDims&) const = default;
};

/// NumPy's dot. The inner product of two vectors; the product of matrices; for arrays the sum over
/// the last axis of `a` and the last but one of `b` (the only one of a vector): dims (a without
/// that axis..., b without it...). With a scalar: a * b. Throws TraceError if the contracted axes
/// differ in size.
RONDO_API Tensor dot(const Operand& a, const Operand& b);

/// NumPy's matmul: matrices in the last two axes, leading axes broadcast against each other; a
/// vector counts as a row on the left and as a column on the right, and its axis is removed. Throws
/// TraceError for scalars and for sizes that do not fit.
RONDO_API Tensor matmul(const Operand& a, const Operand& b);

/// The general product: the result's axes are the batch axes, in their order in `dims`, then the
/// remaining axes of `a`, then those of `b`. Like XLA's DotGeneral. Throws TraceError if paired
/// axes differ in size, or an axis is out of range or named twice.
RONDO_API Tensor dot_general(const Operand& a, const Operand& b, const DotDims& dims);

}  // namespace rondo
