// `rondo check`.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rondo::cli {

/// Runs the checks of each file; `-` is the input. The exit status.
int check_programs(const std::vector<std::string>& files, std::istream& in, std::ostream& out,
                   std::ostream& err);

}  // namespace rondo::cli
