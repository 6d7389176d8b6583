// The attributes of an op in StableHLO's generic form.
#pragma once

#include <string>

#include "base/text_buffer.h"
#include "ir/node.h"

namespace rondo::text {

/// Appends the entries of the dictionary: `dimension = 0 : i64, is_stable = true`.
void write_stablehlo_attributes(const ir::Node& node, TextBuffer& out);

}  // namespace rondo::text
