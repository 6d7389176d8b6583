// Batching: functions of one item as functions of many.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/gradients.h"
#include "rondo/transforms.h"
#include "rondo/tree.h"

namespace rondo {

/// The axis of the lanes in vmap's results: one axis for all leaves, or an entry for each leaf, in
/// order; nullopt: the leaf must be the same in all lanes and gets no axis. Axes may count from the
/// end of the batched leaf.
class OutAxes {
 public:
  template <std::integral T>
  OutAxes(T axis)  // NOLINT: it is written as a number
      : axes_{static_cast<std::int64_t>(axis)} {}
  OutAxes(std::optional<std::int64_t> axis) : axes_{axis} {}  // NOLINT
  OutAxes(std::nullopt_t) : axes_{std::nullopt} {}            // NOLINT
  OutAxes(std::vector<std::optional<std::int64_t>> axes)      // NOLINT
      : axes_(std::move(axes)), by_leaf_(true) {}
  OutAxes(std::initializer_list<std::optional<std::int64_t>> axes) : axes_(axes), by_leaf_(true) {}

  bool by_leaf() const { return by_leaf_; }
  const std::vector<std::optional<std::int64_t>>& axes() const { return axes_; }

 private:
  std::vector<std::optional<std::int64_t>> axes_;
  bool by_leaf_ = false;
};

struct VmapOptions {
  /// An entry per argument, for all leaves of its tree: the axis that counts lanes, from the end if
  /// negative; nullopt: the argument is the same for all lanes. Empty: axis 0 of each argument.
  std::vector<std::optional<std::int64_t>> in_axes = {};
  OutAxes out_axes = 0;
  /// The number of lanes; required if no argument gives it.
  std::optional<std::int64_t> axis_size = std::nullopt;
  /// For collectives in the function: axis_sum(x, "name").
  std::string axis_name = {};
};

namespace detail {

/// VmapOptions::in_axes in braces. Not a std::initializer_list, because g++ also accepts it for
/// {.in_axes = {0}}.
struct InAxes {
  template <std::convertible_to<std::optional<std::int64_t>>... Axes>
  requires(sizeof...(Axes) > 0) InAxes(Axes... each)  // NOLINT(google-explicit-constructor)
      : axes{std::optional<std::int64_t>(each)...} {}
  std::vector<std::optional<std::int64_t>> axes;
};

/// One entry of `arguments.owner` per leaf; in_axes by argument.
RONDO_API std::vector<Tensor> vmap(const RegionCallable& f, const ArgumentLeaves& arguments,
                                   std::size_t argument_count, const VmapOptions& options,
                                   SourceLocation at);
RONDO_API std::string explain_batching(const RegionCallable& f, const ArgumentLeaves& arguments,
                                       std::size_t argument_count, const VmapOptions& options,
                                       SourceLocation at);

template <class F>
class Vmapped : public LocatedCall<Vmapped<F>, F> {
 public:
  Vmapped(F f, VmapOptions options, SourceLocation at)
      : f_(std::move(f)), options_(std::move(options)), at_(at) {}

  static constexpr const char* kMadeBy = "vmap";
  SourceLocation made_at() const { return at_; }
  template <class... Args>
  auto call(SourceLocation at, const Args&... args) const {
    using Out = result_of_t<const F, Args...>;
    std::optional<Out> prototype;
    const std::vector<Tensor> results =
        vmap(function_on_leaves(f_, prototype, kMadeBy, at, args...), argument_leaves(at, args...),
             sizeof...(Args), options_, place_of(at, at_));
    return whole_tree_from(*prototype, results);
  }

  template <class... Args>
  std::string explain(SourceLocation at, const Args&... args) const {
    using Out = result_of_t<const F, Args...>;
    std::optional<Out> prototype;
    this->check_present(at);
    return detail::explain_batching(function_on_leaves(f_, prototype, kMadeBy, at, args...),
                                    argument_leaves(at, args...), sizeof...(Args), options_, at);
  }

 private:
  F f_;
  VmapOptions options_;
  SourceLocation at_;
};

template <class F, class... Args>
std::string explain_at(SourceLocation at, const F& f, const Args&... args) {
  if constexpr (requires { f.explain(at, args...); })
    return f.explain(at, args...);
  else
    return Vmapped<F>(f, {}, at).explain(at, args...);
}

}  // namespace detail

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

/// Sums, means and extremes over the lanes of the vmap with this axis_name; the result is the same
/// in all of them. Throw TraceError if no enclosing vmap has it.
RONDO_API Tensor axis_sum(const Operand& x, std::string_view name);
RONDO_API Tensor axis_mean(const Operand& x, std::string_view name);
RONDO_API Tensor axis_max(const Operand& x, std::string_view name);
RONDO_API Tensor axis_min(const Operand& x, std::string_view name);
/// The index of this lane, s32[], from 0.
RONDO_API Tensor axis_index(std::string_view name, SourceLocation at = SourceLocation::current());
/// The number of lanes.
RONDO_API std::int64_t axis_size(std::string_view name,
                                 SourceLocation at = SourceLocation::current());

}  // namespace rondo
