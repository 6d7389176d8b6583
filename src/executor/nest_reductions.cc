// Reductions: loops over the axes that stay, and in them over those that are combined.
#include <algorithm>
#include <vector>

#include "executor/names.h"
#include "executor/nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

bool Nest::keeps_order(const Axes& axes, bool in_any_order) {
  if (axes.size() < 2 || !axes[axes.size() - 2].reduced) return true;
  // Threshold: Combining a row into one result costs as much as some hundred elements in cache;
  // rows this long are combined one by one, shorter ones in strips. Not measured.
  constexpr std::int64_t kLongRow = 768;
  return in_any_order && axes.back().size >= kLongRow;
}

bool Nest::reduce(const Combination& what, bool in_any_order) {
  Axes axes = merged(what.reduced, &what.place);
  const bool in_rows = !axes.empty() && axes.back().reduced;
  const bool partials = in_rows && what.reduction.by_partials;
  if (partials && !keeps_order(axes, in_any_order)) return false;
  reduce_in_loops(what, axes, partials);
  return true;
}

/// From the outermost: kept axes, with the vectorized one last; then reduced axes.
struct Nest::ReductionLoops {
  // Threshold: Lanes that are one or two vectors, so that each addition of theirs waits for the one
  // before; and rows that are combined at once then. Set by simulations/stars in bench/workloads:
  // 87 us with one row, 80 with eight.
  static constexpr std::int64_t kFewLanes = 16, kMostRows = 8;

  static std::int64_t most_rows(std::int64_t size) {
    std::int64_t rows = std::min(size, kMostRows);
    while (rows > 1 && size % rows != 0) rows--;
    return rows;
  }

  ReductionLoops(Builder& builder, Axes& axes, bool by_partials)
      : b(builder), partials(by_partials) {
    for (Axis& axis : axes) {
      if (!axis.reduced) order.push_back(&axis);
    }
    kept = order.size();
    if (kept_lanes() && kept >= 2 && order[kept - 1]->size <= kFewLanes)
      rows = most_rows(order[kept - 2]->size);
    for (Axis& axis : axes) {
      if (axis.reduced) order.push_back(&axis);
    }
  }

  /// The last kept axis is vectorized, unless rows are combined by partial results.
  bool kept_lanes() const { return !partials && kept > 0; }
  /// The kept axis of which a lane combines several rows at once: their additions need not wait for
  /// one another, and what they share is loaded once (register tiling).
  Axis* axis_of_rows() const { return rows > 1 ? order[kept - 2] : nullptr; }

  void begin(std::size_t i, std::span<Value> carries) {
    Axis& axis = *order[i];
    const std::int64_t step = &axis == axis_of_rows() ? rows : 1, trips = axis.size / step;
    const std::uint32_t loop =
        b.begin_for(b.index(0), b.index(trips), 1, carries, lower::kNoLoop, trips);
    fors.push_back(loop);
    lower::For& opened = b.program().fors[loop];
    opened.independent = !axis.reduced;
    axis.index = b.multiply(opened.index, b.index(step));
    for (std::size_t c = 0; c < carries.size(); c++) carries[c] = opened.carries[c].param;
  }
  void begin_kept() {
    for (std::size_t i = 0; i < kept; i++) {
      if (kept_lanes() && i + 1 == kept)
        order[i]->index = b.program().lanes[b.begin_lanes(b.index(order[i]->size))].index;
      else
        begin(i, {});
    }
  }
  void end_kept() {
    for (std::size_t i = kept; i-- > 0;) {
      if (kept_lanes() && i + 1 == kept)
        b.end_lanes();
      else
        b.end_for({});
    }
  }
  void let_poll() const {
    const std::span all(fors);
    if (kept_lanes()) {
      // Threshold: Lanes that reduction loops inside lanes take at once, as work between two polls.
      // Not measured.
      constexpr std::int64_t kStep = 16;
      const std::int64_t work = executor::let_poll(b, all.subspan(kept - 1), kStep * rows);
      if (order[kept - 1]->size < kManyLanes) executor::let_poll(b, all.first(kept - 1), work);
    } else if (!partials || order.back()->size < kManyLanes) {
      executor::let_poll(b, all, partials ? order.back()->size : 1);
    }
  }

