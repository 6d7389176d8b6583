// J. Nocedal: Updating quasi-Newton matrices with limited storage, 1980. The step is found by the
// bisection of A. S. Lewis and M. L. Overton: Nonsmooth optimization via quasi-Newton methods,
// 2013, for Wolfe's weak conditions; where values differ by rounding only, slopes decide, as in
// W. W. Hager and H. Zhang, 2005.
#include <limits>

#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "solvers/minimize.h"

namespace rondo::solvers {

namespace {

constexpr double kEnoughDecrease = 1e-4, kEnoughCurvature = 0.9;
constexpr int kMostTrials = 40;

/// The last `history` steps in rows, by the number of the step modulo their number; `inverse` has 1
/// / (step . change), and 0 for a row that holds none.
struct History {
  Tensor steps, changes, inverse, count, scale;
};

struct LbfgsState {
  Tensor x, value, gradient;
  History history;
  Tensor iterations, stuck;
};

/// A point on the line: `slope` is the derivative along it. The step is between lo and hi.
struct LinePoint {
  Tensor length, x, value, gradient, slope, lo, hi, trials;
};

class Lbfgs {
 public:
  explicit Lbfgs(const Descent& descent) : descent_(descent) {}

  std::vector<Tensor> run() const {
    const Tensor x0 = descent_.call.vector();
    const DType dtype = x0.dtype();
    const std::int64_t rows = descent_.options.history, n = x0.dim(0);
    const History none{zeros({dtype, {rows, n}}), zeros({dtype, {rows, n}}), zeros({dtype, {rows}}),
                       0, full({dtype, {}}, 1)};
    const auto [value, gradient] = value_and_gradient(x0);
    const auto goes_on = [&](const LbfgsState& s) {
      return (s.iterations < descent_.options.max_iterations) &
             !(descent_.is_flat(s.gradient) | s.stuck);
    };
    const LbfgsState end = while_loop(
        goes_on, [&](const LbfgsState& s) { return step(s); },
        LbfgsState{x0, value, gradient, none, 0, false}, {.name = "lbfgs"}, at());
    return {end.x, end.iterations, descent_.is_flat(end.gradient)};
  }

 private:
  SourceLocation at() const { return descent_.call.at(); }
  std::pair<Tensor, Tensor> value_and_gradient(const Tensor& x) const {
    return value_and_grad([&](const Tensor& x) { return descent_.f(x); })(x);
  }

  LbfgsState step(const LbfgsState& s) const {
    const Tensor newton = direction(s);
    const Tensor descends = dot(newton, s.gradient) < 0;
    const Tensor along = where(descends, newton, -s.gradient);
    const Tensor slope = dot(along, s.gradient);
    const LinePoint end = search(s, along, slope);
    const Tensor stuck = !is_less(s, slope, end);
    const Tensor moved = end.x - s.x, change = end.gradient - s.gradient;
    return {where(stuck, s.x, end.x),
            where(stuck, s.value, end.value),
            where(stuck, s.gradient, end.gradient),
            with_step(s.history, moved, change, stuck),
            s.iterations + 1,
            stuck};
  }

  History with_step(const History& h, const Tensor& moved, const Tensor& change,
                    const Tensor& stuck) const {
    const Tensor product = dot(moved, change), square = dot(change, change);
    const Tensor fits = (product > 0) & (square > 0) & !stuck;
    const Tensor row = h.count % static_cast<std::int32_t>(descent_.options.history);
    const Tensor inverse = where(fits, 1 / where(fits, product, 1), h.inverse[row]);
    return {update(h.steps, row, where(fits, moved, h.steps[row])),
            update(h.changes, row, where(fits, change, h.changes[row])),
            update(h.inverse, row, inverse), h.count + convert(fits, DType::kS32),
            where(fits, product / where(fits, square, 1), h.scale)};
  }

  /// The two loops over the history: from the newest step to the oldest, and back.
  Tensor direction(const LbfgsState& s) const {
    const History& h = s.history;
    const auto rows = static_cast<std::int32_t>(descent_.options.history);
    const auto row_of = [&](const Tensor& k) { return (h.count + (2 * rows - 1) - k) % rows; };
    const auto older = [&](const Tensor& k, const Tensor& q, const Tensor& weights) {
      const Tensor row = row_of(k), weight = h.inverse[row] * dot(h.steps[row], q);
      return std::pair(q - weight * h.changes[row], update(weights, row, weight));
    };
    const auto [q, weights] =
        fori_loop(0, rows, older, std::pair(s.gradient, zeros(h.inverse.type())),
                  {.name = "lbfgs_older"}, at());
    const auto newer = [&, &weights = weights](const Tensor& k, const Tensor& r) {
      const Tensor row = row_of(k), weight = h.inverse[row] * dot(h.changes[row], r);
      return r + (weights[row] - weight) * h.steps[row];
    };
    return -fori_loop(0, rows, newer, h.scale * q, {.reverse = true, .name = "lbfgs_newer"}, at());
  }

  /// Wolfe's first condition, or that of slopes where the value is the same but for rounding.
  Tensor is_less(const LbfgsState& s, const Tensor& slope, const LinePoint& p) const {
    const double noise = 8 * descent_.call.unit();
    return (p.value <= s.value + kEnoughDecrease * p.length * slope) |
           ((p.value <= s.value + noise * abs(s.value)) &
            (p.slope <= (2 * kEnoughDecrease - 1) * slope));
  }

  LinePoint search(const LbfgsState& s, const Tensor& along, const Tensor& slope) const {
    const DType dtype = s.x.dtype();
    const Tensor first =
        where(s.history.count == 0, minimum(1, 1 / sum(abs(s.gradient))), full({dtype, {}}, 1));
    const auto goes_on = [&](const LinePoint& p) {
      const Tensor is_done = is_less(s, slope, p) & (p.slope >= kEnoughCurvature * slope);
      return (p.trials == 0) | ((p.trials < kMostTrials) & !is_done);
    };
    const auto next = [&](const LinePoint& p) {
      const Tensor less = is_less(s, slope, p), begins = p.trials == 0;
      const Tensor lo = where(less & (p.trials > 0), p.length, p.lo);
      const Tensor hi = where(less | begins, p.hi, p.length);
      // Before the first point that is less, by the parabola through the value and slope at 0.
      const Tensor vertex =
          -slope * p.length * p.length / (2 * (p.value - s.value - slope * p.length));
      const Tensor shorter = where(is_finite(vertex), clamp(0.1 * hi, vertex, 0.5 * hi), 0.1 * hi);
      const Tensor inside = where((lo == 0) & !less, shorter, lo + (hi - lo) / 2);
      const Tensor length = where(begins, first, where(is_finite(hi), inside, 2 * p.length));
      const Tensor x = s.x + length * along;
      const auto [value, gradient] = value_and_gradient(x);
      return LinePoint{length, x, value, gradient, dot(gradient, along), lo, hi, p.trials + 1};
    };
    const Tensor zero = zeros({dtype, {}});
    return while_loop(goes_on, next,
                      LinePoint{zero, s.x, s.value, s.gradient, slope, zero,
                                full({dtype, {}}, std::numeric_limits<double>::infinity()), 0},
                      {.name = "lbfgs_search"}, at());
  }

  const Descent& descent_;
};

}  // namespace

std::vector<Tensor> lbfgs(const Descent& descent) { return Lbfgs(descent).run(); }

}  // namespace rondo::solvers
