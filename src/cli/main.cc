#include <iostream>

#include "cli/command.h"

int main(int count, char** arguments) {
  return rondo::cli::run_command({arguments + 1, arguments + count}, std::cin, std::cout,
                                 std::cerr);
}
