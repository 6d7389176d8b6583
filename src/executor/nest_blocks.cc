// Long reductions in blocks, each of which is combined separately, so that blocks can run in
// parallel; then the totals of the blocks are added to the result, in order.
#include <algorithm>
#include <utility>

#include "executor/names.h"
#include "executor/nest.h"
#include "lower/opcodes.h"
#include "lower/reduction_order.h"

namespace rondo::executor {

std::optional<Nest::Blocks> Nest::blocks(const Combination& what, bool in_any_order) const {
  using lower::RowBlocks;
  const Axes axes = merged(what.reduced, &what.place);
  if (!what.reduction.by_partials || axes.empty() || !axes.back().reduced ||
      !keeps_order(axes, in_any_order))
    return std::nullopt;
  const std::int64_t row = axes.back().size;
  // Combinations that are the same in any order need no blocks to be split.
  if (row > RowBlocks::kLongRow &&
      !lower::is_in_any_order(what.reduction.combine, what.reduction.type))
    return Blocks{true, row / RowBlocks::kBlock};
  const auto vanishes = [](const Axis& axis) { return axis.reduced; };
  if (std::count_if(axes.begin(), axes.end(), vanishes) != 2) return std::nullopt;
  // Threshold: Reductions over two axes are split into rows for threads; more or shorter rows would
  // cost memory and time for their partial results. Not measured.
  constexpr std::int64_t kMostRows = std::int64_t{1} << 14, kShortRow = 256;
  const std::int64_t rows = std::find_if(axes.begin(), axes.end(), vanishes)->size;
  if (row < kShortRow || rows > kMostRows || rows <= RowBlocks::kLongRow / row) return std::nullopt;
  return Blocks{false, rows};
}

void Nest::reduce_by_blocks(const Combination& what, const Blocks& blocks, Value totals) {
  lower::Builder& b = builder_;
  const Type type = what.reduction.type;
  const lower::Opcode combine = what.reduction.combine;
  Axes axes = merged(what.reduced, &what.place);
  if (blocks.of_row) {
    // The row's index is that of a block's first element plus that of a lane in it.
    Axis first = axes.back();
    first.size = blocks.count;
    axes.insert(axes.end() - 1, first);
  }
  std::vector<Axis*> kept, vanishing;
  for (Axis& axis : axes) (axis.reduced ? vanishing : kept).push_back(&axis);
  Axis &row = *vanishing.back(), &block = *vanishing[vanishing.size() - 2];
  const std::int64_t length = blocks.of_row ? lower::RowBlocks::kBlock : row.size;

  std::vector<std::uint32_t> fors;
  const auto begin = [&](std::int64_t trips, std::span<const Value> carry) {
    fors.push_back(b.begin_for(b.index(0), b.index(trips), 1, carry, lower::kNoLoop, trips));
    return b.program().fors[fors.back()].index;
  };
  const auto carried = [&](Value lower::Carry::*part) {
    return b.program().fors[fors.back()].carries[0].*part;
  };
  // The total of `count` elements from the block's first on.
  const auto combined = [&](std::int64_t count) {
    row.index = b.program().lanes[b.begin_lanes(b.index(count))].index;
    write_items(axes);
    const Value value = b.reduce(combine, b.constant(type, lower::identity(combine, type)),
                                 b.convert(items_[what.item].element[0], type));
    b.end_lanes();
    return value;
  };
  const auto total = [&](Value number) {
    return lower::Address{totals, 0, {{number, lower::width(type)}}};
  };

  // All blocks share the memory of their totals: the enclosing loops stay in order.
  for (Axis* axis : kept) axis->index = begin(axis->size, {});
  Value sum = b.convert(what.init, type);
  const std::size_t carriers = vanishing.size() - 2;
  for (std::size_t i = 0; i < carriers; i++) {
    const Value carry[] = {sum};
    vanishing[i]->index = begin(vanishing[i]->size, carry);
    sum = carried(&lower::Carry::param);
  }
  const Value number = begin(blocks.count, {});
  b.program().fors[fors.back()].independent = true;
  block.index = blocks.of_row ? b.multiply(number, b.index(length)) : number;
  b.store(combined(length), total(number));
  b.end_for({});
  let_poll(b, fors, length);
  fors.pop_back();

  const Value so_far[] = {sum};
  const Value next = begin(blocks.count, so_far);
  const Value joined[] = {
      b.binary(combine, carried(&lower::Carry::param), b.load(type, total(next)))};
  b.end_for(joined);
  sum = carried(&lower::Carry::result);
  fors.pop_back();

  const std::int64_t rest = blocks.of_row ? row.size % length : 0;
  if (rest > 0) {
    block.index = b.index(blocks.count * length);
    sum = b.binary(combine, sum, combined(rest));
  }
  for (std::size_t i = 0; i < carriers; i++) {
    const Value carry[] = {sum};
    b.end_for(carry);
    sum = carried(&lower::Carry::result);
    fors.pop_back();
  }
  const Value result = b.convert(sum, what.result_type);
  if (what.single)
    *what.single = result;
  else
    b.store(result, address(what.pointer, what.place, axes));
  for (std::size_t i = 0; i < kept.size(); i++) b.end_for({});
}

}  // namespace rondo::executor
