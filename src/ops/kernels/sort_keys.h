// Sorting unsigned integers.
#pragma once

#include <cstdint>
#include <span>

#include "ir/kernel.h"

namespace rondo::ops {

/// Sorts keys in ascending order, by Highway's vector code if the build includes it, else by radix
/// sort. Polls between blocks.
void sort_keys(std::span<std::uint32_t> keys, ir::Host& host);
/// The same for keys whose lower `sorted_bits` are in order already wherever the other bits are
/// equal: distinct positions.
void sort_keys(std::span<std::uint64_t> keys, int sorted_bits, ir::Host& host);

}  // namespace rondo::ops
