// The batching rules of random numbers: each lane has the bits of its key.
#include "ops/batch_rules.h"
#include "ops/rng_bit_generator.h"
#include "ops/support.h"
#include "ops/threefry.h"
#include "rondo/loops.h"

namespace rondo::ops {

BatchValues threefry_batch(const BatchCall& c) {
  const Shape shape = ir::with_lanes(c.node.type(), c.lanes()).shape;
  ir::Operands operands;
  for (std::size_t i = 0; i < c.operands.size(); i++) {
    if (c.type(i).rank() > 0)
      operands.push_back(c.full(i));
    else  // a scalar a lane, or one for all
      operands.push_back(c.batched(i) ? ir::broadcast_lanes(c.x(i), shape, c.at()) : c.x(i));
  }
  return ir::all_batched(ir::make_many(kThreefry2x32, std::move(operands), {}, c.at()));
}

BatchValues rng_bit_generator_batch(const BatchCall& c) {
  // The op takes one state: a loop over the lanes.
  const detail::RegionCallable one_lane = [&](std::span<const Tensor> state) {
    return detail::Leaves{ir::make_many(kRngBitGenerator, {state[0]}, c.node.attributes, c.at()),
                          {"y[0]", "y[1]"}};
  };
  return ir::all_batched(
      detail::scan(one_lane, {}, {{c.x(0)}, {"xs"}}, {.name = "rng_bit_generator"}, c.at()));
}

}  // namespace rondo::ops
