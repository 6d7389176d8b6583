// Discrete Fourier transforms, with NumPy's names and conventions: the forward transform is X[k] =
// sum over j of x[j] exp(-2 pi i j k / n), the inverse one has the other sign and is divided by n.
// Leading axes are separate transforms. f32 and c64 are computed in f32, f64 and c128 in f64. Any
// length: sizes with large prime factors by Bluestein's method, in time n log n.
//
// All throw TraceError for other dtypes, for axes out of range or named twice, and for an axis
// without elements.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// The transform along the axes, of complex numbers or reals: a complex array of x's shape.
RONDO_API Tensor fft(const Operand& x, const std::vector<std::int64_t>& axes = {-1});
/// The inverse transform along the axes.
RONDO_API Tensor ifft(const Operand& x, const std::vector<std::int64_t>& axes = {-1});

/// The first n / 2 + 1 elements of the transform of n reals along the last axis; the others are
/// their conjugates.
RONDO_API Tensor rfft(const Operand& x);
/// The n reals of which x begins the transform: x is cut after n / 2 + 1 elements, or zeros follow
/// it. Without n an even number, 2 (m - 1) for the m elements of the last axis. The imaginary parts
/// of the first element, and of the last one if n is even, are ignored.
RONDO_API Tensor irfft(const Operand& x, std::optional<std::int64_t> n = std::nullopt);

/// The transform along the last two axes.
RONDO_API Tensor fft2(const Operand& x);
/// The inverse transform along the last two axes, divided by their number of elements:
/// ifft2(fft2(x)) is x, as complex numbers. Throws TraceError also for a rank below 2.
RONDO_API Tensor ifft2(const Operand& x);
/// The transform along the axes; none: along all of them.
RONDO_API Tensor fftn(const Operand& x, const std::vector<std::int64_t>& axes = {});
/// The inverse transform along the axes; none: along all of them. ifftn(fftn(x, axes), axes) is x,
/// as complex numbers.
RONDO_API Tensor ifftn(const Operand& x, const std::vector<std::int64_t>& axes = {});

}  // namespace rondo
