// How reverse mode keeps the states of a loop.
#pragma once

#include <cstdint>

namespace rondo {

/// What the reverse pass of a loop stores, and what it computes again: docs/gradients.md compares
/// them. Reverse mode throws TraceError for other numbers of slots than 1 to 30000, and for a
/// period below 1.
struct Checkpoint {
  enum class Policy : std::uint8_t { kAutomatic, kTape, kOnline, kRevolve, kPeriodic, kNone };
  Policy policy = Policy::kAutomatic;
  std::int64_t slots = 0;  // of online and revolve; the period of periodic

  /// A tape where the trip count is known or promised and the tape holds at most 64 MiB, or where
  /// a trip has no residuals; otherwise 64 slots, placed as revolve() does where the trip count is
  /// known, else as online() does. A loop of unknown length in a traced program that runs on this
  /// machine has a tape that grows for the first trips, as many as 64 MiB hold, and slots for those
  /// after them: docs/gradients.md says where it has slots only.
  static constexpr Checkpoint automatic() { return {}; }
  /// The residuals of every trip are stored. Without a known or promised trip count the tape grows
  /// while the program runs, and such a program has no text; outside all traces, where each value
  /// is evaluated by itself, it is as online(64) then.
  static constexpr Checkpoint tape() { return {Policy::kTape, 0}; }
  /// n carries are stored, whatever the number of trips.
  static constexpr Checkpoint online(std::int64_t n) { return {Policy::kOnline, n}; }
  /// n carries, placed optimally for a known number of trips; as online(n) for an unknown one.
  static constexpr Checkpoint revolve(std::int64_t n) { return {Policy::kRevolve, n}; }
  /// Every p-th carry, and the residuals of one period, for a known or promised trip count; as
  /// online(64) for an unknown one.
  static constexpr Checkpoint periodic(std::int64_t p) { return {Policy::kPeriodic, p}; }
  /// The loop is not to be differentiated in reverse: that is a TraceError.
  static constexpr Checkpoint none() { return {Policy::kNone, 0}; }
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

}  // namespace rondo
