// Streaming accesses: arrays that a lane loop traverses once, from the first element to the last,
// and that are too large to be in a cache before or after it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lower/program.h"
#include "native/lane_plan.h"

namespace rondo::native_code {

struct LaneStreams {
  /// Non-temporal stores: the caches need not read the lines first, nor evict others for them.
  bool stores = false;
  /// A single array that is read is prefetched. With several, the processor keeps memory busy
  /// without prefetches.
  bool loads = false;
};

/// Threshold: Bytes of prefetch distance. Set by reduce_sum in bench/anchors: 0.5 to 4 kB are
/// slower than none, 16 kB take 0.84 to 0.63 ms.
inline constexpr std::int64_t kPrefetched = std::int64_t{16} << 10;

/// For the lane loop from `begin` to `end`, which is in no other loop, or in those over long rows.
LaneStreams lane_streams(const lower::Program& program, const LaneFacts& facts, std::size_t begin,
                         std::size_t end);

}  // namespace rondo::native_code
