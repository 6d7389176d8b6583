#include "passes/optimize.h"

#include <functional>

#include "passes/check.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

/// Builds random programs over f32 and s32 scalars and f32[4] vectors: ops that the passes know,
/// and all loops, nested.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed) : random_(seed) {}

  Function build() {
    return trace(
        [&](Tensor a, Tensor b, Tensor i, Tensor v) {
          Values values{{a, b}, {i}, {v}};
          grow(values, 14, 0);
          return std::tuple(pick(values.floats), pick(values.floats), pick(values.ints),
                            pick(values.vectors), pick(values.vectors));
        },
        f32(), f32(), s32(), f32({4}));
  }

  std::vector<Literal> arguments() {
    const float hard[] = {0.0f,          -0.0f, 1.0f,
                          -1.0f,         2.5f,  std::numeric_limits<float>::infinity(),
                          std::nanf(""), 1e30f};
    auto any = [&] { return hard[below(8)]; };
    return {Literal::scalar(any()), Literal::scalar(any()),
            Literal::scalar(static_cast<std::int32_t>(below(7)) - 3),
            Literal::from({any(), any(), any(), any()}, {4})};
  }

 private:
  struct Values {
    std::vector<Tensor> floats, ints, vectors;
  };

  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  const Tensor& pick(const std::vector<Tensor>& from) { return from[below(from.size())]; }

  void grow(Values& values, int steps, int depth) {
    for (int i = 0; i < steps; i++) add_one(values, depth);
  }

  Tensor float_op(const Values& values) {
    const Tensor x = pick(values.floats), y = pick(values.floats);
    switch (below(16)) {
      case 0:
        return x + y;
      case 1:
        return x - y;
      case 2:
        return x * y;
      case 3:
        return x / y;
      case 4:
        return -x;
      case 5:
        return abs(x);
      case 6:
        return maximum(x, y);
      case 7:
        return x * 1.0f;
      case 8:
        return x + 0.0f;
      case 9:
        return x - 0.0f;
      case 10:
        return where(x < y, x, y);
      case 11:
        return convert(convert(x, DType::kF64), DType::kF32);
      case 12:
        return convert(pick(values.ints), DType::kF32);
      case 13:
        return sum(pick(values.vectors));
      case 14:
        return Tensor(static_cast<float>(below(3)));
      default:
        return sin(x);
    }
  }

  Tensor int_op(const Values& values) {
    const Tensor x = pick(values.ints), y = pick(values.ints);
    switch (below(12)) {
      case 0:
        return x + y;
      case 1:
        return x - x;
      case 2:
        return x * y;
      case 3:
        return x * 0;
      case 4:
        return x / y;
      case 5:
        return x & 7;
      case 6:
        return x ^ y;
      case 7:
        return ~x;
      case 8:
        return convert(convert(x, DType::kS8), DType::kS32);
      case 9:
        return convert(pick(values.floats), DType::kS32);
      case 10:
        return Tensor(static_cast<std::int32_t>(below(4)));
      default:
        return where(x != y, x, y);
    }
  }

  Tensor vector_op(const Values& values) {
    const Tensor x = pick(values.vectors), y = pick(values.vectors);
    switch (below(10)) {
      case 0:
        return x + y;
      case 1:
        return x * pick(values.floats);
      case 2:
        return reverse(x, {0});
      case 3:
        return reshape(reshape(x, {2, 2}), {4});
      case 4:
        return concatenate({slice(x, {2}, {4}), slice(y, {0}, {2})}, 0);
      case 5:
        return update(x, pick(values.ints), pick(values.floats));
      case 6:
        return full(f32({4}), pick(values.floats));
      case 7:
        return transpose(transpose(reshape(x, {2, 2}))).type().rank() == 2 ? x : y;
      case 8:
        return dynamic_slice(concatenate({x, y}, 0), {pick(values.ints)}, {4});
      default:
        return where(x == x, x, y);
    }
  }

  void add_one(Values& values, int depth) {
    const std::size_t kind = below(depth < 2 ? 20 : 14);
    if (kind < 6)
      values.floats.push_back(float_op(values));
    else if (kind < 10)
      values.ints.push_back(int_op(values));
    else if (kind < 14)
      values.vectors.push_back(vector_op(values));
    else if (kind < 15)
      add_while(values, depth);
    else if (kind < 17)
      add_fori(values, depth);
    else if (kind < 18)
      add_scan(values, depth);
    else
      add_cond(values, depth);
  }

  using State = std::tuple<Tensor, Tensor, Tensor, Tensor>;

  State random_state(const Values& values) {
    return {pick(values.floats), pick(values.floats), pick(values.ints), pick(values.vectors)};
  }
  static Values with_state(const Values& outer, const State& state) {
    Values inner = outer;  // the surroundings of the loop are captured
    inner.floats.insert(inner.floats.end(),
                        {std::get<0>(state), std::get<0>(state), std::get<1>(state)});
    inner.ints.push_back(std::get<2>(state));
    inner.vectors.insert(inner.vectors.end(), {std::get<3>(state), std::get<3>(state)});
    return inner;
  }
  /// Some leaves change, others do not.
  State next_state(const Values& inner, const State& state) {
    return {pick(inner.floats), below(3) == 0 ? std::get<1>(state) : pick(inner.floats),
            below(3) == 0 ? std::get<2>(state) : pick(inner.ints),
            below(2) == 0 ? std::get<3>(state) : pick(inner.vectors)};
  }
  void keep_some(Values& values, const State& state) {
    if (below(3) != 0) values.floats.push_back(std::get<0>(state));
    if (below(3) == 0) values.floats.push_back(std::get<1>(state));
    if (below(2) == 0) values.ints.push_back(std::get<2>(state));
    if (below(2) == 0) values.vectors.push_back(std::get<3>(state));
  }

  void add_while(Values& values, int depth) {
    const int limit = static_cast<int>(below(5));
    const std::size_t at = below(2);
    const Tensor start = at == 0 ? Tensor(0) : Tensor(1) + 1;
    const Tensor captured = pick(values.floats);
    const auto [i, state] = while_loop(
        [&](std::tuple<Tensor, State> s) {
          const Tensor go_on = std::get<0>(s) < limit;
          return at == 0 ? go_on : go_on & (sin(captured) < 2.0f);
        },
        [&](std::tuple<Tensor, State> s) {
          const auto& [count, old] = s;
          Values inner = with_state(values, old);
          inner.ints.push_back(count);
          grow(inner, 5, depth + 1);
          return std::tuple(count + 1, next_state(inner, old));
        },
        std::tuple(start, random_state(values)));
    keep_some(values, state);
  }

  void add_fori(Values& values, int depth) {
    const bool known = below(2) == 0;
    const Tensor upper =
        known ? Tensor(static_cast<std::int32_t>(below(4))) : pick(values.ints) & 3;
    const State state = fori_loop(0, upper,
                                  [&](Tensor i, State old) {
                                    Values inner = with_state(values, old);
                                    inner.ints.push_back(i);
                                    grow(inner, 5, depth + 1);
                                    return next_state(inner, old);
                                  },
                                  random_state(values), {.reverse = below(2) == 0});
    keep_some(values, state);
  }

  void add_scan(Values& values, int depth) {
    const Tensor x0 = pick(values.vectors), x1 = pick(values.vectors);
    const auto [state, ys] = scan(
        [&](State old, std::tuple<Tensor, Tensor> x) {
          Values inner = with_state(values, old);
          inner.floats.insert(inner.floats.end(), {std::get<0>(x), std::get<1>(x)});
          grow(inner, 5, depth + 1);
          return std::pair(next_state(inner, old),
                           std::tuple(pick(inner.floats), pick(inner.floats), std::get<0>(x)));
        },
        random_state(values), std::tuple(x0, x1), {.reverse = below(2) == 0});
    keep_some(values, state);
    values.vectors.push_back(std::get<0>(ys));
    if (below(2) == 0) values.vectors.push_back(std::get<2>(ys));
  }

  void add_cond(Values& values, int depth) {
    const Tensor predicate =
        below(3) == 0 ? Tensor(below(2) == 0) : pick(values.floats) < pick(values.floats);
    auto branch = [&](State old) {
      Values inner = with_state(values, old);
      grow(inner, 4, depth + 1);
      return next_state(inner, old);
    };
    keep_some(values, cond(predicate, branch, branch, random_state(values)));
  }

  std::mt19937 random_;
};

