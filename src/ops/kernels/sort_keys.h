// Sorting unsigned integers.
#pragma once

#include <cstdint>
#include <span>

#include "ir/kernel.h"

namespace rondo::ops {

/// Sorts keys in ascending order, by Highway's vector code where the library was built with it,
/// else by their digits. Polls between blocks.
void sort_keys(std::span<std::uint32_t> keys, ir::Host& host);
/// The same for keys of which the lower `sorted_bits` are in order already wherever the others are
/// equal: places, in which no two keys agree.
void sort_keys(std::span<std::uint64_t> keys, int sorted_bits, ir::Host& host);

}  // namespace rondo::ops
