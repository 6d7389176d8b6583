// Counted loops: how fori_loop and scan expand to `for`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control_flow/for.h"

namespace rondo::control_flow {

/// One body: returns the state after the trip with this index.
using Step = std::function<std::vector<Tensor>(const Tensor& index, std::vector<Tensor> state)>;

/// Indices first, first + step, ... below `limit`; `reverse`: the same indices from the last to the
/// first.
struct CountedLoop {
  Tensor first;
  Tensor limit;
  std::int64_t step = 1;
  bool reverse = false;
  std::int64_t unroll = 1;  // kUnrollAll only if the trip count is known
  ForAttributes attributes;
  std::vector<std::string> names;  // of the state's leaves
  SourceLocation at;
  std::int64_t carries = 0;  // the first leaves, which are the user's carry
};

/// The bits of a constant bound. An evaluated tensor does not count as one: a trace must not depend
/// on what was evaluated before.
std::optional<std::int64_t> static_bound(const Tensor& bound);
/// A scalar constant of those bits, of an integer dtype.
Tensor integer(std::int64_t value, DType dtype, SourceLocation at);
/// The bits of the index after so many trips.
std::int64_t index_after(std::int64_t first, std::int64_t trips, std::int64_t step);

/// The trip count if both bounds are constants and it times the step is less than 2^63. A negative
/// step counts down, here and below for literals.
std::optional<std::int64_t> static_trip_count(const Tensor& first, const Tensor& limit,
                                              std::int64_t step);

/// The trips from `first` while below `limit`. Both are the bits of integers of 64 bits.
std::uint64_t trip_count(std::int64_t first, std::int64_t limit, std::int64_t step, bool is_signed);
/// The same for scalars of one integer dtype; nullopt for 2^63 trips or more.
std::optional<std::int64_t> trip_count(const Literal& first, const Literal& limit,
                                       std::int64_t step);

/// Emits the loop: one `for` with `unroll` bodies per trip. The remaining bodies follow it
/// unrolled if the trip count is known, or else as a second `for`. If the trip count is known to
/// be zero, nothing is emitted.
std::vector<Tensor> emit_counted(const CountedLoop& loop, std::vector<Tensor> state,
                                 const Step& step);

/// The most bodies that unrolling may emit.
inline constexpr std::int64_t kMostUnrolledBodies = 100'000;

/// The number of bodies per trip, at most the number of trips if that is known. Throws TraceError
/// unless `unroll` is positive or kUnrollAll, and for too many bodies.
std::int64_t checked_unroll(const char* construct, std::int64_t unroll,
                            std::optional<std::int64_t> trips, SourceLocation at);

}  // namespace rondo::control_flow