TEST(Optimize, RandomProgramsGiveTheSameValues) {
  std::int64_t before = 0, after = 0;
  for (std::uint32_t seed = 0; seed < 300 && !::testing::Test::HasFailure(); seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram program(seed);
    const Function f = program.build();
    Function g;
    for (int i = 0; i < 3; i++) g = expect_same_results(f, program.arguments());
    before += f.stats().nodes;
    after += g.stats().nodes;
  }
  EXPECT_LT(after, before * 9 / 10);
}

TEST(Optimize, ASecondTimeNothingChanges) {
  int settled = 0;
  for (std::uint32_t seed = 1000; seed < 1050; seed++) {
    const Function once = passes::optimize(RandomProgram(seed).build());
    settled += passes::optimize(once).same_as(once);
  }
  EXPECT_GE(settled, 45);  // the rest needs more rounds than one run makes
}

TEST(Optimize, TheSameObjectWhereThereIsNothingToDo) {
  const Function f = trace(
      [](Tensor x, Tensor n) {
        return while_loop([&](Tensor i, Tensor) { return i < n; },
                          [](Tensor i, Tensor s) {
                            return std::tuple(i + 1,
                                              cond(
                                                  s < 1.0f, [](Tensor s) { return s * 2.0f; },
                                                  [](Tensor s) { return sin(s); }, s));
                          },
                          std::tuple(Tensor(0), x));
      },
      f32(), s32());
  EXPECT_TRUE(passes::optimize(f).same_as(f));
}

