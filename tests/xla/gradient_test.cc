// Gradients in real XLA: the loops of reverse mode are ordinary programs.
#include <complex>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "gradients/loops.h"
#include "gradients/thermal.h"
#include "xla/check.h"

namespace rondo::testing {
namespace {

class XlaGradient : public XlaTest {};

// A step that the compiler rounds differently is amplified by the trips after it.
constexpr Tolerance kSingles{.rtol = 2e-5f, .atol = 1e-6};

template <class F, class... Literals>
void check_close(const Tolerance& tolerance, F&& f, const Literals&... arguments) {
  expect_same_as_xla(trace(f, arguments...), {arguments...}, tolerance, XlaTexts::kStablehlo);
}

Literal matrix(std::int64_t rows, std::int64_t columns) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = 0.1 * static_cast<double>(i * 7 % 11) - 0.4;
  return Literal::from(values, {rows, columns});
}

/// A body with a captured matrix, the index, a branch and a loop inside.
Tensor mixed_body(const Tensor& w, const Tensor& i, const Tensor& x) {
  const Tensor branched = cond(
      i % 2 == 0, [&](Tensor x) { return tanh(dot(w, x)); },
      [&](Tensor x) { return update(x, i % 3, x[0] * 0.5 + w[0][1]); }, x);
  // Of known length: XLA takes minutes to compile slots within slots.
  return fori_loop(
      0, 2, [](Tensor, Tensor x) { return x * 0.9 + 0.1 * sin(x); }, branched);
}

TEST_F(XlaGradient, OfEveryLoopAndByEveryPolicy) {
  // Each loop once and each policy once: XLA takes seconds to compile one of these.
  struct Case {
    LoopKind kind;
    Checkpoint policy;
  };
  const Literal x = row<double>({0.4, -0.9, 1.3}), w = matrix(3, 3);
  for (const Case& one : {Case{LoopKind::kWhile, Checkpoint::online(2)},
                          Case{LoopKind::kPromisedWhile, Checkpoint::tape()},
                          Case{LoopKind::kDynamicFori, Checkpoint::online(3)},
                          Case{LoopKind::kFori, Checkpoint::periodic(3)},
                          Case{LoopKind::kScan, Checkpoint::revolve(2)},
                          Case{LoopKind::kScan, Checkpoint::automatic()}}) {
    const LoopKind kind = one.kind;
    const Checkpoint policy = one.policy;
    SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
    const auto f = [&](Tensor x, Tensor w, Tensor n) {
      const Tensor end = run_loop(
          kind, {.known = 20, .given = n, .promised = 20},
          [&](Tensor i, Tensor x) { return mixed_body(w, i, x); }, x, policy);
      return sum(end * end);
    };
    const Function program = trace(value_and_grad<0, 1>(f), x, w, s32());
    for (const int n : {0, 20}) {
      if (has_known_length(kind) && n != 20) continue;
      SCOPED_TRACE(n);
      expect_same_as_xla(program, {x, w, Literal::scalar(n)}, kDoubles, XlaTexts::kStablehlo);
    }
  }
}

TEST_F(XlaGradient, OfTheThermalLoop) {
  for (const Checkpoint policy : {Checkpoint::automatic(), Checkpoint::online(5)}) {
    WhileOptions options;
    options.checkpoint = policy;
    const auto loss = [&](House start, Tensor n) {
      return thermal_loss(thermal(start, n, options));
    };
    const House doubles{33.3, 33.3, 70.0}, singles{33.3f, 33.3f, 70.0f};
    for (const auto& [start, tolerance] :
         {std::pair(doubles, kDoubles), std::pair(singles, kSingles)}) {
      const Function program = trace(value_and_grad(loss), start, s32());
      for (const int n : {0, 20, 300}) {
        SCOPED_TRACE(n);
        expect_same_as_xla(
            program,
            {start.slab.eval(), start.quanta.eval(), start.tank.eval(), Literal::scalar(n)},
            tolerance);
      }
    }
  }
}

TEST_F(XlaGradient, OfALengthThatDependsOnTheArgument) {
  const auto f = [](Tensor x) {
    return while_loop([](Tensor acc) { return acc < 10; }, [&](Tensor acc) { return acc + x; },
                      zeros(x.type()));
  };
  for (const double x : {1.0, 0.5, 3.0, 11.0}) check(grad(f), Literal::scalar(x));
}

TEST_F(XlaGradient, OfAPromiseThatIsBrokenIsNaN) {
  for (const Checkpoint policy : {Checkpoint::tape(), Checkpoint::online(2)}) {
    SCOPED_TRACE(name_of(policy));
    const auto f = [&](Tensor x, Tensor n) {
      return run_loop(
          LoopKind::kPromisedWhile, {.given = n, .promised = 4},
          [](Tensor, Tensor x) { return sin(x) * x; }, x, policy);
    };
    const Function program = trace(grad(f), f64(), s32());
    expect_same_as_xla(program, {Literal::scalar(1.5), Literal::scalar(4)}, kDoubles);
    const std::vector<Literal> more{Literal::scalar(1.5), Literal::scalar(5)};
    EXPECT_THROW((void)compile(program).run(more), ExecutionError);
    const std::vector<Literal> nan{Literal::scalar(std::numeric_limits<double>::quiet_NaN())};
    XlaOracle& xla = XlaOracle::shared();
    EXPECT_EQ(difference(xla.run(XlaOracle::Form::kHlo, to_hlo_text(program), more), nan), "");
    EXPECT_EQ(
        difference(xla.run(XlaOracle::Form::kStablehlo, to_stablehlo_text(program), more), nan),
        "");
  }
}

TEST_F(XlaGradient, OfScans) {
  for (const bool reverse : {false, true}) {
    for (const std::int64_t axis : {0, 1}) {
      for (const Checkpoint policy :
           {Checkpoint::tape(), Checkpoint::periodic(2), Checkpoint::revolve(2)}) {
        SCOPED_TRACE(name_of(policy));
        ScanOptions options;
        options.reverse = reverse;
        options.axis = axis;
        options.checkpoint = policy;
        const auto loss = [&](Tensor c, Tensor xs) {
          const auto [last, ys] =
              scan([](Tensor c,
                      Tensor x) { return std::pair(sin(c) * x, std::pair(c * c * x, cos(x))); },
                   c, xs, options);
          return sum(last * last) + sum(sin(ys.first)) + sum(ys.second);
        };
        check_close(kDoubles, grad<0, 1>(loss), row<double>({0.4, -0.9, 1.1, 0.2}), matrix(4, 4));
      }
    }
  }
}

TEST_F(XlaGradient, OfWhileScansMapsAndAssociativeScans) {
  check_close(kDoubles, grad<0, 1>([](Tensor x, Tensor w) {
                const auto out =
                    while_scan([](Tensor x) { return sum(x) < 6; },
                               [&](Tensor x) { return std::pair(x * w + 0.5, sin(x) * w); }, x,
                               {.max_trip_count = 6});
                return sum(out.carry * out.carry) + sum(out.ys);
              }),
              row<double>({0.4, 0.9}), row<double>({1.5, 1.2}));
  check_close(kDoubles, grad<0, 1>([](Tensor xs, Tensor w) {
                return sum(map([&](Tensor x) { return sin(x * w); }, xs));
              }),
              matrix(5, 2), row<double>({1.5, 1.2}));
  check_close(kDoubles, grad<0, 1>([](Tensor a, Tensor b) {
                using Pair = std::pair<Tensor, Tensor>;
                const Pair all = associative_scan(
                    [](Pair first, Pair second) {
                      return Pair(second.first * first.first,
                                  second.first * first.second + second.second);
                    },
                    Pair(a, b));
                return sum(all.first * all.second);
              }),
              row<double>({0.4, -0.9, 1.1, 2, 0.3}), row<double>({1, 0.5, -0.25, 0.7, 2}));
}

TEST_F(XlaGradient, OfBranches) {
  const auto f = [](Tensor index, Tensor x, Tensor w) {
    return sum(switch_case(
        index,
        std::tuple([](Tensor x) { return sin(x) * x; }, [&](Tensor x) { return x * w * w; },
                   [&](Tensor x) { return exp(x) + w; }),
        x));
  };
  for (const int index : {-1, 0, 1, 2, 7})
    check_close(kDoubles, grad<1, 2>(f), Literal::scalar(index), row<double>({0.3, 0.7}),
                Literal::scalar(1.3));
}

TEST_F(XlaGradient, OfCheckpointsAndRulesOfTheUsers) {
  const auto cube = custom_vjp([](Tensor x) { return x * x * x; },
                               [](Tensor x) { return std::pair(x * x * x, x); },
                               [](Tensor x, Tensor ct) { return std::tuple(3 * x * x * ct); });
  const auto softplus = custom_jvp([](Tensor x) { return log1p(exp(x)); },
                                   [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                                     return std::pair(log1p(exp(std::get<0>(x))),
                                                      logistic(std::get<0>(x)) * std::get<0>(dx));
                                   });
  const auto f = [&](Tensor x, Tensor w) {
    const auto layer = checkpoint([&](Tensor x) { return softplus(cube(x) * w) * 0.5; });
    return sum(run_loop(
        LoopKind::kWhile, {3}, [&](Tensor, Tensor x) { return layer(layer(x)); }, x));
  };
  const Literal x = row<double>({0.3, -0.7}), w = row<double>({1.3, 0.6});
  check_close(kDoubles, f, x, w);
  check_close(kDoubles, grad<0, 1>(f), x, w);
  check_close(kDoubles, hessian([&](Tensor x) { return f(x, x); }), x);
}

TEST_F(XlaGradient, OfSecondOrder) {
  // The backward pass of a backward pass by slots is a large program: XLA takes seconds to compile
  // one.
  const Literal x = row<double>({0.4, -0.9});
  for (const LoopKind kind : {LoopKind::kWhile, LoopKind::kScan}) {
    for (const Checkpoint policy : {Checkpoint::automatic(), Checkpoint::online(2)}) {
      SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
      const auto f = [&](Tensor x, Tensor n) {
        return sum(run_loop(
            kind, {.known = 5, .given = n, .promised = 5},
            [](Tensor i, Tensor x) {
              return sin(x) * x + 0.1 * convert(i, DType::kF64) * reverse(x, {0});
            },
            x, policy));
      };
      const auto second = [&](Tensor x, Tensor n) {
        const auto slope = grad([&](Tensor x) { return f(x, n); });
        const auto along = jvp(slope, std::tuple(x), std::tuple(x)).second;
        return std::pair(along, grad([&](Tensor x) { return sum(slope(x) * x); })(x));
      };
      check_close(kDoubles, second, x, Literal::scalar(5));
    }
  }
}

TEST_F(XlaGradient, OfJacobiansAndPullbacks) {
  const auto f = [](Tensor x) {
    return std::pair(run_loop(
                         LoopKind::kWhile, {3}, [](Tensor, Tensor x) { return sin(x) * x[0]; }, x),
                     sum(x * x));
  };
  const Literal x = row<double>({0.4, -0.9, 1.3});
  check_close(kDoubles, jacfwd(f), x);
  check_close(kDoubles, jacrev(f), x);
  check_close(
      kDoubles,
      [&](Tensor x, Tensor ct) {
        const auto [out, pull] = vjp(f, x);
        return std::tuple(out, std::get<0>(pull(std::pair(ct, 2.0))),
                          std::get<0>(pull(std::pair(ct * ct, 0.0))));
      },
      x, row<double>({1, -1, 0.5}));
}

TEST_F(XlaGradient, OfComplexNumbers) {
  const auto loss = [](Tensor z, Tensor c) {
    const Tensor end = run_loop(
        LoopKind::kWhile, {4}, [&](Tensor, Tensor z) { return z * conj(z) * c + z; }, z,
        Checkpoint::online(2));
    return real(end * conj(end)) + imag(end);
  };
  using Complex = std::complex<double>;
  check_close(kDoubles, grad<0, 1>(loss), Literal::scalar(Complex(0.3, -0.2)),
              Literal::scalar(Complex(-0.4, 0.7)));
}

}  // namespace
}  // namespace rondo::testing
