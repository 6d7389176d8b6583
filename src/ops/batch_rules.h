// The batching rules of ops that are not elementwise, for their records.
#pragma once

#include "ir/batch.h"

namespace rondo::ops {

using ir::BatchCall;
using ir::BatchValues;

// Shapes and constant positions (shape_batch.cc).
BatchValues broadcast_batch(const BatchCall& c);
BatchValues reshape_batch(const BatchCall& c);
BatchValues transpose_batch(const BatchCall& c);
BatchValues reverse_batch(const BatchCall& c);
BatchValues slice_batch(const BatchCall& c);
BatchValues pad_batch(const BatchCall& c);
BatchValues concatenate_batch(const BatchCall& c);

// Positions known only at run time (indexing_batch.cc).
BatchValues dynamic_slice_batch(const BatchCall& c);
BatchValues dynamic_update_slice_batch(const BatchCall& c);
Tensor dynamic_update_slice_blend(const ir::Node& node, std::span<const Tensor> operands,
                                  const Tensor& active);
BatchValues gather_batch(const BatchCall& c);
BatchValues scatter_batch(const BatchCall& c);
Tensor scatter_blend(const ir::Node& node, std::span<const Tensor> operands, const Tensor& active);

// Reductions, order, products (reduce_batch.cc).
BatchValues reduce_batch(const BatchCall& c);
BatchValues arg_extreme_batch(const BatchCall& c);
BatchValues cumulative_batch(const BatchCall& c);
BatchValues sort_batch(const BatchCall& c);
BatchValues dot_batch(const BatchCall& c);
Tensor dot_batch_sum(const BatchCall& c);

// Random numbers (random_batch.cc).
BatchValues threefry_batch(const BatchCall& c);
BatchValues rng_bit_generator_batch(const BatchCall& c);

}  // namespace rondo::ops
