// Observers: ops that return their operand and report its value each time they run. Those called in
// a traced function (a loop's body, a branch, the function of a jit, grad or vmap) report in each
// run of that function, whether or not the result is used. Data flow orders them: two reports that
// do not depend on each other may come in any order. Outside traced functions tensors are lazy, and
// a report comes when the result is computed. Text for other compilers does not contain them.
#pragma once

#include <string_view>

#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// Returns x, and at run time gives `name` and the value to RunOptions::on_tap.
[[nodiscard(
    "rondo: outside traced functions a tap runs when its result is asked for: go on with what it "
    "returns")]] RONDO_API Tensor
tap(const Operand& x, std::string_view name);
/// Returns x, and at run time writes a line to the standard output: `format` with the value in
/// place of its `{}`, or of `{:.3f}`, `{:.3e}`, `{:.3g}` for a number of digits. Braces to be
/// printed are written twice. Throws TraceError on any other brace, and if there is no field for
/// the value.
[[nodiscard(
    "rondo: outside traced functions a print runs when its result is asked for: x = "
    "rondo::print(x, ...)")]] RONDO_API Tensor
print(const Operand& x, std::string_view format);
/// Returns i, and at run time tells RunOptions::on_progress that i of n is done; both are integer
/// scalars.
[[nodiscard(
    "rondo: outside traced functions a progress runs when its result is asked for: i = "
    "rondo::progress(i, n)")]] RONDO_API Tensor
progress(const Operand& i, const Operand& n);

// clang-format off
template <class T, detail::Why kWhy = "rondo: print takes one tensor; of a tree it is for each leaf: x = rondo::map_leaves([](Tensor t) { return rondo::print(t, \"{}\"); }, x)"> requires(detail::kIsTree<T> && !detail::kIsLeaf<T> && !detail::kIsNumbers<T>) Tensor print(const T&, std::string_view) = delete;
template <class T, detail::Why kWhy = "rondo: tap takes one tensor; of a tree it is for each leaf: x = rondo::map_leaves([](Tensor t) { return rondo::tap(t, \"x\"); }, x)"> requires(detail::kIsTree<T> && !detail::kIsLeaf<T> && !detail::kIsNumbers<T>) Tensor tap(const T&, std::string_view) = delete;
// clang-format on

}  // namespace rondo
