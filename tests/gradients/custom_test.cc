// Custom rules: that they are used, at any depth, and to any order.
#include <cmath>
#include <limits>

#include "gradients/loops.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

/// log(1 + e^x), with the derivative that does not overflow.
Tensor softplus(const Tensor& x) {
  return custom_jvp([](Tensor x) { return log1p(exp(x)); },
                    [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                      return std::pair(log1p(exp(std::get<0>(x))),
                                       logistic(std::get<0>(x)) * std::get<0>(dx));
                    })(x);
}

/// x, with `factor` as its declared derivative: wrong, which shows whether the rule was used.
Tensor mislead_forward(const Tensor& x, double factor) {
  return custom_jvp([](Tensor x) { return x * 1; },
                    [factor](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                      return std::pair(std::get<0>(x) * 1, std::get<0>(dx) * factor);
                    })(x);
}
Tensor mislead_backward(const Tensor& x, double factor) {
  return custom_vjp([](Tensor x) { return x * 1; },
                    [](Tensor x) { return std::pair(x * 1, std::tuple<>()); },
                    [factor](std::tuple<>, Tensor ct) { return std::tuple(ct * factor); })(x);
}

/// x^3, whose derivative keeps x and uses 3 x^2.
Tensor cube(const Tensor& x) {
  return custom_vjp([](Tensor x) { return x * x * x; },
                    [](Tensor x) { return std::pair(x * x * x, x); },
                    [](Tensor x, Tensor ct) { return std::tuple(3 * x * x * ct); })(x);
}

TEST(CustomJvp, TheRuleIsUsedInBothModes) {
  const auto f = [](Tensor x) { return sin(mislead_forward(x, 5)); };
  expect_close<double>(grad(f)(0.7), {}, {5 * std::cos(0.7)}, 1e-14);
  expect_close<double>(jvp(f, std::tuple(0.7), std::tuple(2.0)).second, {}, {10 * std::cos(0.7)},
                       1e-14);
  expect_close<double>(f(0.7), {}, {std::sin(0.7)}, 1e-14);
}

TEST(CustomJvp, AvoidsAnOverflow) {
  expect_scalar(grad(softplus)(1000.0), 1.0);
  EXPECT_TRUE(std::isnan(grad([](Tensor x) { return log1p(exp(x)); })(1000.0).item<double>()));
}

TEST(CustomJvp, OfSecondOrder) {
  EXPECT_EQ(derivative_error(of_tensors<1>(softplus), {row({0.5, -2, 3})}), "");
}

TEST(CustomJvp, InLoops) {
  for_each_lasting_loop([](LoopKind kind, Checkpoint policy) {
    const auto wrong = [&](Tensor x) {
      return run_loop(
          kind, {.known = 3, .promised = 3},
          [](Tensor, Tensor x) { return mislead_forward(x, 5) * 2; }, x, policy);
    };
    expect_scalar(grad(wrong)(0.7), 1000.0);
    expect_scalar(jvp(wrong, std::tuple(0.7), std::tuple(1.0)).second, 1000.0);
    const auto right = [&](Tensor x) {
      return run_loop(
          kind, {.known = 3, .promised = 3}, [](Tensor, Tensor x) { return softplus(x) * 0.7; }, x,
          policy);
    };
    EXPECT_EQ(derivative_error(of_tensors<1>(right), {row({0.5, -2, 3})}), "");
  });
}

TEST(CustomJvp, OfALoop) {
  // The function is a while; its rule needs none: x^8.
  const auto f = custom_jvp(
      [](Tensor x) {
        return run_loop(
            LoopKind::kWhile, {3}, [](Tensor, Tensor x) { return x * x; }, x);
      },
      [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
        const Tensor seventh = pow(std::get<0>(x), 7);
        return std::pair(seventh * std::get<0>(x), 8 * seventh * std::get<0>(dx));
      });
  expect_close<double>(grad(f)(1.25), {}, {8 * std::pow(1.25, 7)}, 1e-13);
  EXPECT_EQ(trace(grad(f), f64()).stats().loops, 0);
  expect_close<double>(grad(grad(f))(1.25), {}, {56 * std::pow(1.25, 6)}, 1e-13);
}

