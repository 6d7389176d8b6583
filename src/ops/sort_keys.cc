#include "ops/sort_keys.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#ifdef RONDO_WITH_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#endif

namespace rondo::ops {

namespace {

constexpr std::size_t kFewKeys = 64;

#ifdef RONDO_WITH_HIGHWAY

/// Some ten milliseconds.
constexpr std::size_t kBlockKeys = std::size_t{1} << 22;

template <class Key>
void sort_many(std::span<Key> keys, int, ir::Host& host) {
  const hwy::Sorter sorter;
  const std::size_t n = keys.size();
  for (std::size_t start = 0; start < n; start += kBlockKeys) {
    if (start > 0) host.poll();
    sorter(keys.data() + start, std::min(kBlockKeys, n - start), hwy::SortAscending());
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

#else

/// By digits from the lowest that is not in order yet. A digit that all keys share costs no pass.
template <class Key>
void sort_many(std::span<Key> keys, int sorted_bits, ir::Host& host) {
  constexpr int kDigit = 11;
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

#endif

template <class Key>
void sort_any(std::span<Key> keys, int sorted_bits, ir::Host& host) {
#ifdef RONDO_WITH_HIGHWAY
  constexpr std::size_t kFewest = kFewKeys;
#else
  constexpr std::size_t kFewest = 1024;  // the tables of digits have to be worth their while
#endif
  if (keys.size() < kFewest)
    std::sort(keys.begin(), keys.end());
  else
    sort_many(keys, sorted_bits, host);
}

}  // namespace

void sort_keys(std::span<std::uint32_t> keys, ir::Host& host) { sort_any(keys, 0, host); }
void sort_keys(std::span<std::uint64_t> keys, int sorted_bits, ir::Host& host) {
  sort_any(keys, sorted_bits, host);
}

}  // namespace rondo::ops
