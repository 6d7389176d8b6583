// The cost of reverse mode: evaluations counted by the interpreter, memory, and stacked arrays.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "gradients/loops.h"
#include "gradients/thermal.h"
#include "ir/node.h"
#include "support/expect.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

RunStats run_with_stats(const Function& program, const std::vector<Literal>& arguments,
                        Executor executor = Executor::kDefault) {
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  compile(program, {.executor = executor}).run(arguments, options);
  return stats;
}

/// Op evaluations, as counted by the reference.
std::int64_t evaluations(const Function& program, const std::vector<Literal>& arguments) {
  return run_with_stats(program, arguments, Executor::kReference).op_evaluations;
}

/// Trips of all loops whose name has this prefix.
std::int64_t trips_of(const RunStats& stats, const std::string& name) {
  std::int64_t trips = 0;
  for (const LoopStats& loop : stats.loops) {
    if (loop.name.starts_with(name) && !loop.name.ends_with("_schedule")) trips += loop.trips;
  }
  return trips;
}

Literal random_matrix(std::int64_t rows, std::int64_t columns) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = std::sin(static_cast<double>(i) * 1.7 + 0.3);
  return Literal::from(values, {rows, columns});
}

/// Op evaluations of the gradient with respect to all arguments, divided by those of the function.
template <class F, class... Arguments>
double gradient_over_forward(F f, const Arguments&... arguments) {
  const auto slopes = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return trace(grad<I...>(f), arguments...);
  }
  (std::index_sequence_for<Arguments...>());
  const auto cost = [&](const Function& program) {
    return static_cast<double>(evaluations(program, {arguments...}));
  };
  return cost(slopes) / cost(trace(f, arguments...));
}

TEST(Cost, ReverseOfAScanIsAtMostFourTimesItsForward) {
  const Literal w = random_matrix(4, 4), xs = random_matrix(100, 4), h = random_matrix(1, 4);
  const auto over_scan = [](auto cell) {
    return [cell](Tensor w, Tensor h, Tensor xs) {
      const auto [last, ys] = scan(
          [&](Tensor h, Tensor x) {
            const Tensor next = cell(w, h, x);
            return std::pair(next, sum(next));
          },
          h[0], xs);
      return sum(last * last) + sum(ys);
    };
  };
  const auto expect_cheap = [&](const char* name, auto cell) {
    EXPECT_LE(gradient_over_forward(over_scan(cell), w, h, xs), 4.0) << name;
  };
  expect_cheap("recurrent", [](Tensor w, Tensor h, Tensor x) { return tanh(dot(w, h) + x); });
  expect_cheap("sines", [](Tensor w, Tensor h, Tensor x) { return sin(h) * x + cos(h) * w[0]; });
  expect_cheap("sums", [](Tensor w, Tensor h, Tensor x) { return h + x * w[1]; });
  expect_cheap("exponentials", [](Tensor w, Tensor h, Tensor x) {
    return exp(-square(h)) * logistic(x) + w[0] / (1 + square(x));
  });
  expect_cheap("in place", [](Tensor w, Tensor h, Tensor x) {
    return update(h, 1, h[2] * w[0][1] + x[0]) * 0.5;
  });
  expect_cheap("gated", [](Tensor w, Tensor h, Tensor x) {
    const Tensor z = logistic(dot(w, h) + x), candidate = tanh(dot(w, h * z) - x);
    return z * h + (1 - z) * candidate;
  });
}

TEST(Cost, ReverseOfAStaticForiIsAtMostFourTimesItsForward) {
  const auto house = [](Tensor slab, Tensor quanta, Tensor tank) {
    return thermal_loss(fori_loop(
        0, 200, [](Tensor, House h) { return thermal_step(h); }, House{slab, quanta, tank}));
  };
  const Literal start = Literal::scalar(33.3);
  EXPECT_LE(gradient_over_forward(house, start, start, Literal::scalar(70.0)), 4.0);
  const auto powers = [](Tensor x, Tensor w) {
    return sum(fori_loop(
        0, 200, [&](Tensor i, Tensor x) { return sin(x * w) + convert(i, DType::kF64) * x; }, x));
  };
  EXPECT_LE(gradient_over_forward(powers, random_matrix(1, 5), random_matrix(1, 5)), 4.0);
}

