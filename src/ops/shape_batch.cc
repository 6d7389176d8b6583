// The batching rules of ops that move elements to constant positions: the axis of lanes stays in
// front, and axes are counted after it.
#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/concatenate.h"
#include "ops/pad.h"
#include "ops/permute.h"
#include "ops/slice.h"
#include "ops/support.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

using ir::behind_lanes;
using ir::with_first;

BatchValues broadcast_batch(const BatchCall& c) {
  const auto& a = c.node.attrs<BroadcastAttributes>();
  return ir::batch_with(c, BroadcastAttributes{Shape(with_first(c.lanes(), a.shape.dims())),
                                               with_first(0, behind_lanes(a.dimensions))});
}

BatchValues reshape_batch(const BatchCall& c) {
  const auto& a = c.node.attrs<ReshapeAttributes>();
  return ir::batch_with(c, ReshapeAttributes{Shape(with_first(c.lanes(), a.shape.dims()))});
}

BatchValues transpose_batch(const BatchCall& c) {
  const auto& a = c.node.attrs<TransposeAttributes>();
  return ir::batch_with(c, TransposeAttributes{with_first(0, behind_lanes(a.permutation))});
}

BatchValues reverse_batch(const BatchCall& c) {
  return ir::batch_with(c, ReverseAttributes{behind_lanes(c.node.attrs<ReverseAttributes>().axes)});
}

BatchValues slice_batch(const BatchCall& c) {
  const auto& a = c.node.attrs<SliceAttributes>();
  return ir::batch_with(c, SliceAttributes{with_first(0, a.starts), with_first(c.lanes(), a.limits),
                                           with_first(1, a.strides)});
}

BatchValues pad_batch(const BatchCall& c) {
  const auto& a = c.node.attrs<PadAttributes>();
  const PadAttributes behind{with_first(0, a.low), with_first(0, a.high),
                             with_first(0, a.interior)};
  const SourceLocation at = c.at();
  const auto padded = [&](const Tensor& x, const Tensor& value) {
    return make(kPad, {x, value}, behind, at);
  };
  const Tensor x = c.full(0);
  if (!c.batched(1)) return ir::all_batched({padded(x, c.x(1))});
  // The op pads with one scalar: each lane's padding value is selected where a mask was padded.
  const Tensor is_padding =
      padded(broadcast_to(Operand(Tensor(false), at), x.shape().vector()), Tensor(true));
  const Tensor zero = ir::make_constant(Literal::zeros({x.dtype(), {}}), at);
  return ir::all_batched(
      {where(Operand(is_padding, at),
             Operand(broadcast_in_dim(Operand(c.x(1), at), is_padding.shape().vector(), {0}), at),
             Operand(padded(x, zero), at))});
}

BatchValues concatenate_batch(const BatchCall& c) {
  return ir::batch_with(c, ConcatenateAttributes{c.node.attrs<ConcatenateAttributes>().axis + 1});
}

}  // namespace rondo::ops
