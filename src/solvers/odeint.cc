// Solutions of differential equations, as one loop. A trip takes a step, if the next time is past
// the last one, and writes the row of the next time, which is final once a step has reached it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "control_flow/implicit_root.h"
#include "fmt/format.h"
#include "ops/support.h"
#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "rondo/solvers/ode.h"
#include "rondo/vmap.h"
#include "solvers/ode.h"

namespace rondo::solvers {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

OdeMethod method_of(Ode method) {
  switch (method) {
    case Ode::kRungeKutta4:
      return {.step = runge_kutta4};
    case Ode::kRosenbrock:
      return {.step = rosenbrock, .order = 3};
    case Ode::kDormandPrince:
      break;
  }
  return {.step = dormand_prince, .order = 5, .memory = 0.04};  // the numbers of DOPRI5
}

/// After the last accepted step, which began at `from` and has the length `length`. `next` is the
/// length to try, `size` the size of the last error, `event` the value of the event.
struct OdeState {
  Tensor y, slope, s, dense, from, length;
  Tensor next, size, rejected, event, has_ended, steps;
};
struct OdeTrip {
  OdeState state;
  Tensor ys, row;
};

class Integration {
 public:
  Integration(const SolverCall& call, const RegionCallable& f, const Tensor& times,
              const detail::OdeLimits& limits)
      : call_(call),
        limits_(limits),
        method_(method_of(limits.method)),
        rows_(times.dim(0)),
        first_(times[0]),
        direction_(stop_gradient(where(times[rows_ - 1] < first_, full(first_.type(), -1), 1))),
        targets_(direction_ * (times - first_)),
        f_([this, &f](const Tensor& y, const Tensor& s) {
          return direction_ * call_.slope(f, y, time_of(s));
        }) {}

  detail::OdeLeaves run() const {
    const OdeTrip end = while_loop(
        [&](const OdeTrip& t) { return goes_on(t); }, [&](const OdeTrip& t) { return trip(t); },
        start(), {.max_trip_count = limits_.max_steps + rows_, .name = "odeint"}, call_.at());
    const Tensor event = event_place(end.state);
    const Tensor ys = filled(end, event);
    const Tensor time = where(end.state.has_ended, time_of(event), direction_ * kInfinite);
    const auto tree_of_row = [&](const Tensor& row) { return call_.tree(row); };
    return {vmap(tree_of_row)(ys), end.state.steps, time};
  }

 private:
  Tensor time_of(const Tensor& s) const { return first_ + direction_ * s; }
  Tensor number(double value) const { return full({call_.dtype(), {}}, value); }
  Tensor event_at(const Tensor& y, const Tensor& s) const {
    return limits_.event ? call_.event(limits_.event, y, time_of(s)) : number(1);
  }
  /// The part of the last step at which a place is.
  static Tensor part_of(const OdeState& state, const Tensor& s) {
    return (s - state.from) / state.length;
  }

  OdeTrip start() const {
    const Tensor y = call_.vector(), zero = number(0), slope = f_(y, zero);
    const Tensor none = zeros(y.type());
    const OdeState state{y,
                         slope,
                         zero,
                         stack({y, none, none, none, none}, 0),
                         zero,
                         number(1),
                         method_.is_adaptive() ? first_length(y, slope) : zero,
                         number(1),
                         false,
                         stop_gradient(event_at(y, zero)),
                         false,
                         0};
    return {state, zeros({y.dtype(), {rows_, y.dim(0)}}), 0};
  }

  Tensor goes_on(const OdeTrip& t) const {
    const Tensor target = stop_gradient(targets_)[t.row];
    return (t.row < static_cast<std::int32_t>(rows_)) & !t.state.has_ended &
           ((t.state.steps < static_cast<std::int32_t>(limits_.max_steps)) | (target <= t.state.s));
  }

  OdeTrip trip(const OdeTrip& t) const {
    const Tensor target = targets_[t.row];
    const OdeState state = cond(
        stop_gradient(target) > t.state.s, [&](const OdeState& s) { return stepped(s, t.row); },
        [](const OdeState& s) { return s; }, t.state);
    const Tensor reached = (stop_gradient(target) <= state.s) & !state.has_ended;
    const Tensor value = between(state.dense, part_of(state, target));
    return {state, update(t.ys, t.row, value), t.row + convert(reached, DType::kS32)};
  }

