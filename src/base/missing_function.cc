// The errors for calls of empty and moved-from functions.
#include <fmt/format.h>

#include "rondo/call_with.h"

namespace rondo::detail {

void refuse_empty_function(const char* made_by, SourceLocation at) {
  throw TraceError(fmt::format("{}: the function is empty: a null pointer, or a std::function "
                               "without a target\n  at {}\n  Give it a function first: a "
                               "std::function that was moved from has none.",
                               made_by, at.str()),
                   at);
}

void refuse_moved_from(const char* made_by, bool shares_programs, SourceLocation at) {
  throw TraceError(
      fmt::format("{}: this function was moved from, and is called\n  at {}\n  Copy it "
                  "in place of moving it{}.",
                  made_by, at.str(), shares_programs ? ": copies share their programs" : ""),
      at);
}

}  // namespace rondo::detail
