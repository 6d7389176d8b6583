// Translates XLA's messages about a program to the user's source.
#pragma once

#include <optional>

#include "rondo/function.h"
#include "rondo/mesh.h"
#include "rondo/pjrt.h"

namespace rondo::pjrt {

/// A plugin's error about the text of a function, which gives lines and columns of that text
/// (`-:12:5: error: ...`): adds the op on that line, the enclosing loop and the line of the user's
/// source. The same error if it names no line.
PluginError located(const PluginError& error, const Function& function,
                    const std::optional<Mesh>& mesh = std::nullopt);

}  // namespace rondo::pjrt
