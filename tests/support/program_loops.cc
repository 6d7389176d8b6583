// The loops and branches of random programs.
#include <utility>

#include "rondo/loops.h"
#include "rondo/ops.h"
#include "support/program_generator.h"

namespace rondo::testing {

namespace {

/// The first `count` values of a block's results, and the rest.
std::pair<Leaves, Leaves> split_at(const Leaves& all, std::size_t count) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(count);
  return {Leaves(all.begin(), middle), Leaves(middle, all.end())};
}

/// The type of `length` of `type` along a new axis.
ValueType with_axis(const ValueType& type, std::int64_t axis, std::int64_t length) {
  std::vector<std::int64_t> dims = type.type.shape.vector();
  dims.insert(dims.begin() + axis, length);
  return {{type.type.dtype, dims}, type.kind};
}

const ValueType kScalarPred{pred(), Kind::kPred};

}  // namespace

bool ProgramGenerator::construct() {
  using Maker = bool (ProgramGenerator::*)();
  using G = ProgramGenerator;
  static const std::vector<Maker> makers = {&G::while_statement, &G::while_scan_statement,
                                            &G::fori_statement,  &G::fori_statement,
                                            &G::scan_statement,  &G::scan_statement,
                                            &G::cond_statement,  &G::switch_statement,
                                            &G::map_statement,   &G::associative_scan_statement};
  static const std::vector<Maker> elementwise_makers = {&G::while_statement, &G::fori_statement};
  depth_++;
  const bool made = (this->*dice_.one_of(elementwise_ ? elementwise_makers : makers))();
  depth_--;
  return made;
}

// while (counter < limit && condition(counter, carry)) carry = body(counter, carry), where the
// limit is known when tracing, or is a captured value.
bool ProgramGenerator::while_statement() {
  const ValueId limit_source = scalar_index();
  const ValueType counter{type_of(limit_source).type, Kind::kInteger};
  const Ids carry = random_carry();
  Types state = types_of(carry);
  state.insert(state.begin(), counter);
  const int statements = static_cast<int>(dice_.number(0, size_.region_statements));
  const auto condition = shared(block(state, Types{kScalarPred}, dice_.chance(30) ? 1 : 0));
  const auto body = shared(block(state, types_of(carry), statements));
  const bool has_condition = dice_.chance(30), is_static = dice_.chance(50);
  const std::int64_t trips = dice_.number(0, 5);
  const Checkpoint checkpoint = checkpoint_without_length();
  Ids operands = carry;
  operands.insert(operands.begin(), limit_source);
  auto action = [=](std::span<const Tensor> values, Environment& environment) {
    const Tensor limit = is_static ? full(counter.type, trips) : clamp(0, values[0], 5);
    Leaves init(values.begin(), values.end());
    init[0] = zeros(counter.type);
    Leaves end = while_loop(
        [&](const Leaves& state_now) {
          const Tensor more = state_now[0] < limit;
          return has_condition ? more & condition->run(state_now, environment)[0] : more;
        },
        [&](const Leaves& state_now) {
          return joined(Leaves{state_now[0] + 1}, body->run(state_now, environment));
        },
        init, {.checkpoint = checkpoint});
    return end;
  };
  add(operands, state, action);
  return true;
}

bool ProgramGenerator::while_scan_statement() {
  const Ids carry = random_carry();
  Types state = types_of(carry);
  state.insert(state.begin(), kScalarS32);
  Types results = types_of(carry);
  Types ys;
  for (std::int64_t i = dice_.number(0, 2); i > 0; i--) ys.push_back(random_row(4));
  results.insert(results.end(), ys.begin(), ys.end());
  const auto condition = shared(block(state, Types{kScalarPred}, dice_.chance(30) ? 1 : 0));
  const auto body =
      shared(block(state, results, static_cast<int>(dice_.number(0, size_.region_statements))));
  const std::int64_t most = dice_.number(0, 4), limit = dice_.number(0, 5);
  const std::size_t carried = carry.size();
  const Checkpoint checkpoint = size_.checkpoint;
  auto action = [=](std::span<const Tensor> values, Environment& environment) {
    const bool always = limit == 5;
    auto end = while_scan(
        [&](const Leaves& now) {
          const Tensor stop_early = condition->run(now, environment)[0];
          return always ? now[0] < 100 : (now[0] < limit) | (stop_early & (now[0] < limit + 2));
        },
        [&](const Leaves& now) {
          auto [next, y] = split_at(body->run(now, environment), carried);
          return std::pair(joined(Leaves{now[0] + 1}, next), y);
        },
        joined(Leaves{Tensor(0)}, values), {.max_trip_count = most, .checkpoint = checkpoint});
    return joined(joined(end.carry, end.ys), Leaves{end.count});
  };
  Types made = state;
  for (const ValueType& y : ys) made.push_back(with_axis(y, 0, most));
  made.push_back(kScalarS32);
  add(carry, made, action);
  return true;
}

