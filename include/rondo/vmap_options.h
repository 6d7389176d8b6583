// Options of vmap.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// Options of vmap: where arguments and results have their lanes, how many there are, and the name
/// by which collectives refer to them.
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

}  // namespace rondo
