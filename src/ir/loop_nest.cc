#include "ir/loop_nest.h"

namespace rondo::ir {

LoopNest loop_nest(const Node& node) {
  const LoopNestRule rule = node.op->structure.loops;
  return rule ? rule(node) : LoopNest();
}

}  // namespace rondo::ir
