// How reverse mode keeps the states of a loop.
#pragma once

#include <cstdint>

namespace rondo {

/// What the reverse pass of a loop stores, and what it computes again.
struct Checkpoint {
  enum class Policy : std::uint8_t { kAutomatic, kTape, kOnline, kRevolve, kPeriodic, kNone };
  Policy policy = Policy::kAutomatic;
  std::int64_t slots = 0;  // of online and revolve; the period of periodic

  /// A tape where the trip count is known and the memory small, online otherwise.
  static constexpr Checkpoint automatic() { return {}; }
  /// Every state is stored.
  static constexpr Checkpoint tape() { return {Policy::kTape, 0}; }
  /// n slots, whatever the number of trips.
  static constexpr Checkpoint online(std::int64_t n) { return {Policy::kOnline, n}; }
  /// n slots, placed optimally for a known number of trips.
  static constexpr Checkpoint revolve(std::int64_t n) { return {Policy::kRevolve, n}; }
  /// Every p-th state is stored.
  static constexpr Checkpoint periodic(std::int64_t p) { return {Policy::kPeriodic, p}; }
  /// The loop is not to be differentiated in reverse.
  static constexpr Checkpoint none() { return {Policy::kNone, 0}; }
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

}  // namespace rondo
