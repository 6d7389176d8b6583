// Derivatives of derivatives, in every order of the modes, through every construct.
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "gradients/loops.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

/// Both modes over both modes against differences.
template <std::size_t n = 1, class F>
void check_second_order(F f, const std::vector<Literal>& at) {
  DerivativeCheck check;
  check.order = 2;
  check.rtol = 3e-6;
  EXPECT_EQ(derivative_error(of_tensors<n>(f), at, check), "");
}

TEST(Order, DerivativesOfAPowerThroughEveryLoop) {
  // x^8 by squaring three times.
  for_each_lasting_loop([](LoopKind kind, Checkpoint policy) {
    const auto f = [&](Tensor x) {
      return run_loop(
          kind, {.known = 3, .promised = 3}, [](Tensor, Tensor x) { return x * x; }, x, policy);
    };
    const auto tangent = [](auto g) {
      return [g](Tensor x) { return jvp(g, std::tuple(x), std::tuple(1.0)).second; };
    };
    const double x = 1.25, second = 56 * std::pow(x, 6), third = 336 * std::pow(x, 5);
    expect_close<double>(grad(grad(f))(x), {}, {second}, 1e-13);
    expect_close<double>(tangent(grad(f))(x), {}, {second}, 1e-13);
    expect_close<double>(grad(tangent(f))(x), {}, {second}, 1e-13);
    expect_close<double>(tangent(tangent(f))(x), {}, {second}, 1e-13);
    expect_close<double>(hessian(f)(x), {}, {second}, 1e-13);
    expect_close<double>(jit(tangent(tangent(grad(f))))(x), {}, {third}, 1e-13);
    expect_close<double>(jit(grad(tangent(tangent(f))))(x), {}, {third}, 1e-13);
  });
}

TEST(Order, ThreeTimesInReverse) {
  for (const LoopKind kind : {LoopKind::kScan, LoopKind::kPromisedWhile, LoopKind::kFori}) {
    SCOPED_TRACE(name_of(kind));
    const auto f = [&](Tensor x) {
      return run_loop(
          kind, {.known = 3, .promised = 3}, [](Tensor, Tensor x) { return x * x; }, x);
    };
    expect_close<double>(jit(grad(grad(grad(f))))(1.25), {}, {336 * std::pow(1.25, 5)}, 1e-13);
  }
}

TEST(Order, ThreeTimesInReverseThroughSlots) {
  const auto f = [](Tensor x) {
    return run_loop(
        LoopKind::kWhile, {3}, [](Tensor, Tensor x) { return x * x; }, x, Checkpoint::online(2));
  };
  expect_close<double>(jit(grad(grad(grad(f))))(1.25), {}, {336 * std::pow(1.25, 5)}, 1e-13);
}

TEST(Order, NoTripsHaveNoCurvature) {
  for_each_lasting_loop([](LoopKind kind, Checkpoint policy) {
    const auto f = [&](Tensor x) {
      return run_loop(
          kind, {.known = 0, .promised = 3}, [](Tensor, Tensor x) { return x * x; }, x, policy);
    };
    expect_scalar(grad(grad(f))(1.25), 0.0);
    expect_scalar(hessian(f)(1.25), 0.0);
  });
}

TEST(Order, LoopsWithWeights) {
  // Seven trips: more than the slots, fewer than a period's multiple.
  for_each_lasting_loop([](LoopKind kind, Checkpoint policy) {
    check_second_order<2>(
        [&](Tensor x, Tensor w) {
          return run_loop(
              kind, {.known = 7, .promised = 9},
              [&](Tensor i, Tensor x) {
                return sin(x * w) + 0.1 * convert(i, DType::kF64) * reverse(x, {0});
              },
              x, policy);
        },
        {row({0.4, -0.9}), row({1.2, 0.7})});
  });
}