bool ProgramGenerator::fori_statement() {
  const bool is_static = dice_.chance(60);
  const ValueId bound = is_static ? add_constant(kScalarS32) : scalar_index();
  const Ids carry = random_carry();
  Types params = types_of(carry);
  params.insert(params.begin(), {type_of(bound).type, Kind::kInteger});
  const auto body = shared(
      block(params, types_of(carry), static_cast<int>(dice_.number(0, size_.region_statements))));
  ForiOptions options;
  options.checkpoint = is_static ? size_.checkpoint : checkpoint_without_length();
  options.step = dice_.number(1, 3);
  options.unroll =
      dice_.chance(60) ? 1 : dice_.one_of<std::int64_t>({2, 3, is_static ? kUnrollAll : 4});
  options.reverse = dice_.chance(40);
  const int lower = static_cast<int>(dice_.number(0, 3)),
            upper = lower + static_cast<int>(dice_.number(-1, 6));
  const TensorType type = type_of(bound).type;
  Ids operands = carry;
  operands.insert(operands.begin(), bound);
  auto action = [=](std::span<const Tensor> values, Environment& environment) {
    const Leaves init(values.begin() + 1, values.end());
    const auto step = [&](const Tensor& i, const Leaves& now) {
      return body->run(joined(Leaves{i}, now), environment);
    };
    if (is_static) return fori_loop(lower, upper, step, init, options);
    return fori_loop(full(type, lower), clamp(0, values[0], 6), step, init, options);
  };
  add(operands, types_of(carry), action);
  return true;
}

bool ProgramGenerator::scan_statement() {
  ScanOptions options;
  options.checkpoint = size_.checkpoint;
  options.axis = dice_.chance(75) ? 0 : 1;
  options.reverse = dice_.chance(40);
  options.unroll = dice_.chance(60) ? 1 : dice_.one_of<std::int64_t>({2, 3, kUnrollAll});
  const std::int64_t axis = options.axis;
  std::int64_t length = dice_.number(0, 4);
  Ids xs;
  for (std::int64_t i = dice_.number(0, 2); i > 0; i--) {
    const auto x = pick([&](const ValueType& type) {
      return type.type.rank() > axis && (xs.empty() || type.type.shape[axis] == length);
    });
    if (!x) continue;
    length = type_of(*x).type.shape[axis];
    xs.push_back(*x);
  }
  const Ids carry = random_carry();
  Types params = types_of(carry), results = types_of(carry), ys;
  for (const ValueId x : xs) params.push_back(without_axis(type_of(x), axis));
  for (std::int64_t i = dice_.number(0, 2); i > 0; i--) {
    const ValueType y = random_row(length);
    if (y.type.rank() >= axis) ys.push_back(y);
  }
  results.insert(results.end(), ys.begin(), ys.end());
  const auto body =
      shared(block(params, results, static_cast<int>(dice_.number(0, size_.region_statements))));
  if (xs.empty() || dice_.chance(20)) options.length = length;
  const std::size_t carried = carry.size();
  Ids operands = carry;
  operands.insert(operands.end(), xs.begin(), xs.end());
  auto action = [=](std::span<const Tensor> values, Environment& environment) {
    const auto [end, stacked] = scan(
        [&](const Leaves& now, const Leaves& x) {
          return split_at(body->run(joined(now, x), environment), carried);
        },
        Leaves(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(carried)),
        Leaves(values.begin() + static_cast<std::ptrdiff_t>(carried), values.end()), options);
    return joined(end, stacked);
  };
  Types made = types_of(carry);
  for (const ValueType& y : ys) made.push_back(with_axis(y, axis, length));
  add(operands, made, action);
  return true;
}

