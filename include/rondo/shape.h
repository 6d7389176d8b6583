// Dimensions of an array.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rondo/detail/reference_count.h"
#include "rondo/export.h"

namespace rondo {

/// The dimensions of an array, from the slowest varying (axis 0) to the fastest. Immutable and
/// cheap to copy: copies share one block; rank 0 has none.
class Shape {
 public:
  Shape() noexcept = default;
  /// Throws TraceError for a negative dimension or more than 2^62 elements.
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  Shape(const std::vector<std::int64_t>& dims) : Shape(std::span(dims)) {}
  RONDO_API Shape(std::span<const std::int64_t> dims);
  Shape(const Shape& other) noexcept : block_(other.block_) {
    if (block_) detail::add_reference(block_->references);
  }
  Shape(Shape&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shape& operator=(Shape other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shape() {
    if (block_ && detail::drop_reference(block_->references)) destroy(block_);
  }

  std::int64_t rank() const noexcept { return block_ ? block_->rank : 0; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(rank()); }
  bool empty() const noexcept { return rank() == 0; }
  const std::int64_t* begin() const noexcept { return block_ ? block_->dims() : nullptr; }
  const std::int64_t* end() const noexcept { return begin() + rank(); }
  /// The size of an axis in [0, rank); not checked.
  template <class Index>
  std::int64_t operator[](Index axis) const noexcept {
    return begin()[axis];
  }
  std::span<const std::int64_t> dims() const noexcept { return {begin(), size()}; }
  std::vector<std::int64_t> vector() const { return {begin(), end()}; }
  /// The product of the dimensions; 1 for rank 0.
  std::int64_t elements() const noexcept { return block_ ? block_->elements : 1; }
  /// `[2,3]`
  RONDO_API std::string str() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    return a.block_ == b.block_ || equal(a, b);
  }

 private:
  struct Block {
    std::atomic<std::uint32_t> references;
    std::uint32_t rank;
    std::int64_t elements;
    const std::int64_t* dims() const { return reinterpret_cast<const std::int64_t*>(this + 1); }
    std::int64_t* dims() { return reinterpret_cast<std::int64_t*>(this + 1); }
  };
  RONDO_API static bool equal(const Shape& a, const Shape& b) noexcept;
  RONDO_API static void destroy(Block* block) noexcept;

  Block* block_ = nullptr;
};

/// Axes of an array by number, from the end if negative: `1`, `{0, -1}`, or none at all.
class Axes : public std::vector<std::int64_t> {
 public:
  Axes() = default;
  template <std::integral T>
  requires(!std::same_as<T, bool>) Axes(T axis)  // NOLINT: it is written as a number
      : Axes({static_cast<std::int64_t>(axis)}) {}
  Axes(std::initializer_list<std::int64_t> axes) : vector(axes) {}
  Axes(std::vector<std::int64_t> axes) : vector(std::move(axes)) {}  // NOLINT
};

}  // namespace rondo
