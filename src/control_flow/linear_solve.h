// Solutions of linear systems that are given as functions, however they were found.
#pragma once

#include <functional>
#include <vector>

#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: b, then the captures of the regions. Region 0 computes on b, captures the solution x
/// of A x = b, of the type of b, and further results, which have no derivative. Region 1 gives A x
/// on x, captures. Regions 2 and 3 are the same for the transpose of A; without them A is
/// symmetric.
///
/// The derivative is that of the solution, A dx = db - dA x, by the same solver.
extern const ir::OpDef kLinearSolve;

struct LinearSystem {
  std::function<std::vector<Tensor>(const Tensor& b)> solve;  // x, then further results
  std::function<Tensor(const Tensor& x)> apply;
  // Both empty for a symmetric A:
  std::function<std::vector<Tensor>(const Tensor& b)> solve_transposed = nullptr;
  std::function<Tensor(const Tensor& x)> apply_transposed = nullptr;
};

/// What solve(b) returns, with the derivative of the solution with respect to b and all that the
/// functions capture.
std::vector<Tensor> linear_solve(const LinearSystem& system, const Tensor& b, SourceLocation at);

}  // namespace rondo::control_flow