  OdeState stepped(const OdeState& s, const Tensor& row) const {
    // The end of the step, exactly, where it is limited by a time.
    Tensor limit = stop_gradient(targets_)[rows_ - 1], length = s.next;
    Tensor ends = s.s + length >= limit;
    if (!method_.is_adaptive()) {
      limit = targets_[row];
      const Tensor gap = limit - targets_[maximum(row - 1, 0)];
      const Tensor left = round((limit - s.s) / gap * static_cast<double>(limits_.substeps));
      ends = left <= 1;
      length = (limit - s.s) / maximum(left, 1);
    }
    const Tensor h = where(ends, limit - s.s, length);
    const OdeStep tried = method_.step(f_, s.y, s.slope, s.s, h);
    const Tensor size = tried.error.empty() ? number(0) : size_of(tried.error, s.y, tried.y);
    const Tensor accepted = size <= 1;
    const OdeStep step = method_.is_adaptive() ? differentiated(tried, accepted, s, h) : tried;
    const Tensor event = stop_gradient(event_at(step.y, s.s + h));
    const Tensor crosses = accepted & (event * s.event <= 0) & (s.event != 0);
    const auto chosen = [&](const Tensor& next, const Tensor& last) {
      return where(accepted, next, last);
    };
    return {chosen(step.y, s.y),
            chosen(step.slope, s.slope),
            chosen(where(ends, limit, s.s + h), s.s),
            chosen(step.dense, s.dense),
            chosen(s.s, s.from),
            chosen(h, s.length),
            method_.is_adaptive() ? h * factor(s, size) : s.next,
            chosen(maximum(size, 1e-4), s.size),
            !accepted,
            chosen(event, s.event),
            crosses,
            s.steps + 1};
  }

  /// The step, with the derivative of one that is computed only if it was accepted. A rejected step
  /// may have infinite slopes, and the zero that is the cotangent of what a select leaves out,
  /// times infinity, is NaN. The values are those of `tried`, so programs without derivatives
  /// compute it once.
  OdeStep differentiated(const OdeStep& tried, const Tensor& accepted, const OdeState& s,
                         const Tensor& h) const {
    const auto packed = [](const OdeStep& step) {
      return concatenate({expand_dims(step.y, 0), expand_dims(step.slope, 0), step.dense}, 0);
    };
    const Tensor rows = packed(tried);
    const auto again = [&] { return packed(method_.step(f_, s.y, s.slope, s.s, h)); };
    const control_flow::RootEquation equation{
        [&] { return std::vector<Tensor>{rows}; },
        [&](const Tensor& x) {
          return x - cond(accepted, again, [&] { return stop_gradient(rows); });
        },
        [](const Tensor&, const Tensor& right) { return right; }};
    const Tensor all = control_flow::implicit_root(equation, rows.type(), call_.at())[0];
    return {all[0], all[1], tried.error, slice(all, {2, 0}, {7, all.dim(1)})};
  }

  /// The size of an error relative to the tolerance, which is 1 if it is just small enough. NaN
  /// counts as infinite.
  Tensor size_of(const Tensor& error, const Tensor& y, const Tensor& end) const {
    const Tensor scale = limits_.atol + limits_.rtol * maximum(abs(y), abs(end));
    const Tensor size = stop_gradient(root_mean_square(error / scale));
    return where(is_finite(size), size, kInfinite);
  }
  static Tensor root_mean_square(const Tensor& x) { return sqrt(mean(square(x))); }

  /// Of the length of the next step: by the sizes of the last two errors (Gustafsson, 1991), by
  /// that of the last one after a rejected step.
  Tensor factor(const OdeState& s, const Tensor& size) const {
    const double power = 1 / method_.order;
    const Tensor small = maximum(size, 1e-10);
    const Tensor smooth =
        0.9 * pow(small, 0.75 * method_.memory - power) * pow(s.size, method_.memory);
    const Tensor most = where(s.rejected, number(1), 10);
    return where(size <= 1, clamp(number(0.2), smooth, most),
                 clamp(number(0.2), 0.9 * pow(small, -power), number(1)));
  }