TEST(Optimize, AProgramOfParametersAndConstants) {
  const Function f =
      trace([](Tensor x, Tensor y) { return std::tuple(y, Tensor(2.0f), y, x); }, f32(), f32());
  EXPECT_EQ(expect_same_results(f, {Literal::scalar(1.0f), Literal::scalar(3.0f)}).stats().nodes,
            1);
}

TEST(Optimize, UnderAnEagerScopeNothingIsEvaluated) {
  const Function f = trace([](Tensor x) { return -(-(x - (-x))) * 1.0f; }, f32());
  EagerScope eager;
  const Function g = passes::optimize(f);
  EXPECT_EQ(count(g, "add"), 1);
  EXPECT_EQ(g.stats().nodes, 1);
}

TEST(Optimize, WhatOnePassMakesPossibleTheNextDoes) {
  // The flag is a carry that never changes: an invariant, a constant, so the conditional is
  // decided; then `extra` is dead, and the rest of the body is invariant.
  const Function f = trace(
      [](Tensor x, Tensor k) {
        const auto [s, extra, flag] = fori_loop(
            0, 4,
            [&](Tensor, Tensor s, Tensor extra, Tensor flag) {
              const Tensor step = cond(
                  flag, [&](Tensor, Tensor) { return exp(k); },
                  [](Tensor s, Tensor e) { return s * sin(e); }, s, extra);
              return std::tuple(s + step, extra + cos(s), flag);
            },
            std::tuple(x, x, Tensor(true)));
        return s;
      },
      f32(), f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f), Literal::scalar(0.5f)});
  const ir::Node* loop = find_node(g, "fori_loop");
  EXPECT_EQ(loop->types.size(), 1u);
  EXPECT_EQ(loop->regions[0].body().size(), 1u);
  EXPECT_NE(find_node(g, "exp"), nullptr);
}

TEST(Optimize, TapsKeepTheirOrder) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor a = tap(x * 1.0f - (-x), "first");
        const Tensor b = tap(x, "second");
        const Tensor c = tap((x + x) * 1.0f, "third");
        return a + b + c;
      },
      f32());
  for (const bool optimize : {false, true}) {
    std::string seen;
    RunOptions options;
    options.on_tap = [&](std::string_view name, const Literal&) {
      seen += std::string(name) + " ";
    };
    compile(f, {.optimize = optimize}).run({Literal::scalar(1.0f)}, options);
    EXPECT_EQ(seen, "first second third ");
  }
}

TEST(Optimize, ALongChainCostsNoStackAndLinearTime) {
  auto chain = [](int n) {
    return trace(
        [&](Tensor x, Tensor y) {
          for (int i = 0; i < n; i++) x = i % 3 == 0 ? x * y : i % 3 == 1 ? x + 1.0f : -(-x);
          return x;
        },
        f32(), f32());
  };
  const Function small = chain(20000), large = chain(400000);
  const auto few = [&] { passes::optimize(small); };
  const auto many = [&] { EXPECT_EQ(count(passes::optimize(large), "negate"), 0); };
  EXPECT_LT(growth(few, many, 100), 100);  // 400 times if quadratic
}

TEST(Optimize, DeepNestingCostsNoStackAndLinearTime) {
  auto nest = [](int depth) {
    return trace(
        [&](Tensor x, Tensor k) {
          std::function<Tensor(Tensor, int)> level = [&](Tensor s, int left) -> Tensor {
            if (left == 0) return s * exp(k) + exp(k);
            const auto [a, dead] = fori_loop(
                0, 2,
                [&](Tensor, Tensor a, Tensor b) { return std::tuple(level(a, left - 1), b + a); },
                std::tuple(s, s));
            return a;
          };
          return level(x, depth);
        },
        f32(), f32());
  };
  const Function f = nest(400);
  const Function g = passes::optimize(f);
  g.verify();
  EXPECT_NE(find_node(g, "exp"), nullptr);  // all the way out
  EXPECT_EQ(count(g, "exp"), 1);
  EXPECT_EQ(find_node(g, "fori_loop")->types.size(), 1u);
  const Function low = nest(40);
  const auto shallow = [&] { passes::optimize(low); };
  const auto deep = [&] { passes::optimize(f); };
  EXPECT_LT(growth(shallow, deep, 40), 40);  // 100 times if quadratic
}

TEST(Optimize, ManyCarries) {
  constexpr int kCarries = 300;
  const Function f = trace(
      [](Tensor x) {
        std::vector<Tensor> init;
        for (int i = 0; i < kCarries; i++) init.push_back(x + static_cast<float>(i));
        const std::vector<Tensor> last = fori_loop(
            0, 3,
            [](Tensor, std::vector<Tensor> s) {
              // A shift register; the second half does not change.
              std::vector<Tensor> next = s;
              for (std::size_t i = 0; i < kCarries / 2; i++) next[i] = s[i + 1] * 2.0f;
              return next;
            },
            init);
        return last[0];
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(0.25f)});
  EXPECT_EQ(find_node(g, "fori_loop")->types.size(), static_cast<std::size_t>(kCarries / 2));
}

}  // namespace
}  // namespace rondo::testing
