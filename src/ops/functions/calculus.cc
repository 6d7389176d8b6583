// Derivatives and integrals of samples.
#include "ops/functions/helpers.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/numeric.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

/// Samples along an axis.
struct Samples {
  const ops::Helper& helper;
  Tensor y;
  std::int64_t axis;

  std::int64_t count() const { return y.dim(axis); }
  /// From position `first` to `past` - 1; a negative `past` counts from the end.
  Tensor part(std::int64_t first, std::int64_t past) const {
    std::vector<std::int64_t> starts(y.shape().size(), 0), ends = y.shape().vector();
    starts[static_cast<std::size_t>(axis)] = first;
    ends[static_cast<std::size_t>(axis)] = past < 0 ? past + count() : past;
    return slice(y, starts, ends);
  }
  /// A vector along the axis, beside y.
  Tensor along_axis(const Tensor& vector) const {
    std::vector<std::int64_t> dims(y.shape().size(), 1);
    dims[static_cast<std::size_t>(axis)] = vector.dim(0);
    return reshape(vector, dims);
  }
  /// The distances, which broadcast to the differences along the axis: a scalar, or those of a
  /// vector or an array of coordinates.
  Tensor distances(const Operand& x, bool may_be_array) const {
    Tensor places = x.as(y.dtype());
    if (places.dtype() != y.dtype()) {
      helper.fail(fmt::format("y is {}, x is {}; their dtypes must be equal\n  {}", y.type().str(),
                              places.type().str(),
                              ops::conversion_remedy(y.dtype(), places.dtype(), "y", "x")));
    }
    if (places.rank() == 0) return places;
    if (places.shape() == Shape{count()}) return along_axis(diff(places, 0));
    if (may_be_array && places.shape() == y.shape()) return diff(places, axis);
    helper.fail(fmt::format(
        "y is {}, x is {}; x must be a scalar, the distance of the samples, or their {} "
        "coordinates{}\n  Reshape it.",
        y.type().str(), places.type().str(), count(),
        may_be_array ? ", or an array of the shape of y" : ""));
  }
};

/// At least this many samples of floats or complex numbers.
Samples checked_samples(const ops::Helper& helper, const Operand& operand, std::int64_t along,
                        std::int64_t least) {
  const Tensor y = helper.inexact(operand);
  Samples samples{helper, y, helper.axis(along, y)};
  if (samples.count() < least) {
    helper.fail(fmt::format("axis {} of {} has {} samples\n  Give {} or more.", samples.axis,
                            y.type().str(), samples.count(), least));
  }
  return samples;
}

/// The integral from each sample to the next.
Tensor areas(const Samples& samples, const Operand& x) {
  return (samples.part(0, -1) + samples.part(1, samples.count())) / 2.0 *
         samples.distances(x, true);
}

}  // namespace

Tensor gradient(const Operand& operand, const Operand& spacing, std::int64_t axis) {
  const ops::Helper helper("gradient", operand.at());
  const Samples y = checked_samples(helper, operand, axis, 2);
  const std::int64_t n = y.count();
  const Tensor h = y.distances(spacing, false);
  if (h.rank() == 0) {
    return concatenate(
        {(y.part(1, 2) - y.part(0, 1)) / h, (y.part(2, n) - y.part(0, n - 2)) / (2.0 * h),
         (y.part(n - 1, n) - y.part(n - 2, n - 1)) / h},
        y.axis);
  }
  // The derivative, at the middle one, of the parabola through three samples.
  const Samples distances{helper, h, y.axis};
  const Tensor left = distances.part(0, -1), right = distances.part(1, n - 1);
  const Tensor both = left + right;
  const Tensor slope = (y.part(1, n) - y.part(0, n - 1)) / h;
  const Samples slopes{helper, slope, y.axis};
  const Tensor inner = (slopes.part(0, n - 2) * right + slopes.part(1, n - 1) * left) / both;
  return concatenate({slopes.part(0, 1), inner, slopes.part(n - 2, n - 1)}, y.axis);
}

Tensor trapezoid(const Operand& y, const Operand& x, std::int64_t axis) {
  const ops::Helper helper("trapezoid", y.at());
  const Samples samples = checked_samples(helper, y, axis, 1);
  return sum(areas(samples, x), {samples.axis});
}

Tensor cumulative_trapezoid(const Operand& y, const Operand& x, std::int64_t axis) {
  const ops::Helper helper("cumulative_trapezoid", y.at());
  const Samples samples = checked_samples(helper, y, axis, 1);
  return cumsum(areas(samples, x), samples.axis);
}

}  // namespace rondo
