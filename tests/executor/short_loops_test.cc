// Searches, sorts and recurrences on scalars, whose inner loops make few trips, compared with the
// equivalent plain loops.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "executor/agreement.h"
#include "support/native_steps.h"

namespace rondo::testing {
namespace {

using lower::Opcode;

/// From 0 to `below` - 1, the same every time.
std::vector<std::int32_t> short_numbers(int count, std::int32_t below) {
  std::vector<std::int32_t> out;
  std::uint32_t state = 7;
  for (int i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    out.push_back(static_cast<std::int32_t>((state >> 8) % static_cast<std::uint32_t>(below)));
  }
  return out;
}

/// With every executor, bit for bit.
template <class T>
void expect_result(const Function& f, const std::vector<Literal>& arguments,
                   const std::vector<T>& want) {
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Literal got = compile(f, {.executor = executor}).run(arguments)[0];
    const auto have = got.data<T>();
    EXPECT_EQ(std::vector<T>(have.begin(), have.end()), want);
  }
}

template <class T>
Literal row(const std::vector<T>& values) {
  return Literal::from(values, {static_cast<std::int64_t>(values.size())});
}

TEST(ShortLoops, FindAPatternByItsBorders) {
  const std::vector<std::int32_t> text = short_numbers(400, 2), pattern{0, 1, 0, 0, 1, 0};
  const int m = static_cast<int>(pattern.size());
  std::vector<std::int32_t> border(pattern.size() + 1);
  int k = 0, found = 0;
  const auto at = [](const std::vector<std::int32_t>& v, int i) {
    return v[static_cast<std::size_t>(i)];
  };
  for (int i = 1; i < m; i++) {
    while (k > 0 && at(pattern, i) != at(pattern, k)) k = at(border, k);
    if (at(pattern, i) == at(pattern, k)) k++;
    border[static_cast<std::size_t>(i) + 1] = k;
  }
  k = 0;
  for (const std::int32_t x : text) {
    while (k > 0 && (k == m || x != at(pattern, k))) k = at(border, k);
    if (x == at(pattern, k)) k++;
    found += k == m ? 1 : 0;
  }
  struct State {
    Tensor k, found;
  };
  const Function f = trace(
      [m](Tensor text, Tensor pattern, Tensor border) {
        return std::get<0>(
                   scan(
                       [&](State s, Tensor x) {
                         const Tensor k = while_loop(
                             [&](Tensor k) { return (k > 0) & ((k == m) | (x != pattern[k])); },
                             [&](Tensor k) { return border[k]; }, s.k);
                         const Tensor next = k + convert(x == pattern[k], DType::kS32);
                         return std::pair{State{next, s.found + convert(next == m, DType::kS32)},
                                          std::tuple<>{}};
                       },
                       State{0, 0}, text))
            .found;
      },
      s32({400}), s32({m}), s32({m + 1}));
  expect_result<std::int32_t>(f, {row(text), row(pattern), row(border)}, {found});
}

/// `f` gives the same result for `count` numbers as `plain`.
template <class F, class Plain>
void expect_array(int count, F&& f, Plain&& plain) {
  std::vector<std::int32_t> values = short_numbers(count, 1000);
  const Literal given = row(values);
  plain(values);
  expect_result(trace(f, s32({count})), {given}, values);
}

TEST(ShortLoops, SortByInsertion) {
  struct State {
    Tensor j, v;
  };
  const auto sorted = [](Tensor v) {
    return fori_loop(
        1, 50,
        [](Tensor i, Tensor v) {
          const Tensor x = v[i];
          const State e =
              while_loop([&](State s) { return (s.j > 0) & (s.v[maximum(s.j - 1, 0)] > x); },
                         [](State s) {
                           return State{s.j - 1, update(s.v, s.j, s.v[s.j - 1])};
                         },
                         State{i, v});
          return update(e.v, e.j, x);
        },
        v);
  };
  expect_array(50, sorted,
               [](std::vector<std::int32_t>& values) { std::sort(values.begin(), values.end()); });
}

TEST(ShortLoops, PartitionInPlace) {
  struct State {
    Tensor i, v;
  };
  const auto partitioned = [](Tensor v) {
    const Tensor pivot = v[59];
    return fori_loop(
               0, 59,
               [&](Tensor j, State s) {
                 const Tensor a = s.v[s.i], b = s.v[j], less = b < pivot;
                 return State{s.i + convert(less, DType::kS32),
                              update(update(s.v, s.i, where(less, b, a)), j, where(less, a, b))};
               },
               State{0, v})
        .v;
  };
  expect_array(60, partitioned, [](std::vector<std::int32_t>& values) {
    std::size_t i = 0;
    for (std::size_t j = 0; j < 59; j++) {
      if (values[j] < values[59]) std::swap(values[i++], values[j]);
    }
  });
}

TEST(ShortLoops, HalveAndTriple) {
  struct State {
    Tensor x, k;
  };
  const Function f = trace([]() {
    return scan(
               [](std::tuple<>, Tensor i) {
                 const State e =
                     while_loop([](State s) { return s.x != 1; },
                                [](State s) {
                                  return State{where(s.x % 2 == 1, 3 * s.x + 1, s.x / 2), s.k + 1};
                                },
                                State{convert(i, DType::kS64), 0});
                 return std::pair{std::tuple<>{}, e.k};
               },
               std::tuple<>{}, arange(60) + 1)
        .second;
  });
  std::vector<std::int32_t> want;
  for (std::int64_t i = 1; i <= 60; i++) {
    int k = 0;
    for (std::int64_t x = i; x != 1; k++) x = x % 2 == 1 ? 3 * x + 1 : x / 2;
    want.push_back(k);
  }
  expect_result(f, {}, want);
}

// A random number generator whose positions form a ring.
TEST(ShortLoops, GoRoundInARing) {
  std::vector<std::uint32_t> ring(17);
  std::iota(ring.begin(), ring.end(), 1u);
  struct State {
    Tensor s, k;
  };
  const Function f = trace(
      [](Tensor s) {
        return scan(
                   [](State st) {
                     const Tensor next = (st.k + 1) % 17;
                     const Tensor v = (st.s[st.k] ^ (st.s[next] << 3u)) + st.s[(st.k + 11) % 17];
                     return std::pair{State{update(st.s, st.k, v), next}, v % 10u};
                   },
                   State{s, 0}, std::tuple<>{}, {.length = 100})
            .second;
      },
      u32({17}));
  const Literal given = row(ring);
  std::vector<std::uint32_t> want;
  for (std::size_t t = 0, k = 0; t < 100; t++) {
    const std::size_t next = (k + 1) % 17;
    ring[k] = (ring[k] ^ (ring[next] << 3)) + ring[(k + 11) % 17];
    want.push_back(ring[k] % 10);
    k = next;
  }
  expect_result(f, {given}, want);
}

TEST(ShortLoops, FactorByThreeLoops) {
  constexpr int n = 12;
  std::vector<double> a(std::size_t{n} * n);
  const auto entry = [&](std::vector<double>& m, int i, int j) -> double& {
    return m[static_cast<std::size_t>(i) * n + static_cast<std::size_t>(j)];
  };
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) entry(a, i, j) = 1.0 / (1 + i + j) + (i == j ? n : 0);
  }
  std::vector<double> want(a.size());
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double s = entry(a, i, j);
      for (int k = 0; k < j; k++) s -= entry(want, i, k) * entry(want, j, k);
      entry(want, i, j) = i == j ? std::sqrt(s) : s / entry(want, j, j);
    }
  }
  const Function f = trace(
      [=](Tensor A) {
        return fori_loop(
            0, n,
            [&](Tensor i, Tensor L) {
              return fori_loop(
                  Tensor(0), i + 1,
                  [&](Tensor j, Tensor L) {
                    const Tensor s = fori_loop(
                        Tensor(0), j,
                        [&](Tensor k, Tensor s) {
                          return s - at(L, {i, k}) * at(L, {j, k});
                        },
                        at(A, {i, j}));
                    return update(L, {i, j}, where(i == j, sqrt(s), s / at(L, {j, j})));
                  },
                  L);
            },
            zeros(f64({n, n})));
      },
      f64({n, n}));
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Literal got = compile(f, {.executor = executor}).run({Literal::from(a, {n, n})})[0];
    for (std::size_t i = 0; i < a.size(); i++) EXPECT_NEAR(got.data<double>()[i], want[i], 1e-13);
  }
}

