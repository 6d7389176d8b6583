// Arrays that a lane loop goes through once, from the first element to the last, and that are too
// large to be in a cache before or after it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lower/program.h"
#include "native/lane_plan.h"

namespace rondo::native_code {

struct LaneStreams {
  /// What is stored goes to memory past the caches: they need not read its lines first, and keep
  /// what would be lost for it.
  bool stores = false;
  /// The one array that is read is asked for ahead. Of several the processor keeps memory busy by
  /// itself.
  bool loads = false;
};

/// Threshold: Bytes of prefetch distance. Set by reduce_sum in bench/anchors: 0.5 to 4 kB are
/// slower than none, 16 kB take 0.84 to 0.63 ms.
inline constexpr std::int64_t kPrefetched = std::int64_t{16} << 10;

/// Of the lane loop from `begin` to `end`, which stands in no other loop, or in
/// those over long rows.
LaneStreams lane_streams(const lower::Program& program, const LaneFacts& facts, std::size_t begin,
                         std::size_t end);

}  // namespace rondo::native_code
