// Parts of arrays: taking them out and putting them in.
//
// Index tensors are integer scalars or arrays of any integer dtype; unsigned ones are read as
// unsigned. Indices that are known only when the program runs are never errors: they are clamped so
// that the part lies in the array, as XLA clamps them, and scatter drops the updates that do not
// fit. All of these throw TraceError, naming the types, for shapes that do not fit.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// Elements starts[i], starts[i] + strides[i], ... before limits[i] along each axis i; strides of 1
/// if none are given. Throws TraceError unless 0 <= start <= limit <= size and the stride is
/// positive.
RONDO_API Tensor slice(const Operand& x, const std::vector<std::int64_t>& starts,
                       const std::vector<std::int64_t>& limits,
                       const std::vector<std::int64_t>& strides = {});

/// The part of the given sizes that begins at `starts`, an integer scalar for each axis (tensors or
/// C++ integers), which are clamped so that the part lies in x.
RONDO_API Tensor dynamic_slice(const Operand& x, const std::vector<Tensor>& starts,
                               const std::vector<std::int64_t>& sizes);

/// x with `update`, of the same rank and dtype, in place of the part that begins at `starts`; they
/// are clamped so that it fits.
RONDO_API Tensor dynamic_update_slice(const Operand& x, const Operand& update,
                                      const std::vector<Tensor>& starts);

/// x with row `i` of axis 0 replaced. `i` is a C++ integer (negative counts from the end; out of
/// range throws) or an integer scalar tensor (clamped). `row` broadcasts to the shape of a row; a
/// C++ scalar takes the dtype of x.
RONDO_API Tensor update(const Operand& x, const Operand& i, const Operand& row);

/// The elements, rows, ... of x along `axis` at the indices, an integer array of any shape, which
/// stands in place of that axis in the result: shape x.shape[:axis] + indices.shape + x.shape[axis
/// + 1:]. Indices are clamped, negative ones too.
RONDO_API Tensor take(const Operand& x, const Operand& indices, std::int64_t axis = 0);

}  // namespace rondo
