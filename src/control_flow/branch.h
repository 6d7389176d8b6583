// conditional: the node that cond and switch_case create.
#pragma once

#include <string>

#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: the selector, then the arguments. Regions: one per branch, all on the arguments, with
/// equal result types. A pred selects the first region when true; an s32 counts from 0 and is in
/// range (switch_case clamps it).
struct ConditionalAttributes {
  std::string name;
  bool operator==(const ConditionalAttributes&) const = default;
};

extern const ir::OpDef kConditional;

}  // namespace rondo::control_flow
