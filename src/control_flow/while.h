// while: the loop to which all others lower.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control_flow/checkpoint.h"
#include "ir/node.h"
#include "rondo/loops.h"

namespace rondo::control_flow {

/// Operands: the carry, then the invariants. Regions: cond and body, both on all of the operands;
/// cond gives one scalar pred, body the next carry. Results: the last carry.
struct WhileAttributes {
  std::int64_t carries = 0;
  std::string name;
  std::optional<std::int64_t> trip_count;      // known from static bounds
  std::optional<std::int64_t> max_trip_count;  // promised by the user
  Checkpoint checkpoint;
  std::optional<Residuals> residuals = std::nullopt;  // of a forward run for a backward pass
  /// For the error message, if one trip of this loop makes several of the promised ones.
  std::optional<std::int64_t> promised = std::nullopt;
  bool ends_by_itself = false;  // the condition enforces max_trip_count
  ir::LoopSource source = {};
  bool operator==(const WhileAttributes&) const = default;
};

extern const ir::OpDef kWhile;

/// Traces a condition and a body and creates the node. Lowerings of other loops use it with
/// callables that replay regions.
std::vector<Tensor> traced_while(const detail::RegionCallable& cond,
                                 const detail::RegionCallable& body, const detail::Leaves& init,
                                 WhileAttributes attributes, SourceLocation at);

}  // namespace rondo::control_flow
