#include "ops/kernels/box.h"

#include <algorithm>

#include "ops/support.h"

namespace rondo::ops {

Dims dense_strides(const Shape& shape) {
  Dims strides(shape.size(), 1);
  for (std::int64_t i = shape.rank() - 2; i >= 0; i--) {
    const auto size = static_cast<std::uint64_t>(shape[i + 1]);
    const auto inner = static_cast<std::uint64_t>(strides[static_cast<std::size_t>(i + 1)]);
    strides[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(size * inner);
  }
  return strides;
}

Box::Box(std::span<const std::int64_t> sizes, std::span<const std::int64_t> to_strides,
         std::span<const std::int64_t> from_strides, std::int64_t width)
    : width_(width) {
  empty_ = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  for (std::size_t i = 0; i < sizes.size() && !empty_; i++) {
    if (sizes[i] == 1) continue;
    const Axis axis{sizes[i], to_strides[i] * width, from_strides[i] * width};
    if (!axes_.empty()) {
      Axis& outer = axes_.back();
      if (outer.to == axis.size * axis.to && outer.from == axis.size * axis.from) {
        outer = {outer.size * axis.size, axis.to, axis.from};
        continue;
      }
    }
    axes_.push_back(axis);
  }
  if (axes_.empty()) axes_.push_back({1, width, width});
}

namespace {

/// A run of elements of type U, with strides in elements.
template <class U>
void copy_run(U* to, const U* from, std::int64_t count, std::int64_t to_stride,
              std::int64_t from_stride) {
  if (from_stride == 0 && to_stride == 1) {
    std::fill(to, to + count, *from);
    return;
  }
  for (std::int64_t i = 0; i < count; i++) to[i * to_stride] = from[i * from_stride];
}

}  // namespace

template <class Did>
void Box::copy_in_runs(std::byte* to, const std::byte* from, Did did) const {
  if (axes_.back().to == width_ && axes_.back().from == width_) {
    for_each_run([&](std::int64_t t, std::int64_t f, std::int64_t count, std::int64_t,
                     std::int64_t) { ir::copy_in_blocks(to + t, from + f, count * width_, did); });
    return;
  }
  for_width(width_, [&]<class U>() {
    for_each_run([&](std::int64_t t, std::int64_t f, std::int64_t count, std::int64_t to_stride,
                     std::int64_t from_stride) {
      U* target = reinterpret_cast<U*>(to + t);
      const U* source = reinterpret_cast<const U*>(from + f);
      to_stride /= static_cast<std::int64_t>(sizeof(U));
      from_stride /= static_cast<std::int64_t>(sizeof(U));
      constexpr std::int64_t kBlock = ir::Poller::kBlock;
      for (std::int64_t at = 0; at < count; at += kBlock) {
        const std::int64_t some = std::min(count - at, kBlock);
        copy_run(target + at * to_stride, source + at * from_stride, some, to_stride, from_stride);
        did(some);
      }
    });
  });
}

void Box::copy(std::byte* to, const std::byte* from, ir::Poller& poller) const {
  copy_in_runs(to, from, [&](std::int64_t elements) { poller.did(elements); });
}

void Box::copy(std::byte* to, const std::byte* from) const {
  copy_in_runs(to, from, [](std::int64_t) {});
}

}  // namespace rondo::ops
