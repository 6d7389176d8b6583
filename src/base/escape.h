// Strings between quotes, in HLO, StableHLO, Graphviz and the IR's own text.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// Appends the content of a quoted string: quotes and backslashes escaped, control characters as
/// '?'.
void append_escaped(std::string& out, std::string_view text);

}  // namespace rondo
