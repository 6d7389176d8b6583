// The record of dot_general.
#pragma once

#include <optional>

#include "ir/loop_nest.h"
#include "ops/support.h"
#include "rondo/ops/linear.h"

namespace rondo::ops {

/// Attributes: DotDims with axes that count from the front. Operands: lhs, rhs.
extern const ir::OpDef kDotGeneral;

/// The axes of an operand that are neither batch nor contracting, in order.
std::vector<std::int64_t> free_axes(std::int64_t rank, std::span<const std::int64_t> batch,
                                    std::span<const std::int64_t> contracting);

std::unique_ptr<ir::Kernel> prepare_dot(const Node& node);
/// None for large products, and if the kernel adds in partial sums.
ir::LoopNest dot_loops(const Node& node);
/// The same of any size; nothing for complex numbers and for arrays without elements.
std::optional<ir::Contraction> dot_contraction(const Node& node);

// dot_in_loops.cc
std::vector<Tensor> dot_in_loops(const Node& node, std::span<const Tensor> operands);

/// out (m x n) = a (m x count) b (count x n): dense matrices of one dtype, summed as dot_general's.
using MatrixProduct = void (*)(const std::byte* a, const std::byte* b, std::int64_t m,
                               std::int64_t count, std::int64_t n, std::byte* out, ir::Host& host);
MatrixProduct matrix_product(DType dtype);

}  // namespace rondo::ops
