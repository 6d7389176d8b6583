// The same gradient in every mode of evaluation: eagerly, lazily, jitted, on the reference
// interpreter; trees as arguments and results; captured values.
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <type_traits>

#include "gradients/loops.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

TEST(Modes, EagerLazyAndJittedAgree) {
  for (const LoopKind kind : kLoops) {
    for (const Checkpoint policy : kPolicies) {
      SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
      const auto f = [&](Tensor x, Tensor w) {
        const Tensor end = run_loop(
            kind, {.known = 6, .promised = 6},
            [&](Tensor i, Tensor x) {
              return cond(
                  i % 2 == 0, [&](Tensor x) { return tanh(dot(w, x)); },
                  [](Tensor x) { return x * 0.5 + 0.1; }, x);
            },
            x, policy);
        return sum(end * end);
      };
      const Literal x = row({0.7, -1.2});
      const Literal w = Literal::from(std::vector<double>{0.9, -0.4, 0.3, 1.1}, {2, 2});
      const auto slopes = grad<0, 1>(f);
      const auto lazy = slopes(x, w);
      const std::vector<double> of_x = elements_of(std::get<0>(lazy)),
                                of_w = elements_of(std::get<1>(lazy));
      const auto same = [&](const Tensor& got_x, const Tensor& got_w) {
        expect_close<double>(got_x, {2}, of_x, 1e-13);
        expect_close<double>(got_w, {2, 2}, of_w, 1e-13);
      };
      const auto jitted = jit(slopes)(x, w);
      same(std::get<0>(jitted), std::get<1>(jitted));
      const auto twice = jit(grad<0, 1>(jit(f)))(x, w);
      same(std::get<0>(twice), std::get<1>(twice));
      const std::vector<Literal> plain =
          compile(trace(slopes, x, w), {.optimize = false}).run({x, w});
      same(plain[0], plain[1]);
      const EagerScope eager;
      const auto now = slopes(x, w);
      same(std::get<0>(now), std::get<1>(now));
    }
  }
}

TEST(Modes, EagerScopeComputesEveryTransform) {
  const EagerScope eager;
  const auto f = [](Tensor x) { return sum(sin(x) * x); };
  const std::vector<double> slope{std::sin(0.5) + 0.5 * std::cos(0.5),
                                  std::sin(2.0) + 2 * std::cos(2.0)};
  const Literal x = row({0.5, 2});
  expect_close<double>(grad(f)(x), {2}, slope, 1e-14);
  expect_close<double>(jacfwd(f)(x), {2}, slope, 1e-14);
  expect_close<double>(jacrev(f)(x), {2}, slope, 1e-14);
  expect_close<double>(jvp(f, std::tuple(x), std::tuple(row({0, 1}))).second, {}, {slope[1]},
                       1e-14);
  const auto [value, pull] = vjp(f, x);
  expect_close<double>(std::get<0>(pull(3.0)), {2}, {3 * slope[0], 3 * slope[1]}, 1e-14);
  expect_close<double>(
      hessian(f)(x), {2, 2},
      {2 * std::cos(0.5) - 0.5 * std::sin(0.5), 0, 0, 2 * std::cos(2.0) - 2 * std::sin(2.0)},
      1e-14);
}

TEST(Modes, APullbackServesManyTimes) {
  for (const LoopKind kind : kLoops) {
    for (const Checkpoint policy : kPolicies) {
      SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
      const auto f = [&](Tensor x, Tensor w) {
        return run_loop(
            kind, {.known = 5, .promised = 5}, [&](Tensor, Tensor x) { return x * w; }, x, policy);
      };
      const auto [out, pull] = vjp(f, row({2, 3}), row({1, -2}));
      expect_values<double>(out, {2}, {2, -96});
      const auto copy = pull;
      // w^5 and 5 x w^4.
      expect_values<double>(std::get<0>(pull(row({1, 0}))), {2}, {1, 0});
      expect_values<double>(std::get<1>(pull(row({0, 1}))), {2}, {0, 5 * 3 * 16.0});
      expect_values<double>(std::get<0>(copy(row({10, 100}))), {2}, {10, -3200});
      expect_values<double>(std::get<1>(pull(row({1, 0}))), {2}, {10, 0});
    }
  }
}

