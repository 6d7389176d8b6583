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

}  // namespace control_flow

inline void print_field(std::string& out, const Checkpoint& checkpoint) {
  static constexpr const char* kNames[] = {"automatic", "tape",     "online",
                                           "revolve",   "periodic", "none"};
  out += kNames[static_cast<int>(checkpoint.policy)];
  if (checkpoint.slots) out += '(' + std::to_string(checkpoint.slots) + ')';
}

}  // namespace rondo
