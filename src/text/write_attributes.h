// The attributes of an op in HLO and StableHLO, by the description in its record.
#pragma once

#include "base/text_buffer.h"
#include "ir/node.h"

namespace rondo::text {

/// Appends what follows the operands: `, dimensions={0}, is_stable=true`.
void write_hlo_attributes(const ir::Node& node, TextBuffer& out);
/// Appends the entries of the generic form's dictionary: `dimension = 0 : i64, is_stable = true`.
void write_stablehlo_attributes(const ir::Node& node, TextBuffer& out);

}  // namespace rondo::text
