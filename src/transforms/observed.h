// What transforms do for the reports of a function that they are given.
#pragma once

#include <span>
#include <vector>

#include "rondo/function.h"

namespace rondo::transforms {

/// Of values that were made for the results of a function, in their order:
/// those on whose way it reports.
std::vector<Tensor> observed(const Function& function, std::span<const Tensor> results);

/// In a trace, these run in any case.
void keep_observed(const Function& function, std::span<const Tensor> results);

}  // namespace rondo::transforms
