// Text fragments that the IR's printers share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ir/node.h"

namespace rondo::ir {

/// The name of a parameter in a form that may follow a `%`, distinct from names that are numbers.
std::string printable_name(std::string_view name, std::size_t index);
/// `f32[2,3]`
void append_type(std::string& out, const TensorType& type);
/// `cond`, `body`, `true`, `branch 2`; else the name of the region.
void append_region_label(std::string& out, const Node& holder, std::size_t index);

}  // namespace rondo::ir
