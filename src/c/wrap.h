// Lines of at most 100 columns, and comments.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rondo::c {

/// A statement behind so many spaces, broken at spaces that are in no index, without a line break
/// at its end.
std::string wrapped(std::string_view text, std::size_t indent);

/// A comment: what one cannot hold is replaced by spaces.
std::string comment_line(std::string_view text);

}  // namespace rondo::c
