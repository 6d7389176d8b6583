// The checkpoint policies of loops.
#pragma once

#include <cstdint>
#include <string>

#include "ir/layout.h"
#include "rondo/checkpoint.h"

namespace rondo::control_flow {

using ir::Residuals;

/// Threshold: Bytes of a tape that Checkpoint::automatic() keeps: memory against running bodies
/// again. Not measured alone; UnknownWhileOfArrays in bench/gradient_bench.cc runs it
/// (bench/README.md).
inline constexpr std::int64_t kAutomaticTapeBytes = std::int64_t{64} << 20;
/// Threshold: Slots beyond that: memory against running bodies again. Not measured alone;
/// UnknownWhileOnline in bench/gradient_bench.cc runs it (2.97 bodies a trip).
inline constexpr std::int64_t kAutomaticSlots = 64;

/// TraceError for a checkpoint policy with fewer than one slot or period, or more than fit.
void check_slots(const std::string& what, const Checkpoint& policy, SourceLocation at);
/// TraceError: the loop has the policy Checkpoint::none().
[[noreturn]] void refuse_reverse(const std::string& what, SourceLocation at);

}  // namespace rondo::control_flow