bool ProgramGenerator::cond_statement() {
  const auto chosen = pick([](const ValueType& type) { return type == kScalarPred; });
  if (!chosen) return false;
  const Ids operands = random_carry();
  Types results;
  for (std::int64_t i = dice_.number(1, 3); i > 0; i--) results.push_back(random_type());
  const auto branch = [&] {
    return shared(block(types_of(operands), results,
                        static_cast<int>(dice_.number(0, size_.region_statements))));
  };
  const auto yes = branch(), no = branch();
  Ids all = operands;
  all.insert(all.begin(), *chosen);
  add(all, results, [=](std::span<const Tensor> values, Environment& environment) {
    return cond(
        values[0], [&](const Leaves& given) { return yes->run(given, environment); },
        [&](const Leaves& given) { return no->run(given, environment); },
        Leaves(values.begin() + 1, values.end()));
  });
  return true;
}

bool ProgramGenerator::switch_statement() {
  const ValueId index = scalar_index();
  const Ids operands = random_carry();
  Types results;
  for (std::int64_t i = dice_.number(1, 2); i > 0; i--) results.push_back(random_type());
  std::vector<std::shared_ptr<const Block>> branches;
  for (std::int64_t i = dice_.number(1, 4); i > 0; i--) {
    branches.push_back(shared(block(types_of(operands), results,
                                    static_cast<int>(dice_.number(0, size_.region_statements)))));
  }
  Ids all = operands;
  all.insert(all.begin(), index);
  add(all, results, [=](std::span<const Tensor> values, Environment& environment) {
    std::vector<std::function<Leaves(const Leaves&)>> callables;
    for (const auto& branch : branches) {
      callables.emplace_back([&](const Leaves& given) { return branch->run(given, environment); });
    }
    return switch_case(values[0], callables, Leaves(values.begin() + 1, values.end()));
  });
  return true;
}

bool ProgramGenerator::map_statement() {
  const auto xs = pick([](const ValueType& type) { return type.type.rank() > 0; });
  if (!xs) return false;
  const ValueType y = random_row(type_of(*xs).type.shape[0]);
  const Checkpoint policy = std::exchange(size_.checkpoint, tape_free());
  const auto body = shared(block({without_axis(type_of(*xs), 0)}, Types{y},
                                 static_cast<int>(dice_.number(0, size_.region_statements))));
  size_.checkpoint = policy;
  MapOptions options;
  if (dice_.chance(40)) options.batch_size = dice_.number(1, 3);
  add({*xs}, {with_axis(y, 0, type_of(*xs).type.shape[0])},
      [=](std::span<const Tensor> values, Environment& environment) {
        return Leaves{map([&](const Tensor& x) { return body->run(Leaves{x}, environment)[0]; },
                          values[0], options)};
      });
  return true;
}

bool ProgramGenerator::associative_scan_statement() {
  const auto x = pick([](const ValueType& type) {
    return type.type.rank() > 0 && (type.kind == Kind::kInteger || type.kind == Kind::kWhole);
  });
  if (!x) return false;
  const ValueType type = type_of(*x);
  AssociativeScanOptions options;
  options.axis = dice_.number(0, type.type.rank() - 1);
  options.reverse = dice_.chance(40);
  if (type.kind == Kind::kWhole) {
    add({*x}, {type}, [=](std::span<const Tensor> values, Environment&) {
      return Leaves{associative_scan([](const Tensor& a, const Tensor& b) { return maximum(a, b); },
                                     values[0], options)};
    });
    return true;
  }
  // Composition of the functions t -> factor * t + offset, modulo a power of two.
  const ValueId y = like(type);
  add({*x, y}, {type, type}, [=](std::span<const Tensor> values, Environment&) {
    return associative_scan(
        [](const Leaves& a, const Leaves& b) {
          return Leaves{a[0] * b[0], b[0] * a[1] + b[1]};
        },
        Leaves{values[0], values[1]}, options);
  });
  return true;
}

}  // namespace rondo::testing