using Cell = std::function<Tensor(Tensor s, Tensor x)>;

/// For a loop over scalars whose body is `cell` of the carry and of an x (of a scan) or of a
/// captured value (of a fori_loop), differentiated with respect to both.
double cost_of_scan(const Cell& cell) {
  const auto loop = [&](Tensor s, Tensor xs) {
    return scan([&](Tensor s, Tensor x) { return std::pair(cell(s, x), Tensor(0.0)); }, s, xs)
        .first;
  };
  return gradient_over_forward(loop, Literal::scalar(0.4),
                               Literal::from(std::vector<double>(100, 0.7), {100}));
}
double cost_of_fori(const Cell& cell) {
  const auto loop = [&](Tensor s, Tensor w) {
    return fori_loop(
        0, 100, [&](Tensor, Tensor s) { return cell(s, w); }, s);
  };
  return gradient_over_forward(loop, Literal::scalar(0.4), Literal::scalar(0.7));
}

TEST(Cost, OfASingleOpIsAtMostFourTimesItsForwardToo) {
  const std::vector<std::pair<const char*, Cell>> cells{
      {"exp", [](Tensor s, Tensor) { return exp(-s); }},
      {"expm1", [](Tensor s, Tensor) { return expm1(s) * 0.1; }},
      {"log", [](Tensor s, Tensor) { return log(s + 2); }},
      {"log1p", [](Tensor s, Tensor) { return log1p(s); }},
      {"sqrt", [](Tensor s, Tensor) { return sqrt(s); }},
      {"rsqrt", [](Tensor s, Tensor) { return rsqrt(s); }},
      {"cbrt", [](Tensor s, Tensor) { return cbrt(s); }},
      {"logistic", [](Tensor s, Tensor) { return logistic(s); }},
      {"erf", [](Tensor s, Tensor) { return erf(s); }},
      {"erfc", [](Tensor s, Tensor) { return erfc(s); }},
      {"erf_inv", [](Tensor s, Tensor) { return erf_inv(s * 0.5); }},
      {"sin", [](Tensor s, Tensor) { return sin(s); }},
      {"cos", [](Tensor s, Tensor) { return cos(s); }},
      {"tan", [](Tensor s, Tensor) { return tan(s * 0.5); }},
      {"tanh", [](Tensor s, Tensor) { return tanh(s); }},
      {"tanh of a product", [](Tensor s, Tensor x) { return tanh(s * x); }},
      {"tanh of a sum", [](Tensor s, Tensor x) { return tanh(0.9 * s + sin(s) * x); }},
      {"sinh", [](Tensor s, Tensor) { return sinh(s * 0.5); }},
      {"cosh", [](Tensor s, Tensor) { return cosh(s * 0.1); }},
      {"asin", [](Tensor s, Tensor) { return asin(s * 0.5); }},
      {"acos", [](Tensor s, Tensor) { return acos(s * 0.5); }},
      {"atan", [](Tensor s, Tensor) { return atan(s); }},
      {"asinh", [](Tensor s, Tensor) { return asinh(s); }},
      {"acosh", [](Tensor s, Tensor) { return acosh(s + 2); }},
      {"atanh", [](Tensor s, Tensor) { return atanh(s * 0.5); }},
      {"atan2", [](Tensor s, Tensor x) { return atan2(s, x); }},
      {"abs", [](Tensor s, Tensor) { return abs(s); }},
      {"maximum", [](Tensor s, Tensor x) { return maximum(s, x); }},
      {"minimum", [](Tensor s, Tensor x) { return minimum(s, x); }},
      {"relu", [](Tensor s, Tensor) { return maximum(s, 0.0); }},
      {"clamp", [](Tensor s, Tensor) { return clamp(-1.0, s, 1.0); }},
      {"rem", [](Tensor s, Tensor x) { return rem(s, x); }},
      {"quotient", [](Tensor s, Tensor x) { return s / x; }},
      {"other quotient", [](Tensor s, Tensor x) { return x / (s + 1); }},
      {"product", [](Tensor s, Tensor x) { return s * x; }},
      {"square", [](Tensor s, Tensor) { return s * s; }},
      {"square by pow", [](Tensor s, Tensor) { return pow(s, 2.0); }},
      {"power", [](Tensor s, Tensor x) { return pow(s, x); }},
      {"hypot", [](Tensor s, Tensor x) { return hypot(s, x); }},
      {"where", [](Tensor s, Tensor x) { return where(s > x, s, x * s); }},
  };
  for (const auto& [name, cell] : cells) {
    EXPECT_LE(cost_of_scan(cell), 4.0) << name;
    EXPECT_LE(cost_of_fori(cell), 4.0) << name;
  }
}

