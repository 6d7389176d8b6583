// Copies between arrays of other memory layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rondo/export.h"

namespace rondo::detail {

/// Elements at `data`, of which those next to one another along an axis are `strides[axis]` bytes
/// apart: also 0 or less.
struct StridedBytes {
  std::byte* data;
  std::span<const std::int64_t> strides;
};
struct ConstStridedBytes {
  const std::byte* data;
  std::span<const std::int64_t> strides;
};

/// Copies an array of these dimensions whose elements have `width` bytes. The arrays do not
/// overlap, and need no alignment.
RONDO_API void copy_strided(const StridedBytes& to, const ConstStridedBytes& from,
                            std::span<const std::int64_t> dims, std::size_t width);

}  // namespace rondo::detail
