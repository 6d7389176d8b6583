// The record of reductions, and reductions by the common combiners.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/derivative.h"
#include "ir/loop_nest.h"
#include "ops/combiners.h"

namespace rondo::ops {

/// The reduced axes, sorted.
struct ReduceAttributes {
  std::vector<std::int64_t> dimensions;
  bool operator==(const ReduceAttributes&) const = default;
};

/// Operands: n arrays of one shape, then n scalars of initial values. Region: (acc 0 .. acc n-1, x
/// 0 .. x n-1) -> n scalars. Each result combines its elements in row-major order, starting from
/// the initial value, except that common combiners may be applied in any order that gives the
/// documented accuracy (include/rondo/ops/reduce.h).
extern const ir::OpDef kReduce;

/// Throws unless the operands are arrays of one shape and an initial scalar for each, and the
/// region combines them: for type rules.
void check_reduced(const InferContext& context);

/// A function of the user on leaves.
using LeafFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// What a user reduces: the arrays, then the initial values in their dtypes, and the combiner.
struct ReducedLeaves {
  ir::Operands operands;
  Function combiner;
};
/// Throws TraceError for no arrays, another number of initial values, and a combiner that captures
/// tensors.
ReducedLeaves reduced_leaves(const char* op, std::vector<Tensor> operands,
                             std::vector<Tensor> inits, const LeafFunction& combine,
                             SourceLocation at);

/// One array reduced along sorted, distinct axes, starting from the combiner's identity.
Tensor reduce_by(Combiner combiner, const Tensor& x, std::vector<std::int64_t> axes,
                 SourceLocation at);

std::unique_ptr<ir::Kernel> prepare_reduce(const Node& node);
/// The loops that give the kernel's bits.
ir::LoopNest reduce_loops(const Node& node);

/// The sum along sorted axes; x itself for none. 16-bit floats are added in f32: a cotangent may
/// have many terms.
Tensor sum_of_cotangents(const Tensor& x, std::vector<std::int64_t> axes, SourceLocation at);
std::vector<std::int64_t> all_axes(const Tensor& x);

// reduce_in_loops.cc
std::vector<Tensor> reduce_in_loops(const Node& node, std::span<const Tensor> operands);

// reduce_derivatives.cc
bool is_sum(const Node& node);
std::vector<Tensor> sum_transpose(const ir::TransposeCall& c);
std::vector<Tensor> reduce_jvp(const ir::JvpCall& c);  // of reductions that are not sums

}  // namespace rondo::ops
