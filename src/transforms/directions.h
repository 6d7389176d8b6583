// Evaluates linear programs along each direction, which gives the rows of a Jacobian.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "rondo/function.h"
#include "rondo/tensor.h"

namespace rondo::transforms {

/// Maps tangents, or cotangents, of some types to the results of a program.
using Along = std::function<std::vector<Tensor>(std::span<const Tensor> tangents)>;

/// `along` for each element of the types, in order: the tangent is 1 there and 0 elsewhere. Row i
/// of each result is that of element i.
///
/// What does not depend on the tangents is computed once per batch of directions. A batch has so
/// many that the largest array of the program times their number has kBatchBytes. If one batch does
/// not suffice, a loop runs over the batches.
std::vector<Tensor> along_each(std::span<const TensorType> types, const Along& along,
                               SourceLocation at);

/// Threshold: Bytes of the largest array of a batch of directions: what does not depend on tangents
/// is shared by a batch, but a batch should fit a cache. Not measured.
inline constexpr std::int64_t kBatchBytes = 1 << 20;

/// Threshold: Directions of several arrays that share one batch, padded with zeros: fewer batches
/// against arithmetic on zeros. Not measured.
inline constexpr std::int64_t kMostTogether = 64;

}  // namespace rondo::transforms