TEST(Order, ScanWithRowsInAndOut) {
  for (const bool reverse : {false, true}) {
    for (const std::int64_t axis : {0, 1}) {
      for (const Checkpoint policy : {Checkpoint::automatic(), Checkpoint::periodic(2),
                                      Checkpoint::online(2), Checkpoint::revolve(2)}) {
        SCOPED_TRACE(name_of(policy));
        ScanOptions options;
        options.reverse = reverse;
        options.axis = axis;
        options.checkpoint = policy;
        check_second_order<2>(
            [&](Tensor c, Tensor xs) {
              const auto [last, ys] =
                  scan([](Tensor c,
                          Tensor x) { return std::pair(sin(c) * x, std::pair(c * c * x, cos(x))); },
                       c, xs, options);
              return sum(last * last) + sum(sin(ys.first)) + sum(ys.second);
            },
            {row({0.4, -0.9, 1.1}),
             Literal::from(std::vector<double>{0.5, -1.5, 1, 0.75, 1.25, -0.5, 2, 0.1, -0.6},
                           {3, 3})});
      }
    }
  }
}

TEST(Order, Branches) {
  for (const double at : {0.7, -0.7}) {
    check_second_order<2>(
        [](Tensor x, Tensor w) {
          return cond(
              x > 0, [&](Tensor x) { return sin(x * w) * x; },
              [&](Tensor x) { return exp(x) * w * w; }, x);
        },
        {Literal::scalar(at), Literal::scalar(1.3)});
  }
}

void check_switch(int branch) {
  check_second_order<2>(
      [&](Tensor x, Tensor w) {
        return switch_case(
            branch,
            std::tuple([](Tensor x) { return sin(x) * x; }, [&](Tensor x) { return x * w * w; },
                       [&](Tensor x) { return x * 0 + w * w; }),
            x);
      },
      {row({0.3, 0.7}), Literal::scalar(1.3)});
}

TEST(Order, BranchesByNumber) {
  for (const int branch : {0, 1, 2}) check_switch(branch);
}

TEST(Order, BranchesByANumberOutOfRange) {
  const char* const variable = std::getenv("RONDO_CHECK_BOUNDS");
  const bool is_refused = variable && std::string_view(variable) == "1";
  for (const int branch : {-1, 5}) {
    if (is_refused)
      EXPECT_THROW(check_switch(branch), ExecutionError);
    else
      check_switch(branch);
  }
}

TEST(Order, Maps) {
  for (const std::int64_t batch : {1, 2}) {
    MapOptions options;
    options.batch_size = batch;
    check_second_order<2>(
        [&](Tensor xs, Tensor w) {
          return map([&](Tensor x) { return std::pair(sin(x * w), x * x * x); }, xs, options).first;
        },
        {row({0.4, -0.9, 1.1, 2, 0.3}), Literal::scalar(1.3)});
  }
}

TEST(Order, AssociativeScans) {
  // A linear recurrence: pairs (a, b) represent x -> a x + b.
  for (const bool reverse : {false, true}) {
    AssociativeScanOptions options;
    options.reverse = reverse;
    check_second_order<2>(
        [&](Tensor a, Tensor b) {
          using Pair = std::pair<Tensor, Tensor>;
          const Pair all = associative_scan(
              [](Pair first, Pair second) {
                return Pair(second.first * first.first,
                            second.first * first.second + second.second);
              },
              Pair(a, b), options);
          return sum(all.first * all.second);
        },
        {row({0.4, -0.9, 1.1, 2, 0.3}), row({1, 0.5, -0.25, 0.7, 2})});
  }
}

TEST(Order, WhileScans) {
  for (const Checkpoint policy : {Checkpoint::automatic(), Checkpoint::online(2)}) {
    WhileScanOptions options;
    options.max_trip_count = 6;
    options.checkpoint = policy;
    check_second_order<2>(
        [&](Tensor x, Tensor w) {
          const auto out =
              while_scan([](Tensor x) { return sum(x) < 6; },
                         [&](Tensor x) { return std::pair(x * w + 0.5, sin(x) * w); }, x, options);
          return sum(out.carry * out.carry) + sum(out.ys);
        },
        {row({0.4, 0.9}), row({1.5, 1.2})});
  }
}

TEST(Order, CheckpointedFunctions) {
  check_second_order<2>(
      [](Tensor x, Tensor w) {
        const auto layer = checkpoint([&](Tensor x) { return tanh(sin(x) * w); });
        return layer(layer(x) * x);
      },
      {row({0.4, -0.9}), row({1.5, 1.2})});
}

