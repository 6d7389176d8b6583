#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "cli/command.h"

int main(int count, char** arguments) {
  std::ios::sync_with_stdio(false);
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  // no-color.org: any value but an empty one. A dumb terminal has no control sequences at all.
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  const bool is_dumb = kind && std::string_view(kind) == "dumb";
  const rondo::cli::Terminal terminal{is_terminal && !is_dumb,
                                      is_terminal && !is_dumb && !(no_color && *no_color)};
  return rondo::cli::run_command({arguments + 1, arguments + count}, std::cin, std::cout, std::cerr,
                                 terminal);
}
