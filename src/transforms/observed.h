// Keeps the observers of the functions that transforms get.
#pragma once

#include <span>
#include <vector>

#include "rondo/function.h"

namespace rondo::transforms {

/// Of values that were computed for the results of a function, in their order: those that depend on
/// an observer.
std::vector<Tensor> observed(const Function& function, std::span<const Tensor> results);

/// Makes these run even if their results are unused, in a trace.
void keep_observed(const Function& function, std::span<const Tensor> results);

}  // namespace rondo::transforms
