// Portable artifacts: programs of StableHLO in MLIR bytecode, alone or in what jax.export writes.
#pragma once

#include <string>
#include <string_view>

namespace rondo::text::bytecode {

/// Whether the file is one.
bool is_artifact(std::string_view file);
/// The program as StableHLO text, in the generic form. Throws ParseError.
std::string artifact_text(std::string_view file);

}  // namespace rondo::text::bytecode
