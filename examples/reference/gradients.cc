// Examples of the reference: derivatives, vmap.
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  // First, since it prints its lines.
  example("explain_batching", [] {
    auto halve = [](Tensor x) {
      return while_loop([](Tensor x) { return x > 1; }, [](Tensor x) { return x / 2; }, x);
    };
    std::cout << explain_batching(vmap(halve), constant({3.0f, 100.0f}));
  });

  example("grad", [] {
    auto f = [](Tensor x, Tensor y) { return sum(x * x * y); };
    Tensor x = constant({1.0, 2.0}), y = constant({3.0, 4.0});
    std::cout << grad(f)(x, y) << "\n";     // by x: 2 x y
    std::cout << grad<1>(f)(x, y) << "\n";  // by y: x^2
    auto second = grad(grad([](Tensor t) { return sin(t); }));
    std::cout << second(M_PI / 2) << "\n";  // of any order
  });
  example("value_and_grad", [] {
    struct Line {
      Tensor slope, offset;
    };
    auto loss = [](Line line) {
      Tensor x = constant({0.0, 1.0, 2.0}), y = constant({1.0, 3.0, 5.0});
      return sum(square(line.slope * x + line.offset - y));
    };
    auto [value, gradient] = value_and_grad(loss)(Line{1.0, 1.0});
    std::cout << value << " " << gradient.slope << " " << gradient.offset << "\n";
  });
  example("jacfwd, jacrev", [] {
    auto polar = [](Tensor p) { return stack(0, p[0] * cos(p[1]), p[0] * sin(p[1])); };
    Tensor at = constant({2.0, 0.0});
    std::cout << jacfwd(polar)(at) << "\n";  // row i: the derivatives of result i
    std::cout << jacrev(polar)(at) << "\n";
  });
  example("hessian", [] {
    auto rosenbrock = [](Tensor x) { return square(1 - x[0]) + 100 * square(x[1] - square(x[0])); };
    std::cout << hessian(rosenbrock)(constant({1.0, 1.0})) << "\n";
  });
  example("jvp", [] {
    auto f = [](Tensor x) { return x * x * x; };
    auto [y, dy] = jvp(f, std::tuple(2.0), std::tuple(1.0));  // along the tangent 1
    std::cout << y << " " << dy << "\n";
  });
  example("vjp", [] {
    auto [y, pullback] = vjp([](Tensor a, Tensor b) { return a * b; }, 3.0, constant({1.0, 2.0}));
    auto [da, db] = pullback(constant({1.0, 10.0}));
    std::cout << y << " " << da << " " << db << "\n";
  });
  example("stop_gradient", [] {
    auto f = [](Tensor x) { return stop_gradient(x) * x; };
    std::cout << f(3.0) << " " << grad(f)(3.0) << "\n";  // the first factor counts as a constant
  });
  example("checkpoint", [] {
    auto layer = checkpoint([](Tensor x) { return tanh(exp(sin(x))); });
    std::cout << grad([&](Tensor x) { return layer(layer(x)); })(0.5) << "\n";
    auto plain = [](Tensor x) { return tanh(exp(sin(x))); };
    std::cout << grad([&](Tensor x) { return plain(plain(x)); })(0.5) << "\n";  // the same
  });
  example("custom_jvp", [] {
    // log(1 + e^x), whose derivative e^x / (1 + e^x) would be inf / inf for large x.
    auto softplus = custom_jvp([](Tensor x) { return log1p(exp(x)); },
                               [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                                 Tensor value = log1p(exp(std::get<0>(x)));
                                 Tensor slope = logistic(std::get<0>(x));
                                 return std::pair{value, slope * std::get<0>(dx)};
                               });
    std::cout << grad(softplus)(0.0) << " " << grad(softplus)(1000.0) << "\n";
  });
  example("custom_vjp", [] {
    // The identity, whose cotangent is clipped on its way back.
    auto clipped = custom_vjp([](Tensor x) { return x; },
                              [](Tensor x) {
                                return std::pair{x, std::tuple<>()};
                              },
                              [](std::tuple<>, Tensor c) { return std::tuple(clamp(-1, c, 1)); });
    auto loss = [&](Tensor x) { return sum(constant({0.5, 30.0}) * clipped(x)); };
    std::cout << grad(loss)(constant({1.0, 1.0})) << "\n";
  });
  example("check_grads", [] {
    check_grads([](Tensor x) { return sum(sin(x) * x); }, std::tuple(constant({0.5, 2.0})),
                {.order = 2});
    auto wrong = custom_jvp([](Tensor x) { return x * x; },
                            [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                              Tensor t = std::get<0>(x);
                              return std::pair{t * t, t * std::get<0>(dx)};  // not 2 t
                            });
    try {
      check_grads(wrong, std::tuple(3.0));
    } catch (const Error& error) {
      std::cout << "a derivative is wrong\n";  // error.what() names the element and both numbers
    }
  });

  example("vmap", [] {
    Tensor rows = constant({{3.0, 4.0}, {5.0, 12.0}}), direction = constant({1.0, 0.0});
    std::cout << vmap([](Tensor v) { return sqrt(sum(v * v)); })(rows) << "\n";
    auto along = vmap([](Tensor v, Tensor d) { return sum(v * d); }, {0, std::nullopt});
    std::cout << along(rows, direction) << "\n";  // one direction for all rows
    std::cout << vmap(grad([](Tensor x) { return x * x * x; }))(constant({1.0, 2.0})) << "\n";
  });
  example("axis_sum, axis_mean, axis_max, axis_min", [] {
    auto standardize = vmap(
        [](Tensor x) {
          Tensor range = axis_max(x, "batch") - axis_min(x, "batch");
          return (x - axis_mean(x, "batch")) / range;
        },
        {.axis_name = "batch"});
    std::cout << standardize(constant({1.0, 2.0, 6.0})) << "\n";
    auto share = vmap([](Tensor x) { return x / axis_sum(x, "batch"); }, {.axis_name = "batch"});
    std::cout << share(constant({1.0, 1.0, 2.0})) << "\n";
  });
  example("axis_gather, axis_index, axis_size", [] {
    auto next = vmap(
        [](Tensor x) {
          const auto lanes = static_cast<int>(axis_size("ring"));
          return axis_gather(x, "ring")[(axis_index("ring") + 1) % lanes];
        },
        {.axis_name = "ring"});
    std::cout << next(constant({10, 20, 30})) << "\n";  // each lane has that of the next one
  });
}
