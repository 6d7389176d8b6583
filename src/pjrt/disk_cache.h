// Compiled programs on disk, for the next process.
#pragma once

#include <memory>
#include <string>

#include "pjrt/program.h"

namespace rondo::pjrt {

/// The program compiled from StableHLO text, or taken from the folder RONDO_CACHE_DIR where a
/// process has left it there. Throws as Program does; trouble with the folder is none of its
/// errors (disk_cache() counts it).
std::unique_ptr<const Program> cached_program(const std::string& text, ProgramOptions options);

}  // namespace rondo::pjrt
