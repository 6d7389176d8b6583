// Moves between registers and stack slots that happen all at once: the values that loops and
// branches pass on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "native/allocate.h"
#include "native/target.h"

namespace rondo::native_code {

/// A number for each register and each stack slot, never 0.
inline std::uint64_t place_key(const Place& place, RegisterClass register_class) {
  return place.kind == Place::Kind::kRegister
             ? std::uint64_t{1} << 40 | static_cast<std::uint64_t>(register_class) << 8 |
                   place.number
             : std::uint64_t{2} << 40 | place.offset;
}

/// By place_key. `from` is 0 for a constant; `to` differs from `from`.
struct ParallelMove {
  std::uint64_t to, from;
};

/// Orders the moves so that none overwrites a place that another still reads. Calls `move` for
/// each, by its index. Where moves form a cycle, `save` copies the place that a move writes to
/// scratch, and the move that reads it is made by `move_saved`.
void move_in_parallel(std::span<const ParallelMove> moves,
                      absl::FunctionRef<void(std::size_t)> move,
                      absl::FunctionRef<void(std::size_t)> save,
                      absl::FunctionRef<void(std::size_t)> move_saved);

}  // namespace rondo::native_code
