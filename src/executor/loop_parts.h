// What the three kinds of loops that the executor runs have in common: a while, a loop over lanes
// that stop one by one, and a loop that counts.
#pragma once

#include <cstddef>
#include <span>

#include "ir/layout.h"
#include "ir/node.h"

namespace rondo::executor {

struct LoopParts {
  explicit LoopParts(const ir::Node& loop)
      : counts(loop.op->construct.flow == ir::Flow::kCount),
        fixed(counts ? 2 : 0),
        before(counts || loop.op->construct.lane_loop ? 1 : 0),
        operands(std::span<const Tensor>(loop.operands).subspan(fixed)),
        body(loop.regions[counts ? 0 : 1]),
        condition(counts ? nullptr : &loop.regions[0]) {}

  const Tensor& parameter(std::size_t i) const { return body.parameters()[before + i]; }

  bool counts;                       // its first operands are the first index and the limit
  std::size_t fixed;                 // operands before these
  std::size_t before;                // parameters of the body before those for `operands`: the
                                     // index, or whether the lane is active
  std::span<const Tensor> operands;  // the carry, then the invariants
  const Function& body;
  const Function* condition;  // null if it counts
};

}  // namespace rondo::executor