  /// Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, II.4.
  Tensor first_length(const Tensor& y_given, const Tensor& slope_given) const {
    const Tensor y = stop_gradient(y_given), slope = stop_gradient(slope_given);
    const Tensor scale = limits_.atol + limits_.rtol * abs(y);
    const Tensor whole = stop_gradient(targets_)[rows_ - 1];
    const Tensor size = root_mean_square(y / scale), speed = root_mean_square(slope / scale);
    const Tensor is_small = (size < 1e-5) | (speed < 1e-5);
    const Tensor guess =
        minimum(where(is_small, number(1e-6), 0.01 * size / where(is_small, 1, speed)), whole);
    const Tensor moved = stop_gradient(f_(y + guess * slope, guess));
    const Tensor bend = root_mean_square((moved - slope) / scale) / where(guess > 0, guess, 1);
    const Tensor largest_rate = maximum(speed, bend);
    const Tensor other = where(largest_rate <= 1e-15, maximum(1e-6, guess * 1e-3),
                               pow(0.01 / maximum(largest_rate, 1e-15), 1 / method_.order));
    return minimum(100 * guess, other);
  }

  /// Where in the last step the event happens: the root of the event on the interpolant.
  Tensor event_place(const OdeState& s) const {
    if (!limits_.event) return s.s;
    const auto value = [&](const Tensor& theta) {
      return event_at(between(s.dense, theta), s.from + theta * s.length);
    };
    const control_flow::RootEquation equation{
        [&] { return std::vector<Tensor>{bisected(value)}; },
        [&](const Tensor& theta) { return reshape(value(reshape(theta, {})), {1}); }};
    const Tensor theta = control_flow::implicit_root(equation, {call_.dtype(), {1}}, call_.at())[0];
    return s.from + reshape(theta, {}) * s.length;
  }

  struct Part {
    Tensor lo, hi;
  };
  Tensor bisected(const std::function<Tensor(const Tensor&)>& value) const {
    const Tensor sign_before = sign(value(number(0)));
    const int halvings = call_.dtype() == DType::kF64 ? 53 : 24;
    const Part end = fori_loop(
        0, halvings,
        [&](const Tensor&, const Part& p) {
          const Tensor middle = p.lo + (p.hi - p.lo) / 2;
          const Tensor is_before = sign(value(middle)) == sign_before;
          return Part{where(is_before, middle, p.lo), where(is_before, p.hi, middle)};
        },
        Part{number(0), number(1)}, {.name = "odeint_event"}, call_.at());
    return reshape(end.hi, {1});
  }

  /// The rows that the loop did not reach: the solution before the event, and the state at it.
  Tensor filled(const OdeTrip& end, const Tensor& event) const {
    const Tensor missing = expand_dims(iota({DType::kS32, {rows_}}, 0) >= end.row, 1);
    if (!limits_.event) return where(missing, std::numeric_limits<double>::quiet_NaN(), end.ys);
    const auto at = [&](const Tensor& s) {
      return between(end.state.dense, part_of(end.state, s));
    };
    const Tensor last = vmap(at)(minimum(targets_, event));
    const Tensor known = where(end.state.has_ended, last, std::numeric_limits<double>::quiet_NaN());
    return where(missing, known, end.ys);
  }

  const SolverCall& call_;
  const detail::OdeLimits& limits_;
  OdeMethod method_;
  std::int64_t rows_;
  Tensor first_, direction_, targets_;
  SlopeFunction f_;
};

}  // namespace

}  // namespace rondo::solvers

namespace rondo::detail {

OdeLeaves odeint(const RegionCallable& f, const Leaves& y0, const Operand& operand,
                 const OdeLimits& limits, SourceLocation at) {
  const solvers::SolverCall call("odeint", y0, at);
  for (const auto& [name, value] :
       {std::pair("rtol", limits.rtol), std::pair("atol", limits.atol)}) {
    if (value >= 0 && std::isfinite(value)) continue;
    call.fail(fmt::format(".{} is {}\n  Give a positive number.", name, value));
  }
  if (limits.rtol + limits.atol <= 0)
    call.fail(".rtol and .atol are both 0\n  Give one of them, or both, a positive number.");
  call.check_count("max_steps", limits.max_steps, 1);
  call.check_count("substeps", limits.substeps, 1);
  const Tensor given = operand.as(call.dtype());
  if (ir::checked(given, "odeint", call.at()).dtype() != call.dtype()) {
    call.fail(fmt::format("times is {}, y0 has {}\n  {}", given.type().str(),
                          dtype_name(call.dtype()),
                          ops::conversion_remedy(given.dtype(), call.dtype(), "times", "y0")));
  }
  if (given.rank() != 1 || given.dim(0) < 1) {
    call.fail(
        fmt::format("times is {}; it must be a vector of one number or more\n  Give the times "
                    "of the solution, from that of y0 on: rondo::constant({{0.0, 1.0}}).",
                    given.type().str()));
  }
  return solvers::Integration(call, f, given, limits).run();
}

}  // namespace rondo::detail
