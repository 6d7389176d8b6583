// The record of sorting, and the comparators that its kernel knows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/derivative.h"
#include "ops/support.h"
#include "rondo/function.h"

namespace rondo::ops {

/// A comparator that the kernel need not call: the values of one operand in their natural order.
struct KnownOrder {
  std::size_t operand = 0;
  bool descending = false;
  bool total = false;  // floats by IEEE 754's totalOrder; else -0 equals 0 and NaN is last
  bool operator==(const KnownOrder&) const = default;
};

struct SortAttributes {
  std::int64_t axis;
  bool stable;  // the kernel is always stable; other implementations need not be if this is false
  /// What the region computes, if it is such an order. Determined when the op is created, since
  /// passes rewrite regions.
  std::optional<KnownOrder> order = std::nullopt;
  bool operator==(const SortAttributes&) const = default;
};
/// Operands: n arrays of one shape. Region: (l0, r0, l1, r1, ...) -> pred, whether l goes before r.
/// The results are the operands, each line along the axis permuted alike.
extern const ir::OpDef kSort;

/// The region that orders arrays of the given dtypes by the first one: ascending, -0 equal to 0,
/// NaN last, complex numbers by their parts; or the opposite, NaN first. Made once for each list
/// and thread.
const Function& ascending_comparator(std::span<const DType> dtypes);
const Function& descending_comparator(std::span<const DType> dtypes);

/// The order of a region that is one of these, or a single comparison of the values of one operand.
std::optional<KnownOrder> known_order(const Function& region);

/// x sorted along the axis, stable, and the s32 positions in x of what is sorted. The axis is not
/// negative.
struct SortedAndPlaces {
  Tensor values, places;
};
SortedAndPlaces sorted_and_places(std::string_view op, const Tensor& x, std::int64_t axis,
                                  bool descending, SourceLocation at);

std::unique_ptr<ir::Kernel> prepare_sort(const Node& node);

// sort_few.cc
/// Whether loops sort by inline comparisons: the order is known, the elements are few.
bool sorts_few(const Node& node, const ir::LoopCode& loops);
/// The same results, bit by bit, in ops on one position of all lines.
std::vector<Tensor> sort_few(const Node& node, std::span<const Tensor> operands);

// sort_in_loops.cc
std::vector<Tensor> sort_in_loops(const Node& node, std::span<const Tensor> operands);

// sort_derivatives.cc
/// The elements of x at these places along the axis, like numpy.take_along_axis.
Tensor elements_at(const Tensor& x, const Tensor& places, std::int64_t axis);
ir::Jvp sort_jvp(const ir::JvpCall& c);
ir::Reverse sort_reverse(const ir::ReverseCall& c);

}  // namespace rondo::ops
