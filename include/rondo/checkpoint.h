// How reverse mode stores the states of a loop.
#pragma once

#include <cstdint>

namespace rondo {

/// What a loop stores for its backward pass, and what the backward pass recomputes:
/// docs/gradients.md compares them. Reverse mode throws TraceError for other numbers of slots than
/// 1 to 30000, and for a period below 1.
struct Checkpoint {
  enum class Policy : std::uint8_t { kAutomatic, kTape, kOnline, kRevolve, kPeriodic, kNone };
  Policy policy = Policy::kAutomatic;
  std::int64_t slots = 0;  // of online and revolve; the period of periodic

  /// A tape if the trip count is known or promised and the tape holds at most 64 MiB, or if a trip
  /// has no residuals; otherwise 64 slots, placed like revolve() if the trip count is known, else
  /// like online(). A loop of unknown length in a traced program that runs on the host has a
  /// growing tape for the first trips, as many as 64 MiB hold, and slots for the later ones:
  /// docs/gradients.md says where it has slots only.
  static constexpr Checkpoint automatic() { return {}; }
  /// Stores the residuals of every trip. Without a known or promised trip count the tape grows
  /// while the program runs, and such a program has no text. Outside all traces, where each value
  /// is evaluated separately, it is then online(64).
  static constexpr Checkpoint tape() { return {Policy::kTape, 0}; }
  /// Stores n carries, whatever the number of trips.
  static constexpr Checkpoint online(std::int64_t n) { return {Policy::kOnline, n}; }
  /// Stores n carries, placed optimally for a known number of trips; online(n) for an unknown one.
  static constexpr Checkpoint revolve(std::int64_t n) { return {Policy::kRevolve, n}; }
  /// Stores every p-th carry, and the residuals of one period, for a known or promised trip count;
  /// online(64) for an unknown one.
  static constexpr Checkpoint periodic(std::int64_t p) { return {Policy::kPeriodic, p}; }
  /// Reverse mode of the loop is a TraceError.
  static constexpr Checkpoint none() { return {Policy::kNone, 0}; }
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

}  // namespace rondo
