// for: the counted loop to which fori_loop and scan expand, and whiles that count.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control_flow/checkpoint.h"
#include "control_flow/region_trace.h"
#include "ir/layout.h"
#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: the first index and the limit (integer scalars of one dtype), the carry, then the
/// invariants. Region: the body on (index, carry, invariants), which returns the next carry. The
/// indices are first, first + step, ... below the limit; above it for a negative step. Results: the
/// last carry.
struct ForAttributes {
  std::int64_t carries = 0;
  std::int64_t step = 1;  // not 0
  std::string name;
  std::optional<std::int64_t> trip_count;  // of constant bounds
  Checkpoint checkpoint;
  std::optional<Residuals> residuals = std::nullopt;  // of a forward run for a backward pass
  bool independent = false;  // no trip reads what another one writes, and there are no observers
  ir::LoopSource source = {};
  bool operator==(const ForAttributes&) const = default;
};

extern const ir::OpDef kFor;

/// Traces the body, which gets the index and the carry, and creates the node. The trip count is
/// that of the bounds.
std::vector<Tensor> traced_for(const detail::RegionCallable& body, const Tensor& first,
                               const Tensor& limit, const detail::Leaves& init,
                               ForAttributes attributes, SourceLocation at);

/// A while that counts (ir::counts), as a for that carries the same values.
std::vector<Tensor> while_as_for(const ir::Node& node, std::span<const Tensor> operands);

}  // namespace rondo::control_flow
