// The records of this folder: loops, branches, calls and what they are made of.
#pragma once

#include <span>

#include "ir/node.h"

namespace rondo::control_flow {

std::span<const ir::OpDef* const> construct_records();

}  // namespace rondo::control_flow
