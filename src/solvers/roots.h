// Derivatives of the solutions of equations on vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "rondo/tensor.h"
#include "solvers/vectors.h"

namespace rondo::solvers {

/// What is known of the Jacobian of an equation.
enum class JacobianKind : std::uint8_t { kGeneral, kSymmetric };

// Threshold: Unknowns up to which the derivative of a root takes the whole Jacobian, n directions
// and an elimination, beyond products with it in an iteration. Not measured.
inline constexpr std::int64_t kWholeJacobian = 64;

/// What solve() returns: x and further results. x has the derivative of the root of `residual`, by
/// GMRES or conjugate gradients beyond kWholeJacobian.
std::vector<Tensor> differentiable_root(const std::function<std::vector<Tensor>()>& solve,
                                        const VectorFunction& residual, const SolverCall& call,
                                        JacobianKind kind);

/// The same for a minimum of f.
std::vector<Tensor> differentiable_minimum(const std::function<std::vector<Tensor>()>& solve,
                                           const VectorFunction& f, const SolverCall& call);
/// The gradient of f.
Tensor gradient_of(const VectorFunction& f, const Tensor& x);

}  // namespace rondo::solvers
