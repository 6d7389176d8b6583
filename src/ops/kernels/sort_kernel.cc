// Kernels of sorting: known orders become integer keys, which are sorted alone or with their
// positions; all other comparators are called by a merge sort implemented here, which terminates
// and stays in bounds whatever they return.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/cpu.h"
#include "ops/combiners.h"
#include "ops/kernels/order_keys.h"
#include "ops/kernels/share_rows.h"
#include "ops/kernels/sort_keys.h"
#include "ops/sort.h"

namespace rondo::ops {

namespace {

/// The lines along the axis: element k of line (o, i) is at (o * count + k) * inner + i.
struct Lines {
  std::int64_t outer = 1, count = 1, inner = 1;
  Lines(const Shape& shape, std::int64_t sorted) : count(shape[sorted]) {
    for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
      if (axis < sorted) outer *= shape[axis];
      if (axis > sorted) inner *= shape[axis];
    }
  }
  /// f(k, offset of element k in its line): with a separate loop for contiguous elements.
  template <class F>
  void for_elements(F&& f) const {
    if (inner == 1) {
      for (std::int64_t k = 0; k < count; k++) f(k, k);
    } else {
      for (std::int64_t k = 0; k < count; k++) f(k, k * inner);
    }
  }
  std::int64_t lines() const { return outer * inner; }
  /// f(start) for lines `first` to `end` - 1.
  template <class F>
  void for_each(std::int64_t first, std::int64_t end, F&& f) const {
    for (std::int64_t line = first; line < end; line++)
      f(line / inner * count * inner + line % inner);
  }
};

/// Merge sort of 0 .. n-1 by any comparator.
template <class Less>
void merge_sort(std::vector<std::int64_t>& places, std::vector<std::int64_t>& scratch,
                ir::Poller& poller, Less&& less) {
  const std::size_t n = places.size();
  scratch.resize(n);
  for (std::size_t i = 0; i < n; i++) places[i] = static_cast<std::int64_t>(i);
  for (std::size_t width = 1; width < n; width *= 2) {
    for (std::size_t start = 0; start < n; start += 2 * width) {
      const std::size_t middle = std::min(n, start + width), end = std::min(n, start + 2 * width);
      std::size_t left = start, right = middle;
      for (std::size_t to = start; to < end; to++) {
        const bool take_right =
            left == middle || (right < end && less(places[right], places[left]));
        scratch[to] = places[take_right ? right++ : left++];
      }
      poller.did(static_cast<std::int64_t>(4 * (end - start)));
    }
    places.swap(scratch);
  }
}

/// The value of a key that belongs to one value only: all but NaN and -0 in orders that are not
/// total.
template <class T, class Key>
T value_of(Key key, KnownOrder order) {
  if constexpr (std::is_same_v<T, bool>) {
    return (key != 0) != order.descending;
  } else {
    using Bits = BitsOf<T>;
    constexpr Bits kSign = kSignOf<Bits>;
    Bits bits = static_cast<Bits>(key);
    bits = order.descending ? static_cast<Bits>(~bits) : bits;
    if constexpr (std::is_floating_point_v<T> || lower::is_half<T>)
      bits = static_cast<Bits>(bits ^ (static_cast<Bits>(~spread_sign(bits)) | kSign));
    else if constexpr (std::is_signed_v<T>)
      bits = static_cast<Bits>(bits ^ kSign);
    return std::bit_cast<T>(bits);
  }
}

/// Floats that share their key with others: they keep their order (stable).
template <class T>
bool shares_key(T x) {
  if constexpr (lower::is_half<T>)
    return shares_key(static_cast<float>(x));
  else if constexpr (std::is_floating_point_v<T>)
    return x == 0 || x != x;
  else
    return false;
}

/// Uninitialized memory for n Ts, from the cache of blocks.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t n)
      : storage_(Literal::uninitialized(
            {DType::kU8, Shape({n * static_cast<std::int64_t>(sizeof(T))})})),
        data_(reinterpret_cast<T*>(storage_.mutable_bytes())),
        size_(static_cast<std::size_t>(n)) {}
  T& operator[](std::int64_t i) { return data_[i]; }
  std::span<T> span() { return {data_, size_}; }

 private:
  Literal storage_;
  T* data_;
  std::size_t size_;
};

