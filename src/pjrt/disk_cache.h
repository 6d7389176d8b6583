// Caches compiled programs on disk, for later processes.
#pragma once

#include <memory>
#include <string>

#include "pjrt/program.h"

namespace rondo::pjrt {

/// The program compiled from StableHLO text, or loaded from the directory RONDO_CACHE_DIR if
/// another process has stored it there. Throws as Program does; failures of the cache are not
/// errors (disk_cache() counts them).
std::unique_ptr<const Program> cached_program(const std::string& text, ProgramOptions options);

}  // namespace rondo::pjrt
