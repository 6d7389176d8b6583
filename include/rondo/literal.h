// A host array.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/reference_count.h"
#include "rondo/detail/why.h"
#include "rondo/error.h"
#include "rondo/type.h"

namespace rondo {

class SharedBlock;
namespace ir {
class KnownValue;
}  // namespace ir

template <HostScalar T>
class OwnedElements;

/// A dense row-major host array. Copies share their storage; the first write through a shared one
/// copies it. Storage that mutable_data gave out is not shared: a copy gets separate storage, so a
/// span that is still held writes to this literal only. Storage is aligned to 64 bytes, except what
/// `sharing` was given. A pred is one byte, 0 or 1. A default-constructed literal is an f32[0]. A
/// literal that was moved from is empty: it may be assigned to, copied, compared, printed and
/// destroyed; everything else throws TraceError or finds no elements.
class RONDO_API Literal {
 public:
  Literal() : type_{DType::kF32, empty_shape()} {}
  Literal(const Literal& other) : type_(other.type_), storage_(other.storage_) {
    if (!storage_) return;
    if (storage_->exposed)
      storage_ = copied(*storage_, type_);
    else
      detail::add_reference(storage_->references);
  }
  Literal(Literal&& other) noexcept
      : type_(std::move(other.type_)), storage_(std::exchange(other.storage_, nullptr)) {}
  Literal& operator=(const Literal& other) { return *this = Literal(other); }
  Literal& operator=(Literal&& other) noexcept {
    Literal old(std::move(other));  // releases the old value now, not with `other`
    std::swap(type_, old.type_);
    std::swap(storage_, old.storage_);
    return *this;
  }
  ~Literal() {
    if (storage_) release(storage_);
  }

  /// An array with a copy of `values`, in row-major order. Throws TraceError if their number does
  /// not match the shape.
  template <HostScalar T>
  static Literal from(std::span<const T> values, const Shape& shape) {
    static_assert(!std::is_same_v<T, long double>,
                  "rondo: a long double array has no element type; use double");
    return copy_of(values.data(), values.size(), {dtype_of<T>, shape});
  }
  template <HostScalar T>
  static Literal from(const std::vector<T>& values, const Shape& shape) {
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<unsigned char> bytes(values.begin(), values.end());
      return copy_of(bytes.data(), bytes.size(), {DType::kPred, shape});
    } else {
      return from(std::span<const T>(values), shape);
    }
  }
  template <HostScalar T>
  static Literal from(std::initializer_list<T> values, const Shape& shape) {
    return from(std::span<const T>(values.begin(), values.size()), shape);
  }
  /// A vector as an array of rank 1.
  template <HostScalar T>
  static Literal from(const std::vector<T>& values) {
    return from(values, {static_cast<std::int64_t>(values.size())});
  }
  template <HostScalar T>
  static Literal scalar(T value) {
    if constexpr (std::is_same_v<T, long double>)
      return scalar(static_cast<double>(value));
    else
      return copy_of(&value, 1, {dtype_of<T>, {}});
  }
  static Literal zeros(const TensorType& type);
  /// Storage with undefined content, to be written through mutable_data or mutable_bytes. Throws
  /// ExecutionError if there is not enough memory.
  static Literal uninitialized(const TensorType& type);
  /// An array of elements that are elsewhere, without a copy: dense, in row-major order, aligned as
  /// their host type requires, and kept alive by the pointer. The literal never writes to them (a
  /// write copies them first), and neither may another while it exists: programs may have used
  /// their values already. A pred must be 0 or 1. Throws TraceError if the pointer is null although
  /// there are elements, or not aligned; ExecutionError if there is not enough memory.
  static Literal sharing(std::shared_ptr<const void> elements, const TensorType& type);

  // By value if the literal is a temporary, which is destroyed after the line.
  const TensorType& type() const& noexcept { return type_; }
  TensorType type() && noexcept { return type_; }
  const Shape& shape() const& noexcept { return type_.shape; }
  Shape shape() && noexcept { return type_.shape; }
  DType dtype() const noexcept { return type_.dtype; }
  std::int64_t elements() const noexcept { return type_.elements(); }