Tensor swapped(const Tensor& v, const Tensor& i, const Tensor& j) {
  return update(update(v, i, v[j]), j, v[i]);
}

// `where` of a whole array and the same with updated elements writes only these elements.
TEST(ShortLoops, ChooseAnArrayOrItsUpdate) {
  std::vector<std::int32_t> values = short_numbers(60, 1000);
  struct State {
    Tensor v, i;
  };
  const Function f = trace(
      [](Tensor v) {
        return fori_loop(
                   0, 59,
                   [&](Tensor j, State s) {
                     const Tensor less = s.v[j] < v[59];
                     return State{where(less, swapped(s.v, s.i, j), s.v),
                                  s.i + convert(less, DType::kS32)};
                   },
                   State{v, 0})
            .v;
      },
      s32({60}));
  const Literal given = row(values);
  std::size_t i = 0;
  for (std::size_t j = 0; j < 59; j++) {
    if (values[j] < values[59]) std::swap(values[i++], values[j]);
  }
  expect_result(f, {given}, values);
  const Lowered lowered(f);
  EXPECT_EQ(lowered.count(Opcode::kCopy), 1) << lowered;  // of the argument, before the loop
  EXPECT_EQ(lowered.count_before_loops(Opcode::kCopy), 1) << lowered;
  EXPECT_EQ(lowered.count(Opcode::kLanes), 0) << lowered;
}

