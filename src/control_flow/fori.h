// fori_loop: a loop over integer indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control_flow/checkpoint.h"
#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: lower, upper (integer scalars of one dtype), the carry, then the invariants. Region:
/// the body on (index, carry, invariants), which returns the next carry. Results: the last carry.
struct ForiAttributes {
  std::int64_t carries = 0;
  std::int64_t step = 1;
  std::int64_t unroll = 1;
  bool reverse = false;
  std::string name;
  std::optional<std::int64_t> trip_count;  // of constant bounds
  Checkpoint checkpoint;
  bool operator==(const ForiAttributes&) const = default;
};

extern const ir::OpDef kForiLoop;

/// The indices of all trips, from first to last, for a known trip count.
Tensor fori_indices(const ir::Node& node, const Tensor& lower);

}  // namespace rondo::control_flow