  /// The elements in row-major order. Throws TraceError unless T is the host type of the dtype.
  template <HostScalar T>
  std::span<const T> data() const& {
    static_assert(!std::is_same_v<std::remove_cv_t<T>, long double>,
                  "rondo: no array holds long double; use double");
    check_dtype(dtype_of<T>);
    return {reinterpret_cast<const T*>(bytes()), size()};
  }
  /// The same for a temporary literal, as in `x.eval().data<float>()`: the elements with the
  /// literal, since a span into it would dangle.
  template <HostScalar T>
  OwnedElements<T> data() && {
    return OwnedElements<T>(std::move(*this));
  }
  /// The elements for writing; copies the storage first if it is shared. The span is valid as long
  /// as this literal, or the one that it is moved to, is not assigned to or destroyed. Copies of
  /// this literal, made before or after, such as arguments of a run, do not change with the span.
  /// For a literal that is copied often, use a std::vector and Literal::from instead.
  template <HostScalar T>
  std::span<T> mutable_data() & {
    static_assert(!std::is_same_v<std::remove_cv_t<T>, long double>,
                  "rondo: no array holds long double; use double");
    check_dtype(dtype_of<T>);
    std::byte* bytes = mutable_bytes();
    storage_->exposed = true;
    return {reinterpret_cast<T*>(bytes), size()};
  }
  // clang-format off
  template <class T, detail::Why kWhy = "rondo: this literal is gone after the line: name it first, Literal y = f(x).eval(); then y.mutable_data<T>()"> std::span<T> mutable_data() && = delete;
  // clang-format on
  /// The only element. Throws TraceError unless there is exactly one, of dtype T.
  template <HostScalar T>
  T item() const {
    if constexpr (std::is_same_v<T, long double>) {
      return item<double>();
    } else {
      check_single();
      return data<T>()[0];
    }
  }

  /// The storage; null in a default-constructed or moved-from literal.
  const std::byte* bytes() const& noexcept { return storage_ ? storage_->data() : nullptr; }
  /// The storage for writing, never null; copies it first if it is shared. Unlike after
  /// mutable_data, later copies share the storage: write before the literal is copied.
  std::byte* mutable_bytes() &;
  // clang-format off
  template <detail::Why kWhy = "rondo: this literal is gone after the line: name it first, Literal y = f(x).eval(); then y.bytes()"> const std::byte* bytes() && = delete;
  template <detail::Why kWhy = "rondo: this literal is gone after the line: name it first, Literal y = f(x).eval(); then y.mutable_bytes()"> std::byte* mutable_bytes() && = delete;
  // clang-format on
  /// True when nothing else shares the storage, so that writing copies nothing.
  bool unique() const noexcept {
    return storage_ && storage_->owner == nullptr &&
           storage_->references.load(std::memory_order_acquire) == 1;
  }
  /// The same bytes under another type, without a copy. Throws TraceError if the number of bytes
  /// differs, or if elements of another dtype would become pred or a number of fewer than 8 bits,
  /// and their bytes are none.
  Literal reinterpreted(const TensorType& type) const&;
  Literal reinterpreted(const TensorType& type) &&;

  /// NumPy's .npy format, versions 1 to 3 (numpy.lib.format). Reads little-endian arrays of the
  /// dtypes here, including those in Fortran order (into C order); bf16 is type V2. Throws
  /// ParseError naming the file and what is wrong with it, ExecutionError if there is not enough
  /// memory.
  static Literal load_npy(const std::string& path);
  /// Throws ExecutionError if the file cannot be written.
  void save_npy(const std::string& path) const;

  /// Type and elements, `f32[2] {1, 2.5}`; long arrays are shortened in the middle.
  std::string str() const;
  /// Equal types and bytes: a NaN equals the same NaN, -0 differs from 0.
  bool identical(const Literal& other) const noexcept;

 private:
  struct alignas(64) Storage {
    std::atomic<std::uint32_t> references;
    std::uint32_t size_class;
    std::size_t bytes;             // requested
    bool exposed = false;          // a span to write through may exist
    SharedBlock* block = nullptr;  // the one that contains the storage
    // Of elements that are not behind this header; they are only read.
    const std::shared_ptr<const void>* owner = nullptr;
    std::byte* elements = reinterpret_cast<std::byte*>(this + 1);
    std::byte* data() { return elements; }
  };
  /// Elements in storage: none in a literal that was moved from.
  std::size_t size() const noexcept { return storage_ ? static_cast<std::size_t>(elements()) : 0; }
  friend class ir::KnownValue;
  static constexpr std::size_t kHeaderBytes = sizeof(Storage);
  static constexpr std::size_t kElementsOffset = offsetof(Storage, elements);  // for debuggers
  /// Storage at `memory`, a part of a block. It is not in use until it is given out.
  static Storage* part(void* memory, const TensorType& type, SharedBlock& block) noexcept {
    return new (memory) Storage{0, 0, static_cast<std::size_t>(type.bytes()), false, &block};
  }
  static std::byte* give_out(Storage& part) noexcept {
    part.references.store(1, std::memory_order_relaxed);
    part.exposed = false;
    return part.data();
  }
  /// Storage that the caller writes, to `bytes`, before the literal is copied.
  static Literal uninitialized(const TensorType& type, std::byte*& bytes);
  Literal(const TensorType& type, Storage* storage) noexcept : type_(type), storage_(storage) {}
  static const Shape& empty_shape();
  /// Null if there is not enough memory.
  static Storage* allocate(std::size_t bytes) noexcept;
  static void release(Storage* storage) noexcept;
  /// Separate storage with the same bytes. Throws ExecutionError if there is not enough memory.
  static Storage* copied(Storage& storage, const TensorType& type);
  static Literal copy_of(const void* values, std::size_t count, const TensorType& type);
  void check_dtype(DType wanted) const;
  void check_single() const;

