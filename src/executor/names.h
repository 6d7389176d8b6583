// Names of the IR above and of the lower one that this folder uses on every page.
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
