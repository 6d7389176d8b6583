#include "ir/loop_nest.h"

namespace rondo::ir {

std::optional<Contraction> contraction(const Node& node) {
  const auto rule = node.op->structure.contraction;
  return rule ? rule(node) : std::nullopt;
}

LoopNest loop_nest(const Node& node) {
  const LoopNestRule rule = node.op->structure.loops;
  return rule ? rule(node) : LoopNest();
}

}  // namespace rondo::ir
