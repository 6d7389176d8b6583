// Reverse mode of scan, which that of the other counted loops leads to.
#pragma once

#include "ir/derivative.h"

namespace rondo::control_flow {

ir::Reverse scan_reverse(const ir::ReverseCall& call);

}  // namespace rondo::control_flow