  TensorType type_;
  Storage* storage_ = nullptr;
};

/// Prints type and elements as Literal::str() writes them: `f32[2] {1, 2.5}`.
RONDO_API std::ostream& operator<<(std::ostream& out, const Literal& literal);

/// The elements of a temporary literal, together with the literal: a range like the span that a
/// named literal gives. It may be kept, iterated and indexed; it converts to a span if it has a
/// name. (Its iterators are no pointers: otherwise std::span would accept a temporary one.)
template <HostScalar T>
class OwnedElements {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = const T&;
  using const_reference = const T&;

  /// A random access iterator over the elements, which are only read. It is valid as long as the
  /// OwnedElements it came from, until that is moved.
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() noexcept = default;
    explicit Iterator(const T* place) noexcept : place_(place) {}
    reference operator*() const noexcept { return *place_; }
    pointer operator->() const noexcept { return place_; }
    reference operator[](difference_type n) const noexcept { return place_[n]; }
    Iterator& operator+=(difference_type n) noexcept {
      place_ += n;
      return *this;
    }
    Iterator& operator-=(difference_type n) noexcept { return *this += -n; }
    Iterator& operator++() noexcept { return *this += 1; }
    Iterator& operator--() noexcept { return *this += -1; }
    Iterator operator++(int) noexcept { return Iterator(place_++); }
    Iterator operator--(int) noexcept { return Iterator(place_--); }
    friend Iterator operator+(Iterator a, difference_type n) noexcept { return a += n; }
    friend Iterator operator+(difference_type n, Iterator a) noexcept { return a += n; }
    friend Iterator operator-(Iterator a, difference_type n) noexcept { return a -= n; }
    friend difference_type operator-(Iterator a, Iterator b) noexcept {
      return a.place_ - b.place_;
    }
    friend auto operator<=>(Iterator, Iterator) noexcept = default;

   private:
    const T* place_ = nullptr;
  };
  using iterator = Iterator;
  using const_iterator = Iterator;

  /// Throws TraceError unless T is the host type of the literal's dtype.
  explicit OwnedElements(Literal&& literal) : literal_(std::move(literal)) {
    static_cast<void>(literal_.template data<T>());
  }

  const T* data() const& noexcept { return elements().data(); }
  std::size_t size() const noexcept { return elements().size(); }
  bool empty() const noexcept { return elements().empty(); }
  const T& operator[](std::size_t i) const& noexcept { return elements()[i]; }
  T operator[](std::size_t i) && noexcept { return elements()[i]; }
  const T& front() const& noexcept { return elements().front(); }
  T front() && noexcept { return elements().front(); }
  const T& back() const& noexcept { return elements().back(); }
  T back() && noexcept { return elements().back(); }
  Iterator begin() const noexcept { return Iterator(elements().data()); }
  Iterator end() const noexcept { return begin() + static_cast<std::ptrdiff_t>(size()); }
  operator std::span<const T>() const& noexcept {
    return elements();
  }  // NOLINT: it is one
     // clang-format off
  template <detail::Why kWhy = "rondo: this span would point into a literal that is gone: name the literal first, Literal y = f(x).eval(); then y.data<T>()"> operator std::span<const T>() && = delete;
  template <detail::Why kWhy = "rondo: these elements are gone after the line: name the literal first, Literal y = f(x).eval(); then y.data<T>()"> const T* data() && = delete;
     // clang-format on

 private:
  // Read anew, since a copy may have other storage.
  std::span<const T> elements() const { return literal_.template data<T>(); }

  Literal literal_;
};

/// Returns memory of released arrays to the system. The library keeps some of it for later arrays,
/// since fresh pages cost more than the computation on them: per thread up to 64 kB for each of
/// four sizes up to 4 kB, and 2 MB of small blocks, of which nodes consist, which are released when
/// the thread ends and by this call on the same thread; and per process up to 64 MB of small
/// blocks, and 128 MB of blocks of 64 kB and more.
RONDO_API void release_cached_memory() noexcept;

}  // namespace rondo
