// The operands and the result types of a node.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <memory>

#include "absl/container/inlined_vector.h"

namespace rondo::ir {

/// A list of fixed length. Up to kInline elements are stored in the list itself.
template <class T, std::size_t kInline>
class FixedList {
 public:
  using Vector = absl::InlinedVector<T, kInline>;

  FixedList() noexcept : size_(0) {}
  template <std::same_as<T>... Each>
  requires(sizeof...(Each) > 0 &&
           sizeof...(Each) <= kInline) explicit FixedList(const Each&... each)
      : size_(sizeof...(Each)) {
    T* at = here_;
    (std::construct_at(at++, each), ...);
  }
  explicit FixedList(Vector&& elements) : size_(elements.size()) {
    if (!is_inline()) there_ = std::allocator<T>().allocate(size_);
    std::uninitialized_move(elements.begin(), elements.end(), is_inline() ? here_ : there_);
  }
  FixedList(const T* elements, std::size_t size) : size_(size) {
    if (!is_inline()) there_ = std::allocator<T>().allocate(size_);
    std::uninitialized_copy_n(elements, size_, is_inline() ? here_ : there_);
  }
  FixedList(const FixedList&) = delete;
  FixedList& operator=(const FixedList&) = delete;
  ~FixedList() {
    if (is_inline()) {  // the common case, as a loop of known length
      for (std::size_t i = 0; i < kInline; i++) {
        if (i < size_) std::destroy_at(here_ + i);
      }
    } else {
      std::destroy_n(there_, size_);
      std::allocator<T>().deallocate(there_, size_);
    }
  }
  // NOLINTNEXTLINE(google-explicit-constructor): for a list that is changed
  operator Vector() const { return Vector(begin(), end()); }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// The bytes of the memory that it has beside itself.
  std::size_t bytes_there() const noexcept { return is_inline() ? 0 : size_ * sizeof(T); }
  const T* data() const noexcept { return is_inline() ? here_ : there_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  const T& operator[](std::size_t i) const noexcept {
    assert(i < size_);
    return data()[i];
  }
  const T& front() const noexcept { return *data(); }
  const T& back() const noexcept { return data()[size_ - 1]; }
  friend bool operator==(const FixedList& a, const FixedList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool is_inline() const noexcept { return size_ <= kInline; }

  const std::size_t size_;
  union {
    T here_[kInline];
    T* there_;
  };
};

}  // namespace rondo::ir
