// Portable artifacts: programs of StableHLO in MLIR bytecode, alone or in what jax.export writes.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "text/bytecode/vhlo.h"
#include "text/mlir/operations.h"

namespace rondo::text::bytecode {

/// Whether the file is one.
bool is_artifact(std::string_view file);

/// The program of an artifact, with views of its file.
struct Artifact {
  /// A line for each operation, for errors: its name, operands and types.
  std::string listing = {};
  Names names = {};  // of which the modules have views
  mlir::Modules modules = {{}, mlir::Locations(std::string_view())};
};
/// Throws ParseError.
Artifact read_artifact(std::string_view file);

}  // namespace rondo::text::bytecode