TEST(CustomJvp, OfTreesWithIntegers) {
  struct In {
    Tensor x, n;
  };
  const auto f = custom_jvp([](In in, Tensor y) { return std::pair(in.x * y, in.n + 1); },
                            [](std::tuple<In, Tensor> at, std::tuple<In, Tensor> along) {
                              const auto [in, y] = at;
                              const auto [din, dy] = along;
                              EXPECT_EQ(din.n.type(), s32());
                              return std::pair(std::pair(in.x * y, in.n + 1),
                                               std::pair(din.x * y * 10 + in.x * dy, din.n));
                            });
  const auto loss = [&](In in, Tensor y) {
    const auto [product, next] = f(in, y);
    return product * convert(next, DType::kF64);
  };
  const auto [of_in, of_y] = grad<0, 1>(loss)(In{3.0, 4}, 2.0);
  expect_scalar(of_in.x, 2.0 * 10 * 5);
  expect_scalar(of_in.n, 0);
  expect_scalar(of_y, 3.0 * 5);
}

TEST(CustomVjp, TheRuleIsUsed) {
  const auto f = [](Tensor x) { return sin(mislead_backward(x, 5)); };
  expect_close<double>(grad(f)(0.7), {}, {5 * std::cos(0.7)}, 1e-14);
  expect_close<double>(f(0.7), {}, {std::sin(0.7)}, 1e-14);
  expect_close<double>(std::get<0>(vjp(f, 0.7).second(2.0)), {}, {10 * std::cos(0.7)}, 1e-14);
}

TEST(CustomVjp, OfHigherOrder) {
  const double x = 1.3;
  expect_close<double>(grad(cube)(x), {}, {3 * x * x}, 1e-14);
  expect_close<double>(grad(grad(cube))(x), {}, {6 * x}, 1e-14);
  expect_close<double>(grad(grad(grad(cube)))(x), {}, {6.0}, 1e-14);
  expect_close<double>(hessian(cube)(x), {}, {6 * x}, 1e-14);
  expect_close<double>(jvp(grad(cube), std::tuple(x), std::tuple(2.0)).second, {}, {12 * x}, 1e-14);
}

TEST(CustomVjp, InLoops) {
  for_each_lasting_loop([](LoopKind kind, Checkpoint policy) {
    const auto wrong = [&](Tensor x) {
      return run_loop(
          kind, {.known = 3, .promised = 3},
          [](Tensor, Tensor x) { return mislead_backward(x, 5) * 2; }, x, policy);
    };
    expect_scalar(grad(wrong)(0.7), 1000.0);
    // x^9 by cubing twice.
    const auto ninth = [&](Tensor x) {
      return run_loop(
          kind, {.known = 2, .promised = 2}, [](Tensor, Tensor x) { return cube(x); }, x, policy);
    };
    expect_close<double>(grad(ninth)(1.25), {}, {9 * std::pow(1.25, 8)}, 1e-13);
    expect_close<double>(grad(grad(ninth))(1.25), {}, {72 * std::pow(1.25, 7)}, 1e-13);
    expect_close<double>(hessian(ninth)(1.25), {}, {72 * std::pow(1.25, 7)}, 1e-13);
  });
}

TEST(CustomVjp, InBranchesAndCheckpoints) {
  for (const double at : {1.3, -1.3}) {
    const auto f = [](Tensor x) {
      return cond(
          x > 0, [](Tensor x) { return checkpoint(cube)(x); }, [](Tensor x) { return x * x; }, x);
    };
    expect_close<double>(grad(f)(at), {}, {at > 0 ? 3 * at * at : 2 * at}, 1e-14);
    expect_close<double>(grad(grad(f))(at), {}, {at > 0 ? 6 * at : 2.0}, 1e-14);
    expect_close<double>(hessian(f)(at), {}, {at > 0 ? 6 * at : 2.0}, 1e-14);
  }
}

