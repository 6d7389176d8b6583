// Ops that give back their operand and tell the outside what passes, each time they run. Data flow
// orders them: one that nothing depends on does not run, and text for other compilers does not
// contain them.
#pragma once

#include <string_view>

#include "rondo/export.h"
#include "rondo/tensor.h"

namespace rondo {

/// x. While running, RunOptions::on_tap gets `name` and the value.
RONDO_API Tensor tap(const Operand& x, std::string_view name);
/// x. While running, writes a line to the standard output: `format` with the value in place of each
/// `{}`. Braces that are to be printed are written twice. Throws TraceError on any other brace, and
/// if there is no `{}`.
RONDO_API Tensor print(const Operand& x, std::string_view format);
/// i. While running, RunOptions::on_progress learns that i of n is done; both are integer scalars.
RONDO_API Tensor progress(const Operand& i, const Operand& n);

}  // namespace rondo