class SortKernel : public ir::Kernel {
 public:
  explicit SortKernel(const Node& node)
      : node_(node), lines_(node.type().shape, node.attrs<SortAttributes>().axis) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    const auto levels =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(lines_.count)));
    const std::int64_t work = lines_.count * levels;
    share_rows(lines_.lines(), work, host,
               [&](std::int64_t first, std::int64_t end, ir::Host& here) {
                 sort_lines(operands, results, first, end, here);
               });
  }

 protected:
  /// Lines `first` to `end` - 1.
  virtual void sort_lines(ir::OperandPlaces operands, ir::ResultPlaces results, std::int64_t first,
                          std::int64_t end, ir::Host& host) const = 0;

  /// Writes one line of every operand in the order `place(k)`.
  template <class Place>
  void write_line(ir::OperandPlaces operands, ir::ResultPlaces results, std::int64_t start,
                  Place&& place) const {
    for (std::size_t i = 0; i < results.size(); i++) {
      for_width(byte_width(node_.types[i].dtype), [&]<class U>() {
        const U* from = reinterpret_cast<const U*>(operands[i]) + start;
        U* to = reinterpret_cast<U*>(results[i]) + start;
        for (std::int64_t k = 0; k < lines_.count; k++)
          to[k * lines_.inner] = from[place(k) * lines_.inner];
      });
    }
  }

  const Node& node_;
  Lines lines_;
};

/// Writes the keys of n contiguous values; returns whether one of them shares its key. The compiler
/// vectorizes it, as wide as the caller.
template <class Key, class T>
[[gnu::always_inline]] inline bool write_keys(const T* from, std::int64_t n, KnownOrder order,
                                              Key* keys) {
  Key shared = 0;
  for (std::int64_t k = 0; k < n; k++) {
    keys[k] = key_of<Key>(from[k], order);
    shared |= shares_key(from[k]) ? Key{1} : Key{0};
  }
  return shared != 0;
}
/// Converts the keys back to the bits of Ts.
template <class T, class Key>
[[gnu::always_inline]] inline void turn_back(Key* keys, std::int64_t n, KnownOrder order) {
  for (std::int64_t k = 0; k < n; k++) keys[k] = std::bit_cast<Key>(value_of<T>(keys[k], order));
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
// The rest of the library runs on any x86-64.
template <class Key, class T>
[[gnu::target("avx2")]] bool write_keys_avx2(const T* from, std::int64_t n, KnownOrder order,
                                             Key* keys) {
  return write_keys(from, n, order, keys);
}
template <class T, class Key>
[[gnu::target("avx2")]] void turn_back_avx2(Key* keys, std::int64_t n, KnownOrder order) {
  turn_back<T>(keys, n, order);
}
bool has_avx2() { return cpu().avx2; }
#else
template <class Key, class T>
bool write_keys_avx2(const T* from, std::int64_t n, KnownOrder order, Key* keys) {
  return write_keys(from, n, order, keys);
}
template <class T, class Key>
void turn_back_avx2(Key* keys, std::int64_t n, KnownOrder order) {
  turn_back<T>(keys, n, order);
}
bool has_avx2() { return false; }
#endif

/// Sorts the values of the only operand.
template <class T>
class SortValues final : public SortKernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  SortValues(const Node& node, KnownOrder order) : SortKernel(node), order_(order) {}
  void sort_lines(ir::OperandPlaces operands, ir::ResultPlaces results, std::int64_t first,
                  std::int64_t end, ir::Host& host) const override {
    const T* values = reinterpret_cast<const T*>(operands[0]);
    T* sorted = reinterpret_cast<T*>(results[0]);
    if constexpr (sizeof(Key) == sizeof(T)) {
      if (lines_.inner == 1) {
        lines_.for_each(first, end, [&](std::int64_t start) {
          sort_in_place(values + start, reinterpret_cast<Key*>(sorted + start), host);
        });
        return;
      }
    }
    Scratch<Key> scratch(lines_.count);
    const std::span<Key> keys = scratch.span();
    lines_.for_each(first, end, [&](std::int64_t start) {
      const T* from = values + start;
      T* to = sorted + start;
      bool shared = false;
      lines_.for_elements([&](std::int64_t k, std::int64_t at) {
        scratch[k] = key_of<Key>(from[at], order_);
        shared = shared || shares_key(from[at]);
      });
      sort(keys, host);
      lines_.for_elements(
          [&](std::int64_t k, std::int64_t at) { to[at] = value_of<T>(scratch[k], order_); });
      if (shared && !order_.total) {
        restore_shared(from, SharedPlaces(keys, order_),
                       [&](std::int64_t k, T x) { to[k * lines_.inner] = x; });
      }
      host.poll();
    });
  }

 private:
  using Key = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;

  static void sort(std::span<Key> keys, ir::Host& host) {
    if constexpr (sizeof(Key) == 4)
      sort_keys(keys, host);
    else
      sort_keys(keys, 0, host);
  }

  /// A line whose keys are stored in the memory of the result.
  void sort_in_place(const T* from, Key* to, ir::Host& host) const {
    const std::span<Key> keys(to, static_cast<std::size_t>(lines_.count));
    const bool wide = has_avx2();
    const bool shared = wide ? write_keys_avx2(from, lines_.count, order_, to)
                             : write_keys(from, lines_.count, order_, to);
    sort(keys, host);
    std::optional<SharedPlaces> places;
    if (shared && !order_.total) places.emplace(keys, order_);
    wide ? turn_back_avx2<T>(to, lines_.count, order_) : turn_back<T>(to, lines_.count, order_);
    if (places)
      restore_shared(from, *places, [&](std::int64_t k, T x) { to[k] = std::bit_cast<Key>(x); });
    host.poll();
  }

  /// The position, among sorted keys, of values that share their key.
  struct SharedPlaces {
    SharedPlaces(std::span<const Key> keys, KnownOrder order)
        : zero(first_of(T(), keys, order)), nan(first_of(not_a_number(), keys, order)) {}
    static T not_a_number() {
      if constexpr (std::is_floating_point_v<T> || lower::is_half<T>)
        return T(std::numeric_limits<float>::quiet_NaN());
      else
        return T();
    }
    static std::int64_t first_of(T x, std::span<const Key> keys, KnownOrder order) {
      return std::lower_bound(keys.begin(), keys.end(), key_of<Key>(x, order)) - keys.begin();
    }
    std::int64_t zero, nan;
  };

  /// Writes zeros and NaNs in their original order.
  template <class Write>
  void restore_shared(const T* from, SharedPlaces next, Write write) const {
    for (std::int64_t k = 0; k < lines_.count; k++) {
      const T x = from[k * lines_.inner];
      if (!shares_key(x)) continue;
      const bool is_zero = static_cast<double>(as_float(x)) == 0;
      write(is_zero ? next.zero++ : next.nan++, x);
    }
  }
  static auto as_float(T x) {
    if constexpr (lower::is_half<T>)
      return static_cast<float>(x);
    else
      return x;
  }

  KnownOrder order_;
};