TEST(CustomVjp, OfTreesWithIntegers) {
  struct In {
    Tensor x, n;
  };
  const auto f = custom_vjp(
      [](In in, Tensor y) { return std::pair(in.x * y, in.n + 1); },
      [](In in, Tensor y) {
        return std::pair(std::pair(in.x * y, in.n + 1), std::tuple(in.x, std::vector<Tensor>{y}));
      },
      [](std::tuple<Tensor, std::vector<Tensor>> kept, std::pair<Tensor, Tensor> ct) {
        EXPECT_EQ(ct.second.type(), s32());
        const auto [x, ys] = kept;
        return std::tuple(In{ct.first * ys[0] * 10, ct.second}, ct.first * x);
      });
  const auto loss = [&](In in, Tensor y) {
    const auto [product, next] = f(in, y);
    return product * convert(next, DType::kF64);
  };
  const auto [of_in, of_y] = grad<0, 1>(loss)(In{3.0, 4}, 2.0);
  expect_scalar(of_in.x, 2.0 * 10 * 5);
  expect_scalar(of_in.n, 0);
  expect_scalar(of_y, 3.0 * 5);
}

TEST(CustomVjp, ImplicitDifferentiationOfAFixedPoint) {
  // x = cos(a x): dx/da = -x sin(a x) / (1 + a sin(a x)), from the fixed point only.
  const auto iterate = [](Tensor a) {
    return while_loop([&](Tensor x) { return abs(cos(a * x) - x) > 1e-15; },
                      [&](Tensor x) { return 0.5 * (cos(a * x) + x); }, ones(a.type()));
  };
  const auto fixed_point = custom_vjp(
      iterate,
      [&](Tensor a) {
        const Tensor x = iterate(a);
        return std::pair(x, std::pair(a, x));
      },
      [](std::pair<Tensor, Tensor> at, Tensor ct) {
        const auto [a, x] = at;
        return std::tuple(-ct * x * sin(a * x) / (1 + a * sin(a * x)));
      });
  double x = 1;
  for (int i = 0; i < 200; i++) x = 0.5 * (std::cos(0.8 * x) + x);
  const double expected = -x * std::sin(0.8 * x) / (1 + 0.8 * std::sin(0.8 * x));
  expect_close<double>(fixed_point(0.8), {}, {x}, 1e-14);
  expect_close<double>(grad(fixed_point)(0.8), {}, {expected}, 1e-14);
  // Through the iteration itself the result is the same, with a loop in the backward pass.
  expect_close<double>(grad(iterate)(0.8), {}, {expected}, 1e-12);
  EXPECT_EQ(trace(grad(fixed_point), f64()).stats().loops, 1);
  EXPECT_GE(trace(grad(iterate), f64()).stats().loops, 2);
}

TEST(CustomRules, UseConstantsFromOutside) {
  const Tensor scale = constant({2.0, 3.0});
  const auto by_jvp =
      custom_jvp([&](Tensor x) { return x * scale; },
                 [&](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                   return std::pair(std::get<0>(x) * scale, std::get<0>(dx) * scale * scale);
                 });
  const auto by_vjp =
      custom_vjp([&](Tensor x) { return x * scale; },
                 [&](Tensor x) { return std::pair(x * scale, std::tuple<>()); },
                 [&](std::tuple<>, Tensor ct) { return std::tuple(ct * scale * scale); });
  expect_values<double>(grad([&](Tensor x) { return sum(by_jvp(x)); })(row({1, 1})), {2}, {4, 9});
  expect_values<double>(grad([&](Tensor x) { return sum(by_vjp(x)); })(row({1, 1})), {2}, {4, 9});
}

}  // namespace
}  // namespace rondo::testing
