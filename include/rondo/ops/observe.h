// Ops that give back their operand and tell the outside what passes, each time they run. Data flow
// orders them: one that nothing depends on does not run, and text for other compilers does not
// contain them.
#pragma once

#include <string_view>

#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

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

// clang-format off
template <class T, detail::Why kWhy = "rondo: print takes one tensor; of a tree it is for each leaf: x = rondo::map_leaves([](Tensor t) { return rondo::print(t, \"{}\"); }, x)"> requires(detail::kIsTree<T> && !detail::kIsLeaf<T> && !detail::kIsNumbers<T>) Tensor print(const T&, std::string_view) = delete;
template <class T, detail::Why kWhy = "rondo: tap takes one tensor; of a tree it is for each leaf: x = rondo::map_leaves([](Tensor t) { return rondo::tap(t, \"x\"); }, x)"> requires(detail::kIsTree<T> && !detail::kIsLeaf<T> && !detail::kIsNumbers<T>) Tensor tap(const T&, std::string_view) = delete;
// clang-format on

}  // namespace rondo
