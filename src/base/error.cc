#include "rondo/error.h"

#include <string_view>

namespace rondo {

// Out of line, so that each class has one vtable and one type_info in all libraries that throw or
// catch it.
Error::~Error() = default;
TraceError::~TraceError() = default;
ParseError::~ParseError() = default;
ExecutionError::~ExecutionError() = default;
InternalError::~InternalError() = default;

std::string SourceLocation::str() const {
  std::string_view path = file == nullptr ? "" : file;
  if (path.empty() || line == 0) return "?";
  const std::size_t slash = path.find_last_of("/\\");
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path) + ':' + std::to_string(line);
}

}  // namespace rondo
