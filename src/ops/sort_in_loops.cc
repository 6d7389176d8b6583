// Sorts of any length as loops: runs that are sorted are merged in pairs, from runs of one element
// on, so that the work is n log n and each pass is the same code.
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/function_data.h"
#include "ir/region.h"
#include "ops/create.h"
#include "ops/elementwise.h"
#include "ops/sort.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"
#include "rondo/ops/slices.h"

namespace rondo::ops {

namespace {

/// The order of axes with `axis` last, and the way back.
std::vector<std::int64_t> axis_last(std::int64_t rank, std::int64_t axis) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  return order;
}
std::vector<std::int64_t> axis_from_last(std::int64_t rank, std::int64_t axis) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::rotate(order.begin() + axis, order.end() - 1, order.end());
  return order;
}

/// The sort of all lines along an axis, by the places of their elements: operands are read alone.
class MergeSort {
 public:
  MergeSort(const Node& node, std::span<const Tensor> operands)
      : node_(node), axis_(node.attrs<SortAttributes>().axis), n_(node.type().shape[axis_]) {
    const std::int64_t rank = node.type().rank();
    lines_ = node.type().elements() / n_;
    for (const Tensor& operand : operands) {
      const Tensor last = transpose(operand, axis_last(rank, axis_));
      rows_.push_back(reshape(last, {lines_, n_}));
    }
    // Twice the length of a run, and a place after it, are numbers of this type.
    if (n_ > std::numeric_limits<std::int32_t>::max() / 4) places_ = DType::kS64;
  }

  /// The place before the sort of each element, in the shape of the operands.
  Tensor places() const {
    const auto line = [this](const Tensor& row, const Tensor& all) {
      return update(all, row, places_of_line(row));
    };
    const Tensor all =
        lines_ == 1 ? places_of_line(Tensor(0))
                    : fori_loop(0, lines_, line, unset({places_, {lines_, n_}}, node_.location()),
                                {.name = "sorted_lines"});
    std::vector<std::int64_t> dims;
    const std::int64_t rank = node_.type().rank();
    for (const std::int64_t axis : axis_last(rank, axis_)) dims.push_back(node_.type().shape[axis]);
    return transpose(reshape(all, dims), axis_from_last(rank, axis_));
  }

 private:
  Tensor places_of_line(const Tensor& row) const {
    const auto passes = std::bit_width(static_cast<std::uint64_t>(n_ - 1));
    const auto pass = [&](const Tensor&, const Tensor& places, const Tensor& length) {
      return std::tuple(merged(row, places, length), length * 2);
    };
    return std::get<0>(
        fori_loop(0, passes, pass, std::tuple(arange(n_, places_), number(1)), {.name = "sort"}));
  }

  /// Pairs of sorted runs of that length, merged. Of equal elements those on the left go first.
  Tensor merged(const Tensor& row, const Tensor& places, const Tensor& length) const {
    const auto take_first = [&](const Tensor& k, const Tensor& next, Tensor left, Tensor right,
                                Tensor middle, Tensor end) {
      const Tensor is_next_pair = k == end;
      middle = where(is_next_pair, minimum(k + length, n_), middle);
      end = where(is_next_pair, minimum(middle + length, n_), end);
      left = where(is_next_pair, k, left);
      right = where(is_next_pair, middle, right);
      const Tensor of_left = places[left], of_right = places[right];
      const Tensor from_right =
          (left == middle) | ((right < end) & goes_before(row, of_right, of_left));
      return std::tuple(update(next, k, where(from_right, of_right, of_left)),
                        where(from_right, left, left + 1), where(from_right, right + 1, right),
                        middle, end);
    };
    const Tensor none = number(0);
    return std::get<0>(
        fori_loop(0, n_, take_first,
                  std::tuple(unset(places.type(), node_.location()), none, none, none, none),
                  {.name = "merge", .index = places_}));
  }

  /// Whether the elements at place a of a row go before those at place b.
  Tensor goes_before(const Tensor& row, const Tensor& a, const Tensor& b) const {
    const auto element = [&](std::size_t i, const Tensor& place) {
      return slice(rows_[i], row, place);
    };
    if (const auto& order = node_.attrs<SortAttributes>().order) {
      const std::array<Tensor, 2> keys{element(order->operand, a), element(order->operand, b)};
      if (order->total && is_floating(keys[0].dtype()))
        return compare(keys[order->descending], keys[!order->descending], Direction::kLt, true);
      const std::array<DType, 1> dtype{keys[0].dtype()};
      return ir::Replay::inline_call(
          order->descending ? descending_comparator(dtype) : ascending_comparator(dtype), keys)[0];
    }
    std::vector<Tensor> both;
    for (std::size_t i = 0; i < rows_.size(); i++) {
      both.push_back(element(i, a));
      both.push_back(element(i, b));
    }
    return ir::Replay::inline_call(node_.regions[0], both)[0];
  }

  Tensor number(std::int64_t value) const { return full({places_, {}}, value); }

  const Node& node_;
  std::int64_t axis_, n_, lines_;
  std::vector<Tensor> rows_;  // the operands, with a line in each row
  DType places_ = DType::kS32;
};

}  // namespace

std::vector<Tensor> sort_in_loops(const Node& node, std::span<const Tensor> operands) {
  const std::int64_t axis = node.attrs<SortAttributes>().axis;
  if (node.type().elements() == 0 || node.type().shape[axis] < 2)
    return {operands.begin(), operands.end()};
  const ir::LocationScope at(node.location());
  const Tensor places = MergeSort(node, operands).places();
  std::vector<Tensor> results;
  for (const Tensor& operand : operands) results.push_back(elements_at(operand, places, axis));
  return results;
}

}  // namespace rondo::ops