/// A random body of `ops` elementwise ops on a scalar carry and a captured scalar.
Tensor random_body(unsigned seed, int ops, Tensor s, Tensor w) {
  std::mt19937 engine(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(engine() % n); };
  std::vector<Tensor> values{s, w};
  for (int k = 0; k < ops; k++) {
    const bool last = k > 0 && pick(3) > 0;
    const Tensor x = k == 0 ? s : values[last ? values.size() - 1 : pick(values.size())];
    const Tensor y = values[pick(values.size())];
    const std::array choices{
        x + y,  x - y,   x * y,   x * y,         x / y,     sin(x),      tanh(x),
        exp(x), x * 0.9, sqrt(x), maximum(x, y), square(x), logistic(x), where(x > y, x, y)};
    values.push_back(choices[pick(choices.size())]);
  }
  return values.back();
}

/// The figures of docs/gradients.md: among many small bodies some take more than four.
TEST(Cost, OfRandomBodies) {
  double total = 0, most = 0;
  int bodies = 0, above_four = 0;
  for (unsigned seed = 0; seed < 1500; seed++) {
    const double cost = cost_of_fori([seed](Tensor s, Tensor w) {
      return random_body(seed, 1 + static_cast<int>(seed % 8), s, w);
    });
    if (!std::isfinite(cost)) continue;  // the loop was optimized away
    bodies++;
    total += cost;
    most = std::max(most, cost);
    if (cost > 4.0) above_four++;
  }
  EXPECT_GT(bodies, 1000);
  EXPECT_LE(total / bodies, 3.2);
  EXPECT_LE(above_four, bodies / 12);
  EXPECT_LE(most, 5.6);
}

/// The bodies that docs/gradients.md lists as more expensive, with its figures.
TEST(Cost, OfTheOpsThatTakeMore) {
  using Body = std::function<Tensor(Tensor)>;
  struct Row {
    const char* name;
    Body body;
    double cost;
  };
  const std::vector<Row> rows{
      {"below the greatest", [](Tensor s) { return s - max(s); }, 4.0},
      {"of the greatest", [](Tensor s) { return s / max(s); }, 5.2},
      {"product", [](Tensor s) { return s * prod(s); }, 6.4},
      {"running product", [](Tensor s) { return cumprod(s, 0); }, 17.9},
      {"running maximum", [](Tensor s) { return cummax(s, 0); }, 20.9},
  };
  const Literal start = Literal::from(std::vector<double>{1, 2, 3, 4}, {4});
  for (const Row& row : rows) {
    const auto loop = [&](Tensor s) {
      return sum(fori_loop(
          0, 100, [&](Tensor, Tensor s) { return row.body(s); }, s));
    };
    EXPECT_NEAR(gradient_over_forward(loop, start), row.cost, 0.05) << row.name;
  }
}

std::vector<double> numbers_of(const Function& program, const std::vector<Literal>& arguments) {
  const Literal result = compile(program).run(arguments)[0];
  const std::span<const double> data = result.data<double>();
  return {data.begin(), data.end()};
}

