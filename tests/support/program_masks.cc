// Matrices that are computed in place where masks along their axes hold, and of which single
// elements are updated if something else holds: loops over a part of the elements, selects between
// updates.
#include "rondo/loops.h"
#include "rondo/ops.h"
#include "support/program_generator.h"

namespace rondo::testing {

// Large enough that loops over a part pay.
static const Shape kMatrix{38, 44};

bool ProgramGenerator::masked_parts() {
  if (depth_ > 1) return false;  // not in loops and lanes: it is large
  const auto x = pick([](const ValueType& type) { return type.type.elements() > 1; });
  const ValueType type{{x ? type_of(*x).type.dtype : DType::kF32, kMatrix},
                       x ? type_of(*x).kind : Kind::kUnit};
  const ValueType row{{type.type.dtype, {kMatrix[1]}}, type.kind},
      column_of{{type.type.dtype, {kMatrix[0]}}, type.kind};
  const ValueId init = add_constant(type);
  const auto body = shared(elementwise_block(kMatrix, {kScalarS32, type, type}, {type}));
  enum : std::int64_t { kAll, kRows, kColumns, kBoth };
  const std::int64_t masked = dice_.number(kAll, kBoth);
  const std::int64_t form_of_rows = dice_.number(0, 4), form_of_columns = dice_.number(0, 4);
  const int scale = static_cast<int>(dice_.number(-9, 9)),
            offset = static_cast<int>(dice_.number(-5, 40));
  const bool reads_parts = dice_.chance(60), is_opposite = dice_.chance(40),
             updates = dice_.chance(40), twice = dice_.chance(40);
  const int trips = static_cast<int>(dice_.number(0, kMostTrips)),
            place = static_cast<int>(dice_.number(0, kMatrix[0] - 1));
  const auto step = [=](const Tensor& i, const Tensor& now, Environment& environment) {
    Tensor other = flip(now, {0});
    if (reads_parts) {
      const Tensor of_trip = expand_dims(column(now, i * 2), 1);
      other = where(now == expand_dims(now[i + 3], 0), now, broadcast_to(of_trip, kMatrix));
    }
    Tensor next = body->run(Leaves{i, now, other}, environment)[0];
    const auto mask = [&](std::int64_t axis, std::int64_t form) {
      const Tensor index = arange(kMatrix[axis]), start = i * scale + offset;
      const Tensor holds = form == 0   ? index > start
                           : form == 1 ? index <= start
                           : form == 2 ? abs(index - start) < 4
                           : form == 3 ? index == start
                                       : rem(index, 7) == 3;
      return broadcast_to(expand_dims(holds, 1 - axis), kMatrix);
    };
    const Tensor rows = mask(0, form_of_rows), columns = mask(1, form_of_columns);
    if (masked != kAll) {
      const Tensor holds = masked == kRows ? rows : masked == kColumns ? columns : rows & columns;
      next = is_opposite ? where(!holds, now, next) : where(holds, next, now);
    }
    if (!updates) return next;
    const Tensor is_one = at(now, {i, i * 3}) == at(now, {7, 7});
    const Tensor first = update(next, {i, i + scale}, at(now, {i + offset, i}));
    const Tensor second = update(next, {i + offset, 5}, at(next, {i, i}));
    const Tensor last = twice ? update(second, {0, i}, at(second, {i, 5})) : second;
    return where(is_one, where(rows[i][0], first, next), last);
  };
  add({init}, {row, column_of}, [=](std::span<const Tensor> values, Environment& environment) {
    const Tensor last = fori_loop(
        0, trips, [&](const Tensor& i, const Tensor& now) { return step(i, now, environment); },
        values[0]);
    return Leaves{last[place], column(last, place)};
  });
  return true;
}

}  // namespace rondo::testing
