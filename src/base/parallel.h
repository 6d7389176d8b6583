// Work that is split over threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace rondo {

/// Calls f(0), …, f(pieces - 1), each once and in any order, on up to `threads` threads, one of
/// which is the caller's; the others wait for work between calls. Where an f throws, no piece after
/// it begins; those before it run, and the exception of the first piece that throws is thrown here
/// when the pieces that were begun have ended. Called by an f, it stays on that thread.
/// `in_order`: a piece begins after those before it have begun.
void parallel_for(std::int64_t pieces, int threads, absl::FunctionRef<void(std::int64_t)> f,
                  bool in_order = false);

/// In a piece: whether one before it has failed, so that what this one makes is unused.
bool earlier_piece_failed();

/// Lets the pieces of a parallel_for that begin in order do something one after the other.
class OrderedSection {
 public:
  /// Returns when the pieces before this one have passed their turns; false where one of them never
  /// will.
  bool wait(std::int64_t piece);
  /// After wait(piece).
  void pass(std::int64_t piece);
  /// A piece has failed: nobody need wait.
  void end();

 private:
  static constexpr std::int64_t kEnded = -1;
  std::atomic<std::int64_t> next_{0};
};

}  // namespace rondo
