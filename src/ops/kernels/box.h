// A box of elements with strides in two arrays: all ops that move data reduce to copies of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "absl/container/inlined_vector.h"
#include "base/memory.h"
#include "ir/kernel.h"
#include "rondo/shape.h"

namespace rondo::ops {

using Dims = absl::InlinedVector<std::int64_t, 6>;

/// Row-major strides in elements, without a heap allocation up to rank 6. For arrays without
/// elements they may be any numbers: the other axes can be so long that the strides overflow.
Dims dense_strides(const Shape& shape);

/// A box of `sizes` elements with the given strides in a destination and in a source (in elements;
/// negative and zero ones are allowed). Axes are merged where possible, so that the box is prepared
/// once and then copied at many offsets.
class Box {
 public:
  Box(std::span<const std::int64_t> sizes, std::span<const std::int64_t> to_strides,
      std::span<const std::int64_t> from_strides, std::int64_t width);

  /// Copies the box; the pointers are those of its first element. The arrays must not overlap.
  void copy(std::byte* to, const std::byte* from, ir::Poller& poller) const;
  /// The same outside kernels.
  void copy(std::byte* to, const std::byte* from) const;

  /// Calls run(to, from, count, to_stride, from_stride) for each run along the innermost axis, in
  /// row-major order. `to` and `from` are the offsets of its first element from that of the box,
  /// all in units of 1 / width elements (bytes, if the width is that of an element).
  template <class Run>
  void for_each_run(Run&& run) const {
    if (empty_) return;
    const std::size_t outer = axes_.size() - 1;
    const Axis& inner = axes_[outer];
    std::int64_t to = 0, from = 0;
    if (outer == 0) {
      run(to, from, inner.size, inner.to, inner.from);
      return;
    }
    Dims index(outer, 0);
    while (true) {
      run(to, from, inner.size, inner.to, inner.from);
      std::size_t axis = outer;
      while (true) {
        if (axis-- == 0) return;
        to += axes_[axis].to;
        from += axes_[axis].from;
        if (++index[axis] < axes_[axis].size) break;
        to -= axes_[axis].to * axes_[axis].size;
        from -= axes_[axis].from * axes_[axis].size;
        index[axis] = 0;
      }
    }
  }

 private:
  /// Calls did(elements) after each block.
  template <class Did>
  void copy_in_runs(std::byte* to, const std::byte* from, Did did) const;

  struct Axis {
    std::int64_t size;
    std::int64_t to;  // strides
    std::int64_t from;
  };

  absl::InlinedVector<Axis, 6> axes_;  // at least one
  std::int64_t width_;
  bool empty_ = false;
};

}  // namespace rondo::ops