/// A table row that is read in a branch, an inner loop and so on gets its cotangent in place: while
/// the gradient runs, only the table and the sum of its cotangents have that size.
TEST(Cost, ARowThatIsReadAnywhereIsAddedInPlace) {
  static constexpr int kRows = 20000, kTrips = 50;
  const auto row = [](Tensor t, Tensor i) { return t[i * 7 % kRows]; };
  using Step = std::function<Tensor(Tensor t, Tensor i, Tensor s)>;
  const Step directly = [&](Tensor t, Tensor i, Tensor s) { return sin(s) * row(t, i); };
  const Step in_a_branch = [&](Tensor t, Tensor i, Tensor s) {
    return cond(
        s > 0.2, [&] { return directly(t, i, s); }, [&] { return s * 1.5; });
  };
  const Step in_one_of_several = [&](Tensor t, Tensor i, Tensor s) {
    return switch_case(i % 3,
                       std::tuple([&] { return s * 0.9; }, [&] { return in_a_branch(t, i, s); },
                                  [&] { return in_a_branch(t, i + 1, s); }));
  };
  const Step in_a_loop = [&](Tensor t, Tensor i, Tensor s) {
    return fori_loop(
        0, 2, [&](Tensor j, Tensor s) { return in_a_branch(t, i + j, s); }, s);
  };
  const auto in_a_while = [&](Checkpoint policy) -> Step {
    return [=](Tensor t, Tensor i, Tensor s) {
      const auto [j, last] =
          while_loop([](Tensor j, Tensor) { return j < 3; },
                     [&](Tensor j, Tensor s) { return std::pair(j + 1, in_a_branch(t, i + j, s)); },
                     std::pair(Tensor(0), s), {.max_trip_count = 3, .checkpoint = policy});
      return last;
    };
  };
  const Step checkpointed = [&](Tensor t, Tensor i, Tensor s) {
    return checkpoint([&](Tensor s) { return in_a_branch(t, i, s); })(s);
  };
  const std::vector<std::pair<const char*, Step>> steps{
      {"directly", directly},
      {"in a branch", in_a_branch},
      {"in one of several", in_one_of_several},
      {"in a loop", in_a_loop},
      {"in a while with a tape", in_a_while(Checkpoint::tape())},
      {"in a while with slots", in_a_while(Checkpoint::online(2))},
      {"checkpointed", checkpointed}};
  std::vector<double> table(kRows);
  for (std::size_t i = 0; i < table.size(); i++) table[i] = 1 + std::sin(static_cast<double>(i));
  const Literal rows = Literal::from(table, {kRows}), start = Literal::scalar(0.7);
  for (const auto& [name, function] : steps) {
    const Step& step = function;
    for (const LoopKind kind : kLoops) {
      SCOPED_TRACE(std::string(name) + " of " + name_of(kind));
      const auto captured = [&](Tensor t, Tensor s) {
        return run_loop(
            kind, {.known = kTrips, .promised = kTrips},
            [&](Tensor i, Tensor s) { return step(t, i, s); }, s);
      };
      // Here the first rows are read as slices of a table that changes.
      const auto carried = [&](Tensor t, Tensor s) {
        const LoopBody body = [&](const Tensor& i, const Carry& now) {
          const Tensor parts = sum(slice(now[0], {3}, {5})) + now[0][7] * row(now[0], i);
          const Tensor next = step(now[0], i, now[1]) + parts * 0.01;
          const auto [written, same] = cond(
              next > 0.5, [&] { return std::pair(update(now[0], i + 100, next), next); },
              [&] { return std::pair(now[0], next); });
          return Carry{written, same};
        };
        return run_loop(kind, {.known = kTrips, .promised = kTrips}, body, {t, s},
                        Checkpoint::tape())[1];
      };
      const auto expect_in_place = [&](auto whole) {
        const Function forward = trace(whole, f64({kRows}), f64());
        const Function slopes = trace(grad(whole), f64({kRows}), f64());
        // Two tables at a time; compiled programs have the memory of results from the start, and
        // use it for what a loop carries before the result is computed.
        const auto peak = [&](Executor executor) {
          return run_with_stats(slopes, {rows, start}, executor).peak_bytes - 50000;
        };
        EXPECT_LE(peak(Executor::kReference), 2 * rows.type().bytes());
        EXPECT_LE(peak(Executor::kBytecode), 2 * rows.type().bytes());
        const std::vector<double> slope = numbers_of(slopes, {rows, start});
        for (const std::size_t read : {std::size_t{3}, std::size_t{7}, std::size_t{350}}) {
          const auto moved = [&](double by) {
            std::vector<double> other = table;
            other[read] += by;
            return numbers_of(forward, {Literal::from(other, {kRows}), start})[0];
          };
          const double difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
          EXPECT_NEAR(slope[read], difference, 1e-7 * (1 + std::abs(difference)));
        }
      };
      expect_in_place(captured);
      // Slots and checkpoint keep what their function reads, here a table for each trip.
      const std::string keeps = name;
      if (keeps != "in a while with slots" && keeps != "checkpointed") expect_in_place(carried);
    }
  }
}

