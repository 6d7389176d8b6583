// Sorts of few elements as comparisons and selects of whole elements, which executors fuse into the
// surrounding loops: a call of the kernel takes longer than its work.
#include <algorithm>
#include <utility>
#include <vector>

#include "ops/elementwise.h"
#include "ops/sort.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

// Threshold: Elements of a line that are sorted by unrolled exchanges, and of many rows without
// strided vectors, which are scalar code: code size against a kernel call. Set by a measurement
// that is not in bench/ (lines of 5 and 9, rows of 8).
constexpr std::int64_t kFew = 16, kFewOfRows = 4;
/// Threshold: Arrays that are sorted together this way: registers for each. Not measured.
constexpr std::size_t kFewOperands = 4;

std::int64_t count_of(const Node& node) {
  return node.type().shape[node.attrs<SortAttributes>().axis];
}
bool is_one_line(const Node& node) { return node.type().elements() == count_of(node); }
/// Whether the elements of a line are contiguous.
bool has_side_by_side(const Node& node) {
  const Shape& shape = node.type().shape;
  return std::all_of(shape.begin() + node.attrs<SortAttributes>().axis + 1, shape.end(),
                     [](std::int64_t size) { return size == 1; });
}
/// Sorted by the minimum and maximum of two elements.
bool has_values_only(const Node& node) {
  return node.types.size() == 1 && !is_floating(node.type().dtype);
}

/// The values at one position of each line, for each operand.
using Entry = std::vector<Tensor>;

/// Exchanges of two entries. Names: `a` is before `b`.
class Exchanges {
 public:
  /// Entries are compared by their first operand.
  Exchanges(const KnownOrder& order, SourceLocation at) : order_(order), at_(at) {}

  /// Entries with equal keys keep their order.
  void exchange_stable(Entry& a, Entry& b) const { choose(stays(a[0], b[0]), a, b); }

  /// The same for numeric keys: for single floats, minimum and maximum are one instruction each.
  void exchange_numbers(Entry& a, Entry& b) const {
    const Direction before = order_.descending ? Direction::kGt : Direction::kLt;
    const Tensor exchanges = compare(placed(b[0]), placed(a[0]), before);
    std::swap(a, b);
    choose(exchanges, a, b);
  }

  /// For values alone that are identical if their keys are equal.
  void exchange_values(Entry& a, Entry& b) const {
    const Operand left = placed(a[0]), right = placed(b[0]);
    Tensor least = is_pred(a[0].dtype()) ? left & right : minimum(left, right);
    Tensor greatest = is_pred(a[0].dtype()) ? left | right : maximum(left, right);
    if (order_.descending) std::swap(least, greatest);
    a[0] = std::move(least);
    b[0] = std::move(greatest);
  }

 private:
  /// Each is replaced by the other if `stay` is false.
  void choose(const Tensor& stay, Entry& a, Entry& b) const {
    for (std::size_t i = 0; i < a.size(); i++) {
      const Tensor left = a[i], right = b[i];
      a[i] = where(placed(stay), placed(left), placed(right));
      b[i] = where(placed(stay), placed(right), placed(left));
    }
  }
  /// Negated: b goes before a.
  Tensor stays(const Tensor& a, const Tensor& b) const {
    const Tensor &later = order_.descending ? a : b, &earlier = order_.descending ? b : a;
    if (is_pred(a.dtype())) {
      const Tensor is_least = !placed(earlier);
      return placed(later) | placed(is_least);
    }
    const bool total = order_.total && is_floating(a.dtype());
    Tensor in_order = compare(placed(later), placed(earlier), Direction::kGe, total);
    if (total || !is_floating(a.dtype())) return in_order;
    const Tensor is_last = is_nan(placed(later));  // the greatest of all
    return placed(in_order) | placed(is_last);
  }
  Operand placed(const Tensor& x) const { return {x, at_}; }

  KnownOrder order_;
  SourceLocation at_;
};

/// Neighbors only, so that entries with equal keys are never reordered.
template <class Exchange>
void sort_neighbours(std::vector<Entry>& entries, Exchange&& exchange) {
  for (std::size_t round = 0; round < entries.size(); round++) {
    for (std::size_t i = round % 2; i + 1 < entries.size(); i += 2)
      exchange(entries[i], entries[i + 1]);
  }
}

/// Batcher's merge exchange, of about half as many (Knuth, The Art of Computer Programming, volume
/// 3, 5.2.2, algorithm M).
template <class Exchange>
void sort_far(std::vector<Entry>& entries, Exchange&& exchange) {
  const std::size_t n = entries.size();
  std::size_t greatest = 1;
  while (2 * greatest < n) greatest *= 2;
  for (std::size_t p = greatest; p > 0; p /= 2) {
    std::size_t distance = p, among = 0;
    for (std::size_t q = greatest;; q /= 2) {
      for (std::size_t i = 0; i + distance < n; i++) {
        if ((i & p) == among) exchange(entries[i], entries[i + distance]);
      }
      if (q == p) break;
      distance = q - p;
      among = p;
    }
  }
}