TEST(Modes, APullbackInsideALoop) {
  // The rows of the Jacobian, one per trip.
  const auto f = [](Tensor x) { return stack({x[0] * x[1], sin(x[0]), x[1]}, 0); };
  const auto jacobian = jit([&](Tensor x) {
    const auto vjp_of_f = vjp(f, x);
    return map([&](Tensor ct) { return std::get<0>(vjp_of_f.second(ct)); }, eye(3, DType::kF64));
  })(row({0.5, 4}));
  expect_close<double>(jacobian, {3, 2}, {4, 0.5, std::cos(0.5), 0, 0, 1}, 1e-15);
  expect_close<double>(jacrev(f)(row({0.5, 4})), {3, 2}, {4, 0.5, std::cos(0.5), 0, 0, 1}, 1e-15);
  expect_close<double>(jacfwd(f)(row({0.5, 4})), {3, 2}, {4, 0.5, std::cos(0.5), 0, 0, 1}, 1e-15);
}

struct Layer {
  Tensor weight, bias;
};
struct Model {
  std::vector<Layer> layers;
  std::array<Tensor, 2> scales;
  std::map<std::string, Tensor> extra;
  std::tuple<Tensor, std::pair<Tensor, Tensor>> mixed;
};

Model model() {
  return {{{row({1, 2}), 3.0}, {row({4, 5}), 6.0}},
          {Tensor(7.0), Tensor(8.0)},
          {{"a", Tensor(9.0)}, {"n", Tensor(10)}},
          {Tensor(true), {Tensor(11.0f), Tensor(std::uint8_t{12})}}};
}

TEST(Modes, TreesComeBackAsTrees) {
  const auto f = [](Model m, Tensor x) {
    const Tensor first = sum(m.layers[0].weight * x) + m.layers[0].bias * m.layers[1].bias;
    return first * m.scales[0] + m.extra.at("a") * m.extra.at("a") +
           convert(std::get<1>(m.mixed).first, DType::kF64) * 2;
  };
  const auto [value, slopes] = value_and_grad<0, 1>(f)(model(), row({10, 20}));
  expect_scalar(value, (10.0 + 40 + 18) * 7 + 81 + 22);
  const Model& m = std::get<0>(slopes);
  expect_values<double>(m.layers.at(0).weight, {2}, {70, 140});
  expect_scalar(m.layers[0].bias, 42.0);
  expect_values<double>(m.layers.at(1).weight, {2}, {0, 0});
  expect_scalar(m.layers[1].bias, 21.0);
  expect_scalar(m.scales[0], 68.0);
  expect_scalar(m.scales[1], 0.0);
  ASSERT_EQ(m.extra.size(), 2u);
  expect_scalar(m.extra.at("a"), 18.0);
  expect_scalar(m.extra.at("n"), 0);
  expect_scalar(std::get<0>(m.mixed), false);
  expect_scalar(std::get<1>(m.mixed).first, 2.0f);
  expect_scalar(std::get<1>(m.mixed).second, std::uint8_t{0});
  expect_values<double>(std::get<1>(slopes), {2}, {7, 14});
}

TEST(Modes, TreesOutOfJvpVjpAndJacobians) {
  const auto f = [](Layer layer, Tensor n) {
    return std::map<std::string, Tensor>{
        {"n", n + 1}, {"sum", sum(layer.weight) * layer.bias}, {"w", layer.weight * 2}};
  };
  const Layer at{row({1, 2}), 3.0};
  const auto [out, tangents] = jvp(f, std::tuple(at, 4), std::tuple(Layer{row({1, 0}), 10.0}, 0));
  expect_scalar(out.at("n"), 5);
  expect_scalar(tangents.at("n"), 0);
  expect_scalar(tangents.at("sum"), 1 * 3.0 + 3 * 10.0);
  expect_values<double>(tangents.at("w"), {2}, {2, 0});

  const auto [again, pull] = vjp(f, at, 4);
  const auto [of_layer, of_n] =
      pull(std::map<std::string, Tensor>{{"n", 0}, {"sum", 1.0}, {"w", row({100, 200})}});
  expect_values<double>(of_layer.weight, {2}, {203, 403});
  expect_scalar(of_layer.bias, 3.0);
  expect_scalar(of_n, 0);

  for (const bool forward : {true, false}) {
    const std::map<std::string, Layer> jacobians = forward ? jacfwd(f)(at, 4) : jacrev(f)(at, 4);
    expect_values<double>(jacobians.at("w").weight, {2, 2}, {2, 0, 0, 2});
    expect_values<double>(jacobians.at("w").bias, {2}, {0, 0});
    expect_values<double>(jacobians.at("sum").weight, {2}, {3, 3});
    expect_scalar(jacobians.at("sum").bias, 3.0);
    EXPECT_EQ(jacobians.at("n").weight.shape(), Shape{2});
  }
}