/// The loops of a gradient are differentiated in the same way.
TEST(Cost, RowsThatAreReadBesideTheWholeTableAreAddedToItsCotangentInPlace) {
  // However many reads: no sum is taken over the whole table except that of its own cotangent.
  constexpr int kReads = 100;
  const TensorType table = f64({200, 3});
  const auto f = [](Tensor t, Tensor first) {
    Tensor total = sum(sin(t));
    for (int i = 0; i < kReads; i++) total = total + sum(square(t[first + i]));
    return total;
  };
  const Function program = trace(grad(f), table, s32());
  for (const ir::Node* node : program.body())
    EXPECT_FALSE(node->op->name == "add" && node->types[0] == table);
  const Literal t = random_matrix(200, 3);
  const Literal slopes = compile(program).run({t, Literal::scalar(std::int32_t{5})})[0];
  const std::span<const double> x = t.data<double>(), dx = slopes.data<double>();
  for (std::size_t i = 0; i < x.size(); i++) {
    const bool is_read = i / 3 >= 5 && i / 3 < 5 + kReads;
    EXPECT_NEAR(dx[i], std::cos(x[i]) + (is_read ? 2 * x[i] : 0), 1e-14);
  }
}

TEST(Cost, ARowThatIsReadInABranchIsAddedInPlaceInSecondOrderToo) {
  static constexpr int kRows = 20000, kTrips = 50;
  const auto f = [](Tensor t, Tensor s) {
    return fori_loop(
        0, kTrips,
        [&](Tensor i, Tensor s) {
          return cond(
              s > 0.1, [&] { return s + 0.02 * sin(s) * t[i]; }, [&] { return s * 1.5; });
        },
        s);
  };
  const auto slope_of_slope = grad<1>([&](Tensor t, Tensor s) { return sum(grad(f)(t, s)); });
  const Literal rows = Literal::from(std::vector<double>(kRows, 1.25), {kRows});
  const std::vector<Literal> arguments{rows, Literal::scalar(0.7)};
  const Function program = trace(slope_of_slope, f64({kRows}), f64());
  EXPECT_LE(run_with_stats(program, arguments).peak_bytes, 2 * rows.type().bytes() + 40000);
  const auto sum_of_slopes = [&](double s) {
    const std::vector<double> slopes =
        numbers_of(trace(grad(f), f64({kRows}), f64()), {rows, Literal::scalar(s)});
    return std::accumulate(slopes.begin(), slopes.end(), 0.0);
  };
  const double difference = (sum_of_slopes(0.7 + 1e-5) - sum_of_slopes(0.7 - 1e-5)) / 2e-5;
  EXPECT_NEAR(numbers_of(program, arguments)[0], difference, 1e-6 * std::abs(difference));
}

/// A while of sines up to n, with `slots`.
Function online_gradient(Checkpoint policy) {
  const auto f = [=](Tensor x, Tensor n) {
    return run_loop(
        LoopKind::kWhile, {.given = n}, [](Tensor, Tensor x) { return sin(tap(x, "body")); }, x,
        policy);
  };
  return trace(grad(f), f64(), s32());
}

struct BodyCount {
  std::int64_t evaluations;  // of the body: forward, recomputed, and for its pullback
  std::int64_t back;         // trips of the backward loop
};

