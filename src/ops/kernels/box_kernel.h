// Kernels that copy a part of an operand, at an offset known before they run, to the whole result.
#pragma once

#include <memory>

#include "ir/kernel.h"
#include "ops/kernels/box.h"

namespace rondo::ops {

/// Copies a box of operand 0 at byte offset `from`. It has the size of the result.
std::unique_ptr<ir::Kernel> prepare_box(Box box, std::int64_t from);

/// Writes one value, operand `operand`, to all elements of the result.
std::unique_ptr<ir::Kernel> prepare_fill(const ir::Node& node, std::size_t operand);
/// `count` times the value of `width` bytes.
void fill(std::byte* to, const std::byte* value, std::int64_t width, std::int64_t count,
          ir::Poller& poller);

}  // namespace rondo::ops
