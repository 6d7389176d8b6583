// How the checkpoint policy of a loop prints among its node's attributes.
#pragma once

#include <string>

#include "rondo/checkpoint.h"

namespace rondo {

inline void print_field(std::string& out, const Checkpoint& checkpoint) {
  static constexpr const char* kNames[] = {"automatic", "tape",     "online",
                                           "revolve",   "periodic", "none"};
  out += kNames[static_cast<int>(checkpoint.policy)];
  if (checkpoint.slots) out += '(' + std::to_string(checkpoint.slots) + ')';
}

}  // namespace rondo