BodyCount count_bodies(const Executable& program, int n) {
  std::int64_t tapped = 0;
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  options.on_tap = [&](std::string_view, const Literal&) { tapped++; };
  const Tensor slope = program.run({Literal::scalar(0.5), Literal::scalar(n)}, options)[0];
  double x = 0.5, expected = 1;
  for (int i = 0; i < n; i++) {
    expected *= std::cos(x);
    x = std::sin(x);
  }
  EXPECT_NEAR(slope.item<double>(), expected, 1e-11 * std::abs(expected));
  // The same number from the trips of the loops: forward, recomputation, backward.
  EXPECT_EQ(tapped, trips_of(stats, "While"));
  return {tapped, trips_of(stats, "While_gradient")};
}

TEST(TraceCost, OfAGradientIsLinearInTheOpsOfTheBody) {
  const auto with_ops = [](int ops) {
    return [ops] {
      const auto f = [&](Tensor x) {
        return fori_loop(
            0, 9,
            [&](Tensor, Tensor c) {
              for (int i = 0; i < ops; i += 2) c = sin(c) * 0.5;
              return c;
            },
            x);
      };
      (void)trace(grad(f), f64());
    };
  };
  EXPECT_LT(growth(with_ops(500), with_ops(4000), 24), 24);  // 64 times if quadratic
}

/// x through nested loops; each body has `ops` further ones.
Tensor nested(int depth, const Tensor& x, bool is_counted, int ops = 0) {
  if (depth == 0) return x * 0.5 + 0.25;
  const auto body = [&](Tensor c) {
    for (int i = 0; i < ops; i++) c = c * 0.99;
    return nested(depth - 1, c, is_counted, ops);
  };
  return is_counted ? fori_loop(
                          0, 2, [&](Tensor, Tensor c) { return body(c); }, x)
                    : while_loop([](Tensor c) { return c < 0.4; }, body, x,
                                 {.checkpoint = Checkpoint::online(2)});
}

TEST(TraceCost, OfAGradientIsLinearInTheDepthOfLoops) {
  for (const bool is_counted : {true, false}) {
    const auto to_depth = [&](int depth) {
      return
          [=] { (void)trace(grad([&](Tensor x) { return nested(depth, x, is_counted); }), f64()); };
    };
    // 64 times if quadratic.
    EXPECT_LT(growth(to_depth(8), to_depth(64), 24), 24) << is_counted;
  }
}

/// The ratio of the program's growth in the last third of the depth to that in the second third: 1
/// if its length is linear in the depth, 5/3 if it is quadratic.
double growth_of_length(int part, const std::function<int(int depth)>& ops) {
  const auto nodes = [&](int depth) {
    const auto f = [&](Tensor x) { return nested(depth, x, false, ops(depth)); };
    return static_cast<double>(trace(grad(f), f64()).stats().nodes);
  };
  const double second = nodes(2 * part);
  return (nodes(3 * part) - second) / (second - nodes(part));
}

TEST(TraceCost, TheLengthOfAGradientIsLinearInTheDepthOfLoops) {
  EXPECT_LT(growth_of_length(20, [](int) { return 0; }), 1.05);
  EXPECT_LT(growth_of_length(8, [](int) { return 3; }), 1.05);
  // A check of the measure: with as many ops in each body as there are loops it is quadratic.
  EXPECT_GT(growth_of_length(8, [](int depth) { return depth; }), 1.2);
}

