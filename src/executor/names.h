// Names of the tensor IR and of the lower IR that this folder uses throughout.
#pragma once

#include "ir/node.h"
#include "lower/builder.h"

namespace rondo::executor {

using ir::Node;
using lower::Builder;
using lower::Element;
using lower::Opcode;
using lower::Type;
using lower::Value;

}  // namespace rondo::executor
