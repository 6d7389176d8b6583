// Derivatives against finite differences, for rondo::check_grads and the tests of derivatives.
#pragma once

#include <cstdint>
#include <string>

#include "rondo/loops.h"

namespace rondo::gradient_check {

/// What is compared, and how precisely. A step or tolerance of 0 means the best for the dtype: the
/// coarsest of the arguments and results.
struct DerivativeComparison {
  int order = 1;
  bool forward = true;
  bool reverse = true;
  double step = 0;
  double rtol = 0;  // of the largest number of a leaf
  double atol = 0;
  std::uint64_t seed = 1;  // of the directions
};

/// The error in the derivatives of f at these arguments, "" if there is none. Floats and complex
/// numbers are moved, integers and preds held fixed.
///
/// Compares the tangent along a random direction with the central difference, and the pullback of a
/// random cotangent with the tangent (both give the same scalar; without forward mode, with the
/// difference). Then, up to the requested order, does the same with the tangent and with the
/// pullback as functions of the arguments: forward over forward, reverse over forward, forward over
/// reverse, reverse over reverse.
///
/// Throws TraceError if nothing can be differentiated or a leaf is f16 or bf16, and whatever f and
/// its derivatives throw.
std::string derivative_failure(const detail::RegionCallable& f, const detail::Leaves& arguments,
                               const DerivativeComparison& comparison, SourceLocation at);

}  // namespace rondo::gradient_check
