// Finding places in sorted arrays, counting, and interpolation, after NumPy.
//
// NaN stands behind all numbers, as in sort. All throw TraceError for dtypes that differ and for
// arrays of another rank.
#pragma once

#include <cstdint>
#include <utility>

#include "rondo/tensor.h"

namespace rondo {

/// On which side of equal elements a place lies.
enum class Side : std::uint8_t { kLeft, kRight };

/// s32, of the shape of `values`: where each would stand in `sorted`, an ascending vector: before
/// (kLeft) or behind (kRight) its equals. Binary search: logarithmic in the size of `sorted`.
RONDO_API Tensor searchsorted(const Operand& sorted, const Operand& values,
                              Side side = Side::kLeft);
/// s32[length]: how often each of 0, 1, ..., length - 1 stands among the integers of x; others are
/// not counted.
RONDO_API Tensor bincount(const Operand& x, std::int64_t length);
/// s32, of the shape of x: the number of the bin of each element. Bin i runs from bins[i - 1] to
/// below bins[i] where the bins ascend, from below bins[i - 1] down to bins[i] where they descend.
RONDO_API Tensor digitize(const Operand& x, const Operand& bins);
/// The distinct values of an ascending vector and how often each stands in it: {values, s32
/// counts}, both of the size of the vector; past the last distinct one the counts are 0 and the
/// values repeat the last.
RONDO_API std::pair<Tensor, Tensor> unique_counts(const Operand& sorted);
/// The piecewise linear function through the points (xp, fp) at x: xp and fp are vectors of one
/// size, xp ascends. Constant outside. Differentiable in x and fp.
RONDO_API Tensor interp(const Operand& x, const Operand& xp, const Operand& fp);

}  // namespace rondo
