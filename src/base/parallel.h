// Work that is split over threads.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace rondo {

/// Calls f(0), …, f(pieces - 1), each once and in any order, on up to `threads` threads, one of
/// which is the caller's; the others wait for work between calls. The first exception of an f is
/// thrown here when the pieces that were begun have ended; no other piece begins after it. Called
/// by an f, it stays on that thread.
void parallel_for(std::int64_t pieces, int threads, absl::FunctionRef<void(std::int64_t)> f);

}  // namespace rondo
