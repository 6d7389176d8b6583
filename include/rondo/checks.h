// Programs of StableHLO that test themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/compile_options.h"
#include "rondo/error.h"
#include "rondo/run_options.h"

namespace rondo {

/// How the functions of a text did that hold operations `check.*`.
struct CheckReport {
  std::int64_t passed = 0, failed = 0, skipped = 0;  // functions
  /// How one function did.
  struct Function {
    std::string name;
    std::int64_t line = 0;
    std::string message;  // of a failure, or why it was skipped; empty if it passed
    bool skipped = false;
  };
  std::vector<Function> functions;  // in the order of the text
};

/// Runs each function of StableHLO text that holds operations `check.*` (StableHLO's CheckOps.td)
/// or custom calls of these names, and compares: `expect_eq` by value, `expect_almost_eq` within
/// its tolerance (1e-4, or what the operation says; 1e-3 for the custom call), `expect_close` by
/// the number of floats between both (1; 3 for the custom call). In a module that holds none of
/// them
/// @main is run, or each function if there is no @main. A function that cannot be read or run has
/// failed; one that takes arguments is skipped. Texts separated by lines `// -----` are programs of
/// their own. Throws ParseError for text that is not StableHLO.
RONDO_API CheckReport run_checks(std::string_view text, const CompileOptions& compile = {},
                                 const RunOptions& run = {});

}  // namespace rondo
