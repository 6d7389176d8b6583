// Loops with a counter: what fori_loop and scan have in common when they are lowered to a while.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control_flow/while.h"

namespace rondo::control_flow {

/// One body: the state after the trip whose index is `index`.
using Step = std::function<std::vector<Tensor>(const Tensor& index, std::vector<Tensor> state)>;

/// Indices first, first + step, ... below `limit` (reverse: the same from the last to the first).
struct CountedLoop {
  Tensor first;
  Tensor limit;
  std::int64_t step = 1;
  bool reverse = false;
  std::int64_t unroll = 1;  // kUnrollAll only where the trip count is known
  WhileAttributes attributes;
  std::vector<std::string> names;  // of the state's leaves
  SourceLocation at;
  std::int64_t carries = 0;  // the first leaves, which are the user's carry
};

/// The trip count where both bounds are constants, and the step times it is less than 2^63.
std::optional<std::int64_t> static_trip_count(const Tensor& first, const Tensor& limit,
                                              std::int64_t step);

/// The trips from `first` while below `limit`, which stand for integers of 64 bits by their bits.
std::uint64_t trip_count(std::int64_t first, std::int64_t limit, std::int64_t step, bool is_signed);
/// The same of scalars of one integer dtype; nothing where there are 2^63 trips or more.
std::optional<std::int64_t> trip_count(const Literal& first, const Literal& limit,
                                       std::int64_t step);

/// Emits the loop: one `while`, with `unroll` bodies per trip and, for a known trip count, the
/// remaining bodies in line behind it; for an unknown one a second `while` for the remainder. Zero
/// trips, where that is known, emit nothing.
std::vector<Tensor> emit_counted(const CountedLoop& loop, std::vector<Tensor> state,
                                 const Step& step);

/// The most bodies that unrolling sets one after the other.
inline constexpr std::int64_t kMostUnrolledBodies = 100'000;

/// The bodies per trip, no more than there are trips where those are known. Throws TraceError
/// unless `unroll` is positive or kUnrollAll, and for too many bodies.
std::int64_t checked_unroll(const char* construct, std::int64_t unroll,
                            std::optional<std::int64_t> trips, SourceLocation at);

}  // namespace rondo::control_flow
