// A program from operations of StableHLO.
#pragma once

#include <string_view>

#include "rondo/function.h"
#include "rondo/text.h"
#include "text/mlir/operations.h"

namespace rondo::text {

/// The program of the only module. `text` is what the places of its operations are in. Throws
/// ParseError.
Function program_of(std::string_view text, const mlir::Modules& parsed,
                    const ParseOptions& options);

}  // namespace rondo::text
