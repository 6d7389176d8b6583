// How sorting runs: orders that are known become integer keys, which are sorted with their places;
// all other comparators are called by a merge sort of ours, which ends and stays in bounds whatever
// they answer.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ops/combiners.h"
#include "ops/sort.h"

namespace rondo::ops {

namespace {

/// The lines along the axis: element k of line (o, i) stands at (o * count + k) * inner + i.
struct Lines {
  std::int64_t outer = 1, count = 1, inner = 1;
  Lines(const Shape& shape, std::int64_t sorted) : count(shape[sorted]) {
    for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
      if (axis < sorted) outer *= shape[axis];
      if (axis > sorted) inner *= shape[axis];
    }
  }
  template <class F>
  void for_each(F&& f) const {
    for (std::int64_t o = 0; o < outer; o++) {
      for (std::int64_t i = 0; i < inner; i++) f(o * count * inner + i);
    }
  }
};

/// An unsigned integer with the place of x in the order.
template <class Key, class T>
Key key_of(T x, const KnownOrder& order) {
  Key key;
  if constexpr (std::is_floating_point_v<T> || kIsHalf<T>) {
    using Bits =
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    Bits bits = std::bit_cast<Bits>(x);
    bool nan;
    if constexpr (kIsHalf<T>)
      nan = std::isnan(static_cast<float>(x));
    else
      nan = x != x;
    if (!order.total) {
      if (nan)
        bits = static_cast<Bits>(~kSign);  // the greatest of all
      else if (bits == kSign)
        bits = 0;  // -0
    }
    key = static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
    if (order.descending) key = static_cast<Bits>(~key);
  } else if constexpr (std::is_same_v<T, bool>) {
    key = x != order.descending;
  } else {
    using Bits = std::make_unsigned_t<T>;
    Bits bits = static_cast<Bits>(x);
    if (std::is_signed_v<T>)
      bits = static_cast<Bits>(bits ^ static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1)));
    key = static_cast<Bits>(order.descending ? ~bits : bits);
  }
  return key;
}

template <class Key>
struct Keyed {
  Key key;
  Key place;
};

/// Stable, by the bytes of the keys from the lowest up; bytes that are equal in all keys cost no
/// pass.
template <class Key>
void radix_sort(Keyed<Key>* entries, Keyed<Key>* other, std::size_t n) {
  std::array<std::array<std::size_t, 256>, sizeof(Key)> counts{};
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t byte = 0; byte < sizeof(Key); byte++)
      counts[byte][entries[i].key >> (8 * byte) & 255]++;
  }
  Keyed<Key>* const home = entries;
  for (std::size_t byte = 0; byte < sizeof(Key); byte++) {
    auto& places = counts[byte];
    if (places[entries[0].key >> (8 * byte) & 255] == n) continue;
    std::size_t next = 0;
    for (std::size_t& place : places) next += std::exchange(place, next);
    for (std::size_t i = 0; i < n; i++)
      other[places[entries[i].key >> (8 * byte) & 255]++] = entries[i];
    std::swap(entries, other);
  }
  if (entries != home) std::copy(entries, entries + n, home);
}

template <class Key>
void sort_keys(Keyed<Key>* entries, std::vector<Keyed<Key>>& scratch, std::size_t n) {
  constexpr std::size_t kFewEntries = 24, kManyEntries = 512;
  auto less = [](const Keyed<Key>& a, const Keyed<Key>& b) { return a.key < b.key; };
  if (n <= kFewEntries) {
    for (std::size_t i = 1; i < n; i++) {
      const Keyed<Key> entry = entries[i];
      std::size_t at = i;
      for (; at > 0 && less(entry, entries[at - 1]); at--) entries[at] = entries[at - 1];
      entries[at] = entry;
    }
  } else if (n < kManyEntries) {
    // No two places are equal, so that this order is a stable one.
    std::sort(entries, entries + n, [](const Keyed<Key>& a, const Keyed<Key>& b) {
      return a.key == b.key ? a.place < b.place : a.key < b.key;
    });
  } else {
    scratch.resize(n);
    radix_sort(entries, scratch.data(), n);
  }
}

/// Writes one line of every operand in the order `place(k)`.
template <class Place>
void write_line(KernelCall& call, absl::InlinedVector<Literal, 2>& outputs, const Lines& lines,
                std::int64_t start, Place&& place) {
  for (std::size_t i = 0; i < outputs.size(); i++) {
    for_width(byte_width(call.output_type(i).dtype), [&]<class U>() {
      const U* from = reinterpret_cast<const U*>(call.input(i).bytes()) + start;
      U* to = reinterpret_cast<U*>(outputs[i].mutable_bytes()) + start;
      for (std::int64_t k = 0; k < lines.count; k++)
        to[k * lines.inner] = from[place(k) * lines.inner];
    });
  }
}

