// while: the loop that every other one lowers to.
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

/// How a while stands for a loop of the user's, for what a run tells of it.
struct WhileSource {
  std::int64_t first = 0;                            // carries before this one are the lowering's
  std::optional<std::int64_t> count = std::nullopt;  // so many of them are the user's; else all
  std::int64_t bodies = 1;                           // a trip makes so many of the user's
  /// Where carry 0 counts the trips in steps of `advance` while it is below an invariant: the
  /// number of that operand.
  std::optional<std::int64_t> limit = std::nullopt;
  std::int64_t advance = 1;
  bool operator==(const WhileSource&) const = default;
};
void print_field(std::string& out, const WhileSource& source);

/// Operands: the carry, then the invariants. Regions: cond and body, both on all of the operands;
/// cond gives one scalar pred, body the next carry. Results: the last carry.
struct WhileAttributes {
  std::int64_t carries = 0;
  std::string name;
  std::optional<std::int64_t> trip_count;      // known from static bounds
  std::optional<std::int64_t> max_trip_count;  // promised by the user
  Checkpoint checkpoint;
  std::optional<Residuals> residuals = std::nullopt;  // of a loop that runs for a way back
  /// For the error, where a trip of this loop makes several of the one that the user promised.
  std::optional<std::int64_t> promised = std::nullopt;
  bool ends_by_itself = false;  // the condition sees to max_trip_count
  WhileSource source = {};
  bool operator==(const WhileAttributes&) const = default;
};

extern const ir::OpDef kWhile;

/// Operands: the selector, then the arguments. Regions: a branch each, all on the arguments, with
/// equal result types. A pred selects the first region when true; an s32 counts from 0 and is in
/// range (the builder clamps it).
struct ConditionalAttributes {
  std::string name;
  bool operator==(const ConditionalAttributes&) const = default;
};

extern const ir::OpDef kConditional;

/// Traces a condition and a body and makes the node. Lowerings of other loops use it as well, with
/// callables that replay regions. Carry 0 counts the trips while it is below `limit`, where that is
/// given.
std::vector<Tensor> traced_while(const detail::RegionCallable& cond,
                                 const detail::RegionCallable& body, const detail::Leaves& init,
                                 WhileAttributes attributes, SourceLocation at,
                                 const Tensor& limit = {});

}  // namespace rondo::control_flow
