// The page that to_html fills in: its style and its script, as text.
#pragma once

#include <string_view>

namespace rondo::ir {

/// Between the title and the program.
std::string_view html_style_and_body();
/// After the program, which is in the element `program` as JSON: see html.cc.
std::string_view html_script();

}  // namespace rondo::ir
