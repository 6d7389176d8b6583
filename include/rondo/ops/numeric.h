// Numerical analysis of sampled functions and polynomials, after NumPy and SciPy.
//
// All throw TraceError for dtypes and shapes that do not fit, and are differentiable in all
// floating arguments.
#pragma once

#include <cstdint>
#include <string_view>

#include "rondo/tensor.h"

namespace rondo {

/// The derivative of y along the axis by differences of second order: central within, one-sided and
/// of first order at the two ends. `spacing` is the scalar distance of the samples, or a vector of
/// their coordinates. Of the shape of y. numpy.gradient of one axis. Throws TraceError for fewer
/// than two samples.
RONDO_API Tensor gradient(const Operand& y, const Operand& spacing = 1, std::int64_t axis = -1);

/// The integral of y along the axis, which is removed, by the trapezoidal rule. `x` is the scalar
/// distance of the samples, a vector of their coordinates, or an array of the shape of y.
RONDO_API Tensor trapezoid(const Operand& y, const Operand& x = 1, std::int64_t axis = -1);
/// The integrals from the first sample to the second, to the third, ... to the last: one fewer than
/// there are samples. scipy.integrate.cumulative_trapezoid.
RONDO_API Tensor cumulative_trapezoid(const Operand& y, const Operand& x = 1,
                                      std::int64_t axis = -1);

/// The discrete convolution of two vectors: element k is the sum of a[i] * v[k - i]. `mode`:
/// "full", all n + m - 1 elements in which they overlap; "same", the middle max(n, m) of these;
/// "valid", the max(n, m) - min(n, m) + 1 in which they overlap completely. Takes n * m products:
/// for two long vectors, transforms are faster. Throws TraceError for another mode and for empty
/// vectors.
RONDO_API Tensor convolve(const Operand& a, const Operand& v, std::string_view mode = "full");
/// The cross-correlation: element k is the sum of a[i + k] * conj(v[i]), for k from 1 - m on.
RONDO_API Tensor correlate(const Operand& a, const Operand& v, std::string_view mode = "valid");

/// The polynomial with the given coefficients, a vector from the highest power to the constant, at
/// each element of x, by Horner's scheme. 0 without coefficients.
RONDO_API Tensor polyval(const Operand& coefficients, const Operand& x);
/// The coefficients, from the highest power to the constant, of the polynomial of this degree that
/// is nearest to the points (x, y) by least squares: [degree + 1] for a vector y of the size of x,
/// or a column for each column of a matrix. By polynomials that are orthogonal on the points: P. D.
/// Brubeck, Y. Nakatsukasa and L. N. Trefethen, "Vandermonde with Arnoldi", SIAM Review 63, 2021.
/// Any values unless degree + 1 of the x are distinct. Throws TraceError for fewer points than
/// coefficients.
RONDO_API Tensor polyfit(const Operand& x, const Operand& y, std::int64_t degree);

}  // namespace rondo
