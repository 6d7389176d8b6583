// A lower program as text, to read.
#pragma once

#include <string>

#include "lower/program.h"

namespace rondo::lower {

/// One op a line, loops indented.
std::string to_text(const Program& program);

}  // namespace rondo::lower
