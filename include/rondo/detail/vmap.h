// Batching on leaves, and the function that vmap returns.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/function_on_leaves.h"
#include "rondo/detail/leaves.h"
#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/vmap_options.h"

namespace rondo::detail {

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

}  // namespace rondo::detail
