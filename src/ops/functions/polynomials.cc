// Polynomials, and the convolutions that are their products.
#include <algorithm>
#include <array>

#include "ops/functions/helpers.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/numeric.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "rondo/ops/statistics.h"

namespace rondo {

namespace {

// Threshold: Coefficients of a polynomial, or elements of a kernel, up to which their loop is
// unrolled, so that its terms are one loop over elements: code size against passes over memory. Not
// measured.
constexpr std::int64_t kFewTerms = 16;
ForiOptions over_terms(std::int64_t n, const char* name) {
  return {.unroll = n <= kFewTerms ? kUnrollAll : 1, .name = name};
}

/// Which elements of the full convolution a mode gives.
struct ConvolutionPart {
  std::int64_t start, count;
};
/// `backwards`: counted from the end, as NumPy does if it has exchanged the operands.
ConvolutionPart part_of_mode(const ops::Helper& helper, std::string_view mode, std::int64_t n,
                             std::int64_t m, bool backwards) {
  const std::int64_t longer = std::max(n, m), shorter = std::min(n, m);
  if (mode == "full") return {0, n + m - 1};
  if (mode == "same") return {backwards ? shorter / 2 : (shorter - 1) / 2, longer};
  if (mode == "valid") return {shorter - 1, longer - shorter + 1};
  helper.fail(fmt::format("the mode is \"{}\"\n  Write \"full\", \"same\" or \"valid\".", mode));
}

/// The products of a polynomial's coefficients, of which the first has more.
Tensor convolved(const Tensor& a, const Tensor& v, const ConvolutionPart& part) {
  const std::int64_t m = v.dim(0);
  const DType wide = ops::wide_dtype(a.dtype());
  if (wide != a.dtype())
    return convert(convolved(convert(a, wide), convert(v, wide), part), a.dtype());
  const Tensor padded = pad(a, 0, {m - 1}, {m - 1});
  return fori_loop(
      0, m,
      [&](Tensor j, Tensor sum) {
        return sum + v[j] * dynamic_slice(padded, {part.start + m - 1 - j}, {part.count});
      },
      zeros({a.dtype(), {part.count}}), over_terms(m, "convolve"));
}

Tensor checked_convolution(const ops::Helper& helper, const Tensor& a, const Tensor& v,
                           std::string_view mode, bool backwards) {
  for (const Tensor& x : {a, v}) {
    helper.check_rank(x, "an operand", 1);
    if (is_pred(x.dtype()) || x.dim(0) == 0)
      helper.fail(
          fmt::format("an operand is {}\n  Give vectors of numbers with one element or "
                      "more.",
                      x.type().str()));
  }
  const ConvolutionPart part = part_of_mode(helper, mode, a.dim(0), v.dim(0), backwards);
  return a.dim(0) < v.dim(0) ? convolved(v, a, part) : convolved(a, v, part);
}

}  // namespace

Tensor convolve(const Operand& a, const Operand& v, std::string_view mode) {
  const ops::Helper helper("convolve", a.at());
  const auto [x, y] = ops::same_dtype({"convolve", "convolve"}, a, v);
  return checked_convolution(helper, x, y, mode, false);
}

Tensor correlate(const Operand& a, const Operand& v, std::string_view mode) {
  const ops::Helper helper("correlate", a.at());
  const auto [x, y] = ops::same_dtype({"correlate", "correlate"}, a, v);
  helper.check_rank(y, "an operand", 1);
  return checked_convolution(helper, x, conj(reverse(y)), mode,
                             x.rank() == 1 && x.dim(0) < y.dim(0));
}

Tensor polyval(const Operand& coefficients, const Operand& at) {
  const ops::Helper helper("polyval", coefficients.at());
  const std::array<Tensor, 2> both = ops::same_dtype({"polyval", "polyval"}, coefficients, at);
  const Tensor &p = both[0], &x = both[1];
  helper.check_rank(p, "the coefficients", 1);
  const std::int64_t n = p.dim(0);
  if (n == 0) return zeros(x.type());
  return fori_loop(
      0, n, [&](Tensor i, Tensor sum) { return sum * x + p[i]; }, zeros(x.type()),
      over_terms(n, "polyval"));
}

// Each orthogonal polynomial is made of the one before times x, with its coefficients alike.
Tensor polyfit(const Operand& xs, const Operand& ys, std::int64_t degree) {
  const ops::Helper helper("polyfit", xs.at());
  const std::array<Tensor, 2> both = ops::same_dtype({"polyfit", "polyfit"}, xs, ys);
  const Tensor &x = both[0], &y = both[1];
  (void)helper.floating(x);
  helper.check_rank(x, "x", 1);
  const std::int64_t n = x.dim(0);
  if (y.rank() == 0 || y.rank() > 2 || y.dim(0) != n) {
    helper.fail(
        fmt::format("x is {}, y is {}; y must have a value, or a row, for each x\n  Give a "
                    "vector or a matrix with {} rows.",
                    x.type().str(), y.type().str(), n));
  }
  if (degree < 0 || degree >= n) {
    helper.fail(
        fmt::format("degree {} for {} points\n  Give a degree from 0 to the number of points "
                    "less 1.",
                    degree, n));
  }
  // The values of each polynomial on the points, with norm 1, and its coefficients.
  std::vector<Tensor> values, powers;
  Tensor residual = y, fit;
  for (std::int64_t k = 0; k <= degree; k++) {
    Tensor value = k == 0 ? ones(x.type()) : x * values.back();
    Tensor power =
        k == 0 ? pad(ones({x.dtype(), {1}}), 0, {degree}, {0}) : pad(powers.back(), 0, {-1}, {1});
    for (int pass = 0; k > 0 && pass < 2; pass++) {  // once more for what rounding has left
      const Tensor all = stack(values, 0);
      const Tensor shares = dot(all, value);
      value -= dot(shares, all);
      power -= dot(shares, stack(powers, 0));
    }
    const Tensor size = norm(value);
    values.push_back(value / size);
    powers.push_back(power / size);
    const Tensor weight = dot(values.back(), residual);
    const auto product = [&](const Tensor& left) {
      return y.rank() == 1 ? left * weight : expand_dims(left, 1) * weight;
    };
    residual -= product(values.back());
    fit = k == 0 ? product(powers.back()) : fit + product(powers.back());
  }
  return fit;
}

}  // namespace rondo