TEST(Order, CheckpointedBodies) {
  for (const LoopKind kind : kLoops) {
    SCOPED_TRACE(name_of(kind));
    check_second_order<2>(
        [&](Tensor x, Tensor w) {
          const auto layer = checkpoint([&](Tensor x) { return tanh(sin(x) * w) + x; });
          return run_loop(
              kind, {.known = 4, .promised = 4}, [&](Tensor, Tensor x) { return layer(x); }, x);
        },
        {row({0.4, -0.9}), row({1.5, 1.2})});
  }
}

TEST(Order, LoopsUnderACheckpoint) {
  for (const LoopKind kind : kLoops) {
    SCOPED_TRACE(name_of(kind));
    check_second_order<2>(
        [&](Tensor x, Tensor w) {
          return checkpoint([&](Tensor x) {
            return run_loop(
                kind, {.known = 4, .promised = 4},
                [&](Tensor, Tensor x) { return tanh(sin(x) * w) + x; }, x);
          })(x);
        },
        {row({0.4, -0.9}), row({1.5, 1.2})});
  }
}

TEST(Order, ScanInWhileInScan) {
  check_second_order<2>(
      [](Tensor x, Tensor w) {
        return scan(
                   [&](Tensor c, Tensor row) {
                     const auto [i, inner] = while_loop(
                         [](Tensor i, Tensor) { return i < 3; },
                         [&](Tensor i, Tensor c) {
                           const Tensor next =
                               scan([&](Tensor c, Tensor e) { return std::pair(sin(c) * e, c); }, c,
                                    row)
                                   .first;
                           return std::tuple(i + 1, next + 0.5 * c);
                         },
                         std::tuple(Tensor(0), c));
                     return std::pair(inner, inner * c);
                   },
                   x, w)
            .second;
      },
      {Literal::scalar(0.8), Literal::from(std::vector<double>{1, 0.5, -0.7, 1.2}, {2, 2})});
}

TEST(Order, LoopsInBranches) {
  for (const double at : {0.8, -0.8}) {
    check_second_order<2>(
        [](Tensor x, Tensor w) {
          return cond(
              x > 0,
              [&](Tensor x) {
                return run_loop(
                    LoopKind::kWhile, {3}, [&](Tensor, Tensor x) { return sin(x * w); }, x);
              },
              [&](Tensor x) {
                return run_loop(
                    LoopKind::kScan, {2}, [&](Tensor, Tensor x) { return x * x * w; }, x);
              },
              x);
        },
        {Literal::scalar(at), Literal::scalar(1.3)});
  }
}

TEST(Order, BranchesInLoops) {
  for_each_lasting_loop([](LoopKind kind, Checkpoint policy) {
    check_second_order<2>(
        [&](Tensor x, Tensor w) {
          return run_loop(
              kind, {.known = 5, .promised = 5},
              [&](Tensor i, Tensor x) {
                return cond(
                    i % 2 == 0, [&](Tensor x) { return sin(x * w); },
                    [](Tensor x) { return x * x + 0.1; }, x);
              },
              x, policy);
        },
        {Literal::scalar(0.8), Literal::scalar(1.3)});
  });
}

TEST(Order, HessianOfALoop) {
  // Two trips of x -> A x, then x . x: the Hessian is 2 (A A)^T (A A).
  const Tensor a = constant({{0.5, -1.0}, {2.0, 0.25}});
  for_each_lasting_loop([&](LoopKind kind, Checkpoint policy) {
    const auto f = [&](Tensor x) {
      const Tensor end = run_loop(
          kind, {.known = 2, .promised = 2}, [&](Tensor, Tensor x) { return dot(a, x); }, x,
          policy);
      return dot(end, end);
    };
    const Tensor square = matmul(a, a);
    const Literal expected = (2 * matmul(transpose(square), square)).eval();
    const auto values = expected.data<double>();
    expect_close<double>(hessian(f)(row({0.3, -2})), {2, 2}, {values.begin(), values.end()}, 1e-14);
    expect_close<double>(jacrev(grad(f))(row({0.3, -2})), {2, 2}, {values.begin(), values.end()},
                         1e-14);
  });
}

}  // namespace
}  // namespace rondo::testing
