// Batching: functions of one item as functions of many.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/vmap.h"
#include "rondo/detail/why.h"
#include "rondo/tensor.h"
#include "rondo/vmap_options.h"

namespace rondo {

/// f, which takes and returns trees of tensors of one item, for many items at once: the lanes. Each
/// argument has them along its in_axis, each result along its out_axis. What does not differ by
/// lane is computed once; loops stay loops, and a while_loop with a different number of trips in
/// each lane runs until the last one is done, while the others keep their final state.
///
/// Throws TraceError for axes that the arguments do not have, for sizes that disagree, for results
/// that differ by lane where out_axes has nullopt, and for an op that cannot be batched; it names
/// the line of the call with the items.
///
///     auto norms = vmap([](Tensor v) { return sqrt(sum(v * v)); })(rows);
template <class F>
auto vmap(F&& f, VmapOptions options = {}, SourceLocation at = SourceLocation::current()) {
  return detail::Vmapped<std::decay_t<F>>(std::forward<F>(f), std::move(options), at);
}
/// The same with axes only: vmap(f, {0, std::nullopt}).
template <class F>
auto vmap(F&& f, detail::InAxes in_axes, OutAxes out_axes = 0,
          SourceLocation at = SourceLocation::current()) {
  return vmap(std::forward<F>(f),
              VmapOptions{.in_axes = std::move(in_axes.axes), .out_axes = std::move(out_axes)}, at);
}
// clang-format off
template <class F, std::integral N, detail::Why kWhy = "rondo: vmap takes an axis for each argument: rondo::vmap(f, {0, std::nullopt}), and where f has one argument rondo::vmap(f, {1})"> void vmap(F&&, N) = delete;
// clang-format on

/// How vmap(f)(args...) batches each line: which ops were batched, which loops run over lanes and
/// the carry that requires it, which cond became a select. f may itself be the result of vmap, for
/// other axes. Takes up to six arguments.
#define RONDO_EXPLAIN(types, names, params, args)                                      \
  template <class F RONDO_UNPACK types>                                                \
  [[nodiscard]] std::string explain_batching(                                          \
      const F& f, RONDO_UNPACK params SourceLocation at = SourceLocation::current()) { \
    return detail::explain_at(at, f RONDO_UNPACK args);                                \
  }
RONDO_FOR_UP_TO_SIX(RONDO_EXPLAIN)
#undef RONDO_EXPLAIN

// Collectives: over the lanes of the vmap with this axis_name. All throw TraceError if no enclosing
// vmap has it.

/// The sum over the lanes of x, of the same type in each lane, and the same in all of them. pred
/// counts in s32.
RONDO_API Tensor axis_sum(const Operand& x, std::string_view name);
/// The mean over the lanes, as axis_sum; f16 and bf16 are added in f32. Floats and complex numbers:
/// throws TraceError also for integers and pred.
RONDO_API Tensor axis_mean(const Operand& x, std::string_view name);
/// The greatest over the lanes, as axis_sum; NaN if one is NaN. Throws TraceError also for complex
/// numbers. The derivative is shared equally by the lanes that have the greatest.
RONDO_API Tensor axis_max(const Operand& x, std::string_view name);
/// The least over the lanes, as axis_max.
RONDO_API Tensor axis_min(const Operand& x, std::string_view name);
/// The values of all lanes along a new leading axis, the same in all of them.
RONDO_API Tensor axis_gather(const Operand& x, std::string_view name);
/// The index of this lane, s32[], from 0.
RONDO_API Tensor axis_index(std::string_view name, SourceLocation at = SourceLocation::current());
/// The number of lanes.
RONDO_API std::int64_t axis_size(std::string_view name,
                                 SourceLocation at = SourceLocation::current());

}  // namespace rondo
