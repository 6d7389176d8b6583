// Which values of the forward run a derivative keeps for its backward pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control_flow/split.h"

namespace rondo::control_flow {

struct ChosenResiduals {
  std::vector<Tensor> kept;  // values of the joint program, in its order
  /// Carries whose result the backward pass uses without its being kept: it is the parameter of
  /// the trip after, which the backward pass has seen and which is kept.
  std::vector<std::size_t> next_carries;
};

/// Whether a value is worth less to keep than to compute again: one pass over its elements. A part
/// whose place is an operand is not: to have it again takes the array, of which a loop reads a row
/// in each trip.
bool is_one_pass(const ir::Node* node);

/// Few bytes are kept: nothing that is invariant or available, nothing that is cheap to compute
/// from what is, and one value in the place of several that are cheap to compute from it. Of a loop
/// with `carries` the result of a carry is not kept beside its parameter. Results from
/// `first_stacked` on are kept anyway. Takes time linear in the program.
ChosenResiduals choose_residuals(const JointBody& joint,
                                 const std::vector<Availability>& availability, std::size_t carries,
                                 std::size_t first_stacked);

}  // namespace rondo::control_flow
