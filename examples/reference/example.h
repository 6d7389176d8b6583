// What the programs of this folder share. Each is a list of examples of the functions that the
// title names, for the pages of the reference; a function of two pages has the page in
// parentheses. docs/site/examples.py cuts them out, with what they print.
#pragma once

#include <iostream>

/// Prints the title, then what the example prints.
inline void example(const char* title, void (*run)()) {
  std::cout << "## " << title << "\n";
  run();
}