TEST(Modes, ArgumentsInTheOrderAskedFor) {
  const auto f = [](Tensor a, Tensor b, Tensor c) { return a * b * b * c * c * c; };
  const auto [of_c, of_a] = grad<2, 0>(f)(2.0, 3.0, 5.0);
  expect_scalar(of_c, 2.0 * 9 * 75);
  expect_scalar(of_a, 9.0 * 125);
  expect_scalar(grad<1>(f)(2.0, 3.0, 5.0), 2.0 * 6 * 125);
  const auto [value, of_b] = value_and_grad<1>(f)(2.0, 3.0, 5.0);
  expect_scalar(value, 2.0 * 9 * 125);
  expect_scalar(of_b, 2.0 * 6 * 125);
}

TEST(Modes, TransformsAreValues) {
  const auto slope = grad([](Tensor x) { return x * x; });
  const auto copy = slope;
  static_assert(std::is_copy_constructible_v<decltype(slope)>);
  expect_scalar(copy(3.0), 6.0);
  expect_scalar(slope(Literal::scalar(4.0f)), 8.0f);
  expect_scalar(slope(Tensor(5.0) + 1), 12.0);
}

TEST(Modes, EveryFloatDtypeKeepsItsOwn) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    SCOPED_TRACE(dtype_name(dtype));
    for (const LoopKind kind : kLoops) {
      const auto f = [&](Tensor x) {
        return run_loop(
            kind, {.known = 3, .promised = 3}, [](Tensor, Tensor x) { return x * 2; }, x);
      };
      const Tensor slope = grad(f)(convert(Tensor(1.5), dtype));
      EXPECT_EQ(slope.dtype(), dtype);
      expect_scalar(convert(slope, DType::kF64), 8.0);
    }
  }
}

TEST(Modes, CapturedValuesHaveGradients) {
  // The inner gradient is taken at a value of the outer function, through a loop that captures it.
  const auto outer = [](Tensor w) {
    const auto inner = [&](Tensor x) {
      return run_loop(
          LoopKind::kWhile, {3}, [&](Tensor, Tensor x) { return x * w; }, x * x);
    };
    return grad(inner)(w);  // 2 x w^3 at x = w
  };
  expect_scalar(outer(2.0), 32.0);
  expect_scalar(grad(outer)(2.0), 64.0);  // 2 w^3 + 2 x 3 w^2
  expect_scalar(jit(grad(outer))(2.0), 64.0);
}

TEST(Modes, PerturbationsAreNotConfused) {
  const auto f = [](Tensor x) { return x * grad([&](Tensor y) { return x + y; })(1.0); };
  expect_scalar(grad(f)(3.0), 1.0);
  const auto g = [](Tensor x) {
    return x *
           jvp([&](Tensor y) { return x * y; }, std::tuple(Tensor(2.0)), std::tuple(Tensor(1.0)))
               .second;
  };
  expect_scalar(grad(g)(3.0), 6.0);
  expect_scalar(jvp(g, std::tuple(3.0), std::tuple(1.0)).second, 6.0);
  // In a loop: each trip computes a gradient at the carry.
  for (const LoopKind kind : kLoops) {
    const auto h = [&](Tensor x) {
      return run_loop(
          kind, {.known = 2, .promised = 2},
          [&](Tensor, Tensor c) { return c * grad([&](Tensor y) { return x * y * y; })(c); }, x);
    };
    // c -> 2 x c^2 twice from c = x: 8 x^7.
    expect_scalar(h(1.5), 8 * std::pow(1.5, 7));
    expect_close<double>(grad(h)(1.5), {}, {56 * std::pow(1.5, 6)}, 1e-14);
  }
}

TEST(Modes, StopGradientStops) {
  struct Pair {
    Tensor x, n;
  };
  const auto f = [](Pair p) {
    const Pair still = stop_gradient(p);
    EXPECT_EQ(still.n.type(), s32());
    return p.x * still.x * convert(still.n, DType::kF64);
  };
  expect_scalar(grad(f)(Pair{3.0, 2}).x, 6.0);
  for (const LoopKind kind : kLoops) {
    const auto loop = [&](Tensor x) {
      return run_loop(
          kind, {.known = 3, .promised = 3}, [&](Tensor, Tensor c) { return c * stop_gradient(c); },
          x);
    };
    // Each trip c' = c k with k = c held constant: the derivative is the product of the k's.
    expect_scalar(grad(loop)(2.0), 2.0 * 4 * 16);
    expect_scalar(grad([&](Tensor x) { return loop(stop_gradient(x)) + x; })(2.0), 1.0);
  }
}

}  // namespace
}  // namespace rondo::testing