template <class Key, class T>
void sort_by_keys(KernelCall& call, absl::InlinedVector<Literal, 2>& outputs, const Lines& lines,
                  const KnownOrder& order) {
  const T* values = reinterpret_cast<const T*>(call.input(order.operand).bytes());
  absl::InlinedVector<Keyed<Key>, 32> entries(static_cast<std::size_t>(lines.count));
  std::vector<Keyed<Key>> scratch;
  lines.for_each([&](std::int64_t start) {
    for (std::int64_t k = 0; k < lines.count; k++) {
      entries[static_cast<std::size_t>(k)] = {key_of<Key>(values[start + k * lines.inner], order),
                                              static_cast<Key>(k)};
    }
    sort_keys(entries.data(), scratch, entries.size());
    write_line(call, outputs, lines, start, [&](std::int64_t k) {
      return static_cast<std::int64_t>(entries[static_cast<std::size_t>(k)].place);
    });
  });
}

/// Merge sort of 0 .. n-1 by any comparator.
template <class Less>
void merge_sort(std::vector<std::int64_t>& places, std::vector<std::int64_t>& scratch,
                Less&& less) {
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
    }
    places.swap(scratch);
  }
}

template <class T>
void sort_complex(KernelCall& call, absl::InlinedVector<Literal, 2>& outputs, const Lines& lines) {
  using Key = std::conditional_t<sizeof(T) == 8, std::uint32_t, std::uint64_t>;
  const T* values = reinterpret_cast<const T*>(call.input(0).bytes());
  std::vector<std::pair<Key, Key>> keys(static_cast<std::size_t>(lines.count));
  std::vector<std::int64_t> places(keys.size()), scratch;
  lines.for_each([&](std::int64_t start) {
    for (std::int64_t k = 0; k < lines.count; k++) {
      const T value = values[start + k * lines.inner];
      keys[static_cast<std::size_t>(k)] = {key_of<Key>(value.real(), {}),
                                           key_of<Key>(value.imag(), {})};
    }
    merge_sort(places, scratch, [&](std::int64_t a, std::int64_t b) {
      return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
    });
    write_line(call, outputs, lines, start,
               [&](std::int64_t k) { return places[static_cast<std::size_t>(k)]; });
  });
}

void sort_by_calls(KernelCall& call, absl::InlinedVector<Literal, 2>& outputs, const Lines& lines) {
  const std::size_t n = outputs.size();
  std::vector<Literal> arguments(2 * n), results;
  std::vector<std::int64_t> places(static_cast<std::size_t>(lines.count)), scratch;
  lines.for_each([&](std::int64_t start) {
    auto load = [&](std::size_t argument, std::int64_t place) {
      const std::size_t i = argument / 2;
      Literal& scalar = arguments[argument];
      if (!scalar.unique()) scalar = Literal::uninitialized({call.output_type(i).dtype, {}});
      const auto width = static_cast<std::size_t>(byte_width(call.output_type(i).dtype));
      std::copy_n(
          call.input(i).bytes() + static_cast<std::size_t>(start + place * lines.inner) * width,
          width, scalar.mutable_bytes());
    };
    merge_sort(places, scratch, [&](std::int64_t a, std::int64_t b) {
      for (std::size_t i = 0; i < n; i++) {
        load(2 * i, a);
        load(2 * i + 1, b);
      }
      call.host.call(call.node.regions[0], arguments, results);
      return results[0].data<bool>()[0];
    });
    write_line(call, outputs, lines, start,
               [&](std::int64_t k) { return places[static_cast<std::size_t>(k)]; });
  });
}

}  // namespace

void sort_kernel(KernelCall& call) {
  const Lines lines(call.output_type().shape, call.attrs<SortAttributes>().axis);
  if (lines.count < 2 || call.output_type().elements() == 0) {
    for (std::size_t i = 0; i < call.outputs(); i++) call.output(i) = call.take(i);
    return;
  }
  absl::InlinedVector<Literal, 2> outputs;
  for (std::size_t i = 0; i < call.outputs(); i++)
    outputs.push_back(Literal::uninitialized(call.output_type(i)));
  if (const std::optional<KnownOrder> order = known_order(call.node.regions[0])) {
    for_dtype(call.output_type(order->operand).dtype, [&]<class T>() {
      if constexpr (kIsComplex<T>) {
        sort_complex<T>(call, outputs, lines);
      } else if (sizeof(T) <= 4 && lines.count <= UINT32_MAX) {
        if constexpr (sizeof(T) <= 4) sort_by_keys<std::uint32_t, T>(call, outputs, lines, *order);
      } else {
        sort_by_keys<std::uint64_t, T>(call, outputs, lines, *order);
      }
    });
  } else {
    sort_by_calls(call, outputs, lines);
  }
  for (std::size_t i = 0; i < call.outputs(); i++) call.output(i) = std::move(outputs[i]);
}

}  // namespace rondo::ops
