#include "ops/kernels/sort_keys.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/cpu.h"

#ifdef RONDO_WITH_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#ifdef RONDO_HIGHWAY_SONAME
#include <cstdio>

#include "base/shared_library.h"
#endif
#endif

namespace rondo::ops {

namespace {

/// Threshold: Keys from which Highway's sort is used; fewer are sorted by std::sort. Not measured.
constexpr std::size_t kFewKeys = 64;

#ifdef RONDO_WITH_HIGHWAY

#ifdef RONDO_HIGHWAY_SONAME

/// hwy::Sorter of a library that is loaded when many keys are first sorted: on loading, it
/// calibrates the clock for milliseconds.
struct Highway {
  template <class Key>
  using Sort = void (*)(const void*, Key*, std::size_t, hwy::SortAscending);
  void (*construct)(void*) = nullptr;
  void (*destroy)(void*) = nullptr;
  Sort<std::uint32_t> sort32 = nullptr;
  Sort<std::uint64_t> sort64 = nullptr;

  static const Highway& loaded() {
    static const Highway highway = load();
    return highway;
  }
  static bool is_there() { return loaded().construct != nullptr; }

 private:
  static Highway load() {
    const SharedLibrary library(RONDO_HIGHWAY_SONAME);
    const Highway highway{
        library.symbol<void (*)(void*)>("_ZN3hwy6SorterC1Ev"),
        library.symbol<void (*)(void*)>("_ZN3hwy6Sorter6DeleteEv"),
        library.symbol<Sort<std::uint32_t>>("_ZNK3hwy6SorterclEPjmNS_13SortAscendingE"),
        library.symbol<Sort<std::uint64_t>>("_ZNK3hwy6SorterclEPmmNS_13SortAscendingE")};
    if (highway.construct && highway.destroy && highway.sort32 && highway.sort64) return highway;
    std::fputs("rondo: " RONDO_HIGHWAY_SONAME
               " is not there or has no sort of keys; keys are sorted without it, slower.\n",
               stderr);
    return {};
  }
};

class VectorSorter {
 public:
  VectorSorter() { Highway::loaded().construct(sorter_); }
  ~VectorSorter() { Highway::loaded().destroy(sorter_); }
  VectorSorter(const VectorSorter&) = delete;
  VectorSorter& operator=(const VectorSorter&) = delete;
  void operator()(std::uint32_t* keys, std::size_t n) const {
    Highway::loaded().sort32(sorter_, keys, n, {});
  }
  void operator()(std::uint64_t* keys, std::size_t n) const {
    Highway::loaded().sort64(sorter_, keys, n, {});
  }

 private:
  alignas(hwy::Sorter) std::byte sorter_[sizeof(hwy::Sorter)];
};

#else

struct Highway {
  static bool is_there() { return true; }
};

class VectorSorter {
 public:
  template <class Key>
  void operator()(Key* keys, std::size_t n) const {
    sorter_(keys, n, hwy::SortAscending());
  }

 private:
  hwy::Sorter sorter_;
};

#endif

/// Threshold: Keys sorted between two polls, some ten milliseconds. Not measured; sort in
/// bench/anchors runs it.
constexpr std::size_t kBlockKeys = std::size_t{1} << 22;

template <class Key>
void sort_by_vectors(std::span<Key> keys, ir::Host& host) {
  const VectorSorter sorter;
  const std::size_t n = keys.size();
  for (std::size_t start = 0; start < n; start += kBlockKeys) {
    if (start > 0) host.poll();
    sorter(keys.data() + start, std::min(kBlockKeys, n - start));
  }
  if (n <= kBlockKeys) return;
  std::vector<Key> other(n);
  std::span<Key> from = keys, to = other;
  for (std::size_t width = kBlockKeys; width < n; width *= 2) {
    for (std::size_t start = 0; start < n; start += 2 * width) {
      const auto at = [&](std::size_t i) {
        return from.begin() + static_cast<std::ptrdiff_t>(std::min(n, i));
      };
      host.poll();
      std::merge(at(start), at(start + width), at(start + width), at(start + 2 * width),
                 to.begin() + static_cast<std::ptrdiff_t>(start));
    }
    std::swap(from, to);
  }
  if (from.data() != keys.data()) std::copy(from.begin(), from.end(), keys.begin());
}

#endif

/// Radix sort, from the lowest digit that is not in order yet. A digit that all keys share costs no
/// pass.
template <class Key>
void sort_by_digits(std::span<Key> keys, int sorted_bits, ir::Host& host) {
  // Threshold: Bits of a digit: passes over the keys against write positions that fit the first
  // cache. Not measured.
  constexpr int kDigit = 8;
  constexpr std::size_t kValues = std::size_t{1} << kDigit;
  const std::size_t n = keys.size();
  const int bits = static_cast<int>(8 * sizeof(Key)) - sorted_bits;
  const auto digits = static_cast<std::size_t>((bits + kDigit - 1) / kDigit);
  const auto value = [&](Key key, std::size_t digit) {
    return static_cast<std::size_t>(key >> (sorted_bits + static_cast<int>(digit) * kDigit)) &
           (kValues - 1);
  };
  std::vector<std::array<std::size_t, kValues>> counts(digits);
  for (const Key key : keys) {
    for (std::size_t digit = 0; digit < digits; digit++) counts[digit][value(key, digit)]++;
  }
  std::vector<Key> other(n);
  Key *from = keys.data(), *to = other.data();
  ir::Poller poller(host);
  for (std::size_t digit = 0; digit < digits; digit++) {
    auto& places = counts[digit];
    if (places[value(from[0], digit)] == n) continue;
    std::size_t next = 0;
    for (std::size_t& place : places) next += std::exchange(place, next);
    for (std::size_t start = 0; start < n; start += kFewKeys) {
      const std::size_t end = std::min(n, start + kFewKeys);
      for (std::size_t i = start; i < end; i++) to[places[value(from[i], digit)]++] = from[i];
      poller.did(2 * kFewKeys);
    }
    std::swap(from, to);
  }
  if (from != keys.data()) std::copy(from, from + n, keys.begin());
}

template <class Key>
void sort_any(std::span<Key> keys, int sorted_bits, ir::Host& host) {
  // Threshold: Keys from which a sort by digits pays for its tables. Not measured; sort in
  // bench/anchors runs it with 10^6 keys.
  constexpr std::size_t kFewDigits = 1024;
#ifdef RONDO_WITH_HIGHWAY
  // Highway partitions keys of 32 bits by compressed stores under a mask (as of its release 1.0.3:
  // 45 ns a key where that is slow, by digits 6).
  const bool by_digits = sizeof(Key) == 4 && keys.size() >= kFewDigits && cpu().has_slow_compress;
  if (keys.size() >= kFewKeys && !by_digits && Highway::is_there())
    return sort_by_vectors(keys, host);
#endif
  if (keys.size() < kFewDigits)
    std::sort(keys.begin(), keys.end());
  else
    sort_by_digits(keys, sorted_bits, host);
}

}  // namespace

void sort_keys(std::span<std::uint32_t> keys, ir::Host& host) { sort_any(keys, 0, host); }
void sort_keys(std::span<std::uint64_t> keys, int sorted_bits, ir::Host& host) {
  sort_any(keys, sorted_bits, host);
}

}  // namespace rondo::ops
