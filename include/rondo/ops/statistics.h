// Statistics along axes, after NumPy.
//
// `axes` may be negative (they count from the end) and is empty for all axes. All throw TraceError
// for axes out of range and dtypes that do not fit, and are differentiable.
#pragma once

#include <cstdint>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// sqrt(sum(|x|^2)), for floats and complex numbers. Where it is 0 its derivative is 0.
RONDO_API Tensor norm(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The mean of |x - mean(x)|^2, with n - ddof in place of the number n of elements. NaN or infinite
/// if n <= ddof.
RONDO_API Tensor var(const Operand& x, const Axes& axes = {}, bool keepdims = false,
                     std::int64_t ddof = 0);
/// The square root of var. Where it is 0 its derivative is 0.
RONDO_API Tensor stddev(const Operand& x, const Axes& axes = {}, bool keepdims = false,
                        std::int64_t ddof = 0);
// Without the elements that are NaN; integers have none.
/// The sum of the elements that are not NaN; pred counts in s32.
RONDO_API Tensor nansum(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The mean of the elements that are not NaN; NaN if there are none.
RONDO_API Tensor nanmean(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The greatest of the elements that are not NaN; NaN if there are none. Throws TraceError for
/// complex numbers.
RONDO_API Tensor nanmax(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The least of the elements that are not NaN; NaN if there are none. Throws TraceError for complex
/// numbers.
RONDO_API Tensor nanmin(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The variance of the elements that are not NaN, as var; NaN if there are no more than ddof.
RONDO_API Tensor nanvar(const Operand& x, const Axes& axes = {}, bool keepdims = false,
                        std::int64_t ddof = 0);

/// The middle element along the axis, which is removed: for an even number the mean of two. NaN if
/// one is NaN.
RONDO_API Tensor median(const Operand& x, std::int64_t axis);
/// The value below which the fraction q of the elements along the axis is, interpolated linearly
/// between adjacent elements; q is clamped to [0, 1]. A scalar q removes the axis; a vector q adds
/// a leading axis of its size. NaN if an element is NaN.
RONDO_API Tensor quantile(const Operand& x, const Operand& q, std::int64_t axis);
/// The covariances of variables in rows, whose columns are observations: f[k,k] for f[k,n], f[] for
/// f[n], with n - 1 in the denominator.
RONDO_API Tensor cov(const Operand& x);

}  // namespace rondo
