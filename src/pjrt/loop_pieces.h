// Cuts a program into pieces, for runs that are checked between the trips of their outermost loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/layout.h"
#include "rondo/function.h"

namespace rondo::pjrt {

/// A loop as reports name it, and its trip count.
struct ChunkedLoop {
  std::string name;
  SourceLocation at;
  std::size_t carries = 0;
  std::vector<std::string> names;  // of the carries
  ir::LoopSource source;
  std::optional<std::int64_t> trip_count;
  /// For a loop whose trip count is known when it begins (ir::Induction).
  struct Limit {
    std::size_t carry;
    std::int64_t step;
    std::size_t value;
  };
  std::optional<Limit> limit;
};

/// A program that does a part of the work. Values are numbered, the parameters of the whole program
/// first.
struct Piece {
  /// Takes the inputs. A loop is a program of some of its trips: it takes the most trips that it
  /// may make (an s64), the carry and the invariants, and returns the trips that it made and the
  /// carry. If these are fewer than the most, the loop has ended.
  Function function;
  std::vector<std::size_t> inputs;   // of a loop: carry and invariants
  std::vector<std::size_t> outputs;  // of a loop: its carry
  std::vector<std::size_t> last;     // values with their last use in it
  std::optional<ChunkedLoop> loop;
};

struct LoopPieces {
  std::vector<Piece> pieces;  // in execution order
  std::size_t values = 0;
  std::vector<std::size_t> results;
  bool has_loops = false;
};

/// Cuts a program at the loops that are inside no other construct. Values that depend on no
/// parameter and are cheap are computed in each piece that needs them, so that XLA sees the same
/// constants as in the whole. Throws ExecutionError for a loop in a branch, which cannot be cut.
LoopPieces cut_at_loops(const Function& function);

}  // namespace rondo::pjrt
