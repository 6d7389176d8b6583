#include "ops/box.h"

#include <algorithm>
#include <cstring>

#include "ops/support.h"

namespace rondo::ops {

Dims dense_strides(const Shape& shape) {
  Dims strides(shape.size(), 1);
  for (std::int64_t i = shape.rank() - 2; i >= 0; i--) {
    strides[static_cast<std::size_t>(i)] = strides[static_cast<std::size_t>(i + 1)] * shape[i + 1];
  }
  return strides;
}

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t count) {
  switch (count) {
    case 0:
      break;  // the pointers of an empty array may be null
    case 1:
      *to = *from;
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    default:
      std::memcpy(to, from, static_cast<std::size_t>(count));
  }
}

Box::Box(std::span<const std::int64_t> sizes, std::span<const std::int64_t> to_strides,
         std::span<const std::int64_t> from_strides, std::int64_t width)
    : width_(width) {
  for (std::size_t i = 0; i < sizes.size(); i++) {
    empty_ = empty_ || sizes[i] == 0;
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

void Box::copy(std::byte* to, const std::byte* from) const {
  if (axes_.back().to == width_ && axes_.back().from == width_) {
    for_each_run(to, from,
                 [this](std::byte* t, const std::byte* f, std::int64_t count, std::int64_t,
                        std::int64_t) { copy_bytes(t, f, count * width_); });
    return;
  }
  for_width(width_, [&]<class U>() {
    for_each_run(to, from,
                 [](std::byte* t, const std::byte* f, std::int64_t count, std::int64_t to_stride,
                    std::int64_t from_stride) {
                   if (from_stride == 0 && to_stride == static_cast<std::int64_t>(sizeof(U))) {
                     U* first = reinterpret_cast<U*>(t);
                     std::fill(first, first + count, *reinterpret_cast<const U*>(f));
                     return;
                   }
                   for (std::int64_t i = 0; i < count; i++) {
                     *reinterpret_cast<U*>(t + i * to_stride) =
                         *reinterpret_cast<const U*>(f + i * from_stride);
                   }
                 });
  });
}

}  // namespace rondo::ops
