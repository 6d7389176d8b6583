// Work split over threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace rondo {

/// Calls f(0), …, f(pieces - 1), each once and in any order, on up to `threads` threads, one of
/// which is the caller's; the others wait for work between calls. If an f throws, no later piece
/// starts, but earlier ones still run. The exception of the first piece that throws is rethrown
/// here when all started pieces have ended. A call within an f stays on that thread. `in_order`: a
/// piece starts after all earlier ones have started.
void parallel_for(std::int64_t pieces, int threads, absl::FunctionRef<void(std::int64_t)> f,
                  bool in_order = false);

/// In a piece: whether an earlier one has failed, so that the result of this one is unused.
bool earlier_piece_failed();

/// A section of a parallel_for whose pieces start in order: the pieces pass through it one after
/// the other.
class OrderedSection {
 public:
  /// Returns when all earlier pieces have passed; false if one of them never will.
  bool wait(std::int64_t piece);
  /// After wait(piece).
  void pass(std::int64_t piece);
  /// A piece has failed: ends all waiting.
  void end();

 private:
  static constexpr std::int64_t kEnded = -1;
  std::atomic<std::int64_t> next_{0};
};

}  // namespace rondo
