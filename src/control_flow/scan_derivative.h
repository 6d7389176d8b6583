// The derivative rules of scan, which those of the other counted loops lead to.
#pragma once

#include "ir/derivative.h"

namespace rondo::control_flow {

ir::Jvp scan_jvp(const ir::JvpCall& call);
ir::Reverse scan_reverse(const ir::ReverseCall& call);

}  // namespace rondo::control_flow