TEST(Cost, OfACheckpointedRowUpdateIsItsRow) {
  const auto program = [](std::int64_t n) {
    return compile(trace(grad([n](Tensor x, Tensor table) {
                           return sum(square(fori_loop(
                               0, n,
                               [&](Tensor i, Tensor t) {
                                 return checkpoint([&](Tensor t, Tensor x) {
                                   return update(t, i, sin(x[i]) * cos(x[i]));
                                 })(t, x);
                               },
                               table)));
                         }),
                         f64({n}), f64({n})));
  };
  const auto run = [&](std::int64_t n) {
    const Executable gradient = program(n);
    std::vector<double> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); i++) x[i] = 0.01 * static_cast<double>(i % 300);
    const Literal values = Literal::from(x, {n}), table = Literal::zeros(f64({n}));
    const Literal slopes = gradient.run({values, table})[0];
    for (std::size_t i = 0; i < x.size(); i++)
      EXPECT_NEAR(slopes.data<double>()[i], 0.5 * std::sin(4 * x[i]), 1e-13);
    return [=] { (void)gradient.run({values, table}); };
  };
  // The table is not kept for each trip: the function computes nothing from it.
  for (const LoopResiduals& loop : program(1000).memory_plan()) EXPECT_LE(loop.bytes, 16 * 1000);
  // 4,096 times if each trip costs as much as the table.
  EXPECT_LT(growth(run(1000), run(64'000), 200), 200);
}

TEST(Cost, OfACheckpointedFunctionThatReadsARowOfACarryIsTheRow) {
  static constexpr int kRows = 300;
  const auto f = [](Tensor table) {
    const auto trip = [](Tensor i, Tensor t) {
      const auto wave =
          checkpoint([](Tensor all, Tensor at) { return sin(all[at - 1]) * cos(all[at - 1]); });
      return update(t, i, wave(t, i));
    };
    return sum(square(fori_loop(1, kRows, trip, table)));
  };
  const Executable program = compile(trace(grad(f), f64({kRows})));
  for (const LoopResiduals& loop : program.memory_plan()) EXPECT_LE(loop.bytes, 16 * kRows);
  // Only the first number matters; compared with the chain rule through a plain loop.
  std::vector<double> x(kRows, 0.0);
  x[0] = 0.7;
  const Literal slopes = program.run({Literal::from(x, {kRows})})[0];
  double value = x[0], slope = 1, of_square = 2 * value;
  for (int i = 1; i < kRows; i++) {
    slope *= std::cos(2 * value);
    value = std::sin(value) * std::cos(value);
    of_square += 2 * value * slope;
  }
  EXPECT_NEAR(slopes.data<double>()[0], of_square, 1e-12);
  for (std::size_t i = 1; i < kRows; i++) EXPECT_EQ(slopes.data<double>()[i], 0);
}

TEST(Cost, ARowOfAnArrayThatNeverChangesIsReadAgain) {
  // An array that all trips read is available to the backward pass: nothing of it is kept per trip.
  const auto f = [](Tensor x, Tensor weights) {
    const auto plain = [&](Tensor i, Tensor c) { return sin(c) * weights[i] + weights[i]; };
    const auto checkpointed = [&](Tensor i, Tensor c) {
      return checkpoint([](Tensor y, Tensor all, Tensor at) { return sin(y) * all[at]; })(
          c, weights, i);
    };
    return sum(fori_loop(0, 50, plain, fori_loop(0, 50, checkpointed, x)));
  };
  const Executable program = compile(trace(grad(f), f64({3}), f64({50, 3})));
  for (const LoopResiduals& loop : program.memory_plan()) EXPECT_EQ(loop.arrays, 1) << loop.loop;
}

TEST(OnlineCost, IsAtMostThreeBodiesATripWhileTheSlotsReach) {
  for (const int slots : {1, 2, 4, 8}) {
    const Executable program = compile(online_gradient(Checkpoint::online(slots)));
    for (int n = 0; n <= slots * (slots + 3) / 2; n++) {
      SCOPED_TRACE(std::to_string(slots) + " slots, " + std::to_string(n) + " trips");
      const BodyCount count = count_bodies(program, n);
      EXPECT_LE(count.evaluations, 3 * n);
      EXPECT_LE(count.back, 2 * n);
    }
  }
}

TEST(OnlineCost, TwoThousandTripsIn64Slots) {
  const Executable program = compile(online_gradient(Checkpoint::online(64)));
  EXPECT_LE(count_bodies(program, 2000).evaluations, 3 * 2000);
}

TEST(OnlineCost, BeyondTheReachOfTheSlots) {
  struct Row {
    int slots, trips;
    double bodies_per_trip;
  };
  for (const Row& row : {Row{4, 1000, 9.31}, Row{16, 10000, 5.59}, Row{32, 1120, 4.38}}) {
    SCOPED_TRACE(std::to_string(row.slots) + " slots, " + std::to_string(row.trips) + " trips");
    const Executable program = compile(online_gradient(Checkpoint::online(row.slots)));
    const auto bodies = static_cast<double>(count_bodies(program, row.trips).evaluations);
    EXPECT_LE(bodies / row.trips, row.bodies_per_trip + 0.005);
  }
}

/// The fewest advances for a backward pass through `length` trips with `slots` states: t length -
/// C(slots + t, t - 1), where t is the least with C(slots + t, slots) >= length.
std::int64_t fewest_advances(std::int64_t length, std::int64_t slots) {
  const auto binomial = [](std::int64_t n, std::int64_t k) {
    if (k < 0) return std::int64_t{0};
    std::int64_t product = 1;
    for (std::int64_t i = 1; i <= k; i++) product = product * (n - k + i) / i;
    return product;
  };
  std::int64_t t = 0;
  while (binomial(slots + t, slots) < length) t++;
  return t * length - binomial(slots + t, t - 1);
}

TEST(RevolveCost, IsTheLeastForAKnownLength) {
  for (const int slots : {1, 2, 3, 5}) {
    for (const int n : {1, 2, 3, 5, 9, 14, 40}) {
      SCOPED_TRACE(std::to_string(slots) + " slots, " + std::to_string(n) + " trips");
      const auto f = [&](Tensor x) {
        return run_loop(
            LoopKind::kFori, {n}, [](Tensor, Tensor x) { return sin(tap(x, "body")); }, x,
            Checkpoint::revolve(slots));
      };
      std::int64_t tapped = 0;
      RunOptions options;
      options.on_tap = [&](std::string_view, const Literal&) { tapped++; };
      compile(trace(grad(f), f64())).run({Literal::scalar(0.5)}, options);
      // If every state has a slot, a tape is used, which is cheaper.
      const std::int64_t fewest = fewest_advances(n, slots) + 1 + n;
      EXPECT_LE(tapped, fewest);
      if (n > slots) {
        EXPECT_EQ(tapped, fewest);
      }
    }
  }
}

TEST(Memory, OfOnlineDoesNotGrowWithTheTrips) {
  for (const int slots : {1, 4, 64}) {
    SCOPED_TRACE(slots);
    const auto f = [&](Tensor x, Tensor n) {
      return sum(run_loop(
          LoopKind::kWhile, {.given = n}, [](Tensor, Tensor x) { return sin(x) * 1.1; }, x,
          Checkpoint::online(slots)));
    };
    const Function program = trace(grad(f), f64({1000}), s32());
    const auto peak = [&](int n) {
      return run_with_stats(program, {Literal::zeros(f64({1000})), Literal::scalar(n)}).peak_bytes;
    };
    const int more = slots == 1 ? 300 : 2000;  // one slot takes n^2 / 2 bodies
    const std::int64_t few = peak(more / 3);
    EXPECT_EQ(peak(more), few);
    EXPECT_LE(few, (slots + 16) * 8000);
  }
}

TEST(Memory, OfATapeGrowsWithTheTripsAndThatOfPeriodsWithTheirRoot) {
  const auto peak = [&](int n, Checkpoint policy) {
    const auto f = [&](Tensor x) {
      return sum(run_loop(
          LoopKind::kFori, {n}, [](Tensor, Tensor x) { return sin(x) * 1.1; }, x, policy));
    };
    return run_with_stats(trace(grad(f), f64({1000})), {Literal::zeros(f64({1000}))}).peak_bytes /
           8000;
  };
  EXPECT_GE(peak(400, Checkpoint::tape()), 400);
  EXPECT_LE(peak(400, Checkpoint::tape()), 420);
  EXPECT_LE(peak(400, Checkpoint::periodic(20)), 20 + 400 / 20 + 20);
  EXPECT_LE(peak(400, Checkpoint::revolve(5)), 5 + 20);
}

TEST(Memory, PeriodsCostAboutOneMoreForward) {
  const auto cost = [&](Checkpoint policy) {
    const auto f = [&](Tensor x) {
      return sum(run_loop(
          LoopKind::kScan, {400}, [](Tensor, Tensor x) { return sin(x) * 1.1; }, x, policy));
    };
    return static_cast<double>(evaluations(trace(grad(f), f64({10})), {Literal::zeros(f64({10}))}));
  };
  const double forward = 2 * 400;
  EXPECT_LE(cost(Checkpoint::periodic(20)), cost(Checkpoint::tape()) + 3 * forward);
}

}  // namespace
}  // namespace rondo::testing
