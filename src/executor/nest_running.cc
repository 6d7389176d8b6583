// Prefix scans: a loop along their axis inside those over all other ones.
#include <algorithm>
#include <vector>

#include "executor/names.h"
#include "executor/nest.h"
#include "lower/opcodes.h"

namespace rondo::executor {

void Nest::accumulate(std::uint32_t item, const ir::PrefixScan& running, Type result_type,
                      Value pointer, const Linear& place) {
  std::vector<bool> is_along(sizes_.size(), false);
  is_along[static_cast<std::size_t>(running.axis)] = true;
  Axes axes = merged(is_along, &place);
  lower::Builder& b = builder_;
  std::vector<std::uint32_t> fors;
  const auto begin = [&](Axis& axis, std::span<const Value> carry) {
    fors.push_back(
        b.begin_for(b.index(0), b.index(axis.size), 1, carry, lower::kNoLoop, axis.size));
    axis.index = b.program().fors[fors.back()].index;
  };
  // The axes after it are contiguous.
  const bool in_lanes = !axes.back().reduced;
  Axis* along = nullptr;
  for (Axis& axis : axes) {
    if (axis.reduced) {
      along = &axis;
    } else if (in_lanes && &axis == &axes.back()) {
      axis.index = b.program().lanes[b.begin_lanes(b.index(axis.size))].index;
    } else {
      begin(axis, {});
      b.program().fors[fors.back()].independent = true;
    }
  }
  const Value none[] = {b.constant(running.type, lower::identity(running.combine, running.type))};
  begin(*along, none);
  const Value before = b.program().fors[fors.back()].carries[0].param;
  if (running.reverse) along->index = b.subtract(b.index(along->size - 1), along->index);
  write_items(axes);
  const Value total[] = {
      b.binary(running.combine, before, b.convert(items_[item].element[0], running.type))};
  b.store(b.convert(total[0], result_type), address(pointer, place, axes));
  b.end_for(total);
  // Threshold: Lanes that a prefix scan takes at once, as work between two polls. Not measured.
  constexpr std::int64_t kLanesAtOnce = 16;
  let_poll(b, fors, in_lanes ? kLanesAtOnce : 1);
  if (in_lanes) b.end_lanes();
  for (std::size_t i = 1; i < fors.size(); i++) b.end_for({});
}

}  // namespace rondo::executor
