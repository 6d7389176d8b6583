// Rows that no single loop covers, combined in the order of their array: a strip at a time is
// computed into memory that stays in a cache, and combined into the partial results from there.
#include <algorithm>
#include <numeric>

#include "executor/names.h"
#include "executor/nest.h"
#include "lower/opcodes.h"
#include "lower/reduction_order.h"

namespace rondo::executor {

namespace {

constexpr std::int64_t kPartials = lower::Lanes::kPartials;

}  // namespace

std::optional<Nest::Strip> Nest::strip(const Combination& what, bool in_any_order) const {
  // Threshold: Elements of a strip: it must fit a near cache, and be long enough to hide the cost
  // of its loops. Not measured.
  constexpr std::int64_t kElements = 4096;
  const Axes axes = merged(what.reduced, &what.place);
  const auto vanishing =
      std::count_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.reduced; });
  if (!what.reduction.by_partials || axes.size() < 2 || vanishing != 2 || !axes.back().reduced ||
      !axes[axes.size() - 2].reduced)
    return std::nullopt;
  const std::int64_t rows = axes[axes.size() - 2].size, columns = axes.back().size;
  if (rows == 0 || columns == 0) return std::nullopt;
  // Strips are not combined with blocks.
  if (!in_any_order && rows > lower::RowBlocks::kLongRow / columns) return std::nullopt;
  const std::int64_t round = kPartials / std::gcd(columns, kPartials);
  const std::int64_t of_strip = round * std::max<std::int64_t>(1, kElements / (round * columns));
  if (of_strip >= rows) return std::nullopt;
  return Strip{of_strip, of_strip * columns};
}

void Nest::reduce_by_strips(const Combination& what, const Strip& strip, Value elements,
                            Value partials) {
  lower::Builder& b = builder_;
  const Type type = what.reduction.type, stored = lower::type_of(items_[what.item].dtype);
  const std::int64_t width = lower::width(type), stored_width = lower::width(stored);
  Axes axes = merged(what.reduced, &what.place);
  Axis &rows = axes[axes.size() - 2], &columns = axes.back();
  std::vector<std::uint32_t> fors;
  const auto begin = [&](std::int64_t trips, std::span<const Value> carry = {}) {
    return b.begin_for(b.index(0), b.index(trips), 1, carry, lower::kNoLoop, trips);
  };
  const auto begin_lanes = [&](std::int64_t count) {
    return b.program().lanes[b.begin_lanes(b.index(count))].index;
  };
  const auto partial = [&](Value lane) { return lower::Address{partials, 0, {{lane, width}}}; };
  const auto combined = [&](Value total, lower::Address at) {
    return b.binary(what.reduction.combine, total, b.convert(b.load(stored, std::move(at)), type));
  };

  for (std::size_t i = 0; i + 2 < axes.size(); i++) {
    fors.push_back(begin(axes[i].size));
    axes[i].index = b.program().fors[fors.back()].index;
  }
  b.store(b.constant(type, lower::identity(what.reduction.combine, type)),
          partial(begin_lanes(kPartials)));
  b.end_lanes();

  const auto compute = [&](Value first_row, std::int64_t count) {
    const std::uint32_t loop = begin(count);
    b.program().fors[loop].independent = true;
    const Value row = b.program().fors[loop].index;
    rows.index = b.add(first_row, row);
    columns.index = begin_lanes(columns.size);
    write_items(axes);
    b.store(items_[what.item].element[0],
            {elements, 0, {{row, columns.size * stored_width}, {columns.index, stored_width}}});
    b.end_lanes();
    b.end_for({});
  };
  const auto combine = [&](std::int64_t count) {
    const std::int64_t rounds = count / kPartials, rest = count % kPartials;
    if (rounds > 0) {
      const Value lane = begin_lanes(kPartials);
      const Value first[] = {b.load(type, partial(lane))};
      const std::uint32_t loop = begin(rounds, first);
      const Value round = b.program().fors[loop].index;
      const Value next[] = {
          combined(b.program().fors[loop].carries[0].param,
                   {elements, 0, {{round, kPartials * stored_width}, {lane, stored_width}}})};
      b.end_for(next);
      b.store(b.program().fors[loop].carries[0].result, partial(lane));
      b.end_lanes();
    }
    if (rest > 0) {
      const Value lane = begin_lanes(rest);
      b.store(combined(b.load(type, partial(lane)),
                       {elements, rounds * kPartials * stored_width, {{lane, stored_width}}}),
              partial(lane));
      b.end_lanes();
    }
  };
  const std::int64_t strips = rows.size / strip.rows, rest = rows.size % strip.rows;
  fors.push_back(begin(strips));
  compute(b.multiply(b.program().fors[fors.back()].index, b.index(strip.rows)), strip.rows);
  combine(strip.elements);
  b.end_for({});
  if (rest > 0) {
    compute(b.index(strips * strip.rows), rest);
    combine(rest * columns.size);
  }
  let_poll(b, fors, strip.elements);

  const Value value = b.load(type, partial(begin_lanes(kPartials)));
  const Value sum = b.reduce(what.reduction.combine, b.convert(what.init, type), value);
  b.end_lanes();
  const Value result = b.convert(sum, what.result_type);
  if (what.single)
    *what.single = result;
  else
    b.store(result, address(what.pointer, what.place, axes));
  for (std::size_t i = 2; i < axes.size(); i++) b.end_for({});
}

}  // namespace rondo::executor
