// The command `rondo`.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rondo::cli {

/// Exit statuses.
inline constexpr int kFine = 0;
inline constexpr int kFailed = 1;    // the program did, or a check
inline constexpr int kBadInput = 2;  // usage, a file, an argument

/// What the stream of errors is.
struct Terminal {
  bool is_one = false;
  bool has_colors = false;
};

/// Runs the command with these arguments, without its own name.
int run_command(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
                std::ostream& err, Terminal terminal = {});

}  // namespace rondo::cli
