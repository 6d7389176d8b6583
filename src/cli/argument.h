// Arguments of programs on the command line.
#pragma once

#include <string>
#include <vector>

#include "rondo/function.h"
#include "rondo/literal.h"

namespace rondo::cli {

/// A file `.npy`, an array of an archive `x.npz:name`, or a literal: `3`, `{1, 2}` or, with its
/// type, `f32[2]{1, 2}`. Throws ParseError unless it has the type; `name` is the parameter's.
Literal parse_argument(const std::string& text, const TensorType& type, const std::string& name);

/// The arguments of a program. Throws ParseError, for another number of them too, with the types
/// that it takes.
std::vector<Literal> arguments_of(const Function& program, const std::vector<std::string>& texts);

}  // namespace rondo::cli