// With rows, and if the predicate selects the old array.
TEST(ShortLoops, ChooseARowOrItsUpdate) {
  const Function f = trace(
      [](Tensor v) {
        return fori_loop(
            0, 20,
            [](Tensor i, Tensor m) {
              return where(i % 3 == 1, m, update(m, i - 2, m[i % 8] * 2 + i));
            },
            v);
      },
      s32({8, 4}));
  std::vector<std::int32_t> m = short_numbers(32, 50);
  const Literal given = Literal::from(m, {8, 4});
  for (int t = 0; t < 20; t++) {
    if (t % 3 == 1) continue;
    const auto to = static_cast<std::size_t>(std::clamp(t - 2, 0, 7)) * 4;
    const auto from = static_cast<std::size_t>(t % 8) * 4;
    std::int32_t made[4];
    for (std::size_t k = 0; k < 4; k++) made[k] = m[from + k] * 2 + t;
    std::copy(made, made + 4, m.begin() + static_cast<std::ptrdiff_t>(to));
  }
  expect_result(f, {given}, m);
}

// The tests bound an index that decreases, and one that doubles.
TEST(ShortLoops, NeedNoClampsWhereTestsBoundAnIndex) {
  struct State {
    Tensor j, v;
  };
  const Function down = trace(
      [](Tensor v) {
        return fori_loop(
            1, 50,
            [](Tensor i, Tensor v) {
              return while_loop([&](State s) { return (s.j > 0) & (s.v[s.j] < s.v[0]); },
                                [](State s) {
                                  return State{s.j - 1, swapped(s.v, s.j, s.j - 1)};
                                },
                                State{i, v})
                  .v;
            },
            v);
      },
      s32({50}));
  const Function doubles = trace(
      [](Tensor v) {
        return fori_loop(
            1, 40,
            [](Tensor i, Tensor v) {
              return while_loop([&](State s) { return 2 * s.j + 1 < 40 - i; },
                                [](State s) {
                                  const Tensor child = 2 * s.j + 1;
                                  return State{child, swapped(s.v, s.j, child)};
                                },
                                State{0, v})
                  .v;
            },
            v);
      },
      s32({40}));
  for (const auto& [f, size] : {std::pair{down, 50}, std::pair{doubles, 40}}) {
    const Lowered lowered(f);
    EXPECT_GT(lowered.count(Opcode::kRepeat), 0) << lowered;
    for (const Opcode clamp : {Opcode::kMax, Opcode::kMin})
      EXPECT_EQ(lowered.count(clamp), 0) << lowered;
    const Literal given = row(short_numbers(size, 1000));
    const Literal want = compile(f, {.executor = Executor::kReference}).run({given})[0];
    const auto elements = want.data<std::int32_t>();
    expect_result<std::int32_t>(f, {given}, {elements.begin(), elements.end()});
  }
}

