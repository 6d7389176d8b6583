#include "rondo/ops/search.h"

#include <bit>
#include <limits>

#include "ops/functions/helpers.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/order.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

/// a < b with NaN after all numbers.
Tensor before(const Tensor& a, const Tensor& b) {
  Tensor less = a < b;
  if (!is_floating(a.dtype())) return less;
  return less | (is_nan(b) & !is_nan(a));
}

void check_dtypes(const ops::Helper& helper, const Tensor& a, const char* first, const Tensor& b,
                  const char* second) {
  if (a.dtype() == b.dtype()) return;
  helper.fail(fmt::format("{} is {}, {} is {}; their dtypes must be equal\n  {}", first,
                          a.type().str(), second, b.type().str(),
                          ops::conversion_remedy(a.dtype(), b.dtype(), first, second)));
}

/// Binary search: the bounds of each search are halved in each trip.
Tensor search(const Tensor& sorted, const Tensor& values, Side side) {
  const std::int64_t n = sorted.dim(0);
  const TensorType places{DType::kS32, values.shape()};
  if (n == 0) return zeros(places);
  const auto trips = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n)));
  using Range = std::pair<Tensor, Tensor>;
  const Range found = fori_loop(
      0, trips,
      [&](Tensor, Range range) {
        const auto& [low, high] = range;
        const Tensor middle = low + (high - low) / 2;
        // A search that is done may have ended after the last element.
        const Tensor element = take(sorted, minimum(middle, n - 1));
        const Tensor right =
            side == Side::kLeft ? before(element, values) : !before(values, element);
        const Tensor open = low < high;
        return Range{where(open & right, middle + 1, low), where(open & !right, middle, high)};
      },
      Range{zeros(places), full(places, n)}, {.name = "searchsorted"});
  return found.first;
}

Tensor checked_vector(const ops::Helper& helper, const Operand& operand, const char* what) {
  Tensor x = helper.any(operand);
  helper.check_rank(x, what, 1);
  if (x.dim(0) > std::numeric_limits<std::int32_t>::max()) {
    helper.fail(fmt::format("{} is {}; places in it are counted in s32\n  Search in parts of it.",
                            what, x.type().str()));
  }
  return x;
}

}  // namespace

Tensor searchsorted(const Operand& sorted, const Operand& values, Side side) {
  const ops::Helper helper("searchsorted", sorted.at());
  const Tensor table = checked_vector(helper, sorted, "the sorted array");
  const Tensor wanted = values.as(table.dtype());
  check_dtypes(helper, table, "the sorted array", wanted, "values");
  return search(table, wanted, side);
}

Tensor bincount(const Operand& operand, std::int64_t length) {
  const ops::Helper helper("bincount", operand.at());
  const Tensor x = reshape(helper.integer(operand), {-1, 1});
  if (length < 0)
    helper.fail(fmt::format("the length is {}; it must not be negative\n  Give the number of bins.",
                            length));
  // scatter drops updates out of bounds.
  return scatter(
      zeros(s32({length})), x, ones(s32({x.dim(0)})),
      {.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1},
      [](Tensor a, Tensor b) { return a + b; });
}

Tensor digitize(const Operand& operand, const Operand& bins) {
  const ops::Helper helper("digitize", operand.at());
  const Tensor edges = checked_vector(helper, bins, "bins");
  const Tensor x = operand.as(edges.dtype());
  check_dtypes(helper, x, "x", edges, "bins");
  const std::int64_t n = edges.dim(0);
  if (n == 0) return zeros({DType::kS32, x.shape()});
  const Tensor up = search(edges, x, Side::kRight);
  const Tensor down = n - search(reverse(edges), x, Side::kRight);
  return where(edges[n - 1] >= edges[0], up, down);
}

Tensor isin(const Operand& operand, const Operand& among) {
  const ops::Helper helper("isin", operand.at());
  const Tensor values = operand.is_scalar() ? helper.any(among) : among.as(operand.any().dtype());
  const Tensor x = operand.as(values.dtype());
  check_dtypes(helper, x, "x", values, "values");
  if (values.type().elements() == 0) return zeros({DType::kPred, x.shape()});
  const Tensor sorted = sort(reshape(values, {-1}), 0);
  return take(sorted, search(sorted, x, Side::kLeft)) == x;
}

