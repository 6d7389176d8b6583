// Gradients that other systems silently computed wrongly.
#include <cmath>

#include "gradients/loops.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

TEST(SilentlyWrong, ZeroTripsAreTheIdentity) {
  for_each_loop([](LoopKind kind, Checkpoint policy) {
    const auto f = [&](Tensor x, Tensor w, Tensor n) {
      const Tensor end = run_loop(
          kind, {0, n}, [&](Tensor, Tensor x) { return sin(x) * w + 1; }, x, policy);
      return sum(end * constant({1.0, 10.0, 100.0}));
    };
    const auto both = jit(value_and_grad<0, 1>(f));
    for (const int n : {0, -3}) {
      const auto [value, slopes] = both(row({1, 2, 3}), row({5, 6, 7}), n);
      expect_scalar(value, 321.0);
      expect_values<double>(std::get<0>(slopes), {3}, {1, 10, 100});
      expect_values<double>(std::get<1>(slopes), {3}, {0, 0, 0});
    }
  });
}

TEST(SilentlyWrong, ZeroTripsStackNothing) {
  const auto f = [](Tensor c, Tensor xs) {
    const auto [last, ys] =
        scan([](Tensor c, Tensor x) { return std::pair(c * x, sin(c)); }, c, xs);
    return last + sum(ys);
  };
  const auto [of_c, of_xs] = grad<0, 1>(f)(2.0, Literal::zeros(f64({0})));
  expect_scalar(of_c, 1.0);
  expect_values<double>(of_xs, {0}, {});
}

TEST(SilentlyWrong, ClosedOverWeights) {
  // A captured matrix and vector; by hand for two trips, and like the C++ loop for eleven.
  const auto loss = [](LoopKind kind, Checkpoint policy, const Trips& trips, Tensor x, Tensor w,
                       Tensor b) {
    const Tensor end = run_loop(
        kind, trips, [&](Tensor, Tensor x) { return tanh(dot(w, x) + b); }, x, policy);
    return sum(end * end);
  };
  const Literal x = row({0.3, -0.7}), b = row({0.1, -0.2});
  const Literal w = Literal::from(std::vector<double>{0.8, -0.5, 0.4, 0.9}, {2, 2});
  const auto unrolled = grad<0, 1, 2>([&](Tensor x, Tensor w, Tensor b) {
    return loss(LoopKind::kUnrolled, {}, {11}, x, w, b);
  })(x, w, b);
  const auto known = [](const Tensor& t) {
    const Literal value = t.eval();
    return std::vector<double>(value.data<double>().begin(), value.data<double>().end());
  };
  for_each_loop([&](LoopKind kind, Checkpoint policy) {
    const auto slopes = jit(grad<0, 1, 2>([&](Tensor x, Tensor w, Tensor b, Tensor n) {
      return loss(kind, policy, {11, n}, x, w, b);
    }))(x, w, b, 11);
    expect_close<double>(std::get<0>(slopes), {2}, known(std::get<0>(unrolled)), 1e-12, 1e-13);
    expect_close<double>(std::get<1>(slopes), {2, 2}, known(std::get<1>(unrolled)), 1e-12, 1e-13);
    expect_close<double>(std::get<2>(slopes), {2}, known(std::get<2>(unrolled)), 1e-12, 1e-13);
  });
}

TEST(SilentlyWrong, ClosedOverWeightOfAProduct) {
  // x w^n: the derivative with respect to w is n x w^(n-1).
  for_each_loop([](LoopKind kind, Checkpoint policy) {
    const auto slope = jit(grad<1>([&](Tensor x, Tensor w, Tensor n) {
      return run_loop(
          kind, {6, n}, [&](Tensor, Tensor x) { return x * w; }, x, policy);
    }));
    expect_scalar(slope(3.0, 2.0, 6), 6 * 3.0 * 32);
  });
}

TEST(SilentlyWrong, IndexByTheLoopVariable) {
  // The sum over i < n of x[i]^2 (i + 1) scaled by the sum so far; four trips and five, so that a
  // period of 2 or 4 is once complete and once not.
  for (const int n : {4, 5}) {
    const Literal x = row({1, -2, 0.5, 3, -1.5, 7});
    const auto body = [](const Tensor& x) {
      return [&](Tensor i, Tensor acc) {
        return acc * 0.5 + x[i] * x[i] * (convert(i, DType::kF64) + 1);
      };
    };
    std::vector<double> expected(6, 0.0);
    const auto values = x.data<double>();
    for (int i = 0; i < n; i++)
      expected[static_cast<std::size_t>(i)] =
          2 * values[static_cast<std::size_t>(i)] * (i + 1) * std::pow(0.5, n - 1 - i);
    for (const LoopKind kind : kLoops) {
      for (const Checkpoint policy :
           {Checkpoint::automatic(), Checkpoint::periodic(2), Checkpoint::periodic(4),
            Checkpoint::revolve(2), Checkpoint::online(2)}) {
        SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
        const auto f = [&](Tensor x, Tensor n_given) {
          return run_loop(kind, {n, n_given}, body(x), Tensor(0.0), policy);
        };
        expect_close<double>(jit(grad(f))(x, n), {6}, expected, 1e-14);
      }
    }
  }
}

