// What executors get wrong first, as statements of random programs: carries that change places or
// share memory, slices of arrays that are written in place, lanes that stop one by one.
// tests/random/coverage_test.cc counts that they are made.
#include <algorithm>
#include <numeric>
#include <utility>

#include "rondo/loops.h"
#include "rondo/ops.h"
#include "rondo/vmap.h"
#include "support/program_generator.h"

namespace rondo::testing {

namespace {

constexpr int kMostTrips = 6;

/// A number of trips made of any integers.
Tensor trips_of(const Tensor& integers) {
  return convert(clamp(0, integers, kMostTrips), DType::kS32);
}

/// `count` numbers made of each element of x, reduced: of the kind of x.
Tensor reduced(const Tensor& x, Kind kind, std::int64_t count) {
  std::vector<std::int64_t> dims = x.shape().vector();
  dims.insert(dims.begin(), count);
  const Tensor row = broadcast_to(x, dims);
  if (kind == Kind::kPred) return any(row, {0});
  const Tensor numbers = iota(TensorType{x.dtype(), dims}, 0);
  if (kind == Kind::kInteger) return sum(row * numbers, {0});
  if (kind == Kind::kWhole) return max(minimum(row + numbers, 64), {0});
  return mean(row / (numbers + 1), {0});
}

}  // namespace

bool ProgramGenerator::danger() {
  using Maker = bool (ProgramGenerator::*)();
  using G = ProgramGenerator;
  static const std::vector<Maker> makers = {&G::permuted_carries, &G::sliced_carries,
                                            &G::stopping_lanes, &G::any_lanes, &G::conversions};
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

// Carries of one type that change places, or become one. Some begin as the same value.
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
  const std::int64_t low = dice_.number(0, length - 1), high = dice_.number(low + 1, length);
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

Block ProgramGenerator::elementwise_block(const Shape& shape, const Types& params,
                                          const Types& results) {
  const std::optional<Shape> before = std::exchange(elementwise_, shape);
  Block made = block(params, results, static_cast<int>(dice_.number(1, size_.region_statements)));
  elementwise_ = before;
  return made;
}

// while (i < limit) carry = body(i, carry) in lanes, each with a limit of its own, and in each trip
// a counted loop of none to three trips.
bool ProgramGenerator::stopping_lanes() {
  if (long_ > most_elements_) return false;  // lanes in lanes
  const Shape shape{long_};
  const bool is_elementwise = dice_.chance(60), reduces = dice_.chance(40),
             nests = dice_.chance(60), is_watched = dice_.chance(25);
  const auto limits = pick([&](const ValueType& type) {
    return type.kind == Kind::kInteger && type.type.shape == shape;
  });
  Ids operands{limits ? *limits : add_constant({{DType::kS32, shape}, Kind::kInteger})};
  for (std::int64_t i = dice_.number(1, 2); i > 0; i--) {
    const auto row = pick([&](const ValueType& type) {
      return is_elementwise ? type.type.shape == shape
                            : type.type.rank() > 0 && type.type.shape[0] == long_;
    });
    operands.push_back(row ? *row : add_constant({{DType::kF32, shape}, Kind::kUnit}));
  }
  Types results = types_of(operands), carry;
  results[0] = {{DType::kS32, shape}, Kind::kInteger};
  for (std::size_t i = 1; i < results.size(); i++) carry.push_back(without_axis(results[i], 0));
  Types params = carry;
  params.insert(params.begin(), kScalarS32);
  const std::int64_t most =
      std::exchange(most_elements_, most_elements_ / std::max<std::int64_t>(long_, 1));
  const auto body_of_lane = [&] {
    const int statements = static_cast<int>(dice_.number(0, size_.region_statements));
    return shared(is_elementwise ? elementwise_block({}, params, carry)
                                 : block(params, carry, statements));
  };
  const Checkpoint policy = std::exchange(size_.checkpoint, tape_free());
  const auto body = body_of_lane(), inner = body_of_lane();
  const Checkpoint checkpoint = std::exchange(size_.checkpoint, policy);
  most_elements_ = most;
  const std::int64_t count = dice_.number(2, 9);
  add(operands, results, [=](std::span<const Tensor> values, Environment& environment) {
    const auto lane = [&](const Tensor& limit, const Leaves& init) {
      using State = std::pair<Tensor, Leaves>;
      const auto trip = [&](const State& now) {
        Leaves next = body->run(joined(Leaves{now.first}, now.second), environment);
        if (nests) {
          next = fori_loop(Tensor(0), limit - 3,
                           [&](const Tensor& j, const Leaves& deep) {
                             return inner->run(joined(Leaves{j}, deep), environment);
                           },
                           next, {.checkpoint = checkpoint});
        }
        if (reduces) next[0] = reduced(next[0], carry[0].kind, count);
        return State(now.first + 1, next);
      };
      const State end = while_loop([&](const State& now) { return now.first < limit; }, trip,
                                   State(0, init), {.checkpoint = checkpoint});
      return joined(Leaves{end.first}, end.second);
    };
    const Tensor limit = trips_of(values[0]);
    return vmap(lane)(is_watched ? tap(limit, "trips of lanes") : limit,
                      Leaves(values.begin() + 1, values.end()));
  });
  return true;
}

// The same as one writes it for arrays: while any lane goes on, where(it goes on, new, old).
bool ProgramGenerator::any_lanes() {
  if (long_ > most_elements_) return false;
  const Shape shape{long_};
  const auto limits = pick([&](const ValueType& type) {
    return type.kind == Kind::kInteger && type.type.shape == shape;
  });
  Ids operands{limits ? *limits : add_constant({{DType::kS32, shape}, Kind::kInteger})};
  for (std::int64_t i = dice_.number(1, 2); i > 0; i--) {
    const auto row = pick([&](const ValueType& type) { return type.type.shape == shape; });
    operands.push_back(row ? *row : add_constant({{DType::kF32, shape}, Kind::kUnit}));
  }
  Types state = types_of(operands);
  state[0] = {{DType::kS32, shape}, Kind::kInteger};
  const auto body = shared(elementwise_block(shape, state, Types(state.begin() + 1, state.end())));
  const bool is_watched = dice_.chance(25);
  const Checkpoint checkpoint = checkpoint_without_length();
  add(operands, state, [=](std::span<const Tensor> values, Environment& environment) {
    const Tensor given = trips_of(values[0]),
                 limit = is_watched ? tap(given, "trips of lanes") : given;
    Leaves init(values.begin(), values.end());
    init[0] = zeros(state[0].type);
    return while_loop([&](const Leaves& now) { return any(now[0] < limit); },
                      [&](const Leaves& now) {
                        const Tensor on = now[0] < limit;
                        Leaves next = body->run(now, environment);
                        next.insert(next.begin(), now[0] + 1);
                        for (std::size_t i = 0; i < next.size(); i++)
                          next[i] = where(on, next[i], now[i]);
                        return next;
                      },
                      init, {.checkpoint = checkpoint});
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
  for (std::int64_t i = dice_.number(3, 6); i > 0; i--) {
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