Tensor histogram(const Operand& operand, std::int64_t bins, const Operand& lo, const Operand& hi) {
  const ops::Helper helper("histogram", operand.at());
  Tensor x = helper.any(operand);
  if (is_integer(x.dtype())) x = convert(x, DType::kF64);
  x = reshape(helper.floating(x), {-1});
  if (bins < 1) helper.fail(fmt::format("{} bins\n  Give one or more.", bins));
  Tensor first = lo.as(x.dtype()), last = hi.as(x.dtype());
  for (const Tensor& end : {first, last}) {
    if (end.type() != TensorType{x.dtype(), {}}) {
      helper.fail(fmt::format(
          "an end is {}; both must be {}\n  Convert it: rondo::convert(end, "
          "rondo::DType::k{}).",
          end.type().str(), TensorType{x.dtype(), {}}.str(), ops::dtype_constant(x.dtype())));
    }
  }
  const DType wide = ops::wide_dtype(x.dtype());
  if (wide != x.dtype()) {
    x = convert(x, wide);
    first = convert(first, wide);
    last = convert(last, wide);
  }
  // NumPy's: rounding may put an element beside its bin, so the edges decide. They are computed for
  // each element, which takes less time than reading a table.
  const double count = static_cast<double>(bins);
  const Tensor width = (last - first) / count;
  const auto edge = [&](const Tensor& number) { return number * width + first; };
  const Tensor near = clamp(0, floor((x - first) / (last - first) * count), count - 1);
  const Tensor below = convert(x < edge(near), DType::kS32);
  const Tensor above = convert((x >= edge(near + 1)) & (near < count - 1), DType::kS32);
  const Tensor inside = (x >= first) & (x <= last);
  return bincount(where(inside, convert(near, DType::kS32) - below + above, bins), bins);
}

std::pair<Tensor, Tensor> unique_counts(const Operand& operand) {
  const ops::Helper helper("unique_counts", operand.at());
  const Tensor x = checked_vector(helper, operand, "the sorted array");
  const std::int64_t n = x.dim(0);
  if (n == 0) return {x, zeros(s32({0}))};
  const Tensor left = slice(x, {0}, {n - 1}), right = slice(x, {1}, {n});
  Tensor changes = left != right;
  if (is_floating(x.dtype())) changes = changes & !(is_nan(left) & is_nan(right));
  // The number of the run that each element is in.
  const Tensor run = concatenate({zeros(s32({1})), cumsum(convert(changes, DType::kS32), 0)}, 0);
  const Tensor first = search(run, arange(n), Side::kLeft);
  return {take(x, minimum(first, search(run, run[n - 1], Side::kLeft))), bincount(run, n)};
}

Tensor interp(const Operand& operand, const Operand& xs, const Operand& fs) {
  const ops::Helper helper("interp", operand.at());
  const Tensor xp = checked_vector(helper, xs, "xp"), fp = checked_vector(helper, fs, "fp");
  const Tensor x = operand.as(xp.dtype());
  (void)helper.floating(xp);
  check_dtypes(helper, x, "x", xp, "xp");
  check_dtypes(helper, fp, "fp", xp, "xp");
  const std::int64_t n = xp.dim(0);
  if (n == 0 || fp.dim(0) != n) {
    helper.fail(
        fmt::format("xp is {}, fp is {}; they must have one size, 1 or more\n  Give a value "
                    "for each point.",
                    xp.type().str(), fp.type().str()));
  }
  if (n == 1) return broadcast_to(fp[0], x.shape());
  const Tensor right = clamp(1, search(xp, x, Side::kRight), n - 1);
  const Tensor x0 = take(xp, right - 1), f0 = take(fp, right - 1);
  const Tensor width = take(xp, right) - x0;
  const Tensor no_width = width == 0;
  const Tensor slope = (take(fp, right) - f0) / where(no_width, 1, width);
  const Tensor inside = f0 + where(no_width, 0, (x - x0) * slope);
  return where(x < xp[0], fp[0], where(x > xp[n - 1], fp[n - 1], inside));
}

}  // namespace rondo
