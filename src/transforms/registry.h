// Every op that a program can contain.
#pragma once

#include <span>

#include "ir/node.h"

namespace rondo::transforms {

/// All records, each once: those of the IR, of the ops and of control flow.
std::span<const ir::OpDef* const> all_ops();

}  // namespace rondo::transforms
