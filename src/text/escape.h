// Strings in HLO and StableHLO text.
#pragma once

#include <string>
#include <string_view>

namespace rondo::text {

/// The content of a quoted string, with the escapes that both take.
void append_escaped(std::string& out, std::string_view text);

}  // namespace rondo::text
