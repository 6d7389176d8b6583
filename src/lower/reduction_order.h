// In which order the elements of a reduction are combined, where that counts.
#pragma once

#include <cstdint>

#include "lower/opcodes.h"

namespace rondo::lower {

/// Whether it has the same bits in any order, as integers and extremes have.
constexpr bool is_in_any_order(Opcode combine, Type type) noexcept {
  return !is_float(type) || combine == Opcode::kMin || combine == Opcode::kMax;
}

/// Rows of more than kLongRow elements go to their partial results (Lanes::Reduction) by blocks:
/// the result so far takes what each of them is combined to, from the first to the last.
struct RowBlocks {
  // Threshold: Rows of more than kLongRow elements are combined in blocks of kBlock, so that
  // threads can share them; the order of sums follows from this. Not measured.
  static constexpr std::int64_t kLongRow = std::int64_t{1} << 20, kBlock = std::int64_t{1} << 17;
};

}  // namespace rondo::lower
