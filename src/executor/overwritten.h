// What loops write over before anybody reads it.
#pragma once

#include <cstddef>

#include "ir/node.h"

namespace rondo::executor {

/// Whether the trips of a loop write each element of what it carries as number `carry`, and nobody
/// reads what it begins with: not the loop, and not who asks for its state. The stacked ys of a
/// scan are so.
bool is_dead_initialization(const ir::Node& loop, std::size_t carry);

}  // namespace rondo::executor
