// scan: a loop over the slices of arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control_flow/checkpoint.h"
#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: the carry, the xs, then the invariants. Region: the body on (carry, slices of xs,
/// invariants), which returns the next carry and the trip's ys. Results: the last carry and the ys,
/// stacked along `axis`.
struct ScanAttributes {
  std::int64_t carries = 0;
  std::int64_t xs = 0;
  std::int64_t length = 0;
  std::int64_t axis = 0;
  std::int64_t unroll = 1;
  bool reverse = false;
  std::string name;
  Checkpoint checkpoint;
  std::optional<Residuals> residuals = std::nullopt;  // of a forward run for a backward pass
  bool operator==(const ScanAttributes&) const = default;
};

extern const ir::OpDef kScan;

/// The type of a slice: without `axis`. And of stacked slices: `axis` has `length`.
TensorType slice_type(const TensorType& stacked, std::int64_t axis);
TensorType stacked_type(const TensorType& slice, std::int64_t axis, std::int64_t length);
/// Slice `index` along `axis`; and `stacked` with `slice` written there.
Tensor read_slice(const Tensor& stacked, const Tensor& index, std::int64_t axis, SourceLocation at);
Tensor write_slice(const Tensor& stacked, const Tensor& slice, const Tensor& index,
                   std::int64_t axis, SourceLocation at);

}  // namespace rondo::control_flow
