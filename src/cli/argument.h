// Arguments of programs on the command line.
#pragma once

#include <string>

#include "rondo/literal.h"

namespace rondo::cli {

/// A file `.npy`, or a literal: `3`, `{1, 2}` or, with its type, `f32[2]{1, 2}`. Throws ParseError
/// unless it has the type; `name` is the parameter's.
Literal parse_argument(const std::string& text, const TensorType& type, const std::string& name);

}  // namespace rondo::cli
