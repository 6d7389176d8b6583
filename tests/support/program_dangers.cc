// The forms that executors are most likely to get wrong, as statements of random programs: carries
// that are permuted or share memory, slices of arrays that are written in place, loops of lanes
// (program_lanes.cc), and loops over parts of arrays (program_masks.cc).
// tests/random/coverage_test.cc counts that they are generated.
#include <algorithm>
#include <numeric>
#include <utility>

#include "rondo/loops.h"
#include "rondo/ops.h"
#include "support/program_generator.h"

namespace rondo::testing {

bool ProgramGenerator::danger() {
  using Maker = bool (ProgramGenerator::*)();
  using G = ProgramGenerator;
  static const std::vector<Maker> makers = {
      &G::permuted_carries, &G::sliced_carries, &G::stopping_lanes, &G::rows_in_lanes,
      &G::any_lanes,        &G::moving_windows, &G::conversions,    &G::neighbors_of_carries,
      &G::masked_parts};
  depth_++;
  const bool made = elementwise_ ? permuted_carries() : (this->*dice_.one_of(makers))();
  depth_--;
  return made;
}

void ProgramGenerator::add_loop(const Ids& carry, const Step& step) {
  enum : std::int64_t { kFori, kDynamicFori, kWhile, kScan };
  const std::int64_t kind = dice_.number(kFori, kScan);
  const int trips = static_cast<int>(dice_.number(0, kMostTrips));
  const Checkpoint checkpoint =
      kind == kFori || kind == kScan ? size_.checkpoint : checkpoint_without_length();
  Ids operands = carry;
  operands.push_back(scalar_index());
  add(operands, types_of(carry), [=](std::span<const Tensor> values, Environment& environment) {
    const Leaves init(values.begin(), values.end() - 1);
    const Tensor bound = trips_of(values.back());
    const auto body = [&](const Tensor& i, const Leaves& now) { return step(i, now, environment); };
    if (kind == kFori) return fori_loop(0, trips, body, init, {.checkpoint = checkpoint});
    if (kind == kDynamicFori)
      return fori_loop(Tensor(0), bound, body, init, {.checkpoint = checkpoint});
    if (kind == kScan) {
      return scan([&](const Leaves& now,
                      const Tensor& i) { return std::pair(body(i, now), std::tuple<>()); },
                  init, arange(trips), {.checkpoint = checkpoint})
          .first;
    }
    using State = std::pair<Tensor, Leaves>;
    return while_loop(
               [&](const State& now) { return now.first < bound; },
               [&](const State& now) { return State(now.first + 1, body(now.first, now.second)); },
               State(0, init), {.checkpoint = checkpoint})
        .second;
  });
}

// Carries of one type that are permuted, or become one. Some start as the same value.
bool ProgramGenerator::permuted_carries() {
  const auto x = pick([](const ValueType&) { return true; });
  if (!x) return false;
  const ValueType type = type_of(*x);
  const auto count = static_cast<std::size_t>(dice_.number(2, 4));
  Ids carry{*x};
  while (carry.size() < count) carry.push_back(dice_.chance(50) ? *x : like(type));
  const auto any_carry = [&](std::size_t first) {
    return static_cast<std::size_t>(
        dice_.number(static_cast<std::int64_t>(first), static_cast<std::int64_t>(count) - 1));
  };
  std::vector<std::size_t> from(count);
  std::iota(from.begin(), from.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; i++) std::swap(from[i], from[any_carry(i)]);
  if (dice_.chance(30)) from[any_carry(0)] = from[any_carry(0)];
  const bool computes = dice_.chance(80);
  const std::size_t computed = any_carry(0);
  Types params(count, type);
  params.insert(params.begin(), kScalarS32);
  const auto body = shared(
      block(params, Types{type}, static_cast<int>(dice_.number(0, size_.region_statements))));
  add_loop(carry, [=](const Tensor& i, const Leaves& now, Environment& environment) {
    Leaves next;
    for (const std::size_t place : from) next.push_back(now[place]);
    if (computes) next[computed] = body->run(joined(Leaves{i}, now), environment)[0];
    return next;
  });
  return true;
}

// An array that is written in place and read, as a row, a slice or a whole, before and after.
bool ProgramGenerator::sliced_carries() {
  const auto x =
      pick([](const ValueType& type) { return type.type.rank() > 0 && type.type.elements() > 0; });
  if (!x) return false;
  const ValueType type = type_of(*x), row = without_axis(type, 0);
  const ValueId other = like(row);
  const int length = static_cast<int>(type.type.shape[0]);
  const int shift = static_cast<int>(dice_.number(0, length));
  const std::int64_t low = dice_.number(0, length - 1),
                     high = dice_.chance(15) ? low : dice_.number(low + 1, length);
  const bool reads_before = dice_.chance(50), copies = dice_.chance(50);
  const auto body = shared(block({kScalarS32, type, row, row}, Types{row},
                                 static_cast<int>(dice_.number(0, size_.region_statements))));
  add_loop({*x, other}, [=](const Tensor& i, const Leaves& now, Environment& environment) {
    const Tensor& array = now[0];
    const Tensor made = body->run(Leaves{i, array, array[i + shift], now[1]}, environment)[0];
    const Tensor written = update(array, i, made);
    Tensor next = update(written, length - 1 - i, reads_before ? array[i] : written[i + 1]);
    if (copies) {
      std::vector<std::int64_t> starts(array.shape().size(), 0);
      std::vector<std::int64_t> limits = array.shape().vector();
      starts[0] = low;
      limits[0] = high;
      Leaves to(starts.size(), Tensor(0));
      to[0] = i;
      next = dynamic_update_slice(next, slice(array, starts, limits), to);
    }
    return Leaves{next, next[static_cast<int>(low)]};
  });
  return true;
}

// An array of which the same elements are computed from others in each trip, and then others from
// these, or from what they were.
bool ProgramGenerator::neighbors_of_carries() {
  const auto x =
      pick([](const ValueType& type) { return type.type.rank() > 0 && type.type.elements() > 0; });
  if (!x) return false;
  ValueType part = type_of(*x);
  const std::int64_t length = part.type.shape[0], size = dice_.number((length + 1) / 2, length);
  std::vector<std::int64_t> dims = part.type.shape.vector();
  dims[0] = size;
  part.type.shape = Shape(dims);
  const auto start = [&] { return dice_.number(0, length - size); };
  const std::int64_t to = start(), from = start(), then_to = start(), then_from = start();
  const bool follows = dice_.chance(50), reads_new = dice_.chance(60);
  const auto body = shared(block({kScalarS32, part, part}, Types{part},
                                 static_cast<int>(dice_.number(0, size_.region_statements))));
  add_loop({*x}, [=](const Tensor& i, const Leaves& now, Environment& environment) {
    const Tensor& array = now[0];
    const auto elements = [&](const Tensor& of, std::int64_t first) {
      std::vector<std::int64_t> starts(dims.size(), 0), limits = of.shape().vector();
      starts[0] = first;
      limits[0] = first + size;
      return slice(of, starts, limits);
    };
    const auto value =
        body->run(Leaves{i, elements(array, to), elements(array, from)}, environment)[0];
    Tensor next = update(array, {range(to, to + size)}, value);
    if (follows) {
      next = update(next, {range(then_to, then_to + size)},
                    elements(reads_new ? next : array, then_from));
    }
    return Leaves{next};
  });
  return true;
}

// From one dtype to the next.
bool ProgramGenerator::conversions() {
  using enum DType;
  static const std::vector<DType> dtypes = {kPred, kS8,  kS16, kS32,  kS64, kU8, kU16,
                                            kU32,  kU64, kF16, kBF16, kF32, kF64};
  auto x = pick([](const ValueType& type) { return type.kind != Kind::kUnit; });
  if (!x) return false;
  for (std::int64_t i = dice_.number(4, 8); i > 0; i--) {
    const Kind from = type_of(*x).kind;
    const DType dtype = dice_.one_of(dtypes);
    const Kind kind = dtype == kPred       ? Kind::kPred
                      : is_floating(dtype) ? Kind::kWhole
                                           : Kind::kInteger;
    const int low = is_signed_integer(type_of(*x).type.dtype) ? -64 : 0;
    const bool is_held = from == Kind::kInteger && kind == Kind::kWhole;
    x = add_op({*x}, kind, [=](std::span<const Tensor> v) {
      return convert(is_held ? clamp(low, v[0], 64) : v[0], dtype);
    });
  }
  return true;
}

}  // namespace rondo::testing