/// Writes the keys of n values, `step` apart, to every `distance`-th integer.
using KeysOfLine = void (*)(const std::byte* values, std::int64_t n, std::int64_t step,
                            KnownOrder order, std::uint64_t* keys, std::int64_t distance);

/// Complex numbers are pairs of values.
KeysOfLine keys_of_parts(DType dtype) {
  KeysOfLine keys_of = nullptr;
  for_dtype(dtype, [&]<class T>() {
    if constexpr (kIsComplex<T>) {
      keys_of = keys_of_parts(dtype_of<typename T::value_type>);
    } else {
      keys_of = [](const std::byte* values, std::int64_t n, std::int64_t step, KnownOrder order,
                   std::uint64_t* keys, std::int64_t distance) {
        const T* const from = reinterpret_cast<const T*>(values);
        for (std::int64_t k = 0; k < n; k++)
          keys[k * distance] = key_of<std::uint64_t>(from[k * step], order);
      };
    }
  });
  return keys_of;
}

/// Sorts keys of up to 32 bits with their positions, as one integer.
class SortPlaces final : public SortKernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  SortPlaces(const Node& node, KnownOrder order)
      : SortKernel(node), order_(order), keys_of_(keys_of_parts(node.types[order.operand].dtype)) {}
  void sort_lines(ir::OperandPlaces operands, ir::ResultPlaces results, std::int64_t first,
                  std::int64_t end, ir::Host& host) const override {
    const std::int64_t n = lines_.count, width = byte_width(node_.types[order_.operand].dtype);
    Scratch<std::uint64_t> entries(n);
    lines_.for_each(first, end, [&](std::int64_t start) {
      keys_of_(operands[order_.operand] + start * width, n, lines_.inner, order_, &entries[0], 1);
      for (std::int64_t k = 0; k < n; k++)
        entries[k] = entries[k] << 32 | static_cast<std::uint64_t>(k);
      sort_keys(entries.span(), 32, host);
      write_line(operands, results, start, [&](std::int64_t k) {
        return static_cast<std::int64_t>(static_cast<std::uint32_t>(entries[k]));
      });
      host.poll();
    });
  }

 private:
  KnownOrder order_;
  KeysOfLine keys_of_;
};

