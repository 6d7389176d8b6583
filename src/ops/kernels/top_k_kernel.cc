// The kernel of top_k: the keys that may be among the greatest are collected, and reduced to k by a
// partial sort whenever they are twice as many.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "ops/kernels/order_keys.h"
#include "ops/kernels/share_rows.h"
#include "ops/top_k.h"

namespace rondo::ops {

namespace {

/// The k least of entries that come in the order of their places.
template <class Key>
class LeastEntries {
 public:
  using Entry = std::pair<Key, std::int32_t>;

  explicit LeastEntries(std::int64_t k) : k_(static_cast<std::size_t>(k)) {
    entries_.reserve(2 * k_);
  }

  void clear() {
    entries_.clear();
    is_bounded_ = false;
  }
  /// Whether a key may be among them. Of equal keys, earlier ones are.
  bool admits(Key key) const { return !is_bounded_ || key < bound_; }
  void add(Key key, std::int64_t place) {
    entries_.emplace_back(key, static_cast<std::int32_t>(place));
    if (entries_.size() >= 2 * k_) reduce();
  }
  /// All of them, in order.
  const std::vector<Entry>& sorted() {
    if (entries_.size() > k_) reduce();
    std::sort(entries_.begin(), entries_.end());
    return entries_;
  }

 private:
  void reduce() {
    const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
    std::nth_element(entries_.begin(), last, entries_.end());
    bound_ = last->first;
    is_bounded_ = true;
    entries_.resize(k_);
  }

  std::size_t k_;  // not 0
  std::vector<Entry> entries_;
  Key bound_ = 0;
  bool is_bounded_ = false;
};

template <class T>
void top_k_lines(const T* x, T* values, std::int32_t* places, std::int64_t lines,
                 std::int64_t count, std::int64_t k, ir::Host& host) {
  using Key = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;
  constexpr KnownOrder kOrder{.descending = true};
  // Few enough for registers, so that the loop that computes and compares them vectorizes.
  constexpr std::int64_t kBlock = 32;
  ir::Poller poller(host);
  LeastEntries<Key> least(k);
  for (std::int64_t line = 0; line < lines; line++, x += count, values += k, places += k) {
    least.clear();
    for (std::int64_t start = 0; start < count; start += kBlock) {
      const std::int64_t size = std::min(kBlock, count - start);
      Key keys[kBlock];
      bool any = false;
      for (std::int64_t i = 0; i < size; i++) {
        keys[i] = key_of<Key>(x[start + i], kOrder);
        any |= least.admits(keys[i]);
      }
      poller.did(size);
      for (std::int64_t i = 0; any && i < size; i++) {
        if (least.admits(keys[i])) least.add(keys[i], start + i);
      }
    }
    std::int64_t next = 0;
    for (const auto& [key, place] : least.sorted()) {
      values[next] = x[place];
      places[next++] = place;
    }
  }
}

void top_k_kernel(const ir::KernelRun& run) {
  const TensorType& x = run.node.operand_type(0);
  const std::int64_t count = x.shape[x.rank() - 1], k = run.attrs<TopKAttributes>().k;
  if (run.node.type().elements() == 0) return;
  for_dtype(x.dtype, [&]<class T>() {
    if constexpr (kIsComplex<T>) {
      throw InternalError("top_k of complex numbers");
    } else {
      const T* from = run.operand<T>(0);
      T* values = run.result<T>(0);
      std::int32_t* places = run.result<std::int32_t>(1);
      share_rows(x.elements() / count, count, run.host,
                 [&](std::int64_t first, std::int64_t end, ir::Host& host) {
                   top_k_lines(from + first * count, values + first * k, places + first * k,
                               end - first, count, k, host);
                 });
    }
  });
}

}  // namespace

std::unique_ptr<ir::Kernel> prepare_top_k(const Node& node) {
  return ir::prepare_function<top_k_kernel>(node);
}

}  // namespace rondo::ops
