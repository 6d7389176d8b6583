// Solvers on leaves, and what their functions on trees share.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/call_with.h"
#include "rondo/detail/call_with.h"
#include "rondo/detail/lambda_checks.h"
#include "rondo/detail/leaves.h"
#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {
struct ConjugateGradientOptions;
struct FixedPointOptions;
struct GmresOptions;
struct LeastSquaresOptions;
struct MinimizeOptions;
struct RootOptions;
enum class Ode : std::uint8_t;
}  // namespace rondo

namespace rondo::detail {

/// What the solvers of equations return.
struct SolutionLeaves {
  std::vector<Tensor> x;
  Tensor residual, iterations, converged;
};
RONDO_API SolutionLeaves find_root(const RegionCallable& f, const Leaves& x0,
                                   const RootOptions& options, SourceLocation at);
RONDO_API SolutionLeaves fixed_point(const RegionCallable& f, const Leaves& x0,
                                     const FixedPointOptions& options, SourceLocation at);
RONDO_API SolutionLeaves conjugate_gradient(const RegionCallable& matvec, const Leaves& b,
                                            const ConjugateGradientOptions& options,
                                            SourceLocation at);
RONDO_API SolutionLeaves gmres(const RegionCallable& matvec, const Leaves& b,
                               const GmresOptions& options, SourceLocation at);

/// What the solvers for minima return.
struct MinimumLeaves {
  std::vector<Tensor> x;
  Tensor value, iterations, converged;
};
RONDO_API MinimumLeaves minimize(const RegionCallable& f, const Leaves& x0,
                                 const MinimizeOptions& options, SourceLocation at);
RONDO_API MinimumLeaves least_squares(const RegionCallable& residuals, const Leaves& x0,
                                      const LeastSquaresOptions& options, SourceLocation at);

/// OdeOptions on leaves.
struct OdeLimits {
  Ode method;
  double rtol, atol;
  std::int64_t max_steps, substeps;
  RegionCallable event;  // may be empty
};
struct OdeLeaves {
  std::vector<Tensor> ys;
  Tensor steps, event_time;
};
/// f and the event take the leaves of y, then t.
RONDO_API OdeLeaves odeint(const RegionCallable& f, const Leaves& y0, const Operand& times,
                           const OdeLimits& limits, SourceLocation at);

/// The user's function of a solver, which takes a tree like `prototype`, on leaves. Does not
/// compile, with the reason, if it takes or returns something else; `kLike`: it must return a tree
/// like `prototype`.
template <bool kLike, class F, class Traced>
RegionCallable solver_function(F& f, const Traced& prototype, const char* solver,
                               SourceLocation at) {
  static_assert(!kIsTree<std::decay_t<F>>,
                "rondo: a solver takes its function first, then the tree of tensors to start from");
  static_assert(CallableWith<F, Traced>,
                "rondo: the function of a solver takes a tree of Tensors like the one that the "
                "solver is given: one parameter of its type, by value or by reference to const, or "
                "one for each element of a tuple");
  check_has_function(f, solver, at);
  if constexpr (CallableWith<F, Traced>) {
    using Result = std::decay_t<call_result_t<F, Traced>>;
    static_assert(!std::is_void_v<Result>,
                  "rondo: the function of a solver returns nothing: add a return statement");
    static_assert(!kLike || TreeConvertible<Result, Traced>,
                  "rondo: the function of this solver returns a tree like the one that it takes");
    static_assert(kIsTree<Result>, "rondo: the function of a solver returns a tree of tensors");
    return [&f, &prototype, at](std::span<const Tensor> leaves) {
      if constexpr (kLike) {
        return leaves_of(tree_cast<Traced>(call_with(f, whole_tree_from(prototype, leaves)), at),
                         "result", at);
      } else {
        return leaves_of(call_with(f, whole_tree_from(prototype, leaves)), "result", at);
      }
    };
  } else {
    return {};
  }
}

/// The same for a function of a tree and a time, which comes last among the leaves.
template <bool kLike, class F, class Traced>
RegionCallable ode_function(F& f, const Traced& prototype, const char* solver, SourceLocation at) {
  static_assert(!kIsTree<std::decay_t<F>>,
                "rondo: odeint takes its function first: odeint(f, y0, times)");
  static_assert(CallableWithTrailing<F, Traced, Tensor>,
                "rondo: the function of odeint takes y, a tree of Tensors like y0, and the time, a "
                "Tensor: f(y, t)");
  check_has_function(f, solver, at);
  if constexpr (CallableWithTrailing<F, Traced, Tensor>) {
    using Result = std::decay_t<call_trailing_result_t<F, Traced, Tensor>>;
    static_assert(!kLike || TreeConvertible<Result, Traced>,
                  "rondo: the function of odeint returns dy/dt, a tree like y0");
    return [&f, &prototype, at](std::span<const Tensor> leaves) {
      // The time is a handle of its own, as each leaf of the state is.
      auto result =
          call_with_trailing(f, whole_tree_from(prototype, leaves), Tensor(leaves.back()));
      if constexpr (kLike)
        return leaves_of(tree_cast<Traced>(std::move(result), at), "dy/dt", at);
      else
        return leaves_of(result, "event", at);
    };
  } else {
    return {};
  }
}

}  // namespace rondo::detail
