// The record of sorting, and the comparators that its kernel knows.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/derivative.h"
#include "ops/support.h"
#include "rondo/function.h"

namespace rondo::ops {

struct SortAttributes {
  std::int64_t axis;
  bool stable;  // the kernel always is; others need not be where this is false
  bool operator==(const SortAttributes&) const = default;
};
/// Operands: n arrays of one shape. Region: (l0, r0, l1, r1, ...) -> pred, whether l goes before r.
/// The results are the operands, each line along the axis permuted alike.
extern const ir::OpDef kSort;

/// The region that orders arrays of the given dtypes by the first one: ascending, -0 equal to 0,
/// NaN last, complex numbers by their parts. Made once for each list and shared.
const Function& ascending_comparator(std::span<const DType> dtypes);

/// How a comparator that the kernel knows orders the values of one operand.
struct KnownOrder {
  std::size_t operand = 0;
  bool descending = false;
  bool total = false;  // floats by IEEE 754's totalOrder; else -0 equals 0 and NaN is last
};
/// The order of a region that is ascending_comparator, or a single comparison of the values of one
/// operand.
std::optional<KnownOrder> known_order(const Function& region);

void sort_kernel(KernelCall& call);

// sort_derivatives.cc
ir::Jvp sort_jvp(const ir::JvpCall& c);
ir::Reverse sort_reverse(const ir::ReverseCall& c);

}  // namespace rondo::ops
