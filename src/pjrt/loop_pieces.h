// A program in pieces, for runs that are looked at between the trips of its outermost loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/layout.h"
#include "rondo/function.h"

namespace rondo::pjrt {

/// What a run tells of a loop, and how long it will be.
struct ChunkedLoop {
  std::string name;
  SourceLocation at;
  std::size_t carries = 0;
  std::vector<std::string> names;  // of the carries
  ir::LoopSource source;
  std::optional<std::int64_t> trip_count;
  /// Of a loop whose trips are known when it begins (ir::Induction).
  struct Limit {
    std::size_t carry;
    std::int64_t step;
    std::size_t value;
  };
  std::optional<Limit> limit;
};

/// A program that makes some of the work. Values are known by number, the parameters of the whole
/// first.
struct Piece {
  /// On the inputs. A loop is a program of some of its trips: from the most that it may make (an
  /// s64), the carry and the invariants to the trips that it made and the carry. Where these are
  /// fewer than the most, the loop is at its end.
  Function function;
  std::vector<std::size_t> inputs;   // of a loop: carry and invariants
  std::vector<std::size_t> outputs;  // of a loop: its carry
  std::vector<std::size_t> last;     // values that nothing needs after it
  std::optional<ChunkedLoop> loop;
};

struct LoopPieces {
  std::vector<Piece> pieces;  // in the order in which they run
  std::size_t values = 0;
  std::vector<std::size_t> results;
  bool has_loops = false;
};

/// Cuts a program at the loops that stand in no other construct. Values that depend on no parameter
/// and cost little are computed in each piece that needs them, so that XLA sees the constants that
/// it would see in the whole. Throws ExecutionError for a loop in a branch, which cannot be cut.
LoopPieces cut_at_loops(const Function& function);

}  // namespace rondo::pjrt
