// How the checkpoint policy of a loop prints among its node's attributes.
#pragma once

#include <cstdint>
#include <string>

#include "rondo/checkpoint.h"

namespace rondo {

namespace control_flow {

/// What Checkpoint::automatic() takes: a tape of at most so many bytes, else so many slots.
inline constexpr std::int64_t kAutomaticTapeBytes = std::int64_t{64} << 20;
inline constexpr std::int64_t kAutomaticSlots = 64;

/// What a loop that reverse mode made keeps for the way back.
struct Residuals {
  Checkpoint policy;  // what was chosen, never automatic
  std::int64_t arrays = 0;
  std::int64_t bytes = 0;
  bool operator==(const Residuals&) const = default;
};

}  // namespace control_flow

inline void print_field(std::string& out, const Checkpoint& checkpoint) {
  static constexpr const char* kNames[] = {"automatic", "tape",     "online",
                                           "revolve",   "periodic", "none"};
  out += kNames[static_cast<int>(checkpoint.policy)];
  if (checkpoint.slots) out += '(' + std::to_string(checkpoint.slots) + ')';
}

namespace control_flow {

inline void print_field(std::string& out, const Residuals& residuals) {
  using rondo::print_field;
  print_field(out, residuals.policy);
  out += ':' + std::to_string(residuals.arrays) + " arrays, " + std::to_string(residuals.bytes) +
         " bytes";
}

}  // namespace control_flow

}  // namespace rondo