/// Sorts positions by keys that do not fit into one integer with them: one of 64 bits for each part
/// of a value, of which complex numbers have two.
template <std::int64_t parts>
class SortWideKeys final : public SortKernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  SortWideKeys(const Node& node, KnownOrder order)
      : SortKernel(node), order_(order), keys_of_(keys_of_parts(dtype())) {}
  void sort_lines(ir::OperandPlaces operands, ir::ResultPlaces results, std::int64_t first,
                  std::int64_t end, ir::Host& host) const override {
    struct Entry {
      std::array<std::uint64_t, parts> key;
      std::int64_t place;
      bool operator<(const Entry& other) const {
        return key != other.key ? key < other.key : place < other.place;
      }
    };
    static_assert(sizeof(Entry) == (parts + 1) * sizeof(std::uint64_t));
    const std::int64_t n = lines_.count, width = byte_width(dtype());
    // Threshold: Elements sorted between two polls, in blocks that are merged. Not measured.
    constexpr std::int64_t kBlock = 1 << 16;
    std::vector<Entry> entries(static_cast<std::size_t>(n)), other(n > kBlock ? entries.size() : 0);
    lines_.for_each(first, end, [&](std::int64_t start) {
      for (std::int64_t part = 0; part < parts; part++) {
        keys_of_(operands[order_.operand] + start * width + part * width / parts, n,
                 parts * lines_.inner, order_,
                 reinterpret_cast<std::uint64_t*>(entries.data()) + part, parts + 1);
      }
      for (std::int64_t k = 0; k < n; k++) entries[static_cast<std::size_t>(k)].place = k;
      const auto at = [&](std::vector<Entry>& of, std::int64_t k) {
        return of.begin() + static_cast<std::ptrdiff_t>(std::min(n, k));
      };
      for (std::int64_t block = 0; block < n; block += kBlock) {
        std::sort(at(entries, block), at(entries, block + kBlock));
        host.poll();
      }
      for (std::int64_t size = kBlock; size < n; size *= 2) {
        for (std::int64_t left = 0; left < n; left += 2 * size) {
          std::merge(at(entries, left), at(entries, left + size), at(entries, left + size),
                     at(entries, left + 2 * size), at(other, left));
          host.poll();
        }
        entries.swap(other);
      }
      write_line(operands, results, start,
                 [&](std::int64_t k) { return entries[static_cast<std::size_t>(k)].place; });
    });
  }

 private:
  DType dtype() const { return node_.types[order_.operand].dtype; }

  KnownOrder order_;
  KeysOfLine keys_of_;
};

class SortByCalls final : public SortKernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  using SortKernel::SortKernel;
  /// The comparator is called on one thread.
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    sort_lines(operands, results, 0, lines_.lines(), host);
  }
  void sort_lines(ir::OperandPlaces operands, ir::ResultPlaces results, std::int64_t first,
                  std::int64_t end, ir::Host& host) const override {
    ir::RegionCall& less = host.region(node_.regions[0]);
    ir::Poller poller(host);
    const std::size_t n = results.size();
    std::vector<std::int64_t> widths;
    for (const TensorType& type : node_.types) widths.push_back(byte_width(type.dtype));
    std::vector<const std::byte*> arguments(2 * n);
    std::vector<std::int64_t> places(static_cast<std::size_t>(lines_.count)), scratch;
    lines_.for_each(first, end, [&](std::int64_t start) {
      merge_sort(places, scratch, poller, [&](std::int64_t a, std::int64_t b) {
        for (std::size_t i = 0; i < n; i++) {
          arguments[2 * i] = operands[i] + (start + a * lines_.inner) * widths[i];
          arguments[2 * i + 1] = operands[i] + (start + b * lines_.inner) * widths[i];
        }
        bool answer = false;
        std::byte* place = reinterpret_cast<std::byte*>(&answer);
        less.run(arguments, {&place, 1});
        return answer;
      });
      write_line(operands, results, start,
                 [&](std::int64_t k) { return places[static_cast<std::size_t>(k)]; });
    });
  }
};

}  // namespace

std::unique_ptr<ir::Kernel> prepare_sort(const Node& node) {
  const auto& attributes = node.attrs<SortAttributes>();
  const std::int64_t count = node.type().shape[attributes.axis];
  if (count < 2 || node.type().elements() == 0) return ir::prepare_forwarding(node);
  const std::optional<KnownOrder>& order = attributes.order;
  if (!order) return std::make_unique<SortByCalls>(node);
  const DType dtype = node.types[order->operand].dtype;
  if (is_complex(dtype)) return std::make_unique<SortWideKeys<2>>(node, *order);
  std::unique_ptr<ir::Kernel> kernel;
  if (node.types.size() == 1) {
    for_dtype(dtype, [&]<class T>() {
      if constexpr (!kIsComplex<T>) kernel = std::make_unique<SortValues<T>>(node, *order);
    });
  } else if (byte_width(dtype) <= 4 && count <= UINT32_MAX) {
    kernel = std::make_unique<SortPlaces>(node, *order);
  } else {
    kernel = std::make_unique<SortWideKeys<1>>(node, *order);
  }
  return kernel;
}

}  // namespace rondo::ops
