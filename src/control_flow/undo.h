// Loops that overwrite an array in parts: their backward pass undoes the writes, so only the
// overwritten parts are kept, not the array.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "control_flow/split.h"

namespace rondo::control_flow {

/// The joint program of a body, in which the backward pass obtains arrays among the first `carries`
/// carries by undoing the trip's writes: the result of such a carry is a further parameter, and its
/// value before the trip a further result. The joint program's `undone` lists these carries. A
/// carry qualifies if its result is its parameter with parts overwritten in sequence, by ops
/// that insert one part (ir::InsertionMap) or by constructs that restore it themselves. Nullopt if
/// the backward pass needs no such carry. `kept` are the residuals of the unchanged `joint`: what
/// can be computed from such a carry and these is recomputed.
std::optional<JointBody> with_writes_undone(const JointBody& joint,
                                            const std::vector<Availability>& availability,
                                            std::size_t carries, std::span<const Tensor> kept,
                                            ir::Derivatives& derivatives);

}  // namespace rondo::control_flow
