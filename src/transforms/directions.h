// Linear programs along each of their directions, which is what a Jacobian consists of.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "rondo/function.h"
#include "rondo/tensor.h"

namespace rondo::transforms {

/// What a program gives for tangents, or cotangents, of some types.
using Along = std::function<std::vector<Tensor>(std::span<const Tensor> tangents)>;

/// `along` for each element of the types, in order: the tangent is 1 there and 0 elsewhere. Row i
/// of each result is that of element i.
///
/// What does not depend on the tangents is computed once for a batch of directions: of so many that
/// the largest array of the program, times them, has kBatchBytes. Where these are not all, a loop
/// goes through the batches.
std::vector<Tensor> along_each(std::span<const TensorType> types, const Along& along,
                               SourceLocation at);

/// Threshold: Bytes of the largest array of a batch of directions: what does not depend on tangents
/// is shared by a batch, but a batch should fit a cache. Not measured.
inline constexpr std::int64_t kBatchBytes = 1 << 20;

/// Threshold: Directions of several arrays that go into one batch, zeros and all: fewer batches
/// against arithmetic on zeros. Not measured.
inline constexpr std::int64_t kMostTogether = 64;

}  // namespace rondo::transforms