TEST(SilentlyWrong, IndexByTheLoopVariableIntoTheCarry) {
  // v[i + 1] = v[i]^2, written in place: the derivative of v[n] in v[0] is 2^n v[0]^(2^n - 1).
  for (const int n : {4, 5}) {
    for_each_loop([&](LoopKind kind, Checkpoint policy) {
      const auto f = [&](Tensor x, Tensor n_given) {
        const Tensor end = run_loop(
            kind, {n, n_given}, [](Tensor i, Tensor v) { return update(v, i + 1, v[i] * v[i]); },
            concatenate({reshape(x, {1}), zeros(f64({6}))}, 0), policy);
        return end[n];
      };
      const double power = std::pow(2.0, n);
      expect_close<double>(jit(grad(f))(1.05, n), {}, {power * std::pow(1.05, power - 1)}, 1e-12);
    });
  }
}

TEST(SilentlyWrong, APromiseOfTripsThatIsBroken) {
  for (const Checkpoint policy : kPolicies) {
    SCOPED_TRACE(name_of(policy));
    const auto slope = jit(grad([&](Tensor x, Tensor n) {
      return run_loop(
          LoopKind::kPromisedWhile, {.given = n, .promised = 4},
          [](Tensor, Tensor x) { return sin(x) * x; }, x, policy);
    }));
    const double four = slope(1.5, 4).item<double>();
    EXPECT_TRUE(std::isfinite(four));
    EXPECT_NE(four, 0.0);
    expect_error<ExecutionError>([&] { (void)slope(1.5, 5).eval(); }, {"PromisedWhile", "4"});
    EXPECT_EQ(slope(1.5, 4).item<double>(), four);
  }
}

std::int64_t evaluations_of_loop(const Executable& program, const std::vector<Literal>& arguments) {
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  program.run(arguments, options);
  return stats.op_evaluations;
}

TEST(SilentlyWrong, CostGrowsWithTheTrips) {
  // Four times the trips cost four times as much on a tape, and not much more with slots.
  for (const LoopKind kind : kLoops) {
    SCOPED_TRACE(name_of(kind));
    const auto cost = [&](int n) {
      const auto f = [&](Tensor x, Tensor given) {
        return run_loop(
            kind, {.known = n, .given = given, .promised = 400},
            [](Tensor, Tensor x) { return sin(x) * 1.5; }, x);
      };
      return evaluations_of_loop(
          compile(trace(grad(f), f64(), s32()), {.executor = Executor::kReference}),
          {Literal::scalar(0.5), Literal::scalar(n)});
    };
    const double few = static_cast<double>(cost(100)), many = static_cast<double>(cost(400));
    EXPECT_LE(many, 6 * few);  // n^2 would be 16
    EXPECT_GE(many, 3.0 * few);
  }
}

TEST(SilentlyWrong, AnInputThatTheLossIgnoresCostsNothing) {
  for_each_loop([](LoopKind kind, Checkpoint policy) {
    // `w` changes the second carry, which the loss does not use.
    const auto f = [&](Tensor x, Tensor w, Tensor n) {
      const Carry end = run_loop(
          kind, {50, n},
          [&](const Tensor&, const Carry& c) {
            return Carry{sin(c[0]), cos(c[1]) * w + c[0]};
          },
          Carry{x, w}, policy);
      return end[0];
    };
    const Function program = trace(grad<1>(f), f64(), f64({2}), s32());
    EXPECT_EQ(program.stats().loops, 0);
    const std::vector<Literal> arguments{Literal::scalar(0.5), row({3, 4}), Literal::scalar(50)};
    expect_values<double>(compile(program).run(arguments)[0], {2}, {0, 0});
    EXPECT_LE(evaluations_of_loop(compile(program, {.executor = Executor::kReference}), arguments),
              2);
  });
}

TEST(SilentlyWrong, AsManyTripsAsTheConditionSays) {
  // Newton's iteration for a square root makes a different number of trips for each argument.
  const auto root = [](Tensor a) {
    return while_loop([&](Tensor x) { return abs(x * x - a) > 1e-13 * a; },
                      [&](Tensor x) { return (x + a / x) * 0.5; }, a + 1);
  };
  const auto slope = jit(grad(root));
  for (const double a : {1e-4, 0.5, 2.0, 1e6, 1e12})
    EXPECT_NEAR(slope(a).item<double>() * 2 * std::sqrt(a), 1, 1e-9) << a;
}

}  // namespace
}  // namespace rondo::testing
