// Values that an equation defines, however they were found.
#pragma once

#include <functional>
#include <vector>

#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: the captures of the regions. Region 0 computes x[..., n], where the leading axes are
/// those of lanes, and further results, which have no derivative. Region 1 gives on x, captures the
/// residual F(x) of the type of x, which is 0 at the root. Region 2, which may be missing, gives on
/// x, r, captures the solution d of J d = r, where J is the Jacobian of F at x; else d is computed
/// by J.
///
/// The derivative is that of the root: J dx = -F', where F' is the tangent of F for a constant x.
extern const ir::OpDef kImplicitRoot;

struct RootEquation {
  /// x, then further results.
  std::function<std::vector<Tensor>()> solve;
  std::function<Tensor(const Tensor& x)> residual;
  /// Solves J d = r for d, linear in r; may be empty.
  std::function<Tensor(const Tensor& x, const Tensor& r)> correction = nullptr;
};

/// What solve() returns, with the derivative of the root with respect to all that the functions
/// capture. `type` is that of x: floats, a vector if there is no correction.
std::vector<Tensor> implicit_root(const RootEquation& equation, const TensorType& type,
                                  SourceLocation at);

}  // namespace rondo::control_flow