// Indices that leave their array: by steps past its end, below zero, by wrapping around.
TEST(ShortLoops, ClampWhatLeavesTheArray) {
  struct State {
    Tensor i, trips, sum;
  };
  using Step = std::function<Tensor(Tensor)>;
  const auto program = [](DType dtype, double first, const Step& goes_on, const Step& next) {
    return trace(
        [&](Tensor v) {
          const State e =
              while_loop([&](State s) { return goes_on(s.i) & (s.trips < 300); },
                         [&](State s) {
                           const Tensor other = where(s.i > 3, s.i - 4, s.i);
                           return State{next(s.i), s.trips + 1, s.sum * 3 + v[s.i] + v[other + 2]};
                         },
                         State{convert(Tensor(first), dtype), 0, 0});
          return e.sum + e.trips + v[e.i] * 7;
        },
        s32({16}));
  };
  const auto is = [](Tensor i, double x) { return convert(Tensor(x), i.dtype()); };
  const std::vector<Function> programs{
      program(
          DType::kS32, 0, [&](Tensor i) { return i < is(i, 40); },
          [&](Tensor i) { return i + is(i, 7); }),
      program(
          DType::kS32, 12, [&](Tensor i) { return i > is(i, -9); },
          [&](Tensor i) { return i - is(i, 2); }),
      program(
          DType::kS32, 12, [&](Tensor i) { return !(i <= is(i, 0)); },
          [&](Tensor i) { return i - is(i, 5); }),
      program(
          DType::kS32, 3, [&](Tensor i) { return (i >= is(i, -20)) & (i != is(i, 14)); },
          [&](Tensor i) { return where(i > is(i, 9), -i, i * is(i, 2) + is(i, 1)); }),
      program(
          DType::kS32, 2147483600, [&](Tensor i) { return i > is(i, 0); },
          [&](Tensor i) { return i + is(i, 5); }),
      program(
          DType::kS8, 100, [&](Tensor i) { return i != is(i, 0); },
          [&](Tensor i) { return i + is(i, 3); }),
      program(
          DType::kU8, 3, [&](Tensor i) { return i < is(i, 200); },
          [&](Tensor i) { return i - is(i, 1); }),
      program(
          DType::kU32, 3, [&](Tensor i) { return i != is(i, 9); },
          [&](Tensor i) { return i - is(i, 1); }),
      program(
          DType::kS64, 1, [&](Tensor i) { return (i < is(i, 5)) | (i > is(i, 8)); },
          [&](Tensor i) { return i * is(i, -3); }),
      program(
          DType::kS64, -5, [&](Tensor i) { return i < is(i, 20); },
          [&](Tensor i) { return i / is(i, 2) + is(i, 4); }),
      program(
          DType::kU64, 3, [&](Tensor i) { return i < is(i, 20); },
          [&](Tensor i) { return i - is(i, 1); }),
  };
  const Literal given = row(short_numbers(16, 1000));
  for (const Function& f : programs) {
    const Literal want = compile(f, {.executor = Executor::kReference}).run({given})[0];
    expect_result<std::int32_t>(f, {given}, {want.item<std::int32_t>()});
  }
}

// A run without limits does not check for them; the same program with one does.
TEST(ShortLoops, LookAtLimitsWhereThereAreSome) {
  struct State {
    Tensor x, k;
  };
  const Function f = trace(
      [](Tensor x) {
        return while_loop([](State s) { return s.x != 1; },
                          [](State s) {
                            return State{where(s.x % 2 == 1, 3 * s.x + 1, s.x / 2), s.k + 1};
                          },
                          State{x, 0})
            .k;
      },
      s64());
  const auto program = compile(f, {.executor = Executor::kCompiled});
  const Lowered lowered(f);
  for (const lower::LoopInfo& loop : lowered.program().loops) EXPECT_FALSE(loop.polls) << lowered;
  const native_code::Steps steps = lowered.native_steps(&native_code::x86::avx2());
  EXPECT_EQ(count(steps, is(native_code::Kind::kTrip)), 0) << lowered;
  EXPECT_EQ(count(steps, is(native_code::Kind::kCount)), native_code::has_assembler() ? 1 : 0);
  const Literal x = Literal::scalar(std::int64_t{27});
  RunStats stats;
  EXPECT_EQ(program.run({x}, {.stats = &stats})[0].item<std::int32_t>(), 111);
  EXPECT_EQ(stats.loops[0].trips, 111);
  EXPECT_EQ(program.run({x}, {.max_iterations = 111})[0].item<std::int32_t>(), 111);
  try {
    program.run({x}, {.max_iterations = 110});
    FAIL() << "made one trip more";
  } catch (const TooManyIterations& error) {
    EXPECT_EQ(error.trip(), 110);
    EXPECT_EQ(error.carry().size(), 2u);
  }
}

}  // namespace
}  // namespace rondo::testing
