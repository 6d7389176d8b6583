// The executables that the library keeps: of lazy graphs and of jitted functions.
#pragma once

#include <cstdint>

#include "rondo/export.h"

namespace rondo {

/// What the caches of executables hold, all together, and how often they were of use.
struct CacheStats {
  std::int64_t executables = 0;
  /// Programs with their nodes, code and constants, and what they are looked up by; without what
  /// only some runs make (with limits, checks, or on several threads).
  std::int64_t bytes = 0;
  /// See limit_executable_cache.
  std::int64_t limit = 0;
  /// Since the program began.
  std::int64_t hits = 0;
  std::int64_t misses = 0;
};
RONDO_API CacheStats executable_cache();

/// Lets go of all cached executables. What runs at the time ends as it would; the next evaluation
/// of a lazy graph and the next call of a jitted function compile again.
RONDO_API void clear_executable_cache();

/// Sets how many bytes the caches may hold together, 256 MiB at first. Where they are exceeded, the
/// executables that were not used for the longest time go first; the one that was used last stays,
/// however large. Throws Error for a negative number.
RONDO_API void limit_executable_cache(std::int64_t bytes);

}  // namespace rondo
