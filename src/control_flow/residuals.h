// Which values of the forward run a derivative keeps for its backward pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control_flow/split.h"

namespace rondo::control_flow {

struct ChosenResiduals {
  std::vector<Tensor> kept;  // values of the joint program, in its order
  /// Carries whose result the backward pass uses although it is not kept: it equals the parameter
  /// of the following trip, which is kept and which the backward pass visits first.
  std::vector<std::size_t> next_carries;
};

/// Whether recomputing a value is better than keeping it: one pass over its elements. Not for a
/// slice at a position that is an operand: recomputing it needs the array, of which a loop reads
/// one row in each trip.
bool is_one_pass(const ir::Node* node);

/// Chooses residuals so that few bytes are kept: no invariant or available values, nothing that is
/// cheap to compute from other kept values, and one value in place of several that are cheap to
/// compute from it. In a loop with `carries` carries, the result of a carry is not kept beside its
/// parameter. Results from `first_stacked` on are kept anyway. Takes time linear in the program.
ChosenResiduals choose_residuals(const JointBody& joint,
                                 const std::vector<Availability>& availability, std::size_t carries,
                                 std::size_t first_stacked);

}  // namespace rondo::control_flow
