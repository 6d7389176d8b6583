// Attributes back as text.
#pragma once

#include <string>

#include "text/mlir/program.h"

namespace rondo::text::mlir {

/// `{eps = 0.5, n = 3, name = "abc", sizes = [1, 2]}`, without the types of the numbers. Of
/// elements the values, as a Literal prints them.
std::string written(const Attribute& attribute);

}  // namespace rondo::text::mlir
