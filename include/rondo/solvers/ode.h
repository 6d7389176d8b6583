// Ordinary differential equations.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include "rondo/detail/leaves.h"
#include "rondo/detail/solvers.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// The method of odeint.
enum class Ode : std::uint8_t {
  /// Order 5(4), adaptive (Dormand and Prince, 1980), with the interpolant of order 4 of Shampine
  /// (1986): for equations that are not stiff.
  kDormandPrince,
  /// The classical method of order 4, with `.substeps` equal steps from each time to the next one.
  kRungeKutta4,
  /// Rodas3: order 3(2), adaptive and L-stable, with Jacobians by forward mode (Sandu, Verwer et
  /// al., 1997): for stiff equations.
  kRosenbrock,
};

/// Options of odeint for a state of type T.
template <class T>
struct OdeOptions {
  Ode method = Ode::kDormandPrince;
  /// Of the error of one step: atol + rtol |y| for each number, in the root of the mean square.
  double rtol = 1e-6;
  double atol = 1e-9;
  /// Including those that are rejected.
  std::int64_t max_steps = 4096;
  /// event(y, t): a float scalar. The solution ends at its first change of sign, or where it
  /// reaches 0, from one step to the next.
  std::function<Tensor(const T& y, const Tensor& t)> event = {};
  std::int64_t substeps = 1;  // of kRungeKutta4
};

/// What odeint returns.
template <class T>
struct OdeResult {
  /// The solution at each time, stacked along a leading axis. From an event on, the state at the
  /// event; NaN where max_steps did not suffice.
  T ys;
  Tensor steps;       // s32[], including those that were rejected
  Tensor event_time;  // when the event happened; infinite if it did not
};

/// The solution of dy/dt = f(y, t) at `times`, a vector that increases or decreases, from y0 at the
/// first of them. f takes and returns trees like y0, of floats of one dtype, which is that of the
/// times.
///
/// Steps are as long as the error permits and do not end at the times, for which the solution is
/// interpolated; the last one ends at the last time. The first step is chosen as in Hairer, Norsett
/// and Wanner, section II.4. Derivatives are those of the steps that were taken, by the gradient of
/// the loop, with respect to y0, the times and everything that f and the event capture, and of any
/// order; adaptive steps are held fixed. That of the event's time follows from the equation that
/// defines it. Under vmap each lane has steps of its own.
///
/// Throws TraceError if f returns other types, if times is no vector of at least one number of the
/// dtype of y0, if the event returns no float scalar, and for options out of range.
///
///     auto fall = odeint([](Tensor y, Tensor t) { return -y; }, 1.0, linspace(0.0, 1.0, 11,
///                        DType::kF64), {.rtol = 1e-8});
template <class F, TensorTree T>
[[nodiscard("rondo: odeint returns the solution; use it")]] OdeResult<traced_t<T>> odeint(
    F&& f, const T& y0, const Operand& times,
    const std::type_identity_t<OdeOptions<traced_t<T>>>& options = {}) {
  const SourceLocation at = times.at();
  const auto start = tree_cast<traced_t<T>>(y0, at);
  detail::OdeLimits limits{options.method,    options.rtol,     options.atol,
                           options.max_steps, options.substeps, {}};
  if (options.event) limits.event = detail::ode_function<false>(options.event, start, "odeint", at);
  const detail::OdeLeaves found =
      detail::odeint(detail::ode_function<true>(f, start, "odeint", at),
                     detail::leaves_of(start, "y0", at), times, limits, at);
  return {detail::whole_tree_from(start, found.ys), found.steps, found.event_time};
}

}  // namespace rondo