/// The entries of all operands along the axis.
std::vector<Entry> entries_of(std::span<const Tensor> operands, std::int64_t axis,
                              SourceLocation at) {
  const auto sorted = static_cast<std::size_t>(axis);
  std::vector<std::int64_t> starts(operands[0].shape().size(), 0),
      ends = operands[0].shape().vector();
  std::vector<Entry> entries(static_cast<std::size_t>(operands[0].shape()[axis]));
  for (std::size_t k = 0; k < entries.size(); k++) {
    starts[sorted] = static_cast<std::int64_t>(k);
    ends[sorted] = starts[sorted] + 1;
    for (const Tensor& operand : operands) entries[k].push_back(slice({operand, at}, starts, ends));
  }
  return entries;
}

/// Single floats: if none of them is NaN, an exchange needs only a comparison. A sum of numbers is
/// NaN only if it has infinities of both signs.
std::vector<Entry> sorted_floats(const std::vector<Entry>& entries, const Exchanges& exchanges,
                                 SourceLocation at) {
  Tensor sum = entries[0][0];
  for (std::size_t k = 1; k < entries.size(); k++)
    sum = Operand(sum, at) + Operand(entries[k][0], at);
  const Tensor one = reshape({sum, at}, {});
  const Tensor are_numbers = compare({one, at}, {one, at}, Direction::kEq);
  const auto sort_numbers = [&](std::vector<Entry> sorted) {
    sort_neighbours(sorted, [&](Entry& a, Entry& b) { exchanges.exchange_numbers(a, b); });
    return sorted;
  };
  const auto sort_any = [&](std::vector<Entry> sorted) {
    sort_neighbours(sorted, [&](Entry& a, Entry& b) { exchanges.exchange_stable(a, b); });
    return sorted;
  };
  return cond({are_numbers, at}, sort_numbers, sort_any, entries);
}

/// The results of operands that are sorted by the first one.
std::vector<Tensor> sorted_by_first(std::span<const Tensor> operands, std::int64_t axis,
                                    const KnownOrder& order, SourceLocation at) {
  const Exchanges exchanges(order, at);
  const DType key = operands[0].dtype();
  std::vector<Entry> entries = entries_of(operands, axis, at);
  const bool is_one_line = operands[0].type().elements() == std::ssize(entries);
  if (operands.size() == 1 && !is_floating(key))
    sort_far(entries, [&](Entry& a, Entry& b) { exchanges.exchange_values(a, b); });
  else if (is_one_line && is_floating(key) && !order.total)
    entries = sorted_floats(entries, exchanges, at);
  else
    sort_neighbours(entries, [&](Entry& a, Entry& b) { exchanges.exchange_stable(a, b); });
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < operands.size(); i++) {
    std::vector<Tensor> places;
    for (const Entry& entry : entries) places.push_back(entry[i]);
    results.push_back(concatenate(places, axis, at));
  }
  return results;
}

}  // namespace

bool sorts_few(const Node& node, const ir::LoopCode& loops) {
  const auto& attributes = node.attrs<SortAttributes>();
  const std::int64_t count = count_of(node);
  if (count < 2 || node.type().elements() == 0) return true;
  if (!attributes.order || is_complex(node.types[attributes.order->operand].dtype) ||
      node.types.size() > kFewOperands || count > kFew)
    return false;
  if (has_values_only(node)) return true;
  // Selects by comparisons are fast as machine code, and for rows as vectors.
  if (!loops.is_native) return false;
  return count <= kFewOfRows || is_one_line(node) || !has_side_by_side(node) ||
         loops.has_strided_vectors;
}

std::vector<Tensor> sort_few(const Node& node, std::span<const Tensor> operands) {
  const auto& attributes = node.attrs<SortAttributes>();
  if (count_of(node) < 2 || node.type().elements() == 0) return {operands.begin(), operands.end()};
  const SourceLocation at = node.location();
  const KnownOrder& order = *attributes.order;
  const Tensor& key = operands[order.operand];
  if (is_one_line(node)) {
    std::vector<Tensor> all{key};
    for (std::size_t i = 0; i < operands.size(); i++) {
      if (i != order.operand) all.push_back(operands[i]);
    }
    std::vector<Tensor> results = sorted_by_first(all, attributes.axis, order, at);
    std::rotate(results.begin(), results.begin() + 1,
                results.begin() + static_cast<std::ptrdiff_t>(order.operand) + 1);
    return results;
  }
  // The loops of each result would repeat the comparisons: values that several loops read go
  // through memory.
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < operands.size(); i++) {
    std::vector<Tensor> both{key};
    if (i != order.operand) both.push_back(operands[i]);
    results.push_back(sorted_by_first(both, attributes.axis, order, at).back());
  }
  return results;
}

}  // namespace rondo::ops
