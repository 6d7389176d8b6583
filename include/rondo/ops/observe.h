// Ops that give back their operand and tell the outside what passes, each time they run. Data flow
// orders them: one that nothing depends on does not run, and text for other compilers does not
// contain them.
#pragma once

#include <string_view>

#include "rondo/export.h"
#include "rondo/tensor.h"

namespace rondo {

/// x. While running, RunOptions::on_tap gets `name` and the value.
[[nodiscard(
    "rondo: a tap that nothing uses does not run: go on with what it returns")]] RONDO_API Tensor
tap(const Operand& x, std::string_view name);
/// x. While running, writes a line to the standard output: `format` with the value in place of its
/// `{}`, or of `{:.3f}`, `{:.3e}`, `{:.3g}`: with so many digits. Braces that are to be printed are
/// written twice. Throws TraceError on any other brace, and if there is no place for the value.
[[nodiscard(
    "rondo: a print that nothing uses does not run: x = rondo::print(x, ...)")]] RONDO_API Tensor
print(const Operand& x, std::string_view format);
/// i. While running, RunOptions::on_progress learns that i of n is done; both are integer scalars.
[[nodiscard(
    "rondo: a progress that nothing uses does not run: i = rondo::progress(i, n)")]] RONDO_API
    Tensor
    progress(const Operand& i, const Operand& n);

}  // namespace rondo
