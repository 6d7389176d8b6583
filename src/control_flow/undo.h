// Loops that overwrite an array part by part: their backward pass undoes the writes, so that what
// was overwritten is kept in place of the array.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "control_flow/split.h"

namespace rondo::control_flow {

/// The program of a body and its backward pass in which the backward pass has arrays among the
/// first `carries` carries by undoing what the trip wrote in them: the result of such a carry is
/// one more parameter, the carry as it was before the trip one more result, and the joint program's
/// `undone` says which these are. A carry is such an array where its result is its parameter with
/// parts overwritten one after the other, by ops whose record has `overwritten` or by constructs
/// that restore it themselves. None where there is no such carry that the backward pass needs.
/// `kept` are the residuals of `joint` as it is: what is computed from such a carry and these is
/// computed again.
std::optional<JointBody> with_writes_undone(const JointBody& joint,
                                            const std::vector<Availability>& availability,
                                            std::size_t carries, std::span<const Tensor> kept,
                                            ir::Derivatives& derivatives);

}  // namespace rondo::control_flow
