// Strings between quotes, in HLO, StableHLO, Graphviz, JSON and the IR's own text.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// Appends the content of a quoted string: quotes and backslashes escaped, control characters as
/// '?'.
void append_escaped(std::string& out, std::string_view text);
/// Appends a string of JSON with its quotes, which may be within a <script>: no `<` can end that.
void append_json(std::string& out, std::string_view text);

}  // namespace rondo
