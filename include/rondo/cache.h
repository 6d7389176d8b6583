// The caches of executables: of lazy graphs and of jitted functions.
#pragma once

#include <cstdint>

#include "rondo/export.h"

namespace rondo {

/// What the caches of executables hold together, and how often look-ups succeeded.
struct CacheStats {
  std::int64_t executables = 0;
  /// Programs with their nodes, code and constants, and their keys; without what only some runs
  /// create (with limits, checks, or on several threads).
  std::int64_t bytes = 0;
  /// See limit_executable_cache.
  std::int64_t limit = 0;
  /// Since the program started.
  std::int64_t hits = 0;
  std::int64_t misses = 0;
};
/// The statistics of the caches now, of all threads together.
RONDO_API CacheStats executable_cache();

/// Releases all cached executables. Runs in progress are not affected; the next evaluation of a
/// lazy graph and the next call of a jitted function compile again.
RONDO_API void clear_executable_cache();

/// Sets how many bytes the caches may hold together; the default is 256 MiB. Beyond that the least
/// recently used executables are evicted; the last used one stays, however large. Throws Error for
/// a negative number.
RONDO_API void limit_executable_cache(std::int64_t bytes);

}  // namespace rondo
