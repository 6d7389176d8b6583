// The attributes of a node: a plain aggregate, held by value behind one type-erased pointer.
// Hash and memory come from reflection over its fields; texts from the description in the op's
// record (ir/attribute_text.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "base/held_bytes.h"
#include "base/memory.h"
#include "rondo/detail/reference_count.h"
#include "rondo/literal.h"
#include "rondo/reflect.h"

namespace rondo::ir {

/// An op without attributes.
struct NoAttributes {
  friend bool operator==(const NoAttributes&, const NoAttributes&) = default;
};

// How fields hash: equal values have the same hash.
std::size_t hash_field(const Shape& value);
std::size_t hash_field(const Literal& value);
template <class T>
std::size_t hash_field(const std::shared_ptr<T>& value) {
  return absl::HashOf(value.get());
}
template <class A, class B>
std::size_t hash_field(const std::pair<A, B>& value);
template <class T>
std::size_t hash_field(const std::optional<T>& value);
template <class T>
std::size_t hash_field(const std::vector<T>& values);
/// Numbers, strings, and aggregates by their fields.
template <class T>
std::size_t hash_field(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return absl::HashOf(value == 0 ? T() : value);  // -0 equals 0
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                       std::is_convertible_v<const T&, std::string_view>) {
    return absl::HashOf(value);
  } else {
    return std::apply([](const auto&... fields) { return absl::HashOf(hash_field(fields)...); },
                      fields_of(value));
  }
}
template <class A, class B>
std::size_t hash_field(const std::pair<A, B>& value) {
  return absl::HashOf(hash_field(value.first), hash_field(value.second));
}
template <class T>
std::size_t hash_field(const std::optional<T>& value) {
  return value ? absl::HashOf(hash_field(*value)) : 0;
}
template <class T>
std::size_t hash_field(const std::vector<T>& values) {
  std::size_t hash = values.size();
  for (const T& value : values) hash = absl::HashOf(hash, hash_field(value));
  return hash;
}

// The memory that fields hold beside themselves.
inline void count_field(HeldBytes& held, const std::string& value) { held.text(value); }
inline void count_field(HeldBytes& held, const Shape& value) { held.shape(value); }
inline void count_field(HeldBytes& held, const Literal& value) { held.literal(value); }
template <class T>
void count_field(HeldBytes& held, const std::optional<T>& value);
template <class A, class B>
void count_field(HeldBytes& held, const std::pair<A, B>& value);
template <class T>
void count_field(HeldBytes& held, const std::vector<T>& values);
template <class T>
void count_field(HeldBytes& held, const T& value) {
  if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T> &&
                !std::is_convertible_v<const T&, std::string_view>) {
    std::apply([&](const auto&... fields) { (count_field(held, fields), ...); }, fields_of(value));
  }
}
template <class T>
void count_field(HeldBytes& held, const std::optional<T>& value) {
  if (value) count_field(held, *value);
}
template <class A, class B>
void count_field(HeldBytes& held, const std::pair<A, B>& value) {
  count_field(held, value.first);
  count_field(held, value.second);
}
template <class T>
void count_field(HeldBytes& held, const std::vector<T>& values) {
  held.elements(values);
  if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) {
    for (const T& value : values) count_field(held, value);
  }
}

class AttributesBase {
 public:
  explicit AttributesBase(const void* type_tag) noexcept : type_tag_(type_tag) {}
  virtual ~AttributesBase() = default;
  static void* operator new(std::size_t bytes) { return take_small_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    give_small_block(block, bytes);
  }
  virtual bool equals(const AttributesBase& other) const = 0;
  /// Equal for equal attributes. Computed once: a constant may be large.
  std::size_t hash() const {
    std::size_t known = hash_.load(std::memory_order_relaxed);
    if (known == 0) hash_.store(known = compute_hash() | 1, std::memory_order_relaxed);
    return known;
  }
  virtual void count_held(HeldBytes& held) const = 0;
  const void* type_tag() const noexcept { return type_tag_; }

  mutable std::atomic<std::uint32_t> references{0};

 private:
  virtual std::size_t compute_hash() const = 0;
  const void* const type_tag_;
  mutable std::atomic<std::size_t> hash_{0};
};

template <class T>
inline constexpr char kAttributesTag = 0;

template <class T>
class AttributesOf final : public AttributesBase {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  explicit AttributesOf(T initial)
      : AttributesBase(&kAttributesTag<T>), value(std::move(initial)) {}
  bool equals(const AttributesBase& other) const override {
    return other.type_tag() == type_tag() && static_cast<const AttributesOf&>(other).value == value;
  }
  void count_held(HeldBytes& held) const override {
    if (held.shared(this, sizeof(*this))) count_field(held, value);
  }
  const T value;

 private:
  std::size_t compute_hash() const override { return hash_field(value); }
};

/// A counted pointer to attributes; null for none.
class Attributes {
 public:
  Attributes() noexcept = default;
  template <class T>
  requires(!std::is_same_v<T, Attributes>) Attributes(T value)
      : base_(new AttributesOf<T>(std::move(value))) {
    base_->references.store(1, std::memory_order_relaxed);
  }
  Attributes(NoAttributes) noexcept {}
  Attributes(const Attributes& other) noexcept : base_(other.base_) {
    if (base_) detail::add_reference(base_->references);
  }
  Attributes(Attributes&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
  Attributes& operator=(Attributes other) noexcept {
    std::swap(base_, other.base_);
    return *this;
  }
  ~Attributes() {
    if (base_ && detail::drop_reference(base_->references)) delete base_;
  }

  /// The aggregate. Requesting another type than was stored is an internal error.
  template <class T>
  const T& as() const {
    if (!base_ || base_->type_tag() != &kAttributesTag<T>) wrong_type();
    return static_cast<const AttributesOf<T>*>(base_)->value;
  }
  template <class T>
  const T* try_as() const noexcept {
    return base_ && base_->type_tag() == &kAttributesTag<T>
               ? &static_cast<const AttributesOf<T>*>(base_)->value
               : nullptr;
  }
  std::size_t hash() const { return base_ ? base_->hash() : 0; }
  void count_held(HeldBytes& held) const {
    if (base_) base_->count_held(held);
  }
  friend bool operator==(const Attributes& a, const Attributes& b) {
    return a.base_ == b.base_ || (a.base_ && b.base_ && a.base_->equals(*b.base_));
  }

 private:
  [[noreturn]] static void wrong_type();
  const AttributesBase* base_ = nullptr;
};

}  // namespace rondo::ir
