// Loops over lanes, as statements of random programs: lanes that stop one by one, with scalars or
// rows as carries.
#include <utility>

#include "rondo/loops.h"
#include "rondo/ops.h"
#include "rondo/vmap.h"
#include "support/program_generator.h"

namespace rondo::testing {

Tensor trips_of(const Tensor& integers) {
  return convert(clamp(0, integers, kMostTrips), DType::kS32);
}

namespace {

/// The elements of a row combined into one, of the same kind.
Tensor combined(const Tensor& row, Kind kind) {
  switch (kind) {
    case Kind::kPred:
      return any(row);
    case Kind::kInteger:
      return sum(row);
    case Kind::kWhole:
      return max(row);
    case Kind::kUnit:
      break;
  }
  return mean(row);
}

/// `count` numbers computed from each element of x, reduced: of the kind of x.
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

ValueId ProgramGenerator::limits_of_lanes() {
  const Shape shape{long_};
  const auto limits = pick([&](const ValueType& type) {
    return type.kind == Kind::kInteger && type.type.shape == shape;
  });
  return limits ? *limits : add_constant({{DType::kS32, shape}, Kind::kInteger});
}

Block ProgramGenerator::elementwise_block(const Shape& shape, const Types& params,
                                          const Types& results) {
  const std::optional<Shape> before = std::exchange(elementwise_, shape);
  Block made = block(params, results, static_cast<int>(dice_.number(1, size_.region_statements)));
  elementwise_ = before;
  return made;
}

// while (i < limit) carry = body(i, carry) in lanes, each with a different limit, and in each trip
// a counted loop of none to three trips.
bool ProgramGenerator::stopping_lanes() {
  if (long_ > most_elements_) return false;  // lanes in lanes
  const Shape shape{long_};
  const bool is_elementwise = dice_.chance(60), reduces = dice_.chance(40),
             nests = dice_.chance(60), is_watched = dice_.chance(25) && size_.taps;
  Ids operands{limits_of_lanes()};
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

// Rows as carries, which are permuted. In a trip a lane moves elements of them, combines them,
// writes a history and reads it, branches as all lanes do, or has a loop of few or no trips.
bool ProgramGenerator::rows_in_lanes() {
  constexpr std::int64_t kSize = 3;
  if (kSize * long_ > most_elements_) return false;  // lanes in lanes
  const auto rows = pick([&](const ValueType& type) {
    return type.type.shape == Shape{long_, kSize};
  });
  const ValueId first = rows ? *rows : add_constant({{DType::kF32, {long_, kSize}}, Kind::kUnit});
  const ValueType type = type_of(first), row = without_axis(type, 0);
  const ValueId second = like(type);
  const ValueType history{{type.type.dtype, {long_, kMostTrips}}, type.kind};
  const Checkpoint policy = std::exchange(size_.checkpoint, tape_free());
  const auto body_of_lane = [&] {
    return shared(elementwise_block(row.type.shape, {kScalarS32, row, row}, {row}));
  };
  const auto body = body_of_lane(), branch = body_of_lane(), inner = body_of_lane();
  const Checkpoint checkpoint = std::exchange(size_.checkpoint, policy);
  const bool stops = dice_.chance(50), reverses = dice_.chance(40), moves = dice_.chance(60),
             reduces = dice_.chance(40), branches = dice_.chance(40), nests = dice_.chance(40),
             writes = dice_.chance(70), swaps = dice_.chance(50), empties = dice_.chance(40);
  const int trips = static_cast<int>(dice_.number(0, kMostTrips));
  Ids operands{limits_of_lanes(), first, second, like({{type.type.dtype, {0}}, type.kind})};
  Types results{type, type};
  if (writes) results.push_back(history);
  add(operands, results, [=](std::span<const Tensor> values, Environment& environment) {
    const Tensor& none = values.back();
    const auto trip = [&](const Tensor& i, const Leaves& now) {
      const Tensor &x = now[0], &y = now[1];
      const auto run = [&](const auto& block, const Tensor& at, const Tensor& value) {
        return block->run(Leaves{at, value, y}, environment)[0];
      };
      Tensor next = run(body, i, x);
      if (reverses) next = reverse(next, {0});
      if (moves) next = update(next, i % kSize, x[(i + 1) % kSize]);
      if (reduces) next = update(next, 1, combined(next, type.kind));
      if (branches) {
        next = cond(
            i < 2, [&](const Tensor& v) { return run(branch, i, v); },
            [](const Tensor& v) { return reverse(v, {0}); }, next);
      }
      if (nests) {
        next = fori_loop(Tensor(0), i - 2,
                         [&](const Tensor& j, const Tensor& v) { return run(inner, j, v); }, next,
                         {.checkpoint = checkpoint});
      }
      if (writes) next = update(next, 2, now[2][maximum(i - 1, 0)]);
      Leaves after = swaps ? Leaves{y, next} : Leaves{next, x};
      if (writes) after.push_back(update(now[2], i, next[0]));
      if (writes && empties) after[2] = dynamic_update_slice(after[2], none, {i});
      return after;
    };
    const auto lane = [&](const Tensor& limit, const Leaves& rows_of_lane) {
      Leaves init = rows_of_lane;
      if (writes) init.push_back(zeros(without_axis(history, 0).type));
      if (!stops) return fori_loop(0, trips, trip, init, {.checkpoint = checkpoint});
      using State = std::pair<Tensor, Leaves>;
      return while_loop([&](const State& now) { return now.first < limit; },
                        [&](const State& now) {
                          return State(now.first + 1, trip(now.first, now.second));
                        },
                        State(0, init), {.checkpoint = checkpoint})
          .second;
    };
    return vmap(lane)(trips_of(values[0]), Leaves(values.begin() + 1, values.end() - 1));
  });
  return true;
}

// The same as written for arrays: while any lane goes on, where(it goes on, new, old).
bool ProgramGenerator::any_lanes() {
  if (long_ > most_elements_) return false;
  const Shape shape{long_};
  Ids operands{limits_of_lanes()};
  for (std::int64_t i = dice_.number(1, 2); i > 0; i--) {
    const auto row = pick([&](const ValueType& type) { return type.type.shape == shape; });
    operands.push_back(row ? *row : add_constant({{DType::kF32, shape}, Kind::kUnit}));
  }
  Types state = types_of(operands);
  state[0] = {{DType::kS32, shape}, Kind::kInteger};
  const auto body = shared(elementwise_block(shape, state, Types(state.begin() + 1, state.end())));
  const bool is_watched = dice_.chance(25) && size_.taps;
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

// Matrices as carries: in a trip each element is computed from those of windows that move over
// larger arrays, of rows and columns, and from its index; maybe in a loop of few or no trips, and
// with a history.
bool ProgramGenerator::moving_windows() {
  const Shape shape{dice_.number(2, 4), long_};
  const std::vector<std::int64_t> sizes = shape.vector();
  if (3 * shape.elements() > most_elements_) return false;
  const ValueId first = [&] {
    const auto found = pick([&](const ValueType& type) { return type.type.shape == shape; });
    return found ? *found : add_constant({{DType::kF32, shape}, Kind::kUnit});
  }();
  const ValueType type = type_of(first);
  const auto of_shape = [&](const Shape& other) {
    return like({{type.type.dtype, other}, type.kind});
  };
  const Ids operands{first, of_shape({shape[0] + dice_.number(0, 2), long_ + dice_.number(0, 5)}),
                     of_shape({kMostTrips, long_}), of_shape({shape[0], kMostTrips}),
                     scalar_index()};
  const Checkpoint policy = std::exchange(size_.checkpoint, tape_free());
  const auto body_of_element = [&] {
    return shared(elementwise_block(shape, {kScalarS32, type, type}, {type}));
  };
  const auto body = body_of_element(), inner = body_of_element();
  const Checkpoint checkpoint = std::exchange(size_.checkpoint, policy);
  const bool is_counted = dice_.chance(50), nests = dice_.chance(30), reads_rows = dice_.chance(40),
             reads_columns = dice_.chance(40), reads_index = dice_.chance(30),
             writes = dice_.chance(40);
  const int trips = static_cast<int>(dice_.number(0, kMostTrips));
  const ValueType history{{type.type.dtype, {kMostTrips, shape[0], long_}}, type.kind};
  Types results{type};
  if (writes) results.push_back(history);
  add(operands, results, [=](std::span<const Tensor> values, Environment& environment) {
    const auto trip = [&](const Tensor& i, const Leaves& carry) {
      const Tensor& now = carry[0];
      const auto run = [&](const auto& block, const Tensor& value) {
        return block->run(Leaves{i, now, value}, environment)[0];
      };
      Tensor next = run(body, dynamic_slice(values[1], {i % 3, 4 - i}, sizes));
      if (reads_rows) next = where(next == now, next, broadcast_to(values[2][i], shape));
      if (reads_columns) {
        const Tensor of_trip = expand_dims(column(values[3], i), 1);
        next = where(next == now, broadcast_to(of_trip, shape), next);
      }
      if (reads_index) next = where(iota(TensorType{DType::kS32, shape}, 1) > i * 7, next, now);
      if (nests) {
        next = fori_loop(Tensor(0), i - 2,
                         [&](const Tensor& j, const Tensor& v) {
                           const Tensor part = dynamic_slice(values[1], {j, i + j}, sizes);
                           return inner->run(Leaves{j, v, part}, environment)[0];
                         },
                         next, {.checkpoint = checkpoint});
      }
      return writes ? Leaves{next, update(carry[1], i, next)} : Leaves{next};
    };
    Leaves init{values[0]};
    if (writes) init.push_back(zeros(history.type));
    const Tensor limit = is_counted ? Tensor(trips) : trips_of(values[4]);
    return fori_loop(Tensor(0), limit, trip, init, {.checkpoint = checkpoint});
  });
  return true;
}

}  // namespace rondo::testing
