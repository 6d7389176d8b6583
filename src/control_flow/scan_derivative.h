// Reverse mode of scan, to which the other counted loops reduce theirs.
#pragma once

#include "ir/derivative.h"

namespace rondo::control_flow {

ir::Reverse scan_reverse(const ir::ReverseCall& call);

}  // namespace rondo::control_flow