  Builder& b;
  bool partials;  // the innermost is lanes combined by partial results
  std::vector<Axis*> order;
  std::size_t kept = 0;             // of them
  std::int64_t rows = 1;            // of axis_of_rows(), at once
  std::vector<std::uint32_t> fors;  // the open ones
};

void Nest::reduce_in_loops(const Combination& what, Axes& axes, bool partials) {
  ReductionLoops loops(builder_, axes, partials);
  loops.begin_kept();
  const ir::Reduction& reduction = what.reduction;
  Builder& b = builder_;
  std::vector<Value> sums(static_cast<std::size_t>(loops.rows),
                          b.convert(what.init, reduction.type));
  const std::size_t carried_end = partials ? loops.order.size() - 1 : loops.order.size();
  for (std::size_t i = loops.kept; i < carried_end; i++) loops.begin(i, sums);
  const auto element = [&] { return b.convert(items_[what.item].element[0], reduction.type); };
  const auto with_element = [&](Value sum) {
    if (items_[what.item].kind != Item::Kind::kProduct)
      return b.binary(reduction.combine, sum, element());
    const Element& factors = items_[what.item].element;
    return b.multiply_add(factors[0], factors[1], sum);
  };
  if (partials) {
    Axis& row = *loops.order.back();
    row.index = b.program().lanes[b.begin_lanes(b.index(row.size))].index;
    write_items(axes);
    sums[0] = b.reduce(reduction.combine, sums[0], element());
    b.end_lanes();
  } else {
    Axis* const rows = loops.axis_of_rows();
    const std::vector<bool> shared = rows ? items_beside(*rows) : std::vector<bool>();
    for (std::size_t row = 0; row < sums.size(); row++) {
      if (rows) rows->shift = static_cast<std::int64_t>(row);
      write_items(axes, row == 0 ? std::vector<bool>() : shared);
      sums[row] = with_element(sums[row]);
    }
  }
  for (std::size_t i = loops.kept, last = loops.fors.size(); i < carried_end; i++) {
    b.end_for(sums);
    const auto& carries = b.program().fors[loops.fors[--last]].carries;
    for (std::size_t row = 0; row < sums.size(); row++) sums[row] = carries[row].result;
  }
  loops.let_poll();
  for (std::size_t row = 0; row < sums.size(); row++) {
    if (Axis* const rows = loops.axis_of_rows()) rows->shift = static_cast<std::int64_t>(row);
    const Value result = b.convert(sums[row], what.result_type);
    if (what.single)
      *what.single = result;
    else
      b.store(result, address(what.pointer, what.place, axes));
  }
  loops.end_kept();
}

std::vector<bool> Nest::items_beside(const Axis& axis) const {
  std::vector<bool> beside(items_.size(), false);
  const auto moves = [&](const Item& item) {
    switch (item.kind) {
      case Item::Kind::kLoad:
      case Item::Kind::kGather:
        return item.place.coefficients[axis.last] != 0;
      case Item::Kind::kCode:
        return item.operands == 0 &&
               std::ranges::any_of(indices_[item.index], [&](const AxisIndex& at) {
                 return at.axis == static_cast<std::int64_t>(axis.last) && at.step != 0;
               });
      default:
        return false;
    }
  };
  for (const std::uint32_t number : order_) {
    const Item& item = items_[number];
    const auto operands = std::span(operands_).subspan(item.first_operand, item.operands);
    beside[number] = !moves(item) && std::ranges::all_of(operands, [&](std::uint32_t operand) {
      return beside[operand];
    });
  }
  return beside;
}

}  // namespace rondo::executor
