// The reference backend: runs node by node, on literals.
#pragma once

#include "ir/backend.h"

namespace rondo::interpreter {

const ir::Backend& reference_backend();

}  // namespace rondo::interpreter
